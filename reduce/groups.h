/* Sums over the run: like operations, efficiencies, and the quality of each rank's data. */
#ifndef REDUCE_GROUPS_H
#define REDUCE_GROUPS_H

#include "state.h"

enum err groups_operations(struct state *s);
enum err groups_efficiency(struct state *s);
enum err groups_quality(struct state *s);

#endif
