/* The segment: one file per recorded process, mapped MAP_SHARED by that process (writer) and by its
 * agent (reader). It is the only border between a job and scaleprof, and outlives the death of
 * either at any instant.
 *
 *   header (SEGMENT_HEADER_BYTES) | lanes (lanes_max * SEGMENT_LANE_BYTES) | chunks (chunks_max *
 * SEGMENT_CHUNK_BYTES)
 *
 * A part (OUT.parts/NAME.part) is what an agent has drained: the same header and lanes, as they
 * were at the last drain, then chunks one after another; its chunks carry checksums and state
 * CHUNK_SEALED. A chunk may stand in the part and still in the segment (the agent died between copy
 * and release): (lane, sequence) says so, and the one with more slots counts. Native byte order;
 * readers refuse another.
 *
 * Everything here may be read while it is written, or after the writer was killed half way: a
 * reader trusts only what `count` has published, and checks every number against the size of the
 * file.
 */
#ifndef TRACE_SEGMENT_H
#define TRACE_SEGMENT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/vocabulary.h"

#define SEGMENT_MAGIC        "SPSEGMT"
#define SEGMENT_VERSION      1u
#define SEGMENT_HEADER_BYTES 4096u
#define SEGMENT_LANE_BYTES   2048u
#define SEGMENT_LANES_MAX    256u
#define SEGMENT_CHUNK_BYTES  65536u
#define SEGMENT_CHUNK_HEADER 64u
#define SEGMENT_SLOT_BYTES   48u
#define SEGMENT_CHUNK_SLOTS  ((SEGMENT_CHUNK_BYTES - SEGMENT_CHUNK_HEADER) / SEGMENT_SLOT_BYTES)
#define SEGMENT_OPEN_MAX     32u
#define SEGMENT_NO_CHUNK     UINT32_MAX

/* ---- slots: 48 bytes each; byte 0 is the kind ---- */

/* A detail (collective, message, completion) belongs to the last event before it in its lane. It
 * may be published after that event, stand in a later chunk, and have definitions between. */

/* An interval, written once, at its end. */
struct slot_event {
    uint8_t kind;  /* enum event_kind */
    uint8_t flags; /* enum event_flag, without the starts_* and completes bits: gather sets those */
    uint16_t extra; /* kind's own use; 0 */
    uint32_t name;  /* string number; 0 none */
    uint32_t site;  /* site number; 0 none */
    uint32_t
        track; /* track number when it happened on another lane than the writer's; 0 the writer's */
    int64_t begin_ns; /* local clock */
    int64_t duration_ns;
    int64_t ref;   /* step number, merged count, correlation; -1 none */
    int64_t bytes; /* payload of the call; -1 none */
};

/* Follows the event whose call starts the collective. */
struct slot_collective {
    uint8_t kind;          /* SLOT_collective */
    uint8_t collective;    /* enum collective_kind (collectives/collectives.h) */
    uint8_t scope;         /* enum sequence_scope */
    uint8_t blocking;      /* 1: the event before is also its completion */
    uint32_t communicator; /* communicator number; 0 none known */
    int32_t root;          /* rank in the communicator, -1 none */
    uint32_t kind_name;    /* string number of the kind when given by name (own collectives); 0 */
    int64_t sequence;      /* order on this communicator, counted from 0 by every member alike */
    int64_t bytes_sent;
    int64_t bytes_received;
    uint64_t operation; /* process-wide number that its completion names; 0 when blocking */
};

/* Follows the event whose call starts the message (two for sendrecv). */
struct slot_message {
    uint8_t kind;      /* SLOT_message */
    uint8_t direction; /* enum message_direction */
    uint8_t mode;      /* enum message_mode */
    uint8_t flags;     /* enum message_flag */
    uint32_t communicator;
    int32_t
        peer; /* rank in the communicator (remote group for an intercommunicator); -1 any or null */
    int32_t tag; /* -1 any */
    int64_t
        order; /* post order per (communicator, peer, tag, direction); -1 for any source or tag */
    int64_t bytes;      /* sent, or room of a receive until its completion says more */
    uint64_t operation; /* process-wide number that its completion names; 0 when blocking */
    int64_t reserved;
};

/* Follows the event whose call saw the end of an operation. */
struct slot_completion {
    uint8_t kind;  /* SLOT_completion */
    uint8_t flags; /* enum message_flag bits learnt at the end (cancelled) */
    uint16_t reserved0;
    int32_t peer; /* actual peer of a receive; -1: as posted */
    int32_t tag;  /* actual tag of a receive; -1: as posted */
    uint32_t reserved1;
    uint64_t operation;
    int64_t bytes; /* actual bytes of a receive; -1: as posted */
    int64_t reserved[2];
};

struct slot_counter {
    uint8_t kind; /* SLOT_counter */
    uint8_t reserved0[3];
    uint32_t name;
    int64_t time_ns;
    double value;
    int64_t reserved[3];
};

