/* Sets of time as sorted intervals [begin, end) that do not touch. Pure functions; all in
 * nanoseconds. */
#ifndef REDUCE_INTERVALS_H
#define REDUCE_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct interval {
    int64_t begin_ns, end_ns;
};

struct intervals {
    struct interval *list;
    size_t count, room;
};

/* Adds an interval anywhere; empty ones are ignored. intervals_normalise must follow before the set
 * is used. */
enum err intervals_add(struct intervals *s, int64_t begin_ns, int64_t end_ns);

/* Sorts and joins what overlaps or touches. Nearly linear when intervals were added nearly in
 * order. */
void intervals_normalise(struct intervals *s);

/* out = a without b. `out` must be empty. */
enum err intervals_subtract(struct intervals *out, const struct intervals *a,
                            const struct intervals *b);

/* out = what is in both. `out` must be empty. */
enum err intervals_intersect(struct intervals *out, const struct intervals *a,
                             const struct intervals *b);

/* Time of the set inside [from_ns, to_ns). `cursor` (start with 0) remembers the place: linear over
 * many questions whose from_ns never decreases. */
int64_t intervals_measure(const struct intervals *s, int64_t from_ns, int64_t to_ns,
                          size_t *cursor);

/* The time of the intervals before each and, last, of all; malloc'd, NULL when memory is out. */
int64_t *intervals_sums(const struct intervals *s);

/* As intervals_measure, with `sums` of the set: however many intervals lie inside, a question costs
 * the logarithm of their number. */
int64_t intervals_measure_long(const struct intervals *s, const int64_t *sums, int64_t from_ns,
                               int64_t to_ns, size_t *cursor);

int64_t intervals_total(const struct intervals *s);
void intervals_free(struct intervals *s);

#endif
