/* The first pass over a rank's recordings: how many rows it will have, and what it names. */
#ifndef GATHER_SURVEY_H
#define GATHER_SURVEY_H

#include "clocks.h"
#include "dictionary.h"
#include "recording.h"
#include "sources.h"

struct rank_survey {
    int32_t rank, pid, processes, mpi_phase;
    int64_t lanes, events, collectives, messages, counters;
    int64_t dropped, dropped_details, torn, unbalanced, faults, probe_ns;
    int64_t first_ns, last_ns; /* local clock of `domain` */
    uint64_t domain;
    char host[64], boot_id[40];
};

/* The recordings of one rank, open. */
struct rank_recordings {
    struct recording *list;
    size_t count;
    int64_t unread; /* files that could not be read */
};

/* Opens all recordings of the rank; those that cannot be read are left out and counted. */
enum err rank_recordings_open(struct rank_recordings *out, const struct sources *sources, int rank);
void rank_recordings_close(struct rank_recordings *r);

/* Counts the rows of the rank and adds what it names to the dictionary and the clocks. A rank
 * without recordings gets zeroes. */
enum err survey_rank(struct rank_recordings *r, int rank, struct dictionary *dictionary,
                     struct clocks *clocks, struct rank_survey *out);

/* Rows of /counters that one usage slot becomes. */
#define USAGE_COUNTERS 3

/* The open interval at a place of the lane's stack, outermost first; NULL where there is none to be
 * told. */
const struct segment_open *recording_open_at(const struct segment_lane *lane, uint32_t index);

#endif