#define SLOT_STRING_FIRST_BYTES 32u
/* A text of `length` bytes: the first 32 here, the others in the `more` raw slots that follow (48
 * bytes each). */
struct slot_string {
    uint8_t kind; /* SLOT_string */
    uint8_t reserved0;
    uint16_t more;
    uint32_t number;
    uint32_t length;
    uint32_t reserved1;
    char text[SLOT_STRING_FIRST_BYTES];
};

/* Where a call was made: return address minus load address of its module. */
struct slot_site {
    uint8_t kind; /* SLOT_site */
    uint8_t reserved0[3];
    uint32_t number;
    uint32_t module;   /* string number of the module's path */
    uint32_t build_id; /* string number of its build id in hex; 0 none */
    int64_t offset;
    int64_t reserved[3];
};

struct slot_communicator {
    uint8_t kind;   /* SLOT_communicator */
    uint8_t source; /* enum communicator_source */
    uint16_t reserved0;
    uint32_t number;
    uint64_t key;    /* equal on every member, different for every communicator of the run */
    uint64_t parent; /* key of the communicator it was made from; 0 none */
    int32_t size;
    int32_t member; /* this process's rank in it */
    uint32_t name;  /* string number; a later definition of the same number replaces the name */
    int32_t remote_size; /* 0 unless an intercommunicator */
    int64_t reserved;
};

struct slot_track {
    uint8_t kind;      /* SLOT_track */
    uint8_t lane_kind; /* enum lane_kind */
    uint16_t reserved0;
    uint32_t number;
    int32_t device;
    uint32_t context;
    int64_t stream;
    uint32_t name;
    uint32_t reserved1;
    int64_t reserved[2];
};

/* One burst: at `time_ns` of this process's clock, peer clock - own clock lies in [low_ns,
 * high_ns]. */
struct slot_clock {
    uint8_t kind; /* SLOT_clock */
    uint8_t reserved0[3];
    uint32_t exchanges;
    uint64_t peer_domain; /* domain key of the peer */
    int64_t time_ns;
    int64_t low_ns;
    int64_t high_ns;
    int64_t round_trip_ns; /* shortest */
};

struct slot_usage {
    uint8_t kind; /* SLOT_usage */
    uint8_t reserved0[3];
    uint32_t reserved1;
    int64_t time_ns;
    int64_t cpu_ns;               /* CPU time of the thread since its start */
    int64_t involuntary_switches; /* of the thread since its start */
    int64_t voluntary_switches;
    int64_t step; /* number of the step that ends here; -1: a sample at a step's begin */
};

union slot {
    uint8_t kind;
    struct slot_event event;
    struct slot_collective collective;
    struct slot_message message;
    struct slot_completion completion;
    struct slot_counter counter;
    struct slot_string string;
    struct slot_site site;
    struct slot_communicator communicator;
    struct slot_track track;
    struct slot_clock clock;
    struct slot_usage usage;
    char raw[SEGMENT_SLOT_BYTES];
};
_Static_assert(sizeof(union slot) == SEGMENT_SLOT_BYTES, "a slot is 48 bytes");

/* ---- chunks ---- */

enum chunk_state { CHUNK_ABSENT, CHUNK_FREE, CHUNK_OWNED, CHUNK_SEALED };

struct segment_chunk {
    _Atomic uint32_t state; /* enum chunk_state */
    uint32_t lane;
    uint32_t sequence;      /* 0, 1, 2, ... within the lane */
    _Atomic uint32_t count; /* slots published; store-release after their contents */
    _Atomic uint32_t next;  /* free list */
    uint32_t reserved0;
    uint64_t checksum; /* of the published slots; set by the agent when it drains, else 0 */
    uint64_t reserved[4];
    union slot slots[SEGMENT_CHUNK_SLOTS];
};
_Static_assert(offsetof(struct segment_chunk, slots) == SEGMENT_CHUNK_HEADER, "chunk header");
_Static_assert(sizeof(struct segment_chunk) <= SEGMENT_CHUNK_BYTES, "chunk size");

/* ---- lanes: one per thread of the process ---- */

/* An interval that has begun and not ended. */
struct segment_open {
    uint8_t kind;
    uint8_t reserved0[3];
    uint32_t name;
    uint32_t site;
    uint32_t reserved1;
    int64_t begin_ns;
    int64_t ref;
};

enum lane_state { LANE_UNUSED, LANE_LIVE, LANE_ENDED };

