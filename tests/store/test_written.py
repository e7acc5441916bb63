"""test_written.py STORE_TOOL: h5py reads what any number of processes have written in any way."""
import os
import shutil
import stat
import subprocess
import sys

import h5py

from files import ENVIRONMENT, TOOL, check, datasets, expected, run, run_tests

EVENTS = 150001


def check_content(path):
    found = datasets(path)
    check(len(found) > 130 and len(found["/events/begin_ns"]) == EVENTS, len(found))
    for name, values in found.items():
        if not name.startswith("/analysis"):
            wanted = expected(name, values.dtype, len(values))
            check((values == wanted).all(), (name, (values != wanted).nonzero()))
    return {name: len(values) for name, values in found.items()}


def test_equal_content_however_it_is_written():
    shapes = None
    for ranks, ways in ((None, "blocks last pieces append"), (1, "blocks"), (2, "pieces"), (3, "append blocks"),
                        (5, "last pieces")):
        for way in ways.split():
            done = run("write", "run.h5", way, "force", ranks=ranks)
            check(done.returncode == 0 and done.stdout == "", (ranks, way, done))
            got = check_content("run.h5")
            check(shapes in (None, got), (ranks, way))
            shapes = got
            check(sorted(os.listdir()) == ["run.h5"], os.listdir())
    check(min(shapes.values()) == 0 and len(set(shapes.values())) > 5, shapes)


def test_it_reads_back_what_it_wrote():
    for ranks in (None, 3):
        run("write", "run.h5", "blocks", "force", ranks=ranks)
        done = run("read", "run.h5")
        check(done.returncode == 0 and done.stderr == "", done)
        found = datasets("run.h5")
        for line in done.stdout.splitlines():
            path, _, rows, *columns = line.split()
            for column in columns:
                name, total = column.split("=")
                values = found[path + "/" + name]
                check(len(values) == int(rows), line)
                check(float(total) == float(sum(values.tolist())) or abs(float(total)) > 2**53, (path, name))


def test_attributes():
    run("write", "run.h5", "blocks")
    with h5py.File("run.h5", "r") as file:
        facts = {name: value.decode() for name, value in file.attrs.items()}
        check(facts["format"] == "scaleprof" and facts["format_version"] == "1.0", facts)
        check(facts["tool_version"] == "1.2.3" and facts["content"] == "recording", facts)
        check(len(facts["created_utc"]) == 20 and facts["created_utc"].endswith("Z"), facts)
        begin, kind = file["/events/begin_ns"], file["/events/kind"]
        check(begin.attrs["unit"] == b"ns" and begin.attrs["meaning"] == b"begin", dict(begin.attrs))
        check(kind.attrs["values"].startswith(b"0 none, 1 step, 2 range, 3 mpi_call,"), kind.attrs["values"])
        flags = file["/events/flags"].attrs["values"]
        check(flags.startswith(b"1 open, 2 clipped, 4 in_graph,") and flags.endswith(b"128 failed"), flags)
        kinds = file["/collectives/kind"].attrs["values"]
        check(kinds.startswith(b"0 unknown, 1 barrier, 2 broadcast,"), kinds)
        check(b"interval" in file["/events"].attrs["meaning"], dict(file["/events"].attrs))

        def described(name, item):
            if isinstance(item, h5py.Dataset):
                check(item.attrs["unit"] and item.attrs["meaning"], name)
                check(item.maxshape == (None,) and item.compression == "gzip", name)

        file.visititems(described)


def test_small_files_are_small():
    run("write", "run.h5", "analysis")
    check(os.path.getsize("run.h5") < 700000, os.path.getsize("run.h5"))


