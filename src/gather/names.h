/* What one process's numbers stand for: tables from its numbers to those of a dictionary. */
#ifndef GATHER_NAMES_H
#define GATHER_NAMES_H

#include "dictionary.h"
#include "recording.h"

struct numbers {
    uint32_t *to; /* TABLE_NONE where nothing was defined */
    size_t count;
};

struct names {
    struct numbers strings, sites, communicators, tracks;
    struct slot_track *track_list; /* in order of their numbers */
    size_t track_count, track_room;
};

/* Collects the process's definitions into the dictionary (before it is joined): texts, sites,
 * communicators. After the survey of the recording, as all below. */
enum err names_collect(const struct recording *r, int rank, struct dictionary *d);

/* Finds them again after the join, when all have their final numbers. */
enum err names_open(struct names *out, const struct recording *r, const struct dictionary *d);

/* The tracks alone, which belong to the process. */
enum err names_open_tracks(struct names *out, const struct recording *r);
void names_close(struct names *n);

/* The lane's name, ended. */
void names_lane(const struct segment_lane *lane, char out[65]);

/* The final number of a number of the process; `otherwise` for 0 and what was never defined. */
static inline uint32_t names_find(const struct numbers *n, uint32_t number, uint32_t otherwise)
{
    return number < n->count && n->to[number] != TABLE_NONE ? n->to[number] : otherwise;
}

#endif