struct segment_lane {
    _Atomic uint32_t state; /* enum lane_state */
    uint32_t thread_id;     /* gettid */
    _Atomic uint32_t chunk; /* index of the chunk being written; SEGMENT_NO_CHUNK */
    uint32_t next_sequence;
    _Atomic uint64_t dropped;         /* slots of events that could not be stored */
    _Atomic uint64_t dropped_details; /* definitions and details likewise */
    _Atomic uint64_t unbalanced;      /* ends without a begin, ranges open at a step's end */
    char name[64];
    _Atomic uint32_t open_count; /* may exceed SEGMENT_OPEN_MAX: only the first are kept */
    uint32_t reserved0;
    struct segment_open opens[SEGMENT_OPEN_MAX];
    char reserved1[SEGMENT_LANE_BYTES - 112 - SEGMENT_OPEN_MAX * sizeof(struct segment_open)];
};
_Static_assert(sizeof(struct segment_lane) == SEGMENT_LANE_BYTES, "lanes are an array");

/* ---- header ---- */

enum segment_state { SEGMENT_RECORDING = 1, SEGMENT_CLOSED };

struct segment_header {
    char magic[8]; /* SEGMENT_MAGIC, written last when the file is made */
    uint32_t version;
    uint32_t slot_bytes;
    uint32_t lanes_max;
    uint32_t chunks_max;
    int32_t pid;
    int32_t parent_pid;
    int64_t
        process_start; /* start time of the process in clock ticks after boot (/proc/PID/stat) */
    int32_t rank;      /* -1 unknown; MPI's own answer once it is there */
    int32_t size;      /* ranks in the job; -1 unknown */
    int32_t clock_id;
    int32_t mpi_thread_level; /* -1 none */
    uint64_t clock_domain;    /* clock_domain_key of base/host.h */
    int64_t opened_ns;        /* local clock, and UTC read right after it */
    int64_t opened_utc_ns;
    char host[64];
    char boot_id[40];
    char program[256];

    _Atomic uint32_t state;          /* enum segment_state */
    _Atomic uint32_t mpi_phase;      /* enum mpi_phase */
    _Atomic uint32_t lanes_used;     /* may exceed lanes_max: threads that found no lane */
    _Atomic uint32_t chunks_present; /* chunks whose memory exists (fallocate has succeeded) */
    _Atomic uint64_t
        free_chunks; /* head of the free list: (tag << 32) | index; tag grows with each change */
    _Atomic uint32_t free_count; /* about how many are on the list */
    _Atomic uint32_t next_string, next_site, next_communicator, next_track;
    _Atomic uint64_t next_operation;
    _Atomic uint64_t dropped_no_lane;
    _Atomic uint64_t faults; /* faults of our own; the probe concerned is off */
    _Atomic int64_t last_ns; /* local time of the close */
    _Atomic int64_t
        probe_ns; /* time spent in our own wrappers beyond the real calls, where measured */
};
_Static_assert(sizeof(struct segment_header) <= SEGMENT_HEADER_BYTES, "header size");

/* Bytes of a segment of this shape. */
static inline uint64_t segment_bytes(uint32_t lanes, uint32_t chunks)
{
    return SEGMENT_HEADER_BYTES + (uint64_t)lanes * SEGMENT_LANE_BYTES +
           (uint64_t)chunks * SEGMENT_CHUNK_BYTES;
}

/* Lane `index` and chunk `index` of a mapped segment; the caller has checked them against the
 * header. */
static inline struct segment_lane *segment_lane_at(struct segment_header *h, uint32_t index)
{
    return (struct segment_lane *)((char *)h + SEGMENT_HEADER_BYTES +
                                   (size_t)index * SEGMENT_LANE_BYTES);
}

static inline struct segment_chunk *segment_chunk_at(struct segment_header *h, uint32_t index)
{
    return (struct segment_chunk *)((char *)h + SEGMENT_HEADER_BYTES +
                                    (size_t)h->lanes_max * SEGMENT_LANE_BYTES +
                                    (size_t)index * SEGMENT_CHUNK_BYTES);
}

/* Free list of chunks, shared by the process and its agent: lock-free, safe against a kill at any
 * instant (at most the one chunk in flight is lost). take returns SEGMENT_NO_CHUNK when it is
 * empty. */
uint32_t segment_take_free(struct segment_header *h);
void segment_give_free(struct segment_header *h, uint32_t index);

/* Gives memory (fallocate) to up to `chunks` chunks that have none yet, as long as some are left,
 * and puts them on the free list. ERR_NO_SPACE when the file system is full: what was added before
 * stays. Any process and thread may do it at any time. */
enum err segment_grow(struct segment_header *h, int fd, uint32_t chunks);

/* The same for one chunk, from inside the job: through the mapping, as a file descriptor there is
 * the program's to close. One system call; errno stays. ERR_LIMIT when the segment is at its full
 * size, ERR_NO_SPACE when the kernel refuses (full, or older than Linux 5.14). */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
enum err segment_grow_mapped(struct segment_header *h);

/* Checksum of the first `count` slots of a chunk. */
uint64_t segment_checksum(const struct segment_chunk *chunk, uint32_t count);

#endif
