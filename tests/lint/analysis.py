"""Frame of the lints that run an analyser on every source of the build: in parallel, within a time budget,
and only where the source, a header of it, or the rules have changed since it was last found clean."""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import time

BUDGET_S = 900


def sources(tree_):
    """(file, its compile command as words, folder it runs in) of the build's sources that lie in the tree."""
    commands = os.path.join(tree_.build, "compile_commands.json")
    if not os.path.isfile(commands):
        return
    with open(commands, encoding="utf-8") as file:
        entries = {entry["file"]: entry for entry in json.load(file)}
    for path in sorted(entries):
        name = os.path.relpath(os.path.realpath(path), tree_.root)
        if name in tree_.files and name.endswith(".c"):
            yield name, shlex.split(entries[path]["command"]), entries[path]["directory"]


def flags_of(words):
    """The preprocessor's and the language's flags of a compile command."""
    flags, take = [], False
    for word in words[1:]:
        if take or word.startswith(("-I", "-D", "-U", "-std=")):
            flags.append(word)
            take = False
        elif word in ("-isystem", "-include"):
            flags.append(word)
            take = True
    return flags


def _fingerprint(tree_, name, words, folder, rules):
    """Digest of all that the verdict on a source depends on."""
    done = subprocess.run([words[0], *flags_of(words), "-MM", tree_.path(name)], cwd=folder,
                          capture_output=True, text=True, check=False)
    digest = hashlib.sha256(rules.encode())
    depends = done.stdout.replace("\\\n", " ").split(":", 1)[-1]
    for path in shlex.split(depends) or [tree_.path(name)]:
        with open(os.path.join(folder, path), "rb") as file:
            digest.update(path.encode() + file.read())
    return digest.hexdigest()


def check_all(tree_, tool, rules, analyse, without=None):
    """Yields the faults of all sources, but of those below the folder `without`. `analyse(name, words, folder)` returns the faults of one; `rules`
    is text that changes whenever a verdict could; what is clean is remembered in the build."""
    memory_path = os.path.join(tree_.build, f"lint-{tool}.json")
    try:
        with open(memory_path, encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        known = {}
    begin, clean, late = time.monotonic(), {}, []

    def one(source):
        key = _fingerprint(tree_, *source, rules)
        if known.get(source[0]) == key:
            return source[0], key, []
        if time.monotonic() - begin > BUDGET_S:
            return source[0], None, None
        return source[0], key, analyse(*source)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wanted = [s for s in sources(tree_) if without is None or not s[0].startswith(without)]
        for name, key, faults in pool.map(one, wanted):
            if faults is None:
                late.append(name)
            elif faults:
                yield from faults
            else:
                clean[name] = key
    with open(memory_path, "w", encoding="utf-8") as file:
        json.dump(clean, file)
    if late:
        yield f"{tool}: {BUDGET_S} s were not enough for {len(late)} sources, the first is {late[0]}"


def plant_commands(root, flags=()):
    """Self-test only: the compile commands of all .c files of a planted tree."""
    build = os.path.join(root, "build")
    os.makedirs(build, exist_ok=True)
    found = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
             if name.endswith(".c")]
    entries = [{"directory": build, "file": path, "command": shlex.join(["cc", *flags, "-c", path])}
               for path in found]
    with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(entries, file)
