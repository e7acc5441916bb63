#include "align/align.h"

#include <math.h>
#include <stdlib.h>

#include "unit/check.h"

#define SECOND 1000000000ll

static uint64_t random_state = 88172645463325252u;
static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
static double random_unit(void)
{
    return (double)(random_next() >> 11) / 9007199254740992.0;
}

/* Two clocks whose difference is known: offset + drift * t + a sine + a step, t from the origin of
 * the child. */
struct world {
    int64_t origin_ns, offset_ns;
    double drift, amplitude_ns, period_s, step_ns, step_at_s;
    double delay_ns, jitter_ns,
        stop_ns;         /* one way; each way its own jitter; a stop of the child inside */
    double asymmetry_ns; /* added to the way back */
    double child_ns;     /* child's clock since its origin */
    long exchanges;
};

static long double truth(const struct world *w, long double child_ns)
{
    long double t = child_ns / 1e9L;
    long double offset = (long double)w->offset_ns + w->drift * child_ns;
    if (w->period_s > 0)
        offset += w->amplitude_ns * sinl(2 * 3.14159265358979L * t / w->period_s);
    return t >= w->step_at_s ? offset + w->step_ns : offset;
}

static int64_t parent_reads(const struct world *w)
{
    long double since = floorl(w->child_ns + truth(w, w->child_ns));
    return w->origin_ns + (int64_t)since;
}
static int64_t child_reads(const struct world *w)
{
    return w->origin_ns + (int64_t)floor(w->child_ns);
}
static void travel(struct world *w, double more)
{
    w->child_ns += w->delay_ns + more + w->jitter_ns * -log(1 - random_unit());
}

static int exchange(void *context, struct align_exchange *out)
{
    struct world *w = context;
    w->exchanges++;
    out->child_send_ns = child_reads(w);
    travel(w, 0);
    out->parent_receive_ns = parent_reads(w);
    w->child_ns += 40 + (w->exchanges % 50 == 7 ? w->stop_ns : 0);
    out->parent_send_ns = parent_reads(w);
    travel(w, w->asymmetry_ns);
    out->child_receive_ns = child_reads(w);
    w->child_ns += 20;
    return 0;
}

static struct align_burst burst_at(struct world *w, double second, uint32_t exchanges)
{
    struct align_burst b = {0};
    struct align_link link = {w, exchange};
    w->child_ns = second * 1e9;
    CHECK_EQUAL(align_burst_run(&link, exchanges, &b), ERR_OK);
    return b;
}

static long outside_bound(const struct world *w, const struct align_model *m, double from_s,
                          double to_s, int queries, int64_t *worst_bound)
{
    long outside = 0;
    for (int i = 0; i < queries; i++) {
        int64_t since = (int64_t)((from_s + (to_s - from_s) * random_unit()) * 1e9), bound;
        int64_t got = align_apply(m, w->origin_ns + since, &bound);
        long double error = (long double)(got - w->origin_ns - since) - truth(w, since);
        outside += fabsl(error) > bound;
        if (bound > *worst_bound)
            *worst_bound = bound;
    }
    return outside;
}

static long not_rising(const struct align_model *m, int64_t from_ns, int64_t to_ns, int queries)
{
    long wrong = 0;
    for (int i = 0; i < queries; i++) {
        int64_t t = from_ns + (int64_t)((double)(to_ns - from_ns) * random_unit());
        int64_t later = t + 2 + (int64_t)(random_next() % 50);
        wrong += align_apply(m, later, NULL) <= align_apply(m, t, NULL);
        wrong += align_apply(m, t + 1, NULL) < align_apply(m, t, NULL);
    }
    return wrong;
}

static const double schedule[] = {0, 1, 2, 4, 8, 16, 46, 76, 106, 130};
#define BURSTS (sizeof schedule / sizeof *schedule)

/* Random worlds within what the bound assumes: the truth is inside it always, before, between and
 * after the bursts.
 */
static void test_truth_is_inside(void)
{
    long outside = 0, wrong = 0, violations = 0;
    int64_t worst = 0;
    for (int round = 0; round < 300; round++) {
        struct world w = {.origin_ns = (int64_t)(random_next() % (1000000 * SECOND)),
                          .offset_ns = (int64_t)((random_unit() - 0.5) * 2e15),
                          .drift = (random_unit() - 0.5) * 2 * 199e-6,
                          .step_at_s = 1e9,
                          .delay_ns = 200 + 20000 * random_unit() * (round % 3),
                          .jitter_ns = 3000 * random_unit(),
                          .asymmetry_ns = round % 4 == 0 ? 500000 * random_unit() : 0,
                          .stop_ns = round % 5 == 0 ? 2e8 : 0};
        if (round % 2) { /* second derivative at most the model's */
            w.period_s = 20 + 400 * random_unit();
            double turn = 2 * 3.14159265358979 / w.period_s;
            w.amplitude_ns =
                fmin(ALIGN_CURVATURE * 1e9 / turn / turn, 1e-6 * 1e9 / turn) * random_unit();
        }
        struct align_burst bursts[BURSTS];
        size_t count = 1 + (size_t)round % BURSTS, last = round % 7 ? count - 1 : BURSTS - 1;
        for (size_t i = 0; i < count; i++)
            bursts[i] = burst_at(&w, schedule[i == count - 1 ? last : i], 64);
        struct align_model m = {0};
        CHECK_EQUAL(align_model_fit(bursts, count, ALIGN_CURVATURE, &m), ERR_OK);
        violations += m.violations;
        outside += outside_bound(&w, &m, 0, schedule[last], 250, &worst);
        outside += outside_bound(&w, &m, -50, 400, 150, &worst);
        wrong += not_rising(&m, w.origin_ns - 1000 * SECOND, w.origin_ns + 1000 * SECOND, 400);
        align_model_free(&m);
    }
    CHECK_EQUAL(outside, 0);
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(violations, 0);
}

