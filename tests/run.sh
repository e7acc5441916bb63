#!/bin/bash
# run.sh [--build FOLDER] [CMAKE OPTION...] [-- CTEST OPTION...]: installs what the tests need, builds, and runs all
# tests, or those that the ctest options choose. ctest's closing line comes last.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
cmake_options=()
if [ "${1-}" = --build ]; then
    build=$2
    shift 2
fi
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    cmake_options+=("$1")
    shift
done
[ $# = 0 ] || shift

"$root/jobs/packages.sh" build tests
. "$root/jobs/mpi_here.sh"
cmake -S "$root" -B "$build" -G Ninja -DSCALEPROF_TESTS=ON "${cmake_options[@]}" >/dev/null
ninja --quiet -C "$build"
exec ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-label-summary "$@"
