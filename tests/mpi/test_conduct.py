"""The probe must not be noticed: test_conduct.py PROBE PROGRAM. Programs without MPI, errors, forks, programs that end
without MPI_Finalize."""
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import segments
from run import Recording, preload

FAILED = ["MPI_Send"] * 3 + ["MPI_Isend", "MPI_Irecv", "MPI_Recv", "MPI_Bcast", "MPI_Allreduce", "MPI_Barrier",
                             "MPI_Comm_dup", "MPI_Comm_free", "MPI_Wait", "MPI_Waitall", "MPI_Request_free",
                             "MPI_Start", "MPI_Recv"]
faults = []


def check(condition, what):
    if not condition:
        faults.append(what)


def without_mpi(library):
    """Preloaded into programs that have no MPI: same output, and nothing is recorded."""
    for command in (["/bin/true"], ["/bin/bash", "-c", "echo $((6 * 7))"], [sys.executable, "-c", "print(6 * 7)"]):
        folder = tempfile.mkdtemp(prefix="scaleprof-test-")
        env = dict(os.environ, LD_PRELOAD=preload(folder, [library]), SCALEPROF_RUN_DIR=folder)
        plain = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        probed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        check((plain.returncode, plain.stdout, plain.stderr) == (probed.returncode, probed.stdout, probed.stderr),
              "%s: %s" % (command, probed))
        check(segments.read_all(folder) == {}, "%s has left a segment" % command)
        shutil.rmtree(folder)


SITUATIONS = (("errors", 2, 1), ("children", 2, 1), ("abort", 3, 1), ("kill", 1, 1), ("unfinished", 1, 1), ("", 2, 2))


def run_both(library, program, name, ranks):
    return Recording(None, ranks, [program, name]), Recording(library, ranks, [program, name])


def with_mpi(library, program):
    """mpirun takes seconds to end a job that failed, so all run at once."""
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(run_both, library, program, name, ranks) for name, _, ranks in SITUATIONS]
    for (name, phase, ranks), run in zip(SITUATIONS, runs):
        plain, probed = run.result()
        check((plain.code, plain.out) == (probed.code, probed.out), "%s: %d %s %s, not %d %s" % (
            name, probed.code, probed.out, probed.err, plain.code, plain.out))
        check(sorted(probed.ranks) == list(range(ranks)), "%s: ranks %s" % (name, sorted(probed.ranks)))
        for rank, s in probed.ranks.items():
            check(s.phase == phase and s.faults == 0, "%s: phase %d, faults %d" % (name, s.phase, s.faults))
            check("MPI_Barrier bytes=0" in s.lines(), "%s: the barrier is lost" % name)
            if name == "errors":
                failed = [line.split()[0] for line in s.lines() if line.endswith("failed")]
                check(failed == FAILED, "failed calls: %s" % failed)
                check(not any("op=2" in line for line in s.lines()), "a call that failed has started an operation")
        probed.close()
        plain.close()


def main(library, program):
    without_mpi(library)
    with_mpi(library, program)
    # without a run folder the probe is loaded and records nothing
    folder = tempfile.mkdtemp(prefix="scaleprof-test-")
    r = Recording(None, 1, ["env", "LD_PRELOAD=" + preload(folder, [library]), program, ""], folder=folder)
    check(r.code == 0 and r.ranks == {}, "without a run folder: %d %s" % (r.code, r.err))
    r.close()
    print("\n".join(faults) if faults else "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