/* The bound is not only sound but small: symmetric delays of 200 ns give half a round trip. */
static void test_bound_is_tight(void)
{
    struct world w = {.origin_ns = 5 * SECOND,
                      .offset_ns = 7777777,
                      .drift = 30e-6,
                      .step_at_s = 1e9,
                      .delay_ns = 200,
                      .jitter_ns = 100};
    struct align_burst bursts[BURSTS];
    for (size_t i = 0; i < BURSTS; i++)
        bursts[i] = burst_at(&w, schedule[i], 64);
    for (size_t i = 0; i < BURSTS; i++) {
        CHECK(bursts[i].high_ns - bursts[i].low_ns <= 2 * 260);
        CHECK(bursts[i].round_trip_ns >= 400 && bursts[i].round_trip_ns <= 480);
        CHECK_EQUAL(bursts[i].exchanges, 64);
    }
    struct align_model m = {0};
    int64_t worst = 0, at_a_burst;
    CHECK_EQUAL(align_model_fit(bursts, BURSTS, ALIGN_CURVATURE, &m), ERR_OK);
    align_apply(&m, w.origin_ns + 46 * SECOND, &at_a_burst);
    CHECK(at_a_burst <= 270);
    CHECK_EQUAL(outside_bound(&w, &m, 0, 16, 2000, &worst), 0);
    CHECK(worst <= 320);
    worst = 0;
    CHECK_EQUAL(outside_bound(&w, &m, 16, 130, 20000, &worst), 0);
    CHECK(worst <= 260 + 450 + 60); /* curvature / 2 * (15 s)^2 */
    align_model_free(&m);
}

/* Bounds worked out by hand: bursts of width zero at 0 and 10 s, offsets 1,000 and 2,000 ns. */
static void test_known_numbers(void)
{
    const struct align_burst bursts[] = {{10 * SECOND, 2000, 2000, 0, 1}, {0, 1000, 1000, 0, 1}};
    struct align_model m = {0};
    int64_t bound;
    CHECK_EQUAL(align_model_fit(bursts, 2, 4e-9, &m), ERR_OK);
    CHECK_EQUAL(align_apply(&m, 0, &bound), 1000);
    CHECK(bound >= 1 && bound <= 5);
    int64_t middle = align_apply(&m, 5 * SECOND, &bound) - 5 * SECOND;
    CHECK(middle == 1499 || middle == 1500);
    CHECK(bound >= 50 && bound <= 56); /* 4e-9 / 2 * 5 s * 5 s */
    align_apply(&m, 12 * SECOND, &bound);
    CHECK(bound >= 48 && bound <= 60); /* 4e-9 / 2 * 2 s * 12 s */
    CHECK_EQUAL(m.violations, 0);
    CHECK(m.curvature == 4e-9);
    align_model_free(&m);

    const struct align_burst one = {0, -50, 50, 0, 1};
    CHECK_EQUAL(align_model_fit(&one, 1, 4e-9, &m), ERR_OK);
    CHECK_EQUAL(align_apply(&m, 0, &bound), 0);
    CHECK(bound >= 50 && bound <= 55);
    CHECK_EQUAL(align_apply(&m, -3 * SECOND, &bound), -3 * SECOND);
    CHECK(bound >= 600050 && bound <= 700050); /* 200 ppm of 3 s, and the grid */
    align_apply(&m, 1000000 * SECOND, &bound);
    CHECK(bound >= 200 * SECOND && bound <= 230 * SECOND);
    align_model_free(&m);
}

/* A step is found, its gap carries it, and nothing outside the gap is wrong. */
static void test_step(void)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        struct world w = {.origin_ns = SECOND,
                          .offset_ns = -123456789,
                          .drift = -20e-6,
                          .step_ns = sign * 5e6,
                          .step_at_s = 50,
                          .delay_ns = 300,
                          .jitter_ns = 50};
        struct align_burst bursts[BURSTS];
        for (size_t i = 0; i < BURSTS; i++)
            bursts[i] = burst_at(&w, schedule[i], 64);
        struct align_model m = {0};
        int64_t before = 0, gap = 0, after = 0;
        CHECK_EQUAL(align_model_fit(bursts, BURSTS, ALIGN_CURVATURE, &m), ERR_OK);
        CHECK_EQUAL(m.violations, 1);
        CHECK_EQUAL(outside_bound(&w, &m, 0, 46, 2000, &before), 0);
        CHECK_EQUAL(outside_bound(&w, &m, 46, 76, 2000, &gap), 0);
        CHECK_EQUAL(outside_bound(&w, &m, 76, 130, 2000, &after), 0);
        CHECK(before < 3000 && after < 3000);
        CHECK(gap > 5000000);
        CHECK_EQUAL(not_rising(&m, w.origin_ns, w.origin_ns + 140 * SECOND, 2000), 0);
        align_model_free(&m);
    }
}

