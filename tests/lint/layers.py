"""Includes obey layers.txt: a module names only those that its line lists, other folders only by their face."""
import fnmatch
import os
import re

import tree

FOLDERS = {"mpi": "collectives/mpi", "nccl": "collectives/nccl", "measure": "collectives/measure",
           "cuda": "src/record/cuda", "nvtx": "src/record/nvtx",
           "collectives": "collectives", "topology": "topology", "reduce": "reduce", "jobs": "jobs"}
VOCABULARY = ("base", "trace")
SECOND_FACES = {"src/peers/mpi_comm.h": ("store", "cli")}
OUTSIDE = ("jobs/targets/", "tests/")
MARKS = "src/scaleprof.h"
GENERATED = ("version.h",)
SYSTEM = ("ctype errno fcntl float inttypes limits locale math pthread sched signal stdalign stdarg "
          "stdatomic stdbool stddef stdint stdio stdlib string strings time unistd wchar dirent poll "
          "getopt glob fnmatch libgen link elf spawn termios pwd netdb cpuid x86intrin immintrin "
          "sys/* linux/* netinet/* arpa/* asm/*").split()


class Layers:
    def __init__(self, text):
        self.modules, self.foreign, self.faults = {}, {}, []
        for number, line in enumerate(text.splitlines(), 1):
            if ":" not in line or line.lstrip().startswith("#"):
                continue
            name, listed = (part.strip() for part in line.split(":", 1))
            if name.startswith("<"):
                self.foreign[name.strip("<>")] = listed.split()
            else:
                self._module(number, name, listed.split())

    def _module(self, number, name, listed):
        above = list(self.modules)
        for other in listed:
            if other != "*" and other not in above:
                self.faults.append(f"tests/lint/layers.txt:{number}: {name} names {other}, which is not above it")
        self.modules[name] = set(above if "*" in listed else listed)


def folder_of(module):
    return FOLDERS.get(module, "src/" + module)


def module_of(name, layers):
    known = set(layers.modules) | {"measure"}
    inside = [m for m in known if name.startswith(folder_of(m) + "/")]
    return max(inside, key=lambda m: len(folder_of(m)), default=None)


def resolve(tree_, name, included):
    for start in (os.path.dirname(name), "src", ""):
        path = os.path.normpath(os.path.join(start, included))
        if os.path.isfile(tree_.path(path)):
            return path
    return None


def own_header_fault(module, target, layers):
    other = module_of(target, layers)
    if other == module or target == MARKS:
        return None
    if other is None:
        return "belongs to no module of layers.txt"
    if other not in layers.modules.get(module, ()):
        return f"{module} must not name {other}"
    face = os.path.join(folder_of(other), os.path.basename(folder_of(other)) + ".h")
    faces = [face] + [f for f, users in SECOND_FACES.items() if module in users]
    if other not in VOCABULARY and target not in faces:
        return f"only {face} is {other}'s face"
    return None


def foreign_header_fault(module, header, layers):
    for pattern, users in layers.foreign.items():
        if fnmatch.fnmatch(header, pattern):
            return None if module in users else f"<{pattern}> is not for {module}"
    if any(fnmatch.fnmatch(header, name + ".h") for name in SYSTEM):
        return None
    return f"<{header}> is neither libc's nor listed in layers.txt"


def check(tree_):
    layers = Layers(tree_.text("tests/lint/layers.txt"))
    yield from layers.faults
    for name in tree_.sources((".c", ".h", ".def")):
        if name.startswith(OUTSIDE) or name == MARKS:
            continue
        module = module_of(name, layers)
        if module is None:
            yield f"{name}:1: belongs to no module of layers.txt"
            continue
        code = tree.blank(tree_.text(name), strings=False)
        for number, line in enumerate(code.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not match:
                continue
            bracket, included = match.groups()
            if bracket == "<":
                fault = foreign_header_fault(module, included, layers)
            else:
                target = resolve(tree_, name, included)
                fault = (own_header_fault(module, target, layers) if target
                         else None if included in GENERATED else "is nowhere in the tree")
            if fault:
                yield f"{name}:{number}: {included}: {fault}"


CLEAN = {
    "tests/lint/layers.txt": "base :\ntrace : base\nmpi : base\npeers : base\nstore : base peers\ncli : *\n"
                             "<mpi.h> : mpi\n",
    "src/base/err.h": "", "src/base/err.c": '#include "err.h"\n#include <stdio.h>\n#include <sys/stat.h>\n',
    "src/trace/a.c": '#include "base/err.h"\n/* #include "store/store.h" */\n',
    "src/peers/peers.h": "", "src/peers/mpi_comm.h": "", "src/peers/inner.h": "",
    "src/store/store.h": '#include "peers/peers.h"\n#include "peers/mpi_comm.h"\n',
    "src/cli/run.c": '#include "store/store.h"\n', "collectives/mpi/x.c": "#include <mpi.h>\n"}
PLANTED = [
    ("an include upwards", {"src/base/b.c": '#include "trace/t.h"\n', "src/trace/t.h": ""}, "base must not name trace"),
    ("an include past the face", {"src/store/s.c": '#include "peers/inner.h"\n'}, "is peers's face"),
    ("a second face for the wrong module", {"src/trace/t.c": '#include "peers/mpi_comm.h"\n'}, "must not name peers"),
    ("a foreign header", {"src/store/s.c": "#include <mpi.h>\n"}, "<mpi.h> is not for store"),
    ("an unlisted library", {"src/store/s.c": "#include <zlib.h>\n"}, "neither libc's nor listed"),
    ("a folder without a line", {"src/new/n.c": "\n"}, "belongs to no module"),
    ("a cycle in the drawing", {"tests/lint/layers.txt": "base : trace\ntrace : base\n"}, "not above it"),
    ("a header that is nowhere", {"src/store/s.c": '#include "store/none.h"\n'}, "is nowhere"),
]

if __name__ == "__main__":
    tree.main(check, CLEAN, PLANTED)
