/* Where steps come from, their windows, and which of them are kept: rows by hand, known answers. */
#include "reduce/reduce.h"

#include "collectives/collectives.h"
#include "trace/vocabulary.h"
#include "unit/check.h"
#include "unit/zero_rows.h"

#define RANKS      2
#define ROOM       1000 /* events of a rank */
#define PATTERNS   "ProfilerStep#|step "
#define STEP_NS    1000
#define WARM_UP    15
#define LONG_STEPS 100

struct steps_run {
    struct run_tables tables;
    struct strings *strings, *added;
    struct reduce_rank_rows rows[RANKS];
    struct analysis_tables out;
};

static void open_run(struct steps_run *r)
{
    memset(r, 0, sizeof *r);
    strings_open(&r->strings);
    strings_open(&r->added);
    zero_rows(&r->tables.ranks, table_ranks, RANKS);
    zero_rows(&r->tables.comms, table_comms, 1);
    zero_rows(&r->tables.comm_members, table_comm_members, RANKS);
    r->tables.comms.size[0] = RANKS;
    for (int i = 0; i < RANKS; i++) {
        r->tables.ranks.rank[i] = r->tables.comm_members.rank[i] = i;
        r->tables.comm_members.comm_rank[i] = i;
        r->tables.ranks.main_lane[i] = (uint32_t)i;
        r->tables.ranks.event_first[i] = (int64_t)i * ROOM;
    }
}

static void close_run(struct steps_run *r)
{
    for (int i = 0; i < RANKS; i++) {
        rows_free(&r->rows[i].events, table_events);
        rows_free(&r->rows[i].collectives, table_collectives);
        rows_free(&r->rows[i].counters, table_counters);
    }
    run_tables_free(&r->tables);
    analysis_tables_free(&r->out);
    strings_close(r->strings);
    strings_close(r->added);
}

static int64_t put(struct steps_run *r, int rank, int kind, int64_t begin_ns, int64_t end_ns)
{
    struct events_rows *e = &r->rows[rank].events;
    size_t at = zero_rows(e, table_events, 1);
    e->begin_ns[at] = begin_ns;
    e->duration_ns[at] = end_ns - begin_ns;
    e->kind[at] = (uint8_t)kind;
    e->lane[at] = (uint32_t)rank;
    e->site[at] = TABLE_NONE;
    return r->tables.ranks.event_first[rank] + (int64_t)at;
}

static void put_step(struct steps_run *r, int rank, int64_t number, int64_t begin_ns,
                     int64_t end_ns)
{
    put(r, rank, EVENT_step, begin_ns, end_ns);
    r->rows[rank].events.ref[r->rows[rank].events.count - 1] = number;
}

static void put_range(struct steps_run *r, int rank, const char *name, int64_t begin_ns,
                      int64_t end_ns)
{
    put(r, rank, EVENT_range, begin_ns, end_ns);
    r->rows[rank].events.name[r->rows[rank].events.count - 1] = strings_put_text(r->strings, name);
}

static void put_collective(struct steps_run *r, int rank, int kind, int64_t bytes, int64_t begin_ns,
                           int64_t end_ns)
{
    struct collectives_rows *c = &r->rows[rank].collectives;
    size_t at = zero_rows(c, table_collectives, 1);
    c->rank[at] = rank;
    c->kind[at] = (uint8_t)kind;
    c->sequence[at] = (int64_t)at;
    c->bytes_sent[at] = c->bytes_received[at] = bytes;
    c->begin_ns[at] = c->end_ns[at] = -1;
    c->event[at] = c->done_event[at] = put(r, rank, EVENT_mpi_call, begin_ns, end_ns);
}

static void put_sample(struct steps_run *r, int lane, const char *name, int64_t time_ns,
                       double value)
{
    struct counters_rows *c = &r->rows[0].counters;
    size_t at = zero_rows(c, table_counters, 1);
    c->lane[at] = (uint32_t)lane;
    c->name[at] = strings_put_text(r->strings, name);
    c->time_ns[at] = time_ns;
    c->value[at] = value;
}

static enum err read_rank(void *context, size_t row, enum reduce_want want,
                          struct reduce_rank_rows *out)
{
    struct steps_run *r = context;
    (void)want;
    *out = r->rows[row];
    return ERR_OK;
}

static void keep_rank(void *context, struct reduce_rank_rows *rows)
{
    (void)context, (void)rows;
}

