#include "align.h"

#include <math.h>
#include <stdlib.h>

#include "envelope.h"

/* Beyond it no quartz changes: the clock stepped. In 1/s. */
#define CURVATURE_STEP 1e-7
#define DRIFT          (ALIGN_DRIFT_PPM * 1e-6)

/* Doubles hold what is nearer to the origin than this to 1/8 ns. */
#define REACH_NS   (1ll << 50)
#define LARGEST_NS (1ll << 60)

/* Nodes beyond an end lie 1, 2, 4, ... of these away from it. */
#define BEYOND_NS      1e9
#define NODES_BEYOND   18
#define GAP_PIECES_MAX 64

/* Measurements relative to (time_ns, offset_ns), and the nodes made from them. */
struct fit {
    int64_t time_ns, offset_ns;
    struct interval *at;
    size_t count;
    double curvature; /* asked for; 1/s */
    struct align_model model;
    size_t room;
};

static int earlier(const void *a, const void *b)
{
    const struct align_burst *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->low_ns > y->low_ns) - (x->low_ns < y->low_ns);
}

static int near_origin(int64_t value, int64_t origin)
{
    return value - origin > -REACH_NS && value - origin < REACH_NS;
}

static int is_plausible(const struct align_burst *b)
{
    return b->low_ns <= b->high_ns && b->low_ns > -LARGEST_NS && b->high_ns < LARGEST_NS &&
           b->time_ns > -LARGEST_NS && b->time_ns < LARGEST_NS;
}

/* Adds a burst to the intervals; two at one time become one. 0 when it can be no measurement. */
static int take_burst(struct fit *f, const struct align_burst *b)
{
    if (!is_plausible(b))
        return 0;
    if (f->count == 0) {
        f->time_ns = b->time_ns;
        f->offset_ns = b->low_ns;
    }
    if (!near_origin(b->time_ns, f->time_ns) || !near_origin(b->low_ns, f->offset_ns) ||
        !near_origin(b->high_ns, f->offset_ns))
        return 0;
    struct interval new = {(double)(b->time_ns - f->time_ns), (double)(b->low_ns - f->offset_ns),
                           (double)(b->high_ns - f->offset_ns)};
    struct interval *last = f->count > 0 ? &f->at[f->count - 1] : NULL;
    if (last == NULL || last->time < new.time) {
        f->at[f->count++] = new;
        return 1;
    }
    double low = fmax(last->low, new.low), high = fmin(last->high, new.high);
    if (low > high)
        return 0;
    last->low = low;
    last->high = high;
    return 1;
}