def test_the_link_follows_both_files():
    os.mkdir("there")
    run("write", "run.h5", "blocks")
    with h5py.File("run.h5", "r") as file:
        check("/analysis" not in file or file.get("/analysis", getlink=True).filename == "run.analysis.h5", "link")
    run("write", "run.analysis.h5", "analysis")
    os.rename("run.h5", "there/run.h5")
    os.rename("run.analysis.h5", "there/run.analysis.h5")
    with h5py.File("there/run.h5", "r") as file:
        values = file["/analysis/steps/number"][:]
        check(len(values) > 0 and (values == expected("/analysis/steps/number", values.dtype, len(values))).all(),
              values)


def test_only_the_owner_reads_it():
    old = os.umask(0)
    for ranks in (None, 2):
        run("write", "run.h5", "blocks", "force", ranks=ranks)
        check(stat.S_IMODE(os.stat("run.h5").st_mode) == 0o600, ranks)
    os.umask(old)


def test_a_killed_writer_leaves_the_partial_file_only():
    done = run("write", "run.h5", "killed")
    check(done.returncode == -9 and os.listdir() == ["run.h5.partial"], os.listdir())
    done = run("write", "run.h5", "blocks", ranks=2)
    check(done.returncode == 0 and os.listdir() == ["run.h5"], (done, os.listdir()))
    check_content("run.h5")
    run("write", "run.h5", "killed", "force")
    check_content("run.h5")


def test_two_writers_at_once():
    with subprocess.Popen([TOOL, "write", "run.h5", "waiting"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, env=ENVIRONMENT) as first:
        check(first.stdout.readline() == "ready\n", "first")
        second = run("write", "run.h5", "blocks", "force")
        check(second.returncode == 6 and "run.h5.partial is being written" in second.stderr, second)
        first.communicate("\n")
        check(first.returncode == 0, first.returncode)
    check_content("run.h5")


def test_a_file_that_appears_meanwhile_stays():
    with subprocess.Popen([TOOL, "write", "run.h5", "waiting"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as first:
        first.stdout.readline()
        with open("run.h5", "w", encoding="ascii") as other:
            other.write("another's")
        _, said = first.communicate("\n")
        check(first.returncode == 6 and "run.h5 exists" in said, said)
    check(os.listdir() == ["run.h5"] and open("run.h5", encoding="ascii").read() == "another's", os.listdir())


def test_what_stands_in_the_way_stays():
    with open("precious", "w", encoding="ascii") as file:
        file.write("text")
    for place in (os.link, os.symlink):
        place("precious", "run.h5.partial")
        done = run("write", "run.h5", "blocks")
        check(done.returncode == 6 and "run.h5.partial" in done.stderr and "run.h5" not in os.listdir(), done)
        os.unlink("run.h5.partial")
    check(open("precious", encoding="ascii").read() == "text", "precious")
    os.mkdir("run.h5.partial")
    check(run("write", "run.h5", "blocks").returncode == 6, "folder")


def test_places_that_cannot_be_written():
    for path in ("absent/run.h5", "precious/run.h5", "/proc/run.h5"):
        for ranks in (None, 2) if path.startswith("absent") else (None,):
            done = run("write", path, "blocks", ranks=ranks)
            check(done.returncode in ((6, 7) if ranks else (6,)), done)
            check(done.stderr.count(path + ".partial cannot be written") == 1, done)
    if os.geteuid() != 0:
        os.mkdir("closed", 0o500)
        done = run("write", "closed/run.h5", "blocks")
        check(done.returncode == 6 and "closed/run.h5.partial cannot be written: Permission denied" in done.stderr,
              done)


def test_processes_that_do_not_see_one_file():
    os.mkdir("apart")
    for left in (False, True):
        if left:
            shutil.copy(sys.executable, "apart/run.h5.partial")
        done = run("write", "run.h5", "apart", ranks=3)
        check(done.returncode in (6, 7) and done.stderr.count("is not seen by 2 of the 3 processes") == 1, done)
        check(os.listdir() == ["apart"] and len(os.listdir("apart")) == left, os.listdir())


run_tests(dict(globals()))
