/* One recorded process as its files show it: a part, a segment, or both. Everything in them is
 * untrusted: numbers are checked against the files' sizes, and what does not fit is counted as
 * torn, never followed. The process may still be writing: what is there when the recording is
 * opened is what it holds until it is closed. */
#ifndef GATHER_RECORDING_H
#define GATHER_RECORDING_H

#include <stdint.h>

#include "base/err.h"
#include "trace/segment.h"

/* A chunk that can be read: `count` slots are there. */
struct recording_chunk {
    uint32_t lane, sequence, count;
    const union slot *slots;
};

/* A slot that defines a text, a site, a communicator or a track; `left` slots are there from it on.
 */
struct recording_definition {
    const union slot *slot;
    uint32_t left;
};

struct recording {
    struct {
        void *memory;
        uint64_t bytes;
    } files[2];
    struct segment_header header; /* a copy, of the file that was written last */
    struct segment_lane *lanes;   /* likewise */
    uint32_t lane_count;
    struct recording_chunk *chunks; /* sorted by lane, then sequence; no two alike */
    size_t chunk_count;
    struct recording_definition *definitions; /* kept by the survey */
    size_t definition_count, definition_room;
    uint64_t slots;  /* of all chunks */
    int64_t torn;    /* chunks that could not be read, and holes in the sequences */
    int64_t last_ns; /* end of the last interval that is known, local clock; by the survey */
};

/* Maps the files (either may be NULL). ERR_FORMAT (said) when neither is a segment of this version.
 */
enum err recording_open(struct recording *out, const char *part_path, const char *segment_path);
void recording_close(struct recording *r);

/* Lets go of the memory that holds the files' contents until they are read again. */
void recording_rest(const struct recording *r);

enum err recording_keep_definition(struct recording *r, const union slot *slot, uint32_t left);

/* Reads only the header. */
enum err recording_read_header(const char *path, struct segment_header *out);

/* Chunks [first, end) of `chunks` are those of the lane. */
void recording_lane(const struct recording *r, uint32_t lane, size_t *first, size_t *end);

/* Whether something of the lane is missing before this chunk. */
static inline int recording_is_gap(const struct recording *r, size_t chunk)
{
    const struct recording_chunk *c = &r->chunks[chunk];
    return chunk > 0 && (c[-1].lane != c->lane || c[-1].sequence + 1 != c->sequence);
}

/* The text of a string slot, which may go on in the slots that follow it: its bytes joined in `out`
 * (1,024). Returns the number of slots it takes, 0 when it is cut off. */
uint32_t recording_text(const union slot *slot, uint32_t left, char out[1024]);

/* Times are kept where the arithmetic on a few of them cannot overflow. */
#define RECORDING_TIME_MAX (INT64_C(1) << 60)

static inline int64_t recording_time(int64_t ns)
{
    return ns > RECORDING_TIME_MAX    ? RECORDING_TIME_MAX
           : ns < -RECORDING_TIME_MAX ? -RECORDING_TIME_MAX
                                      : ns;
}

/* End of an event; never before its begin. */
static inline int64_t recording_end(const struct slot_event *s)
{
    int64_t duration_ns = recording_time(s->duration_ns);
    return recording_time(s->begin_ns) + (duration_ns > 0 ? duration_ns : 0);
}

/* The slot's kind: an event's, EVENT_none or a detail's. SLOT_KIND_END for what this version does
 * not know and for numbers that no recorder writes. */
static inline unsigned recording_kind(const union slot *s)
{
    int sound =
        s->kind < EVENT_KIND_COUNT || (s->kind >= SLOT_FIRST_DETAIL && s->kind < SLOT_KIND_END);
    if (s->kind == SLOT_collective)
        sound = s->collective.scope <= SEQUENCE_STREAM;
    else if (s->kind == SLOT_message)
        sound = s->message.direction <= MESSAGE_RECEIVE && s->message.mode <= MESSAGE_READY;
    else if (s->kind == SLOT_communicator)
        sound = s->communicator.member >= 0 && s->communicator.member < s->communicator.size &&
                s->communicator.source <= COMMUNICATOR_IMPORT;
    else if (s->kind == SLOT_track)
        sound = s->track.lane_kind <= LANE_OTHER;
    return sound ? s->kind : SLOT_KIND_END;
}

static inline int recording_is_event(unsigned kind)
{
    return kind != EVENT_none && kind < EVENT_KIND_COUNT;
}

/* How many slots a record takes, so that the next one is found: 1, or more for a text. Never more
 * than `left`. */
static inline uint32_t recording_slots(const union slot *slot, uint32_t left)
{
    uint32_t n = slot->kind == SLOT_string ? 1u + slot->string.more : 1u;
    return n < left ? n : left;
}

#endif