/* Reduces it, and checks where its steps come from. */
static void reduce(struct steps_run *r, const char *steps_from)
{
    struct reduce_source source = {.tables = &r->tables,
                                   .strings = r->strings,
                                   .read = read_rank,
                                   .release = keep_rank,
                                   .context = r};
    struct reduce_options options = {.step_patterns = PATTERNS, .tool_version = "test"};
    const char *found = "";
    CHECK_EQUAL(reduce_run(&source, &options, &r->out, r->added), ERR_OK);
    for (size_t i = 0; i < r->out.findings.count; i++)
        if (strcmp(strings_get(r->added, r->out.findings.key[i]), "steps_from") == 0)
            found = strings_get(r->added, r->out.findings.value[i]);
    CHECK_TEXT(found, steps_from);
}

static void check_window(const struct steps_run *r, size_t row, int64_t number, int64_t begin_ns,
                         int64_t end_ns, int flags)
{
    const struct steps_rows *s = &r->out.steps;
    CHECK(row < s->count);
    if (row >= s->count)
        return;
    CHECK_EQUAL(s->number[row], number);
    CHECK_EQUAL(s->begin_ns[row], begin_ns);
    CHECK_EQUAL(s->end_ns[row], end_ns);
    CHECK_EQUAL(s->flags[row], flags);
}

/* Rank 1 has no step 12, rank 0 no 13; and 13 ends before 12 does. */
static void test_windows_end_with_the_last_rank(void)
{
    struct steps_run r;
    open_run(&r);
    put_step(&r, 0, 10, 0, 90);
    put_step(&r, 0, 11, 100, 190);
    put_step(&r, 0, 12, 200, 390);
    put_step(&r, 1, 10, -20, 95);
    put_step(&r, 1, 11, 95, 180);
    put_step(&r, 1, 13, 180, 250);
    reduce(&r, "marks");
    CHECK_EQUAL(r.out.steps.count, 4);
    check_window(&r, 0, 10, -20, 95, STEP_FIRST);
    check_window(&r, 1, 11, 95, 190, STEP_KEPT);
    check_window(&r, 2, 12, 190, 390, STEP_PARTIAL);
    check_window(&r, 3, 13, 390, 390, STEP_LAST | STEP_OVERLAPS | STEP_PARTIAL);
    CHECK_EQUAL(r.out.steps.skew_ns[0], 5);
    CHECK_EQUAL(r.out.steps.last_rank[0], 1);
    CHECK_EQUAL(r.out.steps.last_rank[1], 0);
    CHECK_EQUAL(r.out.steps.ranks[2], 1);
    CHECK_EQUAL(r.out.partition.count, 6);
    CHECK_EQUAL(r.out.partition.end_ns[0], 100);
    close_run(&r);
}

static void test_numbers_that_do_not_grow_are_places(void)
{
    struct steps_run r;
    open_run(&r);
    for (int rank = 0; rank < RANKS; rank++)
        for (int64_t k = 0; k < 3; k++)
            put_step(&r, rank, 7, 100 * k, 100 * k + 100);
    reduce(&r, "marks");
    CHECK_EQUAL(r.out.steps.count, 3);
    check_window(&r, 2, 2, 200, 300, STEP_LAST | STEP_KEPT);
    close_run(&r);
}

static void test_ranges_named_as_steps(void)
{
    struct steps_run r;
    open_run(&r);
    for (int rank = 0; rank < RANKS; rank++) {
        put_range(&r, rank, "ProfilerStep#41", 0, 100);
        put_range(&r, rank, "forward 3", 10, 50);
        put_range(&r, rank, "ProfilerStep#x", 20, 30);
        put_range(&r, rank, "step 42", 100, 210);
    }
    reduce(&r, "ranges");
    CHECK_EQUAL(r.out.steps.count, 2);
    check_window(&r, 0, 41, 0, 100, STEP_FIRST | STEP_KEPT);
    check_window(&r, 1, 42, 100, 210, STEP_LAST | STEP_KEPT);
    close_run(&r);
}

/* Marks are the program's own word: ranges beside them are none. */
static void test_marks_go_before_ranges(void)
{
    struct steps_run r;
    open_run(&r);
    for (int rank = 0; rank < RANKS; rank++) {
        put_range(&r, rank, "step 1", 0, 50);
        put_step(&r, rank, 5, 0, 100);
    }
    reduce(&r, "marks");
    CHECK_EQUAL(r.out.steps.count, 1);
    check_window(&r, 0, 5, 0, 100, STEP_FIRST | STEP_LAST | STEP_KEPT);
    close_run(&r);
}

/* A barrier and two broadcasts, then six times allreduce 8, 8, 16: a step begins at each first one,
 * and the last runs to the end of its own. */
