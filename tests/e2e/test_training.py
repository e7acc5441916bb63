"""test_training.py SCALEPROF TRAIN_MLP: a real training with planted causes, from mpirun to --json. The planted rank
is named, nobody is named where nothing is planted, and a reader of its own (h5py) agrees with every number."""
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy

SCALEPROF, TRAIN = (os.path.abspath(path) for path in sys.argv[1:3])
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")
STEPS = 100
PARTS = ("compute", "transfer", "wait", "mpi_call", "copy", "idle_launch", "idle_host", "idle_sync", "idle_input",
         "idle_unexplained")
CHRONIC, FROM_STEP = 0, 1
CPU_WORK, OFF_CPU = 1, 2


def command(*words):
    done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False)
    assert done.returncode == 0, done
    return done.stdout


def report_of(ranks, *options):
    """Records, reduces and reports one training; the report as --json has it."""
    command("mpirun", "-n", str(ranks), SCALEPROF, "run", "--force", "-o", "run.h5", "--",
            TRAIN, "--quiet", "--steps", str(STEPS), *options)
    command(SCALEPROF, "reduce", "run.h5")
    return json.loads(command(SCALEPROF, "report", "--json", "run.h5"))


def only_late_rank(report):
    late = report["analysis"]["late_ranks"]
    assert len(late["rank"]) == 1, late
    return {name: values[0] for name, values in late.items()}


def is_crowded(late, planted_us):
    """Others use the cores too: a rank that works more then also loses its core more, and that is a cause as true."""
    return late["lateness_ns"] > 1250 * planted_us


def is_cpu_work(late, planted_us):
    return late["cpu_excess_ns"] > 600 * planted_us and (is_crowded(late, planted_us) or late["cause"] == CPU_WORK)


def test_late_by_cpu():
    late = only_late_rank(report_of(4, "--late-rank", "2", "--late-us", "6000", "--late-by", "cpu"))
    assert (late["rank"], late["pattern"]) == (2, CHRONIC) and is_cpu_work(late, 6000), late


def test_late_by_sleep():
    late = only_late_rank(report_of(4, "--late-rank", "3", "--late-us", "6000", "--late-by", "sleep"))
    assert (late["rank"], late["pattern"], late["cause"]) == (3, CHRONIC, OFF_CPU), late


def test_slow_from_a_step_on():
    late = only_late_rank(report_of(2, "--slow-rank", "1", "--slow-from", "50", "--slow-us", "8000"))
    assert (late["rank"], late["pattern"]) == (1, FROM_STEP) and is_cpu_work(late, 8000), late
    assert abs(late["first_step"] - 50) <= 2 or is_crowded(late, 8000), late


def test_late_where_the_work_sleeps():
    late = only_late_rank(report_of(2, "--sleep-work", "4000", "--late-rank", "1"))
    assert (late["rank"], late["pattern"], late["cause"]) == (1, CHRONIC, OFF_CPU), late
    # where all ranks sleep, CPU time is no sure evidence of work, but must not be read as the opposite
    late = only_late_rank(report_of(2, "--sleep-work", "4000", "--late-rank", "1", "--late-by", "cpu"))
    assert (late["rank"], late["pattern"]) == (1, CHRONIC) and late["cause"] != OFF_CPU, late


def test_nobody_is_named_for_nothing():
    for ranks, options in ((4, ()), (2, ()), (2, ("--large-last-bucket", "--no-overlap"))):
        late = report_of(ranks, "--sleep-work", "5000", *options)["analysis"]["late_ranks"]
        assert late["rank"] == [], (ranks, options, late)


def texts(file, group):
    bytes_, ends = file[group + "/bytes"][:].tobytes(), file[group + "/end"][:]
    starts = [0, *ends[:-1]]
    return [bytes_[begin:end].decode() for begin, end in zip(starts, ends)]


def compare_table(group, table, own_texts, run_texts):
    """Every column of the report's `table` is what h5py reads; texts stand for numbers of strings."""
    for name, values in table.items():
        stored = group[name][:].tolist()
        if values and isinstance(values[0], str):
            own = group[name].attrs["unit"] == b"string of /analysis/strings"
            stored = [(own_texts if own else run_texts)[number] for number in stored]
        assert values == stored, (group.name, name)


def test_another_reader_agrees():
    report = report_of(3, "--late-rank", "0")
    with h5py.File("run.h5", "r") as file:
        group_of = {"message_pairs": "messages", "site_names": "sites"}
        own_texts, run_texts = texts(file, "/analysis/strings"), texts(file, "/strings")
        for name, table in report["analysis"].items():
            compare_table(file["/analysis/" + group_of.get(name, name)], table, own_texts, run_texts)
        assert report["run"]["ranks"]["rank"] == file["/ranks/rank"][:].tolist() == [0, 1, 2]
        assert sum(report["run"]["ranks"]["event_count"]) == len(file["/events/begin_ns"])
        assert report["analysis"]["steps"]["number"] == list(range(STEPS))
        check_partition(file)
        check_waits(file)


def check_partition(file):
    """The parts of a step add up to it on every rank, in exact integers, and none is negative."""
    rows = file["/analysis/partition"]
    parts = numpy.array([rows[part + "_ns"][:] for part in PARTS])
    assert parts.dtype == numpy.int64 and parts.shape[1] == 3 * STEPS and (parts >= 0).all()
    assert (parts.sum(axis=0) == rows["end_ns"][:] - rows["begin_ns"][:]).all()


def check_waits(file):
    """Who waited how long in each allreduce, computed here from the events alone: until the last member came."""
    members, allreduce = {}, 4
    begins, durations = file["/events/begin_ns"][:], file["/events/duration_ns"][:]
    rows = file["/collectives"]
    for communicator, kind, sequence, event, done in zip(*(rows[name][:] for name in (
            "communicator", "kind", "sequence", "event", "done_event"))):
        members.setdefault((communicator, kind, sequence), []).append(
            (begins[event], begins[done] + durations[done]))
    found = file["/analysis/instances"]
    compared = 0
    for communicator, kind, sequence, wait_ns in zip(*(found[name][:] for name in (
            "communicator", "kind", "sequence", "wait_ns"))):
        arrivals = members[(communicator, kind, sequence)]
        if kind == allreduce:
            last = max(begin for begin, _ in arrivals)
            expected = sum(min(max(last - begin, 0), end - begin) for begin, end in arrivals)
            assert len(arrivals) == 3 and wait_ns == expected, (communicator, sequence, wait_ns, expected)
            compared += 1
    assert compared == 4 * STEPS + STEPS // 10 + 1 + 2, compared  # buckets; losses; the program's own checks


def main():
    failed = 0
    for name, test in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test()
                print(f"{name}: passed")
            except AssertionError as failure:
                failed += 1
                print(f"{name}: failed: {str(failure)[:2000]}")
            os.chdir("/")
    print(f"{failed} failed")
    return failed > 0


sys.exit(main())
