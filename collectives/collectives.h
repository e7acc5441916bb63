/* Kinds of collective operation: who waits for whom, what counts as its size, and how bandwidth is
 * stated; and the matching of one operation's members across ranks. Pure functions. */
#ifndef COLLECTIVES_COLLECTIVES_H
#define COLLECTIVES_COLLECTIVES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum collective_kind {
#define COLLECTIVE(name, waits, payload, factor, meaning) COLLECTIVE_##name,
#include "trace/collectives.def"
#undef COLLECTIVE
    COLLECTIVE_KIND_COUNT
};

enum collective_waits {
    COLLECTIVE_WAITS_NONE,
    COLLECTIVE_WAITS_ALL,
    COLLECTIVE_WAITS_ROOT_TO_ALL,
    COLLECTIVE_WAITS_ALL_TO_ROOT,
    COLLECTIVE_WAITS_PREFIX,
    COLLECTIVE_WAITS_NEIGHBOURS
};

const char *collective_name(unsigned kind);
enum collective_waits collective_waits(unsigned kind);

/* Kind of a name in collectives.def; COLLECTIVE_unknown when there is none. */
enum collective_kind collective_find(const char *name);

/* The size of the operation as nccl-tests counts it, from one member's bytes (-1 unknown). */
int64_t collective_payload(unsigned kind, int64_t sent, int64_t received);

/* Bytes/s of `payload` bytes in `duration_ns` (0 when either is not positive); busbw is algbw times
 * the factor of `members` ranks. Source: NVIDIA nccl-tests, doc/PERFORMANCE.md. */
double collective_algbw(int64_t payload, int64_t duration_ns);
double collective_busbw(unsigned kind, int members, int64_t payload, int64_t duration_ns);

/* One member of one collective, as matching sees it. */
struct collective_member {
    uint64_t communicator; /* key or row, equal on all members */
    int64_t sequence;
    int32_t rank;
    uint8_t kind;
    uint8_t scope; /* enum sequence_scope; FUNCTION adds the kind to the key */
    uint64_t row;  /* the caller's own */
};

/* Sorts members so that those of one instance are neighbours, in order of rank, and instances are
 * in order of (communicator, sequence, kind where the scope says so). No time is looked at. */
enum err collective_match(struct collective_member *members, size_t count);

/* After collective_match: the end of the instance that begins at `first`. */
size_t collective_instance_end(const struct collective_member *members, size_t count, size_t first);

#endif
