/* The repeating part of a rank's collectives, for programs that mark no steps. */
#ifndef REDUCE_REPEATS_H
#define REDUCE_REPEATS_H

#include "state.h"

struct repeats {
    size_t first;  /* collectives before the first repetition */
    size_t period; /* collectives of one */
    size_t times;
};

/* Finds the shortest period of a sequence of signatures in which the most of it repeats: at least
 * four times, and over at least half of the sequence. 0 when there is none. */
int repeats_find(const uint64_t *signatures, size_t count, struct repeats *out);

/* The repetition that all ranks which use collectives share; 0 when they do not agree. */
int repeats_agree(const struct state *s, struct repeats *out);

#endif
