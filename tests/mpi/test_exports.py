"""test_exports.py PROBE SOURCE_DIR [write]: the probe exports the calls of its table and nothing else, as the list
tests/lint/exports/libscaleprof_mpi.txt says ("write" makes the list), and needs no symbol of MPI: it must load into any
process."""
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


def main(library, source, write):
    path = source + "/tests/lint/exports/libscaleprof_mpi.txt"
    exported, wanted, faults = symbols(library, "--defined-only"), table(source), []
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
    sys.exit(main(sys.argv[1], sys.argv[2], len(sys.argv) > 3))
