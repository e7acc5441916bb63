"""The tour through all wrapped calls: test_tour.py PROBE TOUR RANKS [argument]. What each rank has recorded must be
exactly what the program says, and the program must have found its results right, with and without the probe."""
import sys

from run import Recording, check_communicators, differences


def main(library, tour, ranks, arguments):
    plain = Recording(None, ranks, [tour] + arguments)
    recorded = Recording(library, ranks, [tour] + arguments)
    faults = []
    if plain.code != 0:
        faults.append("without the probe it ended with %d: %s" % (plain.code, plain.err))
    if (recorded.code, recorded.out) != (plain.code, plain.out):
        faults.append("with the probe it ended with %d: %s" % (recorded.code, recorded.err))
    if plain.ranks or sorted(recorded.ranks) != list(range(ranks)):
        faults.append("segments of ranks %s" % sorted(recorded.ranks))
    for rank, s in sorted(recorded.ranks.items()):
        if s.faults or s.dropped or s.size != ranks or s.phase != 2 or s.level != (3 if arguments else 0):
            faults.append("rank %d: faults %d, dropped %d, size %d, phase %d, level %d" % (
                rank, s.faults, s.dropped, s.size, s.phase, s.level))
        faults += differences(s.lines(), recorded.expected(rank), "rank %d" % rank)
    faults += check_communicators(recorded.ranks)
    for fault in faults:
        print(fault)
    if not faults:
        print("%d ranks, %d lines" % (ranks, sum(len(s.lines()) for s in recorded.ranks.values())))
        recorded.close()
        plain.close()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]))
