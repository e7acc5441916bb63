"""test_format.py SCALEPROF PROGRAM FORMAT.md: a run file holds what docs/format.md says and nothing else, and its
example, run as it stands there, reads it."""
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy

SCALEPROF, PROGRAM, PAGE = sys.argv[1:4]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")
TYPES = {"I64": "<i8", "I32": "<i4", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "F64": "<f8"}
NONE = 4294967295


def run(*command):
    return subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True, timeout=60).stdout


def sections(page):
    """Rows of the tables below each heading of the third level: {heading: [[cell, ...], ...]}."""
    found, rows = {}, None
    for line in page.splitlines():
        if line.startswith("#"):
            rows = found.setdefault(line.lstrip("# "), [])
        elif line.startswith("| ") and not line.startswith("| ---") and rows is not None:
            cells = re.split(r"(?<!\\) \| ", line[2:].removesuffix(" |"))
            rows.append([re.sub(r"\\(.)", r"\1", cell.strip("` ")) for cell in cells])
    return found


def unlink(unit):
    return re.sub(r"^\[(.*)\]\(.*\)$", r"\1", unit)


def described_columns(found):
    return {f"{path}/{row[0]}": row[1:] for path, rows in found.items() if path.startswith("/")
            for row in rows if row[0] != "column"}


def datasets_of(name):
    sets = {}
    with h5py.File(name, "r") as file:
        file.visititems(lambda path, what: sets.update({"/" + path: what}) if isinstance(what, h5py.Dataset) else None)
        return {path: (what.dtype.str, {k: v.decode() for k, v in what.attrs.items()}) for path, what in sets.items()}


def test_every_column_is_as_described(found):
    columns = described_columns(found)
    inside = {**datasets_of("run.h5"), **datasets_of("run.analysis.h5")}
    assert sorted(columns) == sorted(inside), set(columns) ^ set(inside)
    for path, (type_, unit, meaning) in columns.items():
        held_type, held = inside[path]
        assert held_type == TYPES[type_], path
        assert held["unit"] == unlink(unit) and held["meaning"] == meaning, (path, held)
        values = [f"{row[0]} {row[1]}" for row in found.get(unlink(unit), [])[1:]]
        assert held.get("values", "") == ", ".join(values), (path, held)


def texts_of(file, group):
    data, ends = file[group + "/bytes"][:].tobytes(), file[group + "/end"][:]
    return [data[a:b].decode() for a, b in zip([0, *ends], ends)]


def test_facts_are_those_of_the_page(found):
    with h5py.File("run.h5", "r") as file:
        for table, strings in (("/run", "/strings"), ("/analysis/findings", "/analysis/strings")):
            texts = texts_of(file, strings)
            keys = {texts[i] for i in file[table + "/key"]}
            described = {row[1] for row in found["Facts"] if row[0] == table}
            assert {key for key in keys if not key.startswith("setting.")} == described, keys ^ described


def check_references(file, columns):
    for path, (_, unit, _) in columns.items():
        target = unit.removeprefix("row of ")
        if target == unit or path.endswith("_first"):
            continue
        rows = len(file[next(name for name in columns if name.rpartition("/")[0] == target)])
        values = file[path][:].astype("i8")
        assert ((values < rows) & (values >= -1) | (values == NONE)).all(), path


def check_ranges(file):
    for table in ("event", "collective", "message", "counter"):
        first, count = file[f"/ranks/{table}_first"][:], file[f"/ranks/{table}_count"][:]
        rows = len(file[f"/{table}s/{'begin_ns' if table == 'event' else 'rank'}"])
        assert (numpy.concatenate([[0], numpy.cumsum(count)]) == [*first, rows]).all(), table
        for rank, (f, n) in enumerate(zip(first, count)):
            mine = file["/events/lane" if table == "event" else f"/{table}s/rank"][f:f + n]
            ranks = file["/lanes/rank"][:][mine] if table == "event" else mine
            assert (ranks == rank).all(), (table, rank)


def test_rows_are_where_the_page_says(found):
    with h5py.File("run.h5", "r") as file:
        check_references(file, described_columns(found))
        check_ranges(file)
        begin, duration = file["/events/begin_ns"][:], file["/events/duration_ns"][:]
        assert begin.min() >= 0 and duration.min() >= 0, "times"


def test_the_example(page):
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
    lines = run(sys.executable, "-c", code, "run.h5").splitlines()
    with h5py.File("run.h5", "r") as file:
        texts, lane_ranks = texts_of(file, "/strings"), file["/lanes/rank"][:]
        events = list(zip(file["/events/lane"][:], file["/events/kind"][:], file["/events/duration_ns"][:],
                          file["/events/name"][:]))
    assert len(lines) == 2, lines
    for rank, line in enumerate(lines):
        calls = [(duration, texts[name]) for lane, kind, duration, name in events
                 if lane_ranks[lane] == rank and kind == 3]
        longest, total = max(calls, key=lambda call: call[0]), sum(duration for duration, _ in calls)
        assert line == f"{rank} {longest[1]} {longest[0]} of {total} ns in MPI", (line, longest, total)


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    found = sections(page)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run("mpirun", "-n", "2", SCALEPROF, "run", "-o", "run.h5", "--", PROGRAM, "--steps", "20", "--quiet")
        run(SCALEPROF, "reduce", "run.h5")
        test_every_column_is_as_described(found)
        test_facts_are_those_of_the_page(found)
        test_rows_are_where_the_page_says(found)
        test_the_example(page)
        os.chdir("/")
    print("ok")


main()
