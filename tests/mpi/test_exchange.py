"""Clock exchange between ranks whose clocks differ by a known offset: test_exchange.py PROBE TWIN. Time namespaces give
two of the ranks other clocks; skipped (77) where the system does not allow them."""
import shlex
import subprocess
import sys

from run import Recording

AHEAD_S = {1: 1000, 2: 2000000}  # rank: how far its clock is ahead of rank 0's
RANK = "$OMPI_COMM_WORLD_RANK"


def record_one(library, twin):
    """A script that records rank 0 only, on what it says are several hosts: nobody must wait for an exchange."""
    script = "export OMPI_COMM_WORLD_LOCAL_SIZE=1; [ %s = 0 ] || unset LD_PRELOAD; %s; exit $?" % (
        RANK, shlex.quote(twin))
    one = Recording(library, 2, ["/bin/sh", "-c", script])
    found = one.code == 0 and sorted(one.ranks) == [0] and one.ranks[0].phase == 2
    one.close()
    return [] if found else ["one rank recorded: %d, ranks %s" % (one.code, sorted(one.ranks))]


def main(library, twin):
    faults = record_one(library, twin)
    probe = subprocess.run(["unshare", "--time", "--monotonic", "1", "--fork", "true"], stderr=subprocess.DEVNULL)
    if probe.returncode != 0:
        print("\n".join(faults) if faults else "no time namespaces here")
        return 1 if faults else 77
    ahead = "".join("[ %s = %d ] && exec unshare --time --monotonic %d --fork %s;" % (
        RANK, rank, s, shlex.quote(twin))
                    for rank, s in AHEAD_S.items())
    command = ["/bin/sh", "-c", ahead + "exec " + shlex.quote(twin)]
    always = Recording(library, 4, command, {"SCALEPROF_EXCHANGE": "always"})
    auto = Recording(library, 4, command)
    if always.code != 0 or auto.code != 0:
        faults.append("ended with %d, %d: %s %s" % (always.code, auto.code, always.err, auto.err))
    if any(s.clocks or s.faults for s in auto.ranks.values()):
        faults.append("an exchange on one host that nobody asked for")
    for rank, s in sorted(always.ranks.items()):
        if len(s.clocks) != (2 if rank in AHEAD_S else 0) or s.faults:
            faults.append("rank %d: %d bursts, %d faults" % (rank, len(s.clocks), s.faults))
        for exchanges, peer, _, low, high, _ in s.clocks:
            truth = -AHEAD_S[rank] * 10**9
            if not low <= truth <= high or exchanges != 64 or peer != always.ranks[0].domain:
                faults.append("rank %d: %d is not in [%d, %d], %d exchanges" % (rank, truth, low, high, exchanges))
    print("\n".join(faults) if faults else "half-widths %s ns" % [
        (high - low) // 2 for s in always.ranks.values() for _, _, _, low, high, _ in s.clocks])
    always.close()
    auto.close()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
