/* The tightest bounds that measured intervals set on a function of time whose slope and curvature
 * are limited. Times in ns since an origin near the intervals, values in ns. Internal to align. */
#ifndef ALIGN_ENVELOPE_H
#define ALIGN_ENVELOPE_H

#include <stddef.h>

#include "base/err.h"

struct interval {
    double time, low, high;
};

struct envelope {
    size_t count;
    struct interval *at; /* sorted by time, tightened by each other's slope; owned */
    double curvature;    /* 1/ns */
    /* Vertices of the hulls that carry the bounds inside; owned, in one block. */
    size_t *upper, *lower, upper_count, lower_count;
};

/* Copies `count` >= 1 intervals at strictly increasing times. curvature in 1/ns. */
enum err envelope_open(struct envelope *out, const struct interval *at, size_t count,
                       double curvature);
void envelope_close(struct envelope *e);

/* Whether the bounds leave a point at the time of every interval. */
int envelope_holds(const struct envelope *e);

/* Lower and upper bound at a time inside or outside the intervals; both are sound whatever the
 * time. */
void envelope_at(const struct envelope *e, double time, double *low, double *high);

#endif
