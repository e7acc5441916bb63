#!/bin/bash
# quickstart.sh [FOLDER]: installs what is missing, builds, records a real 4-rank data-parallel training with one
# late rank planted in it, reduces, and prints the report. Results go to FOLDER, by default build/quickstart.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
out=${1:-$build/quickstart}
ranks=4 steps=150 late_rank=3 late_us=6000

say() { printf '\n== %s\n' "$*"; }
shown() { printf '   %s\n' "$*" && "$@"; }

"$root/jobs/packages.sh" build
. "$root/jobs/mpi_here.sh"

say "build, in $build"
cmake -S "$root" -B "$build" -G Ninja -DSCALEPROF_TESTS=OFF >/dev/null
ninja --quiet -C "$build"
mkdir -p "$out"
cd "$out"
export PATH="$build:$PATH"

say "record $ranks ranks that train a network together; rank $late_rank is made late by $((late_us / 1000)) ms in every step"
shown mpirun -n $ranks scaleprof run --force -o run.h5 -- \
    train_mlp --steps $steps --late-rank $late_rank --late-us $late_us --quiet

say "reduce: steps, waits, who was late"
shown scaleprof reduce run.h5

say "report"
shown scaleprof report run.h5

say "run.h5 and run.analysis.h5 are in $out"
echo "   Your own program: mpirun -n 4 scaleprof run -o run.h5 -- ./program"
echo "   with PATH=$build:\$PATH"
