/* Ranks that the others wait for, and why. */
#ifndef REDUCE_LATE_H
#define REDUCE_LATE_H

#include "state.h"

/* Fills /analysis/late_ranks from the partition of the kept steps. */
enum err late_find(struct state *s);

#endif
