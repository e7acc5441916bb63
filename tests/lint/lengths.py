"""Functions and files stay short: no function over 80 lines, nine in ten under 45, no file over 700."""
import tree

LONGEST_FUNCTION, USUAL_FUNCTION, LONGEST_FILE = 80, 45, 700


def functions(text):
    """(line of the opening brace, lines from brace to brace) of each function, as clang-format lays
    them: both braces stand alone in the first column."""
    begin = None
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            yield begin, number - begin + 1
            begin = None


def check(tree_):
    lengths = []
    for name in tree_.sources((".c", ".h", ".def")):
        text = tree_.text(name)
        lines = text.count("\n")
        if lines > LONGEST_FILE:
            yield f"{name}:1: {lines} lines, more than {LONGEST_FILE}"
        for begin, length in functions(tree.blank(text)):
            lengths.append((length, name, begin))
            if length > LONGEST_FUNCTION:
                yield f"{name}:{begin}: a function of {length} lines, more than {LONGEST_FUNCTION}"
    long_ones = sorted((f for f in lengths if f[0] >= USUAL_FUNCTION), reverse=True)
    if 10 * len(long_ones) > len(lengths):
        where = ", ".join(f"{name}:{begin} ({length})" for length, name, begin in long_ones[:10])
        yield f"{len(long_ones)} of {len(lengths)} functions have {USUAL_FUNCTION} lines or more: {where}"


def function_of(lines):
    return "void f(void)\n{\n" + "    g();\n" * (lines - 2) + "}\n\n"


CLEAN = {"src/base/a.c": function_of(80) + function_of(5) * 20}
PLANTED = [
    ("a function of 81 lines", {"src/base/b.c": function_of(81)}, "a function of 81 lines"),
    ("many functions of 45 lines", {"src/base/b.c": function_of(45) * 3}, "4 of 24 functions"),
    ("a file of 701 lines", {"src/base/b.h": "int a;\n" * 701}, "701 lines"),
]

if __name__ == "__main__":
    tree.main(check, CLEAN, PLANTED)
