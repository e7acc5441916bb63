"""test_exports.py PROBE SOURCE_DIR MPI_HEADER_DIRS [write]: the probe exports the calls of its table and nothing else, as the list
tests/lint/exports/libscaleprof_mpi.txt says ("write" makes the list), and needs no symbol of MPI: it must load into any
process. Every call of an MPI-3 header is in the table or, with a reason, in unwrapped.txt."""
import os
import re
import subprocess
import sys


def symbols(library, option):
    text = subprocess.check_output(["nm", "-D", option, library]).decode()
    return {line.split()[-1].split("@")[0] for line in text.splitlines()}


def table(source):
    """Names that the rows of calls.def stand for, by the preprocessor."""
    program = ("#define CALL(name, lower, params, args) @MPI_##name PMPI_##name mpi_##lower##_ mpi_##lower##_f08_@\n"
               '#include "collectives/mpi/calls.def"\n')
    text = subprocess.run(["cc", "-E", "-P", "-I", source, "-x", "c", "-"], input=program.encode(), check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    rows = " ".join(re.findall(r"@([^@]*)@", text))
    return set(rows.split()) | {"MPI_Pcontrol", "PMPI_Pcontrol"}


def header(folders):
    """Names of the functions of mpi.h; None when it is not of MPI-3."""
    for folder in folders.split(";"):
        path = folder + "/mpi.h"
        if os.path.exists(path):
            with open(path) as f:
                text = f.read()
            if re.search(r"#define MPI_VERSION\s+3", text):
                return {"MPI_" + name for name in re.findall(r"\bMPI_([A-Z][a-z]\w*)\s*\(", text)}
    return None


def decisions(source, wanted, folders):
    """Faults of the decision which calls are wrapped."""
    with open(source + "/tests/mpi/unwrapped.txt") as f:
        unwrapped = [name for line in f if not line.startswith("#") for name in line.split()]
    faults = ["%s stands twice in unwrapped.txt" % name for name in set(unwrapped) if unwrapped.count(name) > 1]
    faults += ["%s is wrapped, and in unwrapped.txt" % name for name in set(unwrapped) & wanted]
    functions = header(folders)
    if functions is not None:
        faults += ["%s is neither wrapped nor in unwrapped.txt" % name
                   for name in sorted(functions - wanted - set(unwrapped))]
    return faults


def main(library, source, folders, write):
    path = source + "/tests/lint/exports/libscaleprof_mpi.txt"
    exported, wanted = symbols(library, "--defined-only"), table(source)
    faults = decisions(source, wanted, folders)
    if write:
        with open(path, "w") as f:
            f.write("".join(name + "\n" for name in sorted(wanted)))
    with open(path) as f:
        listed = set(f.read().split())
    for name in sorted(exported ^ wanted):
        faults.append("%s: in the %s only" % (name, "library" if name in exported else "table"))
    for name in sorted(listed ^ wanted):
        faults.append("%s: in the %s only" % (name, "list" if name in listed else "table"))
    for name in sorted(symbols(library, "--undefined-only")):
        if re.match(r"P?MPI_|ompi_|mpi_|MPIR_|mpich", name):
            faults.append("%s: needed from MPI" % name)
    print("\n".join(faults) if faults else "%d exports" % len(exported))
    return 1 if faults or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], len(sys.argv) > 4))
