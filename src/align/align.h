/* Clock alignment: from measured bursts to one reference time with a hard bound. Pure functions.
 *
 * offset(t) = reference clock - local clock at local time t. A burst gives an interval that holds
 * it, without any assumption of symmetry (shared design: a1 child sends, b1 parent receives, b2
 * parent replies, a2 child receives: offset lies in [b2 - a2, b1 - a1]). */
#ifndef ALIGN_ALIGN_H
#define ALIGN_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* One ping-pong. The implementations are messages over MPI, or a simulated network. Returns nonzero
 * when the exchange failed; the three times of the answer are the child's send and receive and the
 * parent's two. */
struct align_exchange {
    int64_t child_send_ns, parent_receive_ns, parent_send_ns, child_receive_ns;
};
struct align_link {
    void *context;
    int (*exchange)(void *context, struct align_exchange *out);
};

/* What a burst found: at local time time_ns the offset lies in [low_ns, high_ns]. */
struct align_burst {
    int64_t time_ns, low_ns, high_ns, round_trip_ns;
    uint32_t exchanges;
};

/* Largest relative frequency of two clocks that every bound assumes, in parts per million. */
#define ALIGN_DRIFT_PPM 200

/* Change of relative frequency (1/s) that a bound assumes unless the bursts show more: four times
 * what the calmest pairs need. */
#define ALIGN_CURVATURE 4e-9

/* One reading of a clock may be this much early or late. */
#define ALIGN_GRANULARITY_NS 1

/* Child side of a burst: exactly `count` exchanges, so that the parent can serve the same number.
 * Intervals are brought to one time by widening them ALIGN_DRIFT_PPM of the distance, then
 * intersected. ERR_FORMAT when they have no common point (a clock stepped), ERR_PEER when an
 * exchange failed, ERR_EMPTY when count is 0. No malloc. */
enum err align_burst_run(const struct align_link *link, uint32_t count, struct align_burst *out);

/* A piecewise linear map from local to reference time. */
struct align_node {
    int64_t time_ns, offset_ns, bound_ns;
};
struct align_model {
    size_t count;
    struct align_node *nodes; /* sorted by time_ns; owned */
    double curvature;         /* 1/s for which the bound holds; 0 for the same clock */
    int64_t violations; /* bursts that are no measurement, and places where no admissible model goes
                           on */
};

/* The model of a clock that is the reference, or the same clock: offset 0, bound = read
 * granularity. */
enum err align_model_same(struct align_model *out);

/* Fits the offset between and beyond the bursts (in any order): the middle of all offsets admitted
 * by every burst under a relative frequency that stays below ALIGN_DRIFT_PPM and changes no faster
 * than `curvature` per second; outside the bursts the bound grows. When no such offset exists, the
 * curvature is doubled until one does, then taken four times. Beyond 1e-7 /s the clock is taken to
 * have stepped: it is fitted before and after apart, the bound of the gap between covers both, and
 * violations counts it. ERR_EMPTY without a usable burst. */
enum err align_model_fit(const struct align_burst *bursts, size_t count, double curvature,
                         struct align_model *out);

void align_model_free(struct align_model *model);

/* Reference time of a local time; the bound of its error through *bound_ns (may be NULL). Never
 * decreases, and two local times 2 ns or more apart have different reference times in the same
 * order. */
int64_t align_apply(const struct align_model *model, int64_t local_ns, int64_t *bound_ns);

#endif