static enum err take_bursts(struct fit *f, const struct align_burst *bursts, size_t count)
{
    struct align_burst *sorted = calloc(count, sizeof *sorted);
    f->at = calloc(count, sizeof *f->at);
    if (sorted == NULL || f->at == NULL) {
        free(sorted);
        return ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = bursts[i];
    qsort(sorted, count, sizeof *sorted, earlier);
    for (size_t i = 0; i < count; i++)
        f->model.violations += !take_burst(f, &sorted[i]);
    free(sorted);
    return f->count > 0 ? ERR_OK : ERR_EMPTY;
}

/* Whether intervals [first, first + count) admit an offset at this curvature (1/s). */
static enum err admits(const struct fit *f, size_t first, size_t count, double curvature, int *yes)
{
    struct envelope e;
    enum err error = envelope_open(&e, f->at + first, count, curvature * 1e-9);
    if (error)
        return error;
    *yes = envelope_holds(&e);
    envelope_close(&e);
    return ERR_OK;
}

/* The longest run of intervals from `first` without a step between them: doubling, then halving. */
static enum err find_section(const struct fit *f, size_t first, size_t *count)
{
    size_t good = 1, bad = f->count - first + 1;
    int yes;
    while (good + 1 < bad) {
        size_t next = bad == f->count - first + 1 ? good * 2 : good + (bad - good) / 2;
        if (next >= bad)
            next = bad - 1;
        enum err e = admits(f, first, next, CURVATURE_STEP, &yes);
        if (e)
            return e;
        if (yes)
            good = next;
        else
            bad = next;
    }
    /* Two points meet in a line wherever the step was: of a clock that stepped they prove nothing.
     */
    int whole = first == 0 && good == f->count;
    *count = good == 2 && !whole ? 1 : good;
    return ERR_OK;
}

/* The curvature of a section (1/s): as asked, else what it needs with room to spare. */
static enum err find_curvature(const struct fit *f, size_t first, size_t count, double *curvature)
{
    int yes;
    for (double k = f->curvature; k < CURVATURE_STEP; k *= 2) {
        enum err e = admits(f, first, count, k, &yes);
        if (e)
            return e;
        if (yes) {
            *curvature = k == f->curvature ? k : 4 * k;
            return ERR_OK;
        }
    }
    *curvature = 4 * CURVATURE_STEP;
    return ERR_OK;
}

/* Appends a node whose true offset lies in [low, high] (relative values). */
static enum err put_node(struct fit *f, double time, double low, double high)
{
    if (f->model.count == f->room) {
        size_t room = f->room * 2 + 64;
        struct align_node *larger = reallocarray(f->model.nodes, room, sizeof *larger);
        if (larger == NULL)
            return ERR_NO_MEMORY;
        f->model.nodes = larger;
        f->room = room;
    }
    int64_t middle = (int64_t)floor(low + (high - low) / 2 + 0.5);
    double half = fmax(high - (double)middle, (double)middle - low);
    struct align_node node = {f->time_ns + (int64_t)time, f->offset_ns + middle,
                              (int64_t)ceil(half) + 1 + ALIGN_GRANULARITY_NS};
    size_t n = f->model.count;
    if (n == 0 || f->model.nodes[n - 1].time_ns < node.time_ns)
        f->model.nodes[f->model.count++] = node;
    return ERR_OK;
}

/* A node of the envelope; `spacing` is the distance to the farther of its neighbours, between which
 * the offset may leave the chord. */
static enum err put_from(struct fit *f, const struct envelope *e, double time, double spacing)
{
    double low, high;
    time = floor(time);
    envelope_at(e, time, &low, &high);
    double bulge = fmin(e->curvature * spacing * spacing / 8, DRIFT * spacing / 2);
    return put_node(f, time, low - bulge, high + bulge);
}

static double gap_after(const struct envelope *e, size_t i)
{
    return i + 1 < e->count ? e->at[i + 1].time - e->at[i].time : 0;
}

/* Into how many pieces a gap is cut so that the chord costs little against the bound itself. */
static double pieces_of(const struct envelope *e, size_t i)
{
    double width = (e->at[i].high - e->at[i].low) / 2;
    double pieces = gap_after(e, i) * sqrt(e->curvature / 8 / fmax(1, width / 32));
    return fmin(fmax(ceil(pieces), 1), GAP_PIECES_MAX);
}

static enum err put_inside(struct fit *f, const struct envelope *e)
{
    double before = BEYOND_NS;
    for (size_t i = 0; i < e->count; i++) {
        double pieces = pieces_of(e, i), piece = ceil(gap_after(e, i) / pieces) + 1;
        for (double j = 0; j < pieces && (j == 0 || j * piece < gap_after(e, i)); j++) {
            double spacing = j == 0 ? fmax(piece, before) : piece;
            enum err error = put_from(f, e, e->at[i].time + j * piece, spacing);
            if (error)
                return error;
        }
        before = fmax(piece, BEYOND_NS);
    }
    return ERR_OK;
}

/* Nodes beyond the first (direction -1, farthest first) or last (1) interval. */
static enum err put_beyond(struct fit *f, const struct envelope *e, int direction)
{
    double from = direction > 0 ? e->at[e->count - 1].time : e->at[0].time;
    for (int i = 0; i < NODES_BEYOND; i++) {
        double away = ldexp(BEYOND_NS, direction > 0 ? i : NODES_BEYOND - 1 - i);
        enum err error = put_from(f, e, from + direction * away, away);
        if (error)
            return error;
    }
    return ERR_OK;
}

/* The clock stepped somewhere between the section before and this one: in the gap the offset is
 * anything that either of them admits, and the map goes straight from one to the other. */
static enum err put_step(struct fit *f, const struct envelope *next)
{
    f->model.violations++;
    double low, high;
    const struct align_node *last = &f->model.nodes[f->model.count - 1];
    double from = (double)(last->time_ns - f->time_ns), to = next->at[0].time;
    double offset = (double)(last->offset_ns - f->offset_ns), bound = (double)last->bound_ns;
    envelope_at(next, to, &low, &high);
    double reach = DRIFT * (to - from);
    low = fmin(low, offset - bound) - reach;
    high = fmax(high, offset + bound) + reach;
    double target = (next->at[0].low + next->at[0].high) / 2;
    double width = fmax(high - fmin(offset, target), fmax(offset, target) - low);
    enum err e = ERR_OK;
    if (to - from > 3) {
        e = put_node(f, from + 1, offset - width, offset + width);
        if (e == ERR_OK)
            e = put_node(f, to - 1, target - width, target + width);
    }
    return e;
}

static enum err put_section(struct fit *f, size_t first, size_t count)
{
    double curvature;
    enum err error = find_curvature(f, first, count, &curvature);
    if (error)
        return error;
    struct envelope e;
    error = envelope_open(&e, f->at + first, count, curvature * 1e-9);
    if (error)
        return error;
    f->model.curvature = fmax(f->model.curvature, curvature);
    error = first == 0 ? put_beyond(f, &e, -1) : put_step(f, &e);
    if (error == ERR_OK)
        error = put_inside(f, &e);
    if (error == ERR_OK && first + count == f->count)
        error = put_beyond(f, &e, 1);
    envelope_close(&e);
    return error;
}

/* A map that falls is none: where two nodes differ by more than half their distance, the later one
 * gives way, and its bound grows by as much. */
static void keep_rising(struct align_model *m)
{
    for (size_t i = 1; i < m->count; i++) {
        struct align_node *a = &m->nodes[i - 1], *b = &m->nodes[i];
        int64_t most = (b->time_ns - a->time_ns) / 2, change = b->offset_ns - a->offset_ns;
        int64_t kept = change > most ? most : change < -most ? -most : change;
        b->offset_ns = a->offset_ns + kept;
        b->bound_ns += change > kept ? change - kept : kept - change;
    }
}

enum err align_model_fit(const struct align_burst *bursts, size_t count, double curvature,
                         struct align_model *out)
{
    if (count == 0)
        return ERR_EMPTY;
    struct fit f = {.curvature = curvature > 0 ? curvature : ALIGN_CURVATURE};
    enum err e = take_bursts(&f, bursts, count);
    size_t first = 0, section = 0;
    while (e == ERR_OK && first < f.count) {
        e = find_section(&f, first, &section);
        if (e == ERR_OK)
            e = put_section(&f, first, section);
        first += section;
    }
    free(f.at);
    if (e) {
        free(f.model.nodes);
        return e;
    }
    keep_rising(&f.model);
    *out = f.model;
    return ERR_OK;
}
