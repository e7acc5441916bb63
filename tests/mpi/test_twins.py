"""Programs that do the same in other languages must give the same rows: test_twins.py PROBE RANKS TWIN ... where the
first is the C program; a twin may be a Python script. The calls of a compiled twin must be at places in the program
itself, in the order of its text."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from run import Recording, differences


def run(library, ranks, twin):
    return Recording(library, ranks, [sys.executable, twin] if twin.endswith(".py") else [twin])


def lines(segment):
    """Without the start (mpi4py asks for threads)."""
    return [x for x in segment.lines() if not x.startswith("MPI_Init")]


def check_sites(s, twin):
    places = [s.sites.get(e.site, (0, 0)) for e in s.calls()]
    modules = {s.strings.get(module) for module, _ in places}
    if modules != {os.path.realpath(twin)}:
        return ["%s: calls are placed in %s" % (twin, modules)]
    offsets = [offset for _, offset in places]
    back = sum(a > b for a, b in zip(offsets, offsets[1:]))  # a compiler puts one of two branches elsewhere
    return [] if len(set(offsets)) == len(offsets) and back <= 1 else ["%s: places %s" % (twin, offsets)]


def main(library, ranks, twins):
    with ThreadPoolExecutor(2) as pool:
        plain_runs = [pool.submit(run, None, ranks, twin) for twin in twins]
        runs = [pool.submit(run, library, ranks, twin) for twin in twins]
    plain_runs, runs = [r.result() for r in plain_runs], [r.result() for r in runs]
    faults, first = [], runs[0]
    if first.code != 0 or len(first.ranks) != ranks or len(lines(first.ranks[0])) < 60:
        faults.append("%s ended with %d, %d ranks recorded" % (twins[0], first.code, len(first.ranks)))
    for twin, plain, other in zip(twins, plain_runs, runs):
        if plain.code != 0 or other.code != 0 or sorted(other.out.split("\n")) != sorted(first.out.split("\n")) or \
                sorted(plain.out.split("\n")) != sorted(other.out.split("\n")):
            faults.append("%s: %d, %d: %r, unrecorded %r, in C %r %s" % (
                twin, plain.code, other.code, other.out, plain.out, first.out, other.err))
        if sorted(other.ranks) != sorted(first.ranks):
            faults.append("%s: ranks %s" % (twin, sorted(other.ranks)))
            continue
        for rank, s in sorted(other.ranks.items()):
            faults += differences(lines(s), lines(first.ranks[rank]), "%s rank %d" % (twin, rank))
            if not twin.endswith(".py"):
                faults += check_sites(s, twin)
    for r in plain_runs + runs:
        r.close()
    print("\n".join(faults) if faults else "%d twins are equal" % len(twins))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
