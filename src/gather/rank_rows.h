/* The second pass: one rank's rows, in reference time and with the run's numbers. */
#ifndef GATHER_RANK_ROWS_H
#define GATHER_RANK_ROWS_H

#include "clocks.h"
#include "dictionary.h"
#include "sources.h"
#include "survey.h"

/* Where this rank's rows begin in the run's tables. */
struct rank_places {
    int64_t events, collectives, messages, counters, lanes;
};

struct rank_rows {
    struct events_rows events;
    struct collectives_rows collectives;
    struct messages_rows messages;
    struct counters_rows counters;
    struct lanes_rows lanes;
    int64_t unfinished;   /* operations whose completion was not seen */
    int64_t bound_max_ns; /* -1 when a time's error is not bounded */
    uint32_t main_lane;   /* row of /lanes; TABLE_NONE */
};

/* Puts the rank's rows in place of what `rows` holds, whose memory is used again. ERR_FORMAT (said)
 * when they are not as many as the survey has found. */
enum err rank_rows_build(struct rank_rows *rows, const struct rank_recordings *recordings,
                         const struct rank_survey *survey, const struct rank_places *places,
                         const struct dictionary *d, const struct clocks *clocks);
void rank_rows_free(struct rank_rows *r);

#endif