static void test_repeating_collectives_are_steps(void)
{
    struct steps_run r;
    open_run(&r);
    for (int rank = 0; rank < RANKS; rank++) {
        put_collective(&r, rank, COLLECTIVE_barrier, 0, 0, 10);
        put_collective(&r, rank, COLLECTIVE_broadcast, 1, 20, 30);
        put_collective(&r, rank, COLLECTIVE_broadcast, 2, 40, 50);
        for (int64_t k = 0; k < 6; k++)
            for (int64_t i = 0; i < 3; i++)
                put_collective(&r, rank, COLLECTIVE_allreduce, i < 2 ? 8 : 16,
                               1000 * (k + 1) + 100 * i, 1000 * (k + 1) + 100 * i + 50);
    }
    reduce(&r, "collectives");
    CHECK_EQUAL(r.out.steps.count, 6);
    check_window(&r, 0, 0, 1000, 2000, STEP_FIRST);
    check_window(&r, 1, 1, 2000, 3000, STEP_KEPT);
    check_window(&r, 5, 5, 6000, 6250, STEP_LAST | STEP_KEPT);
    close_run(&r);
}

static void test_a_run_without_steps_is_one(void)
{
    struct steps_run r;
    open_run(&r);
    put(&r, 0, EVENT_mpi_call, 100, 150);
    put(&r, 0, EVENT_mpi_call, 200, 400);
    put(&r, 1, EVENT_mpi_call, 120, 500);
    reduce(&r, "run");
    CHECK_EQUAL(r.out.steps.count, 1);
    check_window(&r, 0, 0, 100, 500, STEP_FIRST | STEP_LAST | STEP_KEPT);
    CHECK_EQUAL(r.out.partition.compute_ns[0], 50);
    CHECK_EQUAL(r.out.partition.mpi_call_ns[0], 250);
    close_run(&r);
}

/* Fifteen steps of three times the length, then steady ones. */
static void test_warm_up_is_left_out(void)
{
    struct steps_run r;
    open_run(&r);
    for (int rank = 0; rank < RANKS; rank++)
        for (int64_t k = 0, at_ns = 0; k < LONG_STEPS; k++) {
            int64_t length_ns = (k < WARM_UP ? 3 * STEP_NS : STEP_NS) + k % 7;
            put_step(&r, rank, k, at_ns, at_ns + length_ns);
            at_ns += length_ns;
        }
    reduce(&r, "marks");
    for (size_t k = 0; k < LONG_STEPS; k++)
        CHECK_EQUAL(!!(r.out.steps.flags[k] & STEP_KEPT), k >= WARM_UP);
    close_run(&r);
}

/* Samples at the ends of steps, among those of another thread and of the program; rank 1 has none.
 */
static void test_a_step_uses_what_samples_differ_by(void)
{
    struct steps_run r;
    open_run(&r);
    for (int rank = 0; rank < RANKS; rank++)
        for (int64_t k = 0; k < 3; k++)
            put_step(&r, rank, k, 1000000 * k, 1000000 * (k + 1));
    for (int64_t k = 1; k <= 3; k++) {
        put_sample(&r, 0, "thread_cpu_ns", 1000000 * k + 5000, 700 * (double)(k * k));
        put_sample(&r, 1, "thread_cpu_ns", 1000000 * k + 100, 5);
        put_sample(&r, 0, "loss", 1000000 * k + 200, 9);
        put_sample(&r, 0, "voluntary_switches", 1000000 * k + 300, 2 * (double)k);
    }
    reduce(&r, "marks");
    CHECK_EQUAL(r.out.partition.cpu_ns[0], -1);
    CHECK_EQUAL(r.out.partition.cpu_ns[1], 700 * 4 - 700);
    CHECK_EQUAL(r.out.partition.cpu_ns[2], 700 * 9 - 700 * 4);
    CHECK_EQUAL(r.out.partition.voluntary[2], 2);
    CHECK_EQUAL(r.out.partition.involuntary[2], -1);
    CHECK_EQUAL(r.out.partition.cpu_ns[4], -1);
    close_run(&r);
}

int main(void)
{
    test_a_step_uses_what_samples_differ_by();
    test_windows_end_with_the_last_rank();
    test_numbers_that_do_not_grow_are_places();
    test_ranges_named_as_steps();
    test_marks_go_before_ranges();
    test_repeating_collectives_are_steps();
    test_a_run_without_steps_is_one();
    test_warm_up_is_left_out();
    return check_result();
}
