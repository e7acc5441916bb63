"""test_run.py SCALEPROF JOB: what `scaleprof run` does to a job (nothing), and what is left of a run however it ends."""
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

SCALEPROF, JOB = sys.argv[1:3]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")
OK, FAILED, KILLED, OPEN, MISSING = range(5)


def run(*command, stdin="", ranks=None, **more):
    launcher = ["mpirun", "-n", str(ranks)] if ranks else []
    return subprocess.run(launcher + list(command), input=stdin, capture_output=True, text=True, env=ENVIRONMENT,
                          timeout=120, **more)


def record(*command, ranks=None, options=(), **more):
    return run(SCALEPROF, "run", "-o", "run.h5", *options, "--", *command, ranks=ranks, **more)


def column(name, path="run.h5"):
    with h5py.File(path, "r") as file:
        return list(file[name][:])


def events_per_rank():
    return column("/ranks/event_count")


def check(condition, what):
    assert condition, what


def lines_without_ours(text):
    return sorted(line for line in text.splitlines() if not line.startswith("scaleprof:"))


def test_one_process_without_mpirun():
    done = record(JOB, stdin="hello\n")
    check(done.returncode == 0, done)
    check(done.stdout == "rank 0 hello\n", done.stdout)
    check(lines_without_ours(done.stderr) == ["error stream of rank 0"], done.stderr)
    check(column("/ranks/status") == [OK], "status")
    check(events_per_rank()[0] >= 102, events_per_rank())
    check(not os.path.exists("run.h5.parts"), "parts are left")


def test_four_ranks_print_what_they_print_alone():
    alone = run(JOB, ranks=4, stdin="hello\n")
    done = record(JOB, ranks=4, stdin="hello\n")
    check(done.returncode == alone.returncode == 0, done)
    check(sorted(done.stdout.splitlines()) == sorted(alone.stdout.splitlines()), done.stdout)
    check(lines_without_ours(done.stderr) == lines_without_ours(alone.stderr), done.stderr)
    check(column("/ranks/rank") == [0, 1, 2, 3] and column("/ranks/status") == [OK] * 4, "ranks")
    check(min(events_per_rank()) >= 102, events_per_rank())


def test_exit_codes_of_programs_without_mpi():
    for command, code in ((["true"], 0), (["sh", "-c", "exit 3"], 3), (["bash", "-c", "true"], 0),
                          ([sys.executable, "-c", "raise SystemExit(7)"], 7)):
        done = record(*command)
        check(done.returncode == code, (command, done))
        check("nothing was recorded" in done.stderr, done.stderr)
        check(not os.path.exists("run.h5") and not os.path.exists("run.h5.parts"), os.listdir("."))


def test_commands_that_cannot_start():
    for command, code, words in (("./absent", 127, "not found"), ("/etc/passwd", 126, "Permission denied"),
                                 ("/", 126, "Permission denied")):
        done = record(command)
        check(done.returncode == code and words in done.stderr, (command, done))
        check(done.stderr.count("\n") == 1, done.stderr)
        check(os.listdir(".") == [], os.listdir("."))
    done = run(SCALEPROF, "run", "-o", "run.h5")
    check(done.returncode == 2 and "no command" in done.stderr, done)


def test_a_signal_ends_both_alike():
    done = record("sh", "-c", "kill -SEGV $$")
    check(done.returncode == -signal.SIGSEGV, done)
    done = record(JOB, "kill")
    check(done.returncode == -signal.SIGKILL, done)
    check(column("/ranks/status") == [KILLED] and column("/ranks/exit_code") == [137], "status")
    check(events_per_rank()[0] >= 101, events_per_rank())


def test_a_failing_rank_fails_the_job_and_is_recorded():
    alone = run(JOB, "exit", "2", ranks=4)
    done = record(JOB, "exit", "2", ranks=4)
    check(done.returncode == alone.returncode == 3, (done, alone))
    gather_if_needed()
    check(column("/ranks/status")[2] == FAILED and column("/ranks/exit_code")[2] == 3, column("/ranks/status"))
    check(min(events_per_rank()) >= 101, events_per_rank())


def gather_if_needed():
    if os.path.exists("run.h5"):
        return
    done = run(SCALEPROF, "gather", "run.h5.parts", "-o", "run.h5")
    check(done.returncode == 0, done)


def test_abort_loses_nothing():
    alone = run(JOB, "abort", "1", ranks=4)
    done = record(JOB, "abort", "1", ranks=4)
    check(done.returncode == alone.returncode, (done, alone))
    gather_if_needed()
    check(len(events_per_rank()) == 4 and min(events_per_rank()) >= 101, events_per_rank())


def test_ends_without_finalize_and_calls_after_it():
    done = record(JOB, "nofinalize")
    check(done.returncode == 0, done)
    check(events_per_rank()[0] >= 101, events_per_rank())
    done = record(JOB, "after", options=["--force"])
    check(done.returncode == 0, done)
    check(column("/ranks/mpi_phase") == [2], "phase")


def test_an_existing_output_stays_without_force():
    check(record(JOB).returncode == 0, "first")
    before = open("run.h5", "rb").read()
    done = record(JOB)
    check(done.returncode == 2 and "--force" in done.stderr and done.stdout == "", done)
    check(open("run.h5", "rb").read() == before, "the output changed")
    done = record(JOB, options=["--force"])
    check(done.returncode == 0 and open("run.h5", "rb").read() != before, done)
    done = record(JOB, ranks=4)
    check(done.returncode != 0 and done.stderr.count("--force") == 1 and done.stdout == "", done)


