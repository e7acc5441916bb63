/* One recorded process as its files show it: a part, a segment, or both. Everything in them is
 * untrusted: numbers are checked against the files' sizes, and what does not fit is counted as
 * torn, never followed. */
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

struct recording {
    struct {
        void *memory;
        uint64_t bytes;
    } files[2];
    struct segment_header header; /* a copy, of the file that was written last */
    const struct segment_lane *lanes;
    uint32_t lane_count;
    struct recording_chunk *chunks; /* sorted by lane, then sequence; no two alike */
    size_t chunk_count;
    int64_t torn; /* chunks that could not be read, and holes in the sequences */
};

/* Maps the files (either may be NULL). ERR_FORMAT (said) when neither is a segment of this version.
 */
enum err recording_open(struct recording *out, const char *part_path, const char *segment_path);
void recording_close(struct recording *r);

/* Reads only the header. */
enum err recording_read_header(const char *path, struct segment_header *out);

/* Chunks [first, end) of `chunks` are those of the lane. */
void recording_lane(const struct recording *r, uint32_t lane, size_t *first, size_t *end);

/* The text of a string slot, which may go on in the slots that follow it: its bytes joined in `out`
 * (1,024). Returns the number of slots it takes, 0 when it is cut off. */
uint32_t recording_text(const union slot *slot, uint32_t left, char out[1024]);

/* How many slots a record takes, so that the next one is found: 1, or more for a text. Never more
 * than `left`. */
static inline uint32_t recording_slots(const union slot *slot, uint32_t left)
{
    uint32_t n = slot->kind == SLOT_string ? 1u + slot->string.more : 1u;
    return n < left ? n : left;
}

#endif