/* A clock that bends more than asked for gets the curvature it needs. */
static void test_curvature_grows(void)
{
    struct world w = {.drift = 1e-6,
                      .amplitude_ns = 2000,
                      .period_s = 60,
                      .step_at_s = 1e9,
                      .delay_ns = 200,
                      .jitter_ns = 10};
    struct align_burst bursts[40];
    for (int i = 0; i < 40; i++)
        bursts[i] = burst_at(&w, 5 * i, 64);
    struct align_model m = {0};
    int64_t worst = 0;
    CHECK_EQUAL(align_model_fit(bursts, 40, 1e-9, &m), ERR_OK);
    CHECK_EQUAL(m.violations, 0);
    CHECK(m.curvature >= 22e-9 &&
          m.curvature <= 128e-9); /* truth: 2 us * (2 pi / 60 s)^2 = 22e-9 */
    CHECK_EQUAL(outside_bound(&w, &m, 0, 195, 20000, &worst), 0);
    CHECK(worst < 1000);
    align_model_free(&m);
}

static int give_broken(void *context, struct align_exchange *out)
{
    long *n = context;
    *out = (struct align_exchange){0, *n == 3 ? 90000000 : 100, *n == 3 ? 90000100 : 200, 300};
    return ++*n == 7;
}

static void test_bad_exchanges(void)
{
    long n = 0;
    struct align_link link = {&n, give_broken};
    struct align_burst b = {.exchanges = 99};
    CHECK_EQUAL(align_burst_run(&link, 6, &b), ERR_FORMAT);
    CHECK_EQUAL(n, 6); /* the parent was served to the end */
    n = 0;
    CHECK_EQUAL(align_burst_run(&link, 10, &b), ERR_PEER);
    CHECK_EQUAL(n, 7);
    n = 4;
    CHECK_EQUAL(align_burst_run(&link, 0, &b), ERR_EMPTY);
    CHECK_EQUAL(b.exchanges, 99);
    CHECK_EQUAL(align_burst_run(&link, 2, &b), ERR_OK);
    CHECK(b.low_ns >= -105 && b.low_ns <= -100 && b.high_ns >= 100 && b.high_ns <= 105);
    CHECK_EQUAL(b.round_trip_ns, 200);
}

/* Numbers from a damaged file: no crash, no overflow, a map that still rises. */
static void test_hostile_bursts(void)
{
    struct align_model m = {0};
    CHECK_EQUAL(align_model_fit(NULL, 0, 0, &m), ERR_EMPTY);
    const struct align_burst none = {0, 5, -5, 0, 1};
    CHECK_EQUAL(align_model_fit(&none, 1, 0, &m), ERR_EMPTY);
    CHECK(m.nodes == NULL);
    for (int round = 0; round < 200; round++) {
        struct align_burst bursts[20];
        for (int i = 0; i < 20; i++) {
            int shift = (int)(random_next() % 64);
            bursts[i] = (struct align_burst){(int64_t)random_next() >> shift,
                                             (int64_t)random_next() >> shift,
                                             (int64_t)random_next() >> (round % 64), 0, 1};
        }
        if (align_model_fit(bursts, 20, ALIGN_CURVATURE, &m))
            continue;
        CHECK_EQUAL(not_rising(&m, -SECOND, SECOND, 50), 0);
        CHECK_EQUAL(not_rising(&m, -1000000 * SECOND, 1000000 * SECOND, 50), 0);
        int64_t bound;
        align_apply(&m, INT64_MAX, &bound);
        CHECK(bound > 0);
        align_apply(&m, INT64_MIN, &bound);
        CHECK(bound > 0);
        for (size_t i = 0; i < m.count; i++)
            CHECK(m.nodes[i].bound_ns > 0 &&
                  (i == 0 || m.nodes[i].time_ns > m.nodes[i - 1].time_ns));
        align_model_free(&m);
    }
}

static void test_same_clock(void)
{
    struct align_model m = {0};
    int64_t bound;
    CHECK_EQUAL(align_model_same(&m), ERR_OK);
    CHECK_EQUAL(align_apply(&m, 1234567890123456789, &bound), 1234567890123456789);
    CHECK(bound >= ALIGN_GRANULARITY_NS && bound <= 2 * ALIGN_GRANULARITY_NS);
    align_model_free(&m);
    align_model_free(&m);
}

int main(void)
{
    test_truth_is_inside();
    test_bound_is_tight();
    test_known_numbers();
    test_step();
    test_curvature_grows();
    test_bad_exchanges();
    test_hostile_bursts();
    test_same_clock();
    return check_result();
}
