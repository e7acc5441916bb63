/* The operations of a rank, from its rows. */
#ifndef REDUCE_COLLECT_H
#define REDUCE_COLLECT_H

#include "state.h"

/* Appends the rank's collectives and messages to the operations, in order of their begin, and
 * counts what the rank's state wants to know of its events. */
enum err collect_rank(struct state *s, size_t rank_row, const struct reduce_rank_rows *rows);

#endif
