/* From the tables of a recording to the tables of its analysis. Pure functions on rows; no file, no
 * MPI. Memory is proportional to the largest rank plus 100 bytes per collective and message of the
 * run. */
#ifndef REDUCE_REDUCE_H
#define REDUCE_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/strings.h"
#include "trace/tables.h"

/* Where a rank's rows come from. The tables that do not grow with events (run, nodes, ranks, lanes,
 * strings, sites, comms, comm_members, clock) are given whole; events, collectives, messages and
 * counters are asked for rank by rank, at most twice each. */
struct reduce_rank_rows {
    struct events_rows events;
    struct collectives_rows collectives; /* event and done_event are rows of the whole /events */
    struct messages_rows messages;
    struct counters_rows counters;
};
/* What a pass looks at. OPERATIONS: events (all columns but cause and bytes), collectives,
 * messages. CALLS: of events where they lie in time (begin, duration, lane, kind), and counters. */
enum reduce_want { REDUCE_OPERATIONS, REDUCE_CALLS };

struct reduce_source {
    const struct run_tables *tables;
    const struct strings *strings;
    /* Fills `out` with the rows of the rank in row `rank_row` of /ranks, at least what is wanted;
     * release frees them. */
    enum err (*read)(void *context, size_t rank_row, enum reduce_want want,
                     struct reduce_rank_rows *out);
    void (*release)(void *context, struct reduce_rank_rows *rows);
    void *context;
};

struct reduce_options {
    const char *step_patterns; /* setting `steps` */
    const char *tool_version;
};

/* Fills `out` and adds the texts it needs to `strings`. The same input gives the same output, bit
 * by bit. ERR_EMPTY when the run has no ranks. A run without steps gets one step over its whole
 * length, and says so. */
enum err reduce_run(const struct reduce_source *source, const struct reduce_options *options,
                    struct analysis_tables *out, struct strings *strings);

#endif
