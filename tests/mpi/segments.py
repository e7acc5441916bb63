"""Reads segments independently of scaleprof's own code, and prints what they hold as the lines that the test programs
of this folder expect."""
import glob
import struct

KINDS = ["unknown", "barrier", "broadcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv",
         "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block",
         "scan", "exscan", "communicator", "initialise", "finalise", "fence", "neighbor_allgather",
         "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw", "send_receive"]
MPI_CALL = 3
(COLLECTIVE, MESSAGE, COMPLETION, COUNTER, STRING, SITE, COMMUNICATOR, TRACK, CLOCK, USAGE) = range(128, 138)
MERGED, FAILED = 1 << 3, 1 << 7
HEADER_BYTES, LANE_BYTES, CHUNK_BYTES, SLOT_BYTES = 4096, 2048, 65536, 48


class Event:
    def __init__(self, slot):
        (self.kind, self.flags, _, self.name, self.site, _, self.begin, self.duration, self.ref,
         self.bytes) = struct.unpack("<BBHIIIqqqq", slot)
        self.details = []


class Segment:
    """One process: header fields, definitions, and the events of each lane in order."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        assert data[:8] == b"SPSEGMT\0", path
        (_, slot_bytes, lanes, chunks, self.pid, _, _, self.rank, self.size, _, self.level,
         self.domain) = struct.unpack_from("<IIIIiiqiiiiQ", data, 8)
        assert slot_bytes == SLOT_BYTES
        self.state, self.phase, self.lanes_used = struct.unpack_from("<III", data, 440)
        self.faults, = struct.unpack_from("<Q", data, 504)
        self.strings, self.sites, self.communicators, self.clocks = {}, {}, {}, []
        self.dropped = sum(sum(struct.unpack_from("<QQ", data, HEADER_BYTES + i * LANE_BYTES + 16))
                           for i in range(min(lanes, self.lanes_used)))
        found = []
        for i in range(chunks):
            at = HEADER_BYTES + lanes * LANE_BYTES + i * CHUNK_BYTES
            if at + CHUNK_BYTES > len(data):
                break
            state, lane, sequence, count = struct.unpack_from("<IIII", data, at)
            if state in (2, 3):
                found.append((lane, sequence, at + 64, count))
        self.lanes = {}
        for lane, _, at, count in sorted(found):
            self.read(self.lanes.setdefault(lane, []), data, at, count)

    def read(self, events, data, at, count):
        i = 0
        while i < count:
            slot = data[at + i * SLOT_BYTES:at + (i + 1) * SLOT_BYTES]
            kind = slot[0]
            i += 1
            if kind < 128:
                events.append(Event(slot))
            elif kind in (COLLECTIVE, MESSAGE, COMPLETION):
                events[-1].details.append(slot)
            elif kind == STRING:
                _, _, more, number, length, _ = struct.unpack_from("<BBHIII", slot)
                text = data[at + i * SLOT_BYTES - 32:at + (i + more) * SLOT_BYTES]
                self.strings[number] = text[:length].decode()
                i += more
            elif kind == SITE:
                _, number, module, _, offset = struct.unpack_from("<B3xIIIq", slot)
                self.sites[number] = (module, offset)
            elif kind == COMMUNICATOR:
                _, _, _, number, key, parent, size, member, name, remote = struct.unpack_from("<BBHIQQiiIi", slot)
                self.communicators[number] = dict(key=key, parent=parent, size=size, member=member, name=name,
                                                  remote=remote)
            elif kind == CLOCK:
                self.clocks.append(struct.unpack("<B3xIQqqqq", slot)[1:])

    def communicator(self, number):
        return self.strings[self.communicators[number]["name"]] if number in self.communicators else "?"

    def calls(self):
        """All MPI calls of all lanes, in order of their begin."""
        return sorted((e for lane in self.lanes.values() for e in lane if e.kind == MPI_CALL), key=lambda e: e.begin)

    def detail(self, slot, operations):
        def numbered(operation):
            return "" if operation == 0 else " op=%d" % operations.setdefault(operation, len(operations) + 1)

        if slot[0] == COLLECTIVE:
            _, kind, scope, blocking, comm, root, _, sequence, sent, received, op = struct.unpack("<BBBBIiIqqqQ", slot)
            assert scope == 0 and (blocking == 1) == (op == 0)
            return "  collective %s comm=%s root=%d seq=%d sent=%d received=%d%s" % (
                KINDS[kind], self.communicator(comm), root, sequence, sent, received, numbered(op))
        if slot[0] == MESSAGE:
            _, direction, mode, flags, comm, peer, tag, order, size, op, _ = struct.unpack("<BBBBIiiqqQq", slot)
            return "  %s mode=%d comm=%s peer=%d tag=%d order=%d bytes=%d flags=%d%s" % (
                "receive" if direction else "send", mode, self.communicator(comm), peer, tag, order, size, flags,
                numbered(op))
        _, flags, _, peer, tag, _, op, size = struct.unpack_from("<BBHiiIQq", slot)
        return "  end%s peer=%d tag=%d bytes=%d flags=%d" % (numbered(op), peer, tag, size, flags)

    def lines(self):
        """The calls as expected lines. Polls that found nothing are one line for all that follow each other."""
        out, operations, polls, polls_name = [], {}, 0, None

        def flush():
            if polls:
                out.append("%s polls=%d" % (polls_name, polls))

        for e in self.calls():
            name = self.strings.get(e.name, "?")
            if e.flags & MERGED:
                if polls and polls_name != name:
                    flush()
                    polls = 0
                polls_name = name
                polls += e.ref
                continue
            flush()
            polls = 0
            out.append("%s bytes=%d%s" % (name, e.bytes, " failed" if e.flags & FAILED else ""))
            out.extend(self.detail(d, operations) for d in e.details)
        flush()
        return out


def read_all(folder):
    """The segments under a folder by rank."""
    paths = [p for p in glob.glob(folder + "/**", recursive=True) if is_segment(p)]
    return {s.rank: s for s in map(Segment, paths)}


def is_segment(path):
    try:
        with open(path, "rb") as f:
            return f.read(8) == b"SPSEGMT\0"
    except OSError:
        return False
