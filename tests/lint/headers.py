"""Every header compiles alone, with the include paths of the build."""
import json
import os
import shlex
import subprocess

import tree


def include_flags(build):
    """The -I and -isystem of all commands of the build, in their order."""
    flags = ["-Isrc", "-I."]
    commands = os.path.join(build, "compile_commands.json")
    if not os.path.isfile(commands):
        return flags
    with open(commands, encoding="utf-8") as file:
        for entry in json.load(file):
            words = shlex.split(entry["command"])
            for at, word in enumerate(words):
                flag = [word, words[at + 1]] if word == "-isystem" else [word] if word.startswith("-I") else []
                if flag and flag[-1] not in flags:
                    flags += flag
    return flags


def check(tree_):
    flags = include_flags(tree_.build)
    for name in tree_.sources((".h",)):
        command = ["cc", "-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                   "-Wno-unused-function", "-Wno-unused-variable", *flags, "-Itests", "-include", name,
                   "-x", "c", os.devnull]
        done = subprocess.run(command, cwd=tree_.root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            first = [line for line in done.stderr.splitlines() if "error" in line]
            yield f"{name}:1: does not compile alone: {(first or ['?'])[0]}"


CLEAN = {"src/base/a.h": "#include <stdint.h>\nint64_t a_time(void);\n"}
PLANTED = [("a header that leans on another", {"src/base/b.h": "int64_t b_time(void);\n"}, "does not compile alone")]

if __name__ == "__main__":
    tree.main(check, CLEAN, PLANTED)
