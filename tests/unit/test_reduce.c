#include "reduce/reduce.h"

#include <stdlib.h>

#include "trace/vocabulary.h"
#include "unit/check.h"
#include "unit/simulate.h"

static const struct reduce_options options = {.step_patterns = "step ", .tool_version = "test"};

static struct analysis_tables reduce_simulation(const struct simulation *s)
{
    struct analysis_tables a = {0};
    struct strings *strings;
    strings_open(&strings);
    CHECK_EQUAL(reduce_run(&s->source, &options, &a, strings), ERR_OK);
    strings_close(strings);
    return a;
}

static struct simulation_plan small_plan(uint64_t seed)
{
    struct simulation_plan p = {.seed = seed, .compute_ns = 300, .noise_ns = 200};
    uint64_t random = seed;
    p.ranks = 2 + (int)simulation_random(&random, SIMULATED_RANKS - 1);
    p.steps = 5 + (int)simulation_random(&random, 6);
    return p;
}

/* Every part of every step on every rank is what the schedule says, to the nanosecond. */
static void check_partition(const struct simulation *s, const struct analysis_tables *a)
{
    const struct partition_rows *p = &a->partition;
    CHECK_EQUAL(p->count, s->plan.ranks * s->plan.steps);
    for (size_t i = 0; i < p->count; i++) {
        const struct simulated_step *t = &s->truth[p->rank[i]][p->step[i]];
        CHECK_EQUAL(p->begin_ns[i], t->begin_ns + s->plan.shift_ns);
        CHECK_EQUAL(p->compute_ns[i], t->compute_ns);
        CHECK_EQUAL(p->wait_ns[i], t->wait_ns);
        CHECK_EQUAL(p->transfer_ns[i], t->transfer_ns);
        CHECK_EQUAL(p->mpi_call_ns[i], t->mpi_call_ns);
        CHECK_EQUAL(p->hidden_ns[i], t->hidden_ns);
        CHECK_EQUAL(p->compute_ns[i] + p->wait_ns[i] + p->transfer_ns[i] + p->mpi_call_ns[i],
                    p->end_ns[i] - p->begin_ns[i]);
    }
}

static int64_t sum_of(const int64_t *values, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Waits are handed to ranks without remainder, and every rank's are caused by another. */
static void check_waits(const struct analysis_tables *a)
{
    int64_t waited = 0;
    for (size_t i = 0; i < a->partition.count; i++)
        if (a->steps.flags[a->partition.step[i]] & STEP_KEPT)
            waited += a->partition.wait_ns[i];
    CHECK_EQUAL(sum_of(a->waits.wait_ns, a->waits.count), waited);
    for (size_t i = 0; i < a->waits.count; i++)
        CHECK(a->waits.waiter[i] != a->waits.waited_for[i]);
}

static void check_last(const struct simulation *s, const struct analysis_tables *a)
{
    for (size_t i = 0; i < a->instances.count; i++) {
        CHECK_EQUAL(a->instances.present[i], s->plan.ranks);
        CHECK_EQUAL(a->instances.missing_rank[i], -1);
        if (a->instances.sequence[i] % 2 == 1 && a->instances.last_count[i] == 1)
            CHECK_EQUAL(a->instances.last_rank[i],
                        s->truth[0][a->instances.sequence[i] / 2].last_rank);
    }
}

static void test_random_runs_against_their_schedule(void)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct simulation_plan plan = small_plan(seed);
        struct simulation s;
        simulation_open(&s, &plan);
        struct analysis_tables a = reduce_simulation(&s);
        check_partition(&s, &a);
        check_waits(&a);
        check_last(&s, &a);
        analysis_tables_free(&a);
        simulation_close(&s);
    }
}

/* Lengths do not know who is called what, nor what time it is. */
static void test_names_and_epochs_change_no_length(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct simulation_plan plan = small_plan(seed);
        struct simulation plain, moved;
        simulation_open(&plain, &plan);
        plan.reversed = 1;
        plan.shift_ns = 1234567890123;
        simulation_open(&moved, &plan);
        struct analysis_tables a = reduce_simulation(&plain), b = reduce_simulation(&moved);
        check_partition(&moved, &b);
        CHECK_EQUAL(sum_of(a.partition.wait_ns, a.partition.count),
                    sum_of(b.partition.wait_ns, b.partition.count));
        for (size_t i = 0; i < a.steps.count; i++)
            CHECK_EQUAL(a.steps.end_ns[i] + plan.shift_ns, b.steps.end_ns[i]);
        for (size_t i = 0; i < a.efficiency.count; i++)
            CHECK(a.efficiency.parallel[i] ==
                      a.efficiency.load_balance[i] * a.efficiency.communication[i] &&
                  a.efficiency.useful_max_ns[i] == b.efficiency.useful_max_ns[i]);
        analysis_tables_free(&a);
        analysis_tables_free(&b);
        simulation_close(&plain);
        simulation_close(&moved);
    }
}

