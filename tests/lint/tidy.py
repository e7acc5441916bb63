"""clang-tidy, with the rules of .clang-tidy, finds nothing in any source of the build outside tests/."""
import re
import shutil
import subprocess
import sys

import analysis
import tree


def check(tree_):
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if tool is None:
        yield "clang-tidy is not installed"
        return

    def analyse(name, words, folder):
        command = [tool, "--quiet", f"--config-file={tree_.path('.clang-tidy')}", tree_.path(name), "--",
                   *analysis.flags_of(words)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        found = re.findall(r"^(\S.*?:\d+):\d+: (?:warning|error): (.*)$", done.stdout, re.MULTILINE)
        faults = [f"{where.removeprefix(tree_.root + '/')}: {what}" for where, what in found]
        if done.returncode != 0 and not faults:
            faults = [f"{name}: clang-tidy: {(done.stderr or done.stdout).strip()[:300]}"]
        return faults

    rules = tree_.text(".clang-tidy")
    yield from sorted(set(analysis.check_all(tree_, "tidy", rules, analyse, without="tests/")))


def check_planted(tree_):
    analysis.plant_commands(tree_.root)
    return check(tree_)


CLEAN = {".clang-tidy": "Checks: '-*,bugprone-*,clang-analyzer-*'\nWarningsAsErrors: '*'\n",
         "src/base/a.c": "int a(int b) { return b; }\n"}
PLANTED = [
    ("a null pointer", {"src/base/b.c": "int f(void) {\n    int *p = 0;\n    return *p;\n}\n"}, "src/base/b.c:3"),
    ("a source that does not compile", {"src/base/b.c": "int f(void) { return g; }\n"}, "src/base/b.c:1"),
]

if __name__ == "__main__":
    tree.main(check_planted if "--self-test" in sys.argv else check, CLEAN, PLANTED)