def test_results_are_those_of_the_run_that_is_there():
    check(record(JOB).returncode == 0 and run(SCALEPROF, "report", "run.h5").returncode == 0, "first")
    old = open("run.analysis.h5", "rb").read()
    check(record(JOB, options=["--force"]).returncode == 0, "second")
    check(not os.path.exists("run.analysis.h5"), "the old results are left")
    open("run.analysis.h5", "wb").write(old)
    done = run(SCALEPROF, "report", "run.h5")
    check(done.returncode == 0 and "not reduced yet" in done.stderr, done)
    check("not reduced yet" not in run(SCALEPROF, "report", "run.h5").stderr, "reduced twice")


def test_an_output_that_cannot_be_written():
    done = run(SCALEPROF, "run", "-o", "absent/run.h5", "--", JOB)
    check(done.returncode == 6 and "absent/run.h5" in done.stderr and done.stdout == "", done)


def start_waiting(output):
    return subprocess.Popen([SCALEPROF, "run", "-o", output, "--", JOB, "wait"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


def wait_for(condition, what):
    end = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < end, what)
        time.sleep(0.01)


def child_of(process):
    return int(open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()[0])


def test_two_runs_at_once():
    first = start_waiting("one.h5")
    first.stdout.readline()
    second = start_waiting("two.h5")
    second.stdout.readline()
    third = run(SCALEPROF, "run", "--force", "-o", "one.h5", "--", JOB)
    check(third.returncode == 2 and "another run" in third.stderr, third)
    open("stop", "w").close()
    for process in (first, second):
        process.communicate(timeout=60)
        check(process.returncode == 0, process.returncode)
    check(all(len(column("/ranks/rank", name)) == 1 for name in ("one.h5", "two.h5")), "ranks")


def test_a_killed_agent_loses_nothing():
    agent = start_waiting("run.h5")
    agent.stdout.readline()
    job = child_of(agent)
    agent.kill()
    agent.wait()
    open("stop", "w").close()
    wait_for(lambda: not os.path.exists(f"/proc/{job}") or
             open(f"/proc/{job}/stat").read().rsplit(")", 1)[1].split()[0] == "Z", "the job did not end")
    done = run(SCALEPROF, "gather", "run.h5.parts", "-o", "run.h5")
    check(done.returncode == 0, done)
    check(events_per_rank()[0] >= 102, events_per_rank())
    check(column("/ranks/status") == [OPEN], column("/ranks/status"))
    for folder in glob.glob(f"/dev/shm/scaleprof-*/{agent.pid}"):
        subprocess.run(["rm", "-rf", os.path.dirname(folder)], check=True)


def test_a_term_reaches_the_command():
    agent = start_waiting("run.h5")
    agent.stdout.readline()
    agent.terminate()
    agent.communicate(timeout=60)
    check(agent.returncode == -signal.SIGTERM, agent.returncode)
    check(column("/ranks/status") == [KILLED] and events_per_rank()[0] >= 101, "record")


def test_wrong_run_files():
    open("text.h5", "w").write("no HDF5")
    open("empty.h5", "w").close()
    for name, code in (("text.h5", 4), ("empty.h5", 4), ("absent.h5", 6), (".", 4)):
        for command in ("reduce", "report"):
            done = run(SCALEPROF, command, name)
            check(done.returncode == code and name in done.stderr, (command, name, done))
    check(record(JOB).returncode == 0, "record")
    whole = open("run.h5", "rb").read()
    for part in (0.2, 0.6, 0.99):
        open("cut.h5", "wb").write(whole[:int(len(whole) * part)])
        done = run(SCALEPROF, "reduce", "cut.h5")
        check(done.returncode == 4 and "cut.h5" in done.stderr, done)
    with h5py.File("run.h5", "r+") as file:
        file.attrs["format_version"] = numpy.bytes_("9.0")
    done = run(SCALEPROF, "reduce", "run.h5")
    check(done.returncode == 4 and "newer" in done.stderr, done)


def test_wrong_commands():
    for arguments, words in ((["reprot"], "report"), (["run", "--memroy", "1M", "--", "true"], "--memory"),
                             (["run", "--memory", "much", "--", "true"], "--memory"), (["gather"], "folder"),
                             (["report"], "run file")):
        done = run(SCALEPROF, *arguments)
        check(done.returncode == 2 and words in done.stderr, (arguments, done))
    check(run(SCALEPROF).returncode == 2 and run(SCALEPROF, "--help").returncode == 0, "help")


def test_options_before_the_command():
    for options in (["-m", "1M"], ["--memory", "1M"], ["--memory=1M"], ["-f", "-m", "1M"]):
        for separator in (["--"], []):
            done = run(SCALEPROF, "run", *options, "-o", "run.h5", *separator, "sh", "-c", "exit 9")
            check(done.returncode == 9, (options, separator, done))


def test_a_probe_that_does_not_exist():
    done = record(JOB, options=["--probes", "mpi,mpo"])
    check(done.returncode == 2 and "no probe mpo" in done.stderr and "nvtx" in done.stderr, done)
    check(done.stdout == "" and os.listdir(".") == [], (done, os.listdir(".")))
    check(record(JOB, options=["--probes", "mpi"]).returncode == 0 and events_per_rank()[0] >= 102, "mpi alone")


def main():
    failed = 0
    wanted = sys.argv[3:]
    tests = [(name, test) for name, test in sorted(globals().items()) if name.startswith("test_")]
    for name, test in tests:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="scaleprof e2e ") as folder:
            os.chdir(folder)
            try:
                test()
                print(f"{name}: passed", flush=True)
            except (AssertionError, OSError, KeyError, subprocess.TimeoutExpired) as fault:
                failed += 1
                print(f"{name}: failed: {fault}", flush=True)
            os.chdir("/")
    print(f"{len(tests)} tests, {failed} failed")
    return failed > 0


sys.exit(main())