static void test_a_missing_member_is_named(void)
{
    struct simulation_plan plan = small_plan(3);
    struct simulation s;
    plan.missing = 1;
    simulation_open(&s, &plan);
    struct analysis_tables a = reduce_simulation(&s);
    size_t last = a.instances.count - 1;
    CHECK_EQUAL(a.instances.present[last], plan.ranks - 1);
    CHECK_EQUAL(a.instances.missing_rank[last], 0);
    CHECK_EQUAL(a.quality.unmatched_collectives[0], 0);
    CHECK_EQUAL(a.quality.unmatched_collectives[1], 1);
    analysis_tables_free(&a);
    simulation_close(&s);
}

/* Clocks that agree only to more than the ranks differ name nobody. */
static void test_below_clock_resolution_nobody_is_named(void)
{
    struct simulation_plan plan = small_plan(4);
    struct simulation s;
    simulation_open(&s, &plan);
    for (int r = 0; r < plan.ranks; r++) {
        s.tables.ranks.clock_domain[r] = (uint32_t)r;
        s.tables.ranks.clock_bound_max_ns[r] = s.tables.ranks.clock_estimate_ns[r] = 1000000;
    }
    struct analysis_tables a = reduce_simulation(&s);
    for (size_t i = 0; i < a.instances.count; i++) {
        CHECK_EQUAL(a.instances.last_count[i], plan.ranks);
        CHECK_EQUAL(a.instances.bound_ns[i], 2000000);
    }
    for (size_t i = 0; i < a.waits.count; i++)
        CHECK_EQUAL(a.waits.waited_for[i], -1);
    for (size_t i = 0; i < a.steps.count; i++)
        CHECK_EQUAL(a.steps.last_rank[i], -1);
    analysis_tables_free(&a);
    simulation_close(&s);
}

static struct simulation_plan planted_plan(uint64_t seed)
{
    struct simulation_plan p = {
        .seed = seed, .steps = 40, .compute_ns = 5000000, .noise_ns = 500000};
    uint64_t random = seed ^ 0x5555;
    p.ranks = 2 + (int)simulation_random(&random, SIMULATED_RANKS - 1);
    p.late_rank = (int)simulation_random(&random, p.ranks);
    p.from_step = simulation_random(&random, 2) ? 0 : 10 + (int)simulation_random(&random, 15);
    p.cause = simulation_random(&random, 2) ? PLANT_WORK : PLANT_SLEEP;
    p.late_ns = 1500000 + simulation_random(&random, 5000000);
    return p;
}

static int is_named_rightly(const struct simulation_plan *p, const struct late_ranks_rows *late)
{
    enum late_cause cause = p->cause == PLANT_SLEEP ? LATE_OFF_CPU : LATE_CPU_WORK;
    enum late_pattern pattern = p->from_step > 0 ? LATE_FROM_STEP : LATE_CHRONIC;
    return late->count == 1 && late->rank[0] == p->late_rank && late->cause[0] == cause &&
           late->pattern[0] == pattern &&
           (p->from_step == 0 || late->first_step[0] == p->from_step);
}

/* Of 300 runs each, at most 1 % may be told wrongly. */
static void test_named_if_and_only_if_planted(void)
{
    int wrong = 0, named = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct simulation_plan plan = planted_plan(seed);
        struct simulation s;
        simulation_open(&s, &plan);
        struct analysis_tables a = reduce_simulation(&s);
        wrong += !is_named_rightly(&plan, &a.late_ranks);
        analysis_tables_free(&a);
        simulation_close(&s);
        plan.cause = PLANT_NOTHING;
        simulation_open(&s, &plan);
        a = reduce_simulation(&s);
        named += a.late_ranks.count > 0;
        analysis_tables_free(&a);
        simulation_close(&s);
    }
    fprintf(
        stderr,
        "%d of 300 planted ranks told wrongly, %d of 300 runs with nothing planted name somebody\n",
        wrong, named);
    CHECK(wrong <= 3);
    CHECK(named <= 3);
}

static void test_a_run_without_ranks_is_refused(void)
{
    struct run_tables none = {0};
    struct reduce_source source = {.tables = &none};
    struct analysis_tables a = {0};
    CHECK_EQUAL(reduce_run(&source, &options, &a, NULL), ERR_EMPTY);
    analysis_tables_free(&a);
}

int main(void)
{
    test_random_runs_against_their_schedule();
    test_names_and_epochs_change_no_length();
    test_a_missing_member_is_named();
    test_below_clock_resolution_nobody_is_named();
    test_named_if_and_only_if_planted();
    test_a_run_without_ranks_is_refused();
    return check_result();
}
