"""test_read.py STORE_TOOL: files that are not what we write get one clear line and an exit code, or are read right."""
import os
import shutil
import tempfile

import h5py
import numpy

from files import check, expected, run, run_tests

ROWS = 150001
BEGIN = "/events/begin_ns"


GOOD = tempfile.TemporaryDirectory(prefix="scaleprof store ")


def make(path="run.h5"):
    """A good file to damage; written once."""
    good = os.path.join(GOOD.name, "good.h5")
    if not os.path.exists(good):
        check(run("write", good, "blocks").returncode == 0, "good")
    shutil.copy(good, path)
    return path


def read():
    done = run("read", "run.h5")
    check(done.returncode >= 0, done)
    return done


def refused(words, code=4):
    done = read()
    check(done.returncode == code and words in done.stderr and done.stderr.count("\n") == 1, done)
    check("run.h5" in done.stderr, done.stderr)


def replace(path, **how):
    """The good file with one dataset made otherwise."""
    make()
    with h5py.File("run.h5", "r+") as file:
        values = file[path][:]
        del file[path]
        how.setdefault("data", values)
        if callable(how["data"]):
            how["data"] = how["data"](values)
        how.setdefault("chunks", (65536,))
        file.create_dataset(path, **how)


def totals(line_of, done):
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] == line_of:
            return {name: float(total) for name, total in (word.split("=") for word in words[3:])}, int(words[2])
    raise AssertionError(done)


def begin_total():
    return float(sum(expected(BEGIN, numpy.dtype("i8"), ROWS).tolist()))


def read_well():
    done = read()
    check(done.returncode == 0 and done.stderr == "", done)
    found, rows = totals("/events", done)
    check(rows == ROWS and abs(found["begin_ns"] / begin_total() - 1) < 1e-12, (rows, found))
    return done


def test_not_hdf5():
    for content, words in ((b"", "run.h5 is empty"), (b"text" * 1000, "run.h5 is not a run file (it is not HDF5)")):
        with open("run.h5", "wb") as file:
            file.write(content)
        refused(words)
    os.unlink("run.h5")
    refused("run.h5 cannot be read: No such file or directory", 6)
    os.mkdir("run.h5")
    refused("run.h5 is a folder, not a run file")


def test_hdf5_of_others():
    with h5py.File("run.h5", "w") as file:
        file["/events/begin_ns"] = [1, 2, 3]
    refused("run.h5 is HDF5, but not a file of scaleprof")


def test_versions():
    for version, words in (("2.0", "use a newer scaleprof"), ("900000.1", "use a newer scaleprof"),
                           ("x", "not a file of scaleprof"), ("-1.0", "not a file of scaleprof"),
                           ("1" * 5000, "not a file of scaleprof"), (numpy.arange(9), "not a file of scaleprof")):
        make()
        with h5py.File("run.h5", "r+") as file:
            file.attrs["format_version"] = numpy.bytes_(version) if isinstance(version, str) else version
        refused(words)
    make()
    with h5py.File("run.h5", "r+") as file:
        file.attrs["format_version"] = numpy.bytes_("1.7")
        file["/events/of_a_later_version"] = numpy.arange(5)
        file["/a_later_table/x"] = numpy.arange(5)
    read_well()


