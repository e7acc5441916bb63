#include "envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"

/* Lower bounds are the upper bounds of the function with its sign turned: one code for both. */
enum side { UPPER = 1, LOWER = -1 };

#define DRIFT (ALIGN_DRIFT_PPM * 1e-6)

/* Intervals next to an end that predict what is beyond it; farther ones add little and cost their
 * square. */
#define BEYOND_WINDOW 48

/* Rounding of the arithmetic below, in ns. */
#define TOLERANCE 1e-3

static double bound_of(const struct interval *i, enum side side)
{
    return side == UPPER ? i->high : -i->low;
}

/* Each interval bounds the others through the largest slope. */
static void tighten(struct interval *at, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        double reach = DRIFT * (at[i].time - at[i - 1].time);
        at[i].high = fmin(at[i].high, at[i - 1].high + reach);
        at[i].low = fmax(at[i].low, at[i - 1].low - reach);
    }
    for (size_t i = count - 1; i > 0; i--) {
        double reach = DRIFT * (at[i].time - at[i - 1].time);
        at[i - 1].high = fmin(at[i - 1].high, at[i].high + reach);
        at[i - 1].low = fmax(at[i - 1].low, at[i].low - reach);
    }
}

/* The bound plus curvature / 2 * time^2. Between two intervals the function lies below the chord of
 * these, less the same term; of all chords over a time the edge of the lower convex hull is the
 * lowest. */
static double lifted(const struct envelope *e, size_t i, enum side side)
{
    return bound_of(&e->at[i], side) + e->curvature / 2 * e->at[i].time * e->at[i].time;
}

static int turns_down(const struct envelope *e, enum side side, size_t a, size_t b, size_t c)
{
    double ab = e->at[b].time - e->at[a].time, bc = e->at[c].time - e->at[b].time;
    return (lifted(e, b, side) - lifted(e, a, side)) * bc >=
           (lifted(e, c, side) - lifted(e, b, side)) * ab;
}

static size_t hull_of(const struct envelope *e, enum side side, size_t *hull)
{
    size_t n = 0;
    for (size_t i = 0; i < e->count; i++) {
        while (n >= 2 && turns_down(e, side, hull[n - 2], hull[n - 1], i))
            n--;
        hull[n++] = i;
    }
    return n;
}

enum err envelope_open(struct envelope *out, const struct interval *at, size_t count,
                       double curvature)
{
    struct envelope e = {.count = count, .curvature = curvature};
    e.at = calloc(count, sizeof *e.at);
    e.upper = calloc(count, 2 * sizeof *e.upper);
    if (e.at == NULL || e.upper == NULL) {
        envelope_close(&e);
        return ERR_NO_MEMORY;
    }
    e.lower = e.upper + count;
    memcpy(e.at, at, count * sizeof *e.at);
    tighten(e.at, count);
    e.upper_count = hull_of(&e, UPPER, e.upper);
    e.lower_count = hull_of(&e, LOWER, e.lower);
    *out = e;
    return ERR_OK;
}

void envelope_close(struct envelope *e)
{
    free(e->at);
    free(e->upper);
    *e = (struct envelope){0};
}

/* First entry of the hull whose time is not before `time`. */
static size_t hull_find(const struct envelope *e, const size_t *hull, size_t n, double time)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->at[hull[middle]].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double bound_inside(const struct envelope *e, enum side side, double time)
{
    const size_t *hull = side == UPPER ? e->upper : e->lower;
    size_t right = hull_find(e, hull, side == UPPER ? e->upper_count : e->lower_count, time);
    const struct interval *b = &e->at[hull[right]];
    if (right == 0 || b->time == time)
        return lifted(e, hull[right], side) - e->curvature / 2 * time * time;
    const struct interval *a = &e->at[hull[right - 1]];
    double from = bound_of(a, side), to = bound_of(b, side);
    double share = (time - a->time) / (b->time - a->time);
    return from + (to - from) * share + e->curvature / 2 * (time - a->time) * (b->time - time);
}

/* What a near upper bound and a far lower one, both on one side of `time`, say about it. */
static double bound_through(const struct interval *near, const struct interval *far, enum side side,
                            double curvature, double time)
{
    double base = fabs(near->time - far->time), reach = fabs(time - near->time);
    double rise = bound_of(near, side) + bound_of(far, side == UPPER ? LOWER : UPPER);
    return bound_of(near, side) + rise * reach / base + curvature / 2 * reach * (reach + base);
}

static double bound_beyond(const struct envelope *e, enum side side, double time)
{
    int after = time > e->at[0].time;
    size_t window = e->count < BEYOND_WINDOW ? e->count : BEYOND_WINDOW;
    double best = INFINITY;
    for (size_t i = 0; i < window; i++) {
        const struct interval *near = &e->at[after ? e->count - 1 - i : i];
        best = fmin(best, bound_of(near, side) + DRIFT * fabs(time - near->time));
        for (size_t j = i + 1; j <= window; j++) {
            size_t k = j < window ? j : e->count - 1; /* the farthest has the longest base */
            if (k <= i)
                continue;
            const struct interval *far = &e->at[after ? e->count - 1 - k : k];
            best = fmin(best, bound_through(near, far, side, e->curvature, time));
        }
    }
    return best;
}

/* The neighbours' slope limit, on top of the hull. */
static double bound_at(const struct envelope *e, enum side side, double time)
{
    if (time < e->at[0].time || time > e->at[e->count - 1].time)
        return bound_beyond(e, side, time);
    double best = bound_inside(e, side, time);
    size_t low = 0, high = e->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->at[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    best = fmin(best, bound_of(&e->at[low], side) + DRIFT * (e->at[low].time - time));
    if (low > 0)
        best = fmin(best, bound_of(&e->at[low - 1], side) + DRIFT * (time - e->at[low - 1].time));
    return best;
}

void envelope_at(const struct envelope *e, double time, double *low, double *high)
{
    *high = bound_at(e, UPPER, time) + TOLERANCE;
    *low = -bound_at(e, LOWER, time) - TOLERANCE;
}

int envelope_holds(const struct envelope *e)
{
    for (size_t i = 0; i < e->count; i++) {
        double high = bound_inside(e, UPPER, e->at[i].time);
        double low = -bound_inside(e, LOWER, e->at[i].time);
        if (!(low <= high + TOLERANCE))
            return 0;
    }
    return 1;
}
