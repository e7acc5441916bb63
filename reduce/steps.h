/* Steps: found on each rank, then joined to global ones. */
#ifndef REDUCE_STEPS_H
#define REDUCE_STEPS_H

#include "state.h"

/* Takes the steps that the rank's events mark (kind step), or, where there are none, ranges named
 * as the patterns say. *by_range tells which. */
enum err steps_read(struct state *s, size_t rank_row, const struct events_rows *events,
                    int *by_range);

/* Where no rank has marked any: steps from the repeating collectives of the ranks' operations, or
 * one over the whole run. */
enum err steps_find(struct state *s);

/* The global steps, /analysis/steps, with kept steps chosen; lasts of each rank's steps extended to
 * the begin of the next. */
enum err steps_join(struct state *s);

/* Row of /analysis/steps of a number; TABLE_NONE. */
uint32_t steps_row(const struct state *s, int64_t number);

/* Row of the step whose window holds the time; TABLE_NONE outside all. */
uint32_t steps_at(const struct state *s, int64_t time_ns);

/* Whether the step of this time is one that sums over the run are taken over: kept, or any when
 * none is. */
int steps_counts(const struct state *s, int64_t time_ns);

#endif