def test_cut_off_at_any_length():
    length = os.path.getsize(make())
    for end in list(range(1, 20000, 1999)) + list(range(20000, length, length // 40)) + [length - 1]:
        make()
        os.truncate("run.h5", end)
        done = read()
        check(done.returncode == 4 and "run.h5" in done.stderr and done.stderr.count("\n") == 1, (end, done))
        check(end < 8 or "is cut off or damaged" in done.stderr, (end, done))


def test_missing_tables_and_columns():
    make()
    with h5py.File("run.h5", "r+") as file:
        del file["/counters"]
        del file["/events/cause"]
        del file["/events/name"]
        del file["/events/kind"]
    done = read_well()
    found, _ = totals("/events", done)
    check(found["cause"] == -ROWS and found["name"] == 0 and found["kind"] == 0, found)
    check(totals("/counters", done)[1] == 0, done)


def test_columns_of_different_length():
    replace(BEGIN, data=lambda values: values[:-1])
    refused("the columns of /events differ in length")


def test_columns_of_another_shape():
    for how, words in (
            ({"data": lambda values: values.astype("f8")}, "another type"),
            ({"data": lambda values: values.astype("i4")}, "another type"),
            ({"data": lambda values: values.astype("S8")}, "another type"),
            ({"data": lambda values: values[:150000].reshape(3, 50000), "chunks": (1, 50000)}, "one dimension"),
            ({"data": 7, "chunks": None}, "one dimension"),
            ({"chunks": None}, "chunks of the file"),
            ({"data": lambda values: values[:5], "chunks": (2**22,), "maxshape": (None,)}, "chunks are too large"),
            ({"compression": "lzf"}, "a filter that is not there")):
        replace(BEGIN, **how)
        refused(words)


def test_other_ways_to_store_the_same():
    for how in ({"compression": 9}, {"compression": 1, "shuffle": True, "fletcher32": True}, {},
                {"compression": 1, "shuffle": True, "chunks": (1000,)}, {"dtype": ">i8", "compression": 1,
                                                                         "shuffle": True}):
        replace(BEGIN, **how)
        read_well()


def test_more_rows_than_bytes():
    for rows in (10**6, 2**40, 2**60, 2**63 - 1):
        make()
        with h5py.File("run.h5", "r+") as file:
            for name in file["/events"]:
                file["/events"][name].resize((rows,))
        if rows == 10**6:
            check(totals("/events", read())[1] == rows, "rows that were never written are 0")
        else:
            refused("claims more rows than its bytes can hold")


def test_links_out_of_the_file_are_not_followed():
    make("other.h5")
    for link in (h5py.ExternalLink("other.h5", BEGIN), h5py.SoftLink("/events/ref")):
        make()
        with h5py.File("run.h5", "r+") as file:
            del file[BEGIN]
            file[BEGIN] = link
        found, rows = totals("/events", read())
        check(rows == ROWS and found["begin_ns"] == -ROWS, found)
    make()
    with h5py.File("run.h5", "r+") as file:
        del file["/events"]
        file["/events"] = h5py.ExternalLink("other.h5", "/events")
    check(totals("/events", read())[1] == 0, "followed")


def test_values_that_lie_elsewhere():
    make("other.h5")
    with open("raw", "wb") as file:
        file.write(bytes(8 * ROWS))
    layout = h5py.VirtualLayout(shape=(ROWS,), dtype="i8")
    layout[:] = h5py.VirtualSource("other.h5", BEGIN, shape=(ROWS,))
    make()
    with h5py.File("run.h5", "r+") as file:
        del file[BEGIN]
        file.create_virtual_dataset(BEGIN, layout)
    refused("chunks of the file")
    make()
    with h5py.File("run.h5", "r+") as file:
        del file[BEGIN]
        file.create_dataset(BEGIN, shape=(ROWS,), dtype="i8", external=[("raw", 0, 8 * ROWS)])
    refused("chunks of the file")


def test_groups_where_columns_should_be():
    make()
    with h5py.File("run.h5", "r+") as file:
        del file[BEGIN]
        file.create_group(BEGIN)
    refused("/events/begin_ns")
    make()
    with h5py.File("run.h5", "r+") as file:
        del file["/events"]
        file["/events"] = file["/"]
        file["/loop"] = file["/"]
    check(totals("/events", read())[1] == 0, "a loop")


def test_damaged_chunks():
    make()
    with h5py.File("run.h5", "r") as file:
        where = file[BEGIN].id.get_chunk_info(1)
    for place in (0, 5, where.size // 2, where.size - 1):
        make()
        with open("run.h5", "r+b") as file:
            file.seek(where.byte_offset + place)
            old = file.read(1)[0]
            file.seek(where.byte_offset + place)
            file.write(bytes([old ^ 0x55]))
        refused("/events/begin_ns cannot be unpacked: the file is damaged")


run_tests(dict(globals()))
