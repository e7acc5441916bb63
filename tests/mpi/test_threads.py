"""Several threads in MPI at a time: test_threads.py PROBE PROGRAM RANKS ROUNDS. Each operation must end once, in the
thread that started it, with the bytes, peer and tag of its own message."""
import struct
import sys

from run import Recording, check_communicators
from segments import COLLECTIVE, COMPLETION, MESSAGE

THREADS, LENGTHS = 4, 7


def check_lane(s, lane, events, left, rounds):
    """Faults of one thread's events."""
    faults, started, tags, sequences = [], {}, set(), []
    for e in events:
        for d in e.details:
            if d[0] == MESSAGE:
                _, direction, _, _, _, peer, tag, order, size, op, _ = struct.unpack("<BBBBIiiqqQq", d)
                tags.add(tag)
                started[op] = (direction, order, tag)
            elif d[0] == COLLECTIVE:
                sequences.append(struct.unpack("<BBBBIiIqqqQ", d)[7])
            elif d[0] == COMPLETION:
                _, _, _, peer, tag, _, op, size = struct.unpack_from("<BBHiiIQq", d)
                if op not in started:
                    faults.append("lane %d ends operation %d, which is not its own or has ended" % (lane, op))
                    continue
                direction, order, posted = started.pop(op)
                wanted = (left, posted, 4 * (order % LENGTHS + 1)) if direction else (-1, -1, -1)
                if (peer, tag, size) != wanted:
                    faults.append("lane %d operation %d: %s, not %s" % (lane, op, (peer, tag, size), wanted))
    if started:
        faults.append("lane %d: %d operations without end" % (lane, len(started)))
    if len(tags) != 1 or sequences != list(range((rounds + 9) // 10)):
        faults.append("lane %d: tags %s, sequences %s" % (lane, tags, sequences))
    return faults


def main(library, program, ranks, rounds):
    r = Recording(library, ranks, [program, str(rounds)])
    faults = [] if r.code == 0 else ["it ended with %d: %s" % (r.code, r.err)]
    for rank, s in sorted(r.ranks.items()):
        workers = {n: e for n, e in s.lanes.items() if any(d[0] == MESSAGE for x in e for d in x.details)}
        if s.faults or s.dropped or s.level != 3 or len(workers) != THREADS:
            faults.append("rank %d: faults %d, dropped %d, level %d, lanes %d" % (rank, s.faults, s.dropped, s.level,
                                                                                  len(workers)))
        for lane, events in workers.items():
            faults += ["rank %d %s" % (rank, f) for f in check_lane(s, lane, events, (rank + ranks - 1) % ranks,
                                                                     rounds)]
    faults += check_communicators(r.ranks)
    print("\n".join(faults[:20]) if faults else "%d ranks, %d events" % (ranks, sum(len(s.calls()) for s in
                                                                                    r.ranks.values())))
    r.close()
    return 1 if faults or len(r.ranks) != ranks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
