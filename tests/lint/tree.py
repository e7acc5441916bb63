"""What every lint needs: the tree's files, C text without comments and strings, and the frame that
runs a lint on the tree, or, with --self-test, on small trees with a planted fault that it must see."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

CODE_FOLDERS = ("src/", "collectives/", "topology/", "reduce/", "jobs/", "tests/")
INSIDE_JOB = ("src/base/", "src/trace/", "src/record/", "collectives/mpi/", "collectives/nccl/")


class Tree:
    def __init__(self, root, build=None):
        self.root = os.path.realpath(root)
        self.build = os.path.realpath(build) if build else None
        self.files = sorted(self._from_git() or self._from_disk())

    def _git(self, *arguments):
        done = subprocess.run(["git", "-C", self.root, *arguments], capture_output=True, check=False)
        return done.stdout.decode() if done.returncode == 0 else ""

    def _from_git(self):
        try:
            top = self._git("rev-parse", "--show-toplevel").strip()
            if not top or os.path.realpath(top) != self.root:
                return []
            names = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        except OSError:
            return []
        return [name for name in names if name and os.path.isfile(os.path.join(self.root, name))]

    def _from_disk(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            at_top = os.path.realpath(folder) == self.root
            folders[:] = [f for f in folders if f not in (".git", "__pycache__")
                          and not (at_top and f.startswith("build"))]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return found

    def sources(self, endings=(".c", ".h"), folders=CODE_FOLDERS):
        return [f for f in self.files if f.endswith(endings) and f.startswith(folders)]

    def path(self, name):
        return os.path.join(self.root, name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()


_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blank(text, comments=True, strings=True):
    """`text` with comments, and the insides of strings, as spaces; lines stay where they are."""
    def spaces(match):
        token = match.group(0)
        is_comment = token.startswith("/")
        if not (comments if is_comment else strings):
            return token
        if not is_comment:
            return token[0] + " " * (len(token) - 2) + token[-1]
        return re.sub(r"[^\n]", " ", token)
    return _TOKENS.sub(spaces, text)


def _plant(files, folder):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def _self_test(check, clean, planted):
    failed = 0
    for what, files, wanted in [("nothing", {}, None)] + planted:
        with tempfile.TemporaryDirectory() as folder:
            _plant({**clean, **files}, folder)
            faults = list(check(Tree(folder, os.path.join(folder, "build"))))
        seen = [fault for fault in faults if wanted is not None and wanted in fault]
        good = bool(seen) if wanted is not None else not faults
        failed += not good
        print(f"{'ok' if good else 'NOT SEEN' if wanted else 'FALSE ALARM'}: planted {what}"
              + (f" -> {seen[0]}" if seen else "" if good else f" -> {faults}"))
    return 1 if failed else 0


def main(check, clean, planted):
    """`check(tree)` yields faults as text. `clean` is a tree without a fault, {name: text}; `planted`
    is a list of (what, {name: text} laid over it, part of the fault's text)."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), "..", ".."))
    parser.add_argument("--build", help="the build folder, for lints that look at what was built")
    parser.add_argument("--self-test", action="store_true", help="plant faults and see them")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(_self_test(check, clean, planted))
    build = arguments.build or os.path.join(arguments.root, "build")
    faults = list(check(Tree(arguments.root, build)))
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)
