/* Collectives matched across ranks, and who waited for whom in each. */
#ifndef REDUCE_INSTANCES_H
#define REDUCE_INSTANCES_H

#include "state.h"

/* Fills /analysis/instances and the waits of the operations that belong to them. */
enum err instances_match(struct state *s);

#endif
