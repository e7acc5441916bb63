"""Runs an MPI program under the probe and reads what was recorded."""
import os
import shutil
import subprocess
import tempfile

import segments


def preload(folder, libraries):
    """Value of LD_PRELOAD, which cannot hold a path with a space: by links in the folder."""
    first = os.environ.get("TEST_PRELOAD_FIRST")
    links = [first] if first else []
    for i, library in enumerate(libraries):
        links.append("%s/preload%d.so" % (folder, i))
        os.symlink(os.path.abspath(library), links[-1])
    return ":".join(links)


class Recording:
    def __init__(self, library, ranks, command, environment=None, folder=None):
        """Runs `command` on `ranks` ranks with the probe, or a list of libraries, preloaded (None: without)."""
        self.folder = folder or tempfile.mkdtemp(prefix="scaleprof-test-")
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                   EXPECT_DIR=self.folder)
        env.update(environment or {})
        under = []
        if library is not None:
            libraries = library if isinstance(library, list) else [library]
            under = ["env", "LD_PRELOAD=" + preload(self.folder, libraries), "SCALEPROF_RUN_DIR=" + self.folder]
        result = subprocess.run(["mpirun", "-n", str(ranks)] + under + command, env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.code, self.out, self.err = result.returncode, result.stdout.decode(), result.stderr.decode()
        self.ranks = segments.read_all(self.folder)

    def expected(self, rank):
        with open("%s/expect.%d" % (self.folder, rank)) as f:
            return f.read().splitlines()

    def close(self):
        shutil.rmtree(self.folder)


def differences(got, wanted, what):
    """The first places where two lists of lines differ, as text; empty when they are equal."""
    out = []
    for i in range(max(len(got), len(wanted))):
        g = got[i] if i < len(got) else "(nothing)"
        w = wanted[i] if i < len(wanted) else "(nothing)"
        if g != w:
            out.append("%s line %d: recorded %r, not %r" % (what, i, g, w))
        if len(out) == 5:
            break
    return out


def check_communicators(ranks):
    """Equal keys must mean the same communicator, with each member exactly once."""
    out, members = [], {}
    for rank, s in ranks.items():
        seen = set()
        for c in s.communicators.values():
            name = s.strings[c["name"]]
            members.setdefault(c["key"], []).append((c["member"], c["size"], c["remote"], c["parent"], name))
            if c["key"] in seen:
                out.append("rank %d has two communicators with the key of %s" % (rank, name))
            seen.add(c["key"])
    for key, group in members.items():
        size, remote = group[0][1], group[0][2]
        if len({g[3:] for g in group}) != 1:
            out.append("key %x is of different communicators: %s" % (key, group))
        if remote == 0 and sorted(g[0] for g in group) != list(range(size)):
            out.append("key %x (%s) does not have each member once: %s" % (key, group[0][4], group))
        if remote > 0 and len(group) != size + remote:
            out.append("key %x (%s) has %d members of %d" % (key, group[0][4], len(group), size + remote))
    return out
