#!/bin/bash
# run.sh [BUILD]: prints the figures that docs/performance.md keeps. Takes about three minutes on two idle cores.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build}
. "$root/jobs/mpi_here.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export PATH="$build:$PATH"

# cpu_seconds COMMAND...: user and system time of a command.
cpu_seconds() {
    /usr/bin/python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], capture_output=True, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.3f} {used.ru_maxrss}")' "$@"
}

echo "== the recorder"
"$build/tests/bench_record"
echo "== the MPI probe"
"$build/tests/mpi/bench_mpi" 2>/dev/null || mpirun -n 2 "$build/tests/mpi/bench_mpi"

echo "== train_mlp on 2 ranks, steps recorded and not in turn"
mpirun -n 2 scaleprof run -o alternate.h5 -- train_mlp --steps 4000 --quiet --alternate-recording --times times.txt
/usr/bin/python3 - <<'P'
import random, statistics
import h5py
rows = [line.split() for line in open("times.txt")]
pairs = {True: [], False: []}
for step, recorded, ns in rows[100:]:
    pairs[recorded == "1"].append(int(ns))
n = min(map(len, pairs.values()))
# Blocks of 40 neighbouring steps of each kind: neighbours share the machine's mood.
blocks = [statistics.median(pairs[True][i:i + 40]) - statistics.median(pairs[False][i:i + 40]) for i in range(0, n - 40, 40)]
random.seed(1)
means = sorted(statistics.mean(random.choices(blocks, k=len(blocks))) for _ in range(2000))
base = statistics.median(pairs[False])
print(f"unrecorded step {base / 1e3:.1f} us; recorded minus unrecorded {statistics.mean(blocks) / 1e3:+.2f} us "
      f"[{means[50] / 1e3:+.2f}, {means[-51] / 1e3:+.2f}] (95 %), {100 * statistics.mean(blocks) / base:+.2f} %")
with h5py.File("alternate.h5") as run:
    events = len(run["/events/begin_ns"]) / (len(rows) / 2) / len(run["/ranks/rank"])
print(f"{events:.1f} events in a recorded step of a rank, at about 55 ns each {events * 0.055:.2f} us")
P

echo "== run.h5, gather, reduce"
mpirun -n 2 scaleprof run --gather=0 -o run.h5 -- train_mlp --steps 40000 --size 8 --batch 2 --quiet
read -r gather gather_kib < <(cpu_seconds scaleprof gather run.h5.parts -o run.h5)
read -r reduce reduce_kib < <(cpu_seconds scaleprof reduce run.h5)
/usr/bin/python3 - "$gather" "$gather_kib" "$reduce" "$reduce_kib" <<'P'
import os, sys
import h5py
with h5py.File("run.h5") as run:
    events = len(run["/events/begin_ns"])
print(f"{events:,} events, {os.path.getsize('run.h5') / events:.2f} bytes an event")
for name, seconds, kib in (("gather", *sys.argv[1:3]), ("reduce", *sys.argv[3:5])):
    print(f"{name}: {float(seconds):.2f} s of CPU, {events / float(seconds) / 1e6:.2f} million events/s, "
          f"{int(kib) / 1024:.0f} MiB, process start and files included")
P
