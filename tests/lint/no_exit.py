"""Inside someone else's program nothing ends it, catches its signals or writes to its terminal; and only
two files read the environment. Looked for in the source, and in what the built libraries import."""
import glob
import os
import re
import subprocess

import tree

FORBIDDEN = ("exit _exit _Exit quick_exit pthread_exit abort assert signal sigaction printf vprintf puts putchar perror "
             "err errx warn warnx psignal system").split()
CALL = re.compile(r"(?<![\w.>])(" + "|".join(FORBIDDEN) + r")\s*\(")
TERMINAL = re.compile(r"\b(stdout|stderr)\b|\bd?(write|printf)\s*\(\s*([12]|STD(OUT|ERR)_FILENO)\s*,")
IMPORTS = set(FORBIDDEN) | {"__assert_fail", "__printf_chk", "__vprintf_chk", "stdout", "stderr", "vwarn", "dprintf"}
# a setting may be read where settings as a whole are not wanted: its variable's name comes from the table all the same
ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\s*\((?!settings_variable)|\b(?:setenv|putenv)\s*\(|\benviron\b")
ENVIRONMENT_READERS = ("src/base/settings.c", "src/base/host.c")
ENVIRONMENT_WRITERS = ("src/agent/",)


def source_faults(tree_, name):
    code = tree.blank(tree_.text(name))
    inside_job = name.startswith(tree.INSIDE_JOB)
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, applies in ((CALL, inside_job), (TERMINAL, inside_job)):
            match = pattern.search(line)
            if applies and match:
                yield f"{name}:{number}: {match.group(0).strip()} in a job's process"
        match = ENVIRONMENT.search(line)
        if match and name not in ENVIRONMENT_READERS and not (
                name.startswith(ENVIRONMENT_WRITERS) and not match.group(0).startswith("getenv")):
            yield f"{name}:{number}: {match.group(0).strip()} outside {' and '.join(ENVIRONMENT_READERS)}"


def library_faults(build):
    for path in sorted(glob.glob(os.path.join(build, "**", "libscaleprof_*.so"), recursive=True)):
        names = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True,
                               check=True).stdout
        for line in names.splitlines():
            symbol = line.split()[-1].split("@")[0]
            if symbol in IMPORTS:
                yield f"{os.path.basename(path)}: imports {symbol}"


def check(tree_):
    for name in tree_.sources():
        if not name.startswith(("jobs/targets/", "tests/")):
            yield from source_faults(tree_, name)
    yield from library_faults(tree_.build)


CLEAN = {"src/record/lane.c": '/* never exit() */\nvoid lane_exit(void);\nint f(void) { lane_exit(); return puts_of("abort()"); }\n',
         "src/cli/run.c": '#include <stdio.h>\nint main(void) { printf("run"); return 0; }\n',
         "src/base/settings.c": 'char *f(void) { return getenv("A"); }\n'}
PLANTED = [
    ("exit in the recorder", {"src/record/b.c": "void f(void)\n{\n    exit(1);\n}\n"}, "src/record/b.c:3: exit("),
    ("assert in base", {"src/base/b.c": "void f(void)\n{\n    assert(1);\n}\n"}, "assert("),
    ("a signal handler in the MPI probe", {"collectives/mpi/b.c": "void f(void)\n{\n    sigaction(1, 0, 0);\n}\n"}, "sigaction("),
    ("printf in trace", {"src/trace/b.c": 'void f(void)\n{\n    printf("x");\n}\n'}, "printf("),
    ("fprintf to stderr in base", {"src/base/b.c": 'void f(void)\n{\n    fprintf(stderr, "x");\n}\n'}, "stderr"),
    ("write to 2 in the NCCL probe", {"collectives/nccl/b.c": "void f(void)\n{\n    write(2, 0, 0);\n}\n"}, "write("),
    ("getenv in the reducer", {"reduce/b.c": 'char *f(void)\n{\n    return getenv("A");\n}\n'}, "getenv("),
]

if __name__ == "__main__":
    tree.main(check, CLEAN, PLANTED)
