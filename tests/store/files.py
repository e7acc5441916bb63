"""The run file that store_tool writes: what it should hold, and how to start the tool."""
import os
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

TOOL = os.path.abspath(sys.argv[1])
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")


def run(*words, ranks=None, **more):
    launcher = ["mpirun", "-n", str(ranks)] if ranks else []
    return subprocess.run([*launcher, TOOL, *words], capture_output=True, text=True, env=ENVIRONMENT, timeout=60,
                          check=False, **more)


def digest(text):
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value


def expected(path, dtype, rows):
    values = (digest(path) + numpy.arange(rows, dtype=numpy.uint64) * numpy.uint64(2654435761))
    if dtype.kind == "f":
        return (values % numpy.uint64(1000003)).astype("f8") / 8
    return (values % numpy.uint64(2 ** (8 * dtype.itemsize - 1))).astype(dtype)


def datasets(path):
    """Path -> values of every dataset of the file itself."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found["/" + name] = item[:]

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def check(condition, what):
    assert condition, what


def run_tests(names):
    """Every function test_... in the order it stands, in a folder of its own."""
    for name, test in names.items():
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory(prefix="scaleprof store ") as folder:
                os.chdir(folder)
                start = time.monotonic()
                test()
                os.chdir("/")
            print("ok: %s (%.1f s)" % (name[5:].replace("_", " "), time.monotonic() - start))
