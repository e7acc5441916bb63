"""In .c files at most one line in eight is comment, over the whole tree and, in long files, one in four; no
notes to self."""
import re

import tree

TREE_SHARE, FILE_SHARE, LONG_FILE = 8, 4, 60
NOTE = re.compile(r"\b(TODO|FIXME|XXX)\b|\bfor now\b")


def comment_lines(text):
    code = tree.blank(text, strings=False).splitlines()
    return sum(1 for line, left in zip(text.splitlines(), code) if line.strip() and not left.strip())


def check(tree_):
    comments = lines = 0
    for name in tree_.sources((".c", ".h", ".def")):
        text = tree_.text(name)
        for number, line in enumerate(text.splitlines(), 1):
            match = NOTE.search(line)
            if match:
                yield f"{name}:{number}: a note to self: {match.group(0)}"
        if not name.endswith(".c"):
            continue
        here, length = comment_lines(text), text.count("\n")
        comments, lines = comments + here, lines + length
        if length >= LONG_FILE and here * FILE_SHARE > length:
            yield f"{name}:1: {here} of {length} lines are comment, more than one in {FILE_SHARE}"
    if comments * TREE_SHARE > lines:
        yield f"{comments} of {lines} lines of all .c files are comment, more than one in {TREE_SHARE}"


CLEAN = {"src/base/a.c": "/* why */\n" + "int a;\n" * 99}
PLANTED = [
    ("a file of comments", {"src/base/b.c": "/* what */\nint a;\nint b;\n" * 40}, "40 of 120 lines are comment"),
    ("comments everywhere", {"src/base/b.c": "/* what */\nint a;\n" * 20}, "of all .c files"),
    ("a note to self", {"src/base/b.c": "/* TO" + "DO: all of it */\nint a;\n"}, "a note to self"),
]

if __name__ == "__main__":
    tree.main(check, CLEAN, PLANTED)
