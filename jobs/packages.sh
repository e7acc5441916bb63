#!/bin/bash
# packages.sh build|tests...: sees to it that what these need is installed. On Debian and Ubuntu it installs what
# is missing (as root, or by sudo); elsewhere it names what is missing. Ends with 0 when nothing is missing any more.
set -eu

declare -A debian=(
    [build]="gcc libc6-dev binutils cmake ninja-build pkg-config libopenmpi-dev openmpi-bin libhdf5-openmpi-dev
             libhwloc-dev libdw-dev libdeflate-dev"
    [tests]="clang clang-format-14 clang-tidy-14 cppcheck g++ gfortran git libclang-rt-14-dev
             python3 python3-h5py python3-mpi4py"
)
# Elsewhere: a command, or pkg-config:NAME, and in words where it comes from.
declare -A elsewhere=(
    [build]="cc=gcc cmake=cmake ninja=ninja-build pkg-config=pkgconf mpicc=openmpi-devel mpirun=openmpi
             pkg-config:hwloc=hwloc-devel pkg-config:libdw=elfutils-devel pkg-config:libdeflate=libdeflate-devel h5pcc=hdf5-openmpi-devel"
    [tests]="clang=clang clang-format-14=clang clang-tidy-14=clang-tools-extra cppcheck=cppcheck g++=gcc-c++
             gfortran=gcc-gfortran git=git python3=python3 python:h5py=python3-h5py python:mpi4py=python3-mpi4py"
)

missing_on_debian() {
    local package
    for package in $1; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || echo "$package"
    done
}

is_there() {
    case $1 in
    pkg-config:*) pkg-config --exists "${1#*:}" 2>/dev/null ;;
    python:*) python3 -c "import ${1#*:}" 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing_elsewhere() {
    local row
    for row in $1; do
        is_there "${row%%=*}" || echo "${row#*=}"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif [ -t 0 ]; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

install_on_debian() {
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        echo "packages.sh: missing; as root run: apt-get install $*" >&2
        return 1
    fi
    echo "packages.sh: installing $*"
    local log
    log=$(mktemp)
    { as_root apt-get install -y --no-install-recommends "$@" ||
        { as_root apt-get update && as_root apt-get install -y --no-install-recommends "$@"; }; } >"$log" 2>&1 </dev/null || {
        tail -n 20 "$log" >&2
        rm -f "$log"
        echo "packages.sh: apt-get failed; missing are: $*" >&2
        return 1
    }
    rm -f "$log"
}

[ $# -gt 0 ] || { echo "usage: packages.sh build|tests..." >&2; exit 2; }
for what in "$@"; do
    [ -n "${debian[$what]-}" ] || { echo "packages.sh: $what is neither build nor tests" >&2; exit 2; }
    if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
        missing=$(missing_on_debian "${debian[$what]}")
        # shellcheck disable=SC2086 # names of packages, one a word
        [ -z "$missing" ] || install_on_debian $missing
    else
        missing=$(missing_elsewhere "${elsewhere[$what]}")
        if [ -n "$missing" ]; then
            echo "packages.sh: missing (names as in Fedora; on a cluster try: module load gcc cmake openmpi hdf5 hwloc):" >&2
            echo "$missing" | sed 's/^/  /' >&2
            exit 1
        fi
    fi
done
