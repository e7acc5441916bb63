"""cppcheck finds nothing in any source of the build. A false alarm is silenced at its line, with the reason."""
import shutil
import subprocess
import sys

import analysis
import tree

ENABLED = "warning,performance,portability"
SILENCED = (
    "missingInclude", "missingIncludeSystem", "unmatchedSuppression",
    "normalCheckLevelMaxBranches",
    "uninitvar",  # takes an address handed to a macro's call for a use; both compilers warn of real ones
    "selfAssignment",  # a volatile read and write is how a page is touched
    "varFuncNullUB",  # NULL passed to a variadic function: a pointer on every system we run on
)


def check(tree_):
    if shutil.which("cppcheck") is None:
        yield "cppcheck is not installed"
        return

    def analyse(name, words, _folder):
        flags = [flag for flag in analysis.flags_of(words) if not flag.startswith("-std=")]
        own = [flag for flag in flags if not flag.startswith("-I") or flag[2:].startswith(tree_.root)]
        own = [flag for at, flag in enumerate(own) if "-isystem" not in own[max(0, at - 1):at + 1]]
        command = ["cppcheck", "--quiet", "--std=c11", "--inline-suppr", f"--enable={ENABLED}",
                   "--template={file}:{line}: {message} [{id}]", "--template-location=",
                   *[f"--suppress={what}" for what in SILENCED], *own, name]
        done = subprocess.run(command, cwd=tree_.root, capture_output=True, text=True, check=False)
        return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]

    yield from sorted(set(analysis.check_all(tree_, "cppcheck", repr((ENABLED, SILENCED)), analyse)))


def check_planted(tree_):
    analysis.plant_commands(tree_.root)
    return check(tree_)


CLEAN = {"src/base/a.c": "int a(int b) { return b; }\n"}
PLANTED = [
    ("an index out of bounds", {"src/base/b.c": "int f(void) {\n    int a[2] = {0};\n    return a[2];\n}\n"}, "src/base/b.c:3"),
    ("memory not freed", {"src/base/b.c": "#include <stdlib.h>\nvoid f(void) {\n    char *p = malloc(2);\n    p[0] = 1;\n}\n"},
     "Memory leak"),
]

if __name__ == "__main__":
    tree.main(check_planted if "--self-test" in sys.argv else check, CLEAN, PLANTED)
