"""Each library shows exactly what exports/LIBRARY.txt lists: our own functions, hidden or named scaleprof_*,
can never meet a program's function of the same name."""
import glob
import os
import subprocess

import tree

LISTS = "tests/lint/exports"


def listed(tree_, name):
    """Names of a list, one a line; after # stands why."""
    lines = [line.split("#")[0].strip() for line in tree_.text(f"{LISTS}/{name}.txt").splitlines()]
    return {line for line in lines if line}


def exported(path):
    names = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in names.splitlines() if len(line.split()) == 3}


def check(tree_):
    libraries = sorted(glob.glob(os.path.join(tree_.build, "**", "libscaleprof_*.so"), recursive=True))
    for path in libraries:
        name = os.path.basename(path)[:-len(".so")]
        if f"{LISTS}/{name}.txt" not in tree_.files:
            yield f"{name}: has no list {LISTS}/{name}.txt"
            continue
        wanted, got = listed(tree_, name), exported(path)
        yield from (f"{name}: exports {symbol}, which is not listed" for symbol in sorted(got - wanted))
        yield from (f"{name}: does not export {symbol}" for symbol in sorted(wanted - got))


def build_library(folder, text):
    """Self-test only: a library of this text where a build would leave it."""
    os.makedirs(os.path.join(folder, "build"), exist_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-o",
                    os.path.join(folder, "build", "libscaleprof_x.so"), "-x", "c", "-"],
                   input=text, text=True, check=True)


def check_planted(tree_):
    if "lib.c" in tree_.files:
        build_library(tree_.root, tree_.text("lib.c"))
    return check(tree_)


SHOWN = '#define SHOWN __attribute__((visibility("default")))\n'
CLEAN = {"lib.c": SHOWN + "SHOWN int scaleprof_a;\nSHOWN int MPI_Send;\nSHOWN int PMPI_Send;\nint hidden;\n",
         f"{LISTS}/libscaleprof_x.txt": "scaleprof_a # why\nMPI_Send\nPMPI_Send\n"}
PLANTED = [
    ("a function that shows", {"lib.c": CLEAN["lib.c"] + "SHOWN int lane_open;\n"}, "exports lane_open"),
    ("a function that is missing", {"lib.c": SHOWN + "SHOWN int scaleprof_a;\n"}, "does not export MPI_Send"),
    ("an empty list", {f"{LISTS}/libscaleprof_x.txt": ""}, "exports scaleprof_a"),
]

if __name__ == "__main__":
    import sys
    tree.main(check_planted if "--self-test" in sys.argv else check, CLEAN, PLANTED)
