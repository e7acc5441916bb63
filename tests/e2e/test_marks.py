"""test_marks.py RECORD_LIBRARY SOURCE_DIR: a C++ and a Python program mark steps, ranges, collectives and counters
through scaleprof.h; recorded, their segments hold exactly these; not recorded, they leave nothing and write nothing."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mpi"))
import segments

STEP, RANGE, OWN_COLLECTIVE = 1, 2, 12


def build(folder, library, source):
    """The C++ program, or None without a compiler."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        print("no C++ compiler: scaleprof.h is tried from Python only")
        return None
    program = os.path.join(folder, "marks")
    subprocess.check_call([compiler, "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-pthread",
                           "-I", source + "/src", source + "/tests/e2e/marks.cpp", "-o", program, library,
                           "-Wl,-rpath," + os.path.dirname(library)])
    return program


def run(command, run_dir):
    """Runs it silently, recorded when there is a folder; its exit code."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SCALEPROF_")}
    environment["LD_PRELOAD"] = environment.pop("TEST_PRELOAD_FIRST", "")
    if run_dir is not None:
        environment["SCALEPROF_RUN_DIR"] = run_dir
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.stdout == b"", done.stdout
    return done.returncode


def counters_and_samples(path):
    """Counters' values and steps of the usage samples, in the order of the file."""
    values, steps = [], []
    with open(path, "rb") as f:
        data = f.read()
    first = segments.HEADER_BYTES + 256 * segments.LANE_BYTES
    for at in range(first, len(data) - segments.CHUNK_BYTES + 1, segments.CHUNK_BYTES):
        state, _, _, count = struct.unpack_from("<IIII", data, at)
        for i in range(count if state in (2, 3) else 0):
            slot = data[at + 64 + i * 48:at + 112 + i * 48]
            if slot[0] == segments.COUNTER:
                values.append(struct.unpack_from("<d", slot, 16)[0])
            if slot[0] == segments.USAGE:
                steps.append(struct.unpack_from("<q", slot, 40)[0])
    return values, steps


def check(command, language):
    assert run(command, None) == 3, language
    with tempfile.TemporaryDirectory() as folder:
        assert run(command, folder) == 0, language
        paths = [os.path.join(folder, name) for name in os.listdir(folder)]
        assert len(paths) == 1, paths
        s = segments.Segment(paths[0])
        values, steps = counters_and_samples(paths[0])
    events = [(e.kind, s.strings.get(e.name, ""), e.ref, e.bytes) for lane in sorted(s.lanes) for e in s.lanes[lane]]
    loop = [[(RANGE, "layer", -1, -1), (RANGE, "forward", -1, -1), (STEP, "", step, -1)] for step in (10, 11)]
    assert events == loop[0] + loop[1] + 2 * [(OWN_COLLECTIVE, "allreduce", -1, 4096)], events
    own = [e.details for lane in s.lanes.values() for e in lane if e.kind == OWN_COLLECTIVE]
    fields = [struct.unpack("<BBBBIiIqqqQ", d[0]) for d in own]
    assert all(len(d) == 1 for d in own)
    assert [f[7] for f in fields] == [0, 1], fields
    for f in fields:
        assert s.communicator(f[4]) == "pair" and s.communicators[f[4]]["size"] == 2
        assert s.communicators[f[4]]["member"] == 1 and s.strings[f[6]] == "allreduce" and f[8] == 4096
    assert values == [0.5, 0.5] and steps == [-1, 10, -1, 11], (values, steps)
    assert s.dropped == 0 and s.faults == 0 and s.state == 2
    print("%s: %d events as marked" % (language, len(events)))


def main():
    library, source = sys.argv[1], sys.argv[2]
    check([sys.executable, source + "/tests/e2e/marks.py", library], "Python")
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, library, source)
        if program is not None:
            check([program], "C++")


main()
