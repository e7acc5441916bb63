"""Call sites of a program built in several ways are resolved to the line that is known here.
argv: print_symbol, C compiler."""
import os
import random
import re
import subprocess
import sys
import tempfile

PROGRAM, COMPILER = sys.argv[1:3]
SOURCE = r"""
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
static const void *wanted;
static int look(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (ElfW(Addr))wanted - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            printf("%lu\n", (unsigned long)((ElfW(Addr))wanted - info->dlpi_addr));
    }
    return 0;
}
__attribute__((noinline)) void callee(void)
{
    wanted = __builtin_return_address(0);
    dl_iterate_phdr(look, 0);
}
static inline __attribute__((always_inline)) void wrapped(void)
{
    callee(); /* inlined */
    __asm__ volatile("");
}
static void hidden(void);
__attribute__((noinline)) void caller(void)
{
    callee(); /* plain */
    wrapped();
    hidden();
    __asm__ volatile("");
}
static __attribute__((noinline)) void hidden(void)
{
    callee(); /* hidden */
    __asm__ volatile("");
}
"""
MAIN = "void caller(void);\nint main(void) { caller(); return 0; }\n"
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("failed:", what)


def call(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def resolve(offset, module, build_id=""):
    done = subprocess.run([PROGRAM, str(offset), build_id, module], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{module}: exit code {done.returncode}")
    return tuple((done.stdout.strip() or "||").split("|"))


def line_of(mark):
    return str(1 + next(i for i, line in enumerate(SOURCE.split("\n")) if mark in line))


def build(folder, name, *flags):
    """Two files as a program, or a library with a program that uses it; returns (program, module)."""
    program, library = f"{folder}/{name}", f"{folder}/lib{name}.so"
    common = [COMPILER, "-g", "-O1", "-Wl,--build-id", *[f for f in flags if f != "-shared"]]
    if "-shared" not in flags:
        call(*common, f"{folder}/call.c", f"{folder}/main.c", "-o", program)
        return program, program
    call(*common, "-fPIC", "-shared", f"{folder}/call.c", "-o", library)
    call(*common, f"{folder}/main.c", library, "-o", program)
    return program, library


def build_id_of(module):
    return re.search(r"Build ID: ([0-9a-f]+)", call("readelf", "-n", module)).group(1)


def check_variant(folder, name, flags):
    program, module = build(folder, name, *flags)
    plain, inlined, hidden = call(program).split()
    source = os.path.realpath(f"{folder}/call.c")
    for offset, function, line in ((plain, "caller", line_of("/* plain */")),
                                   (inlined, "wrapped", line_of("/* inlined */")),
                                   (hidden, "hidden", line_of("/* hidden */"))):
        got = resolve(offset, module)
        check(got[0] == function and os.path.realpath(got[1]) == source and got[2] == line, f"{name}: {got}")
        check(resolve(offset, module, build_id_of(module)) == got, f"{name}: with its build id")
        check(resolve(offset, module, "00" * 20) == ("", "", "-1"), f"{name}: another build id is not believed")
    return plain, hidden, module


def check_stripped(folder, plain, hidden, module):
    """Of a library: its own symbols, then only those it exports."""
    call("objcopy", "--strip-debug", module, f"{folder}/symbols_only")
    check(resolve(plain, f"{folder}/symbols_only") == ("caller", "", "-1"), "symbols only: the function is known")
    check(resolve(hidden, f"{folder}/symbols_only") == ("hidden", "", "-1"), "symbols only: also a static one")
    call("strip", "-s", "-o", f"{folder}/bare", module)
    check(resolve(plain, f"{folder}/bare") == ("caller", "", "-1"), "bare: an exported function is known")
    check(resolve(hidden, f"{folder}/bare") == ("", "", "-1"), "bare: the symbol before is not guessed")


def check_hostile(folder, offset, module):
    with open(module, "rb") as file:
        image = file.read()
    os.mkfifo(f"{folder}/pipe")
    for name in ("/dev/zero", "/dev/null", folder, f"{folder}/pipe", "", "/nonexistent", f"{folder}/call.c"):
        check(resolve(offset, name) == ("", "", "-1"), f"{name}: nothing is said")
    for wrong in ("-1", "0", "9223372036854775807", "1"):
        check(resolve(wrong, module)[2] == "-1", f"offset {wrong}")
    random.seed(1)
    damaged = []
    for i in range(150):
        copy = bytearray(image[:random.randrange(4, len(image))] if i % 3 == 0 else image)
        for _ in range(random.choice((1, 8, 200))):
            copy[random.randrange(min(4, len(copy) - 1), len(copy))] = random.randrange(256)
        damaged.append(f"{folder}/damaged{i}")
        with open(damaged[-1], "wb") as file:
            file.write(copy)
    done = subprocess.run([PROGRAM, offset, "", *damaged], capture_output=True, check=False, timeout=60)
    check(done.returncode == 0 and done.stdout.count(b"\n") == len(damaged),
          f"damaged modules: exit code {done.returncode} {done.stderr[-300:]}")


with tempfile.TemporaryDirectory() as work:
    for file_name, text in (("call.c", SOURCE), ("main.c", MAIN)):
        with open(f"{work}/{file_name}", "w", encoding="ascii") as out:
            out.write(text)
    check_variant(work, "fixed", ["-no-pie", "-fno-pie"])
    check_stripped(work, *check_variant(work, "shared", ["-shared"]))
    known = check_variant(work, "moving", ["-pie", "-fPIE"])
    check_hostile(work, known[0], known[2])
print(f"{failures} failed checks")
sys.exit(failures > 0)
