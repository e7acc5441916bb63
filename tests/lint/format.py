"""C sources are as clang-format 14 lays them out."""
import re
import shutil
import subprocess

import tree


def check(tree_):
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if tool is None:
        yield "clang-format is not installed"
        return
    files = tree_.sources()
    done = subprocess.run([tool, "--dry-run", "-Werror", "--style=file", *files], cwd=tree_.root,
                          capture_output=True, text=True, check=False)
    seen = set()
    for match in re.finditer(r"^(\S.*?):(\d+):\d+: error: code should be clang-formatted", done.stderr, re.MULTILINE):
        if match.group(1) not in seen:
            seen.add(match.group(1))
            yield f"{match.group(1)}:{match.group(2)}: not as clang-format -i lays it out"
    if done.returncode != 0 and not seen:
        yield f"clang-format: {done.stderr.strip()[:300]}"


CLEAN = {".clang-format": "BasedOnStyle: LLVM\nIndentWidth: 4\n", "src/base/a.c": "int a;\n"}
PLANTED = [("a crooked line", {"src/base/b.c": "int  b ;\n"}, "src/base/b.c:1")]

if __name__ == "__main__":
    tree.main(check, CLEAN, PLANTED)
