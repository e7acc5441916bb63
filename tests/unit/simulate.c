#include "unit/simulate.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "trace/vocabulary.h"
#include "unit/zero_rows.h"

int64_t simulation_random(uint64_t *state, int64_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return limit > 0 ? (int64_t)(*state >> 33) % limit : 0;
}

/* One rank's step as scheduled: compute, a non-blocking allreduce posted on the way, its Wait, more
 * compute, a blocking one. Every call takes CALL_NS of its own at its end. */
#define CALL_NS 7

struct schedule {
    int64_t begin_ns, post_ns, wait_call_ns, wait_done_ns, arrive_ns, done_ns;
};

static int64_t latest(const struct schedule *step, int ranks, size_t member)
{
    int64_t most = INT64_MIN;
    for (int r = 0; r < ranks; r++) {
        int64_t at;
        memcpy(&at, (const char *)&step[r] + member, sizeof at);
        most = at > most ? at : most;
    }
    return most;
}

static int64_t late_of(const struct simulation_plan *p, int rank, int step)
{
    return p->cause != PLANT_NOTHING && rank == p->late_rank && step >= p->from_step ? p->late_ns
                                                                                     : 0;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void schedule_step(const struct simulation_plan *p, uint64_t *random, int k,
                          struct schedule *step, const int64_t *free_ns)
{
    int64_t transfer_ns = 20 + simulation_random(random, 200);
    for (int r = 0; r < p->ranks; r++) {
        int64_t compute_ns = p->compute_ns + simulation_random(random, p->noise_ns);
        step[r].begin_ns = free_ns[r];
        step[r].post_ns = free_ns[r] + compute_ns / 2 + late_of(p, r, k);
        step[r].wait_call_ns = step[r].post_ns + CALL_NS + compute_ns / 2;
    }
    int64_t all_ns = latest(step, p->ranks, offsetof(struct schedule, post_ns));
    for (int r = 0; r < p->ranks; r++) {
        step[r].wait_done_ns = larger(step[r].wait_call_ns, all_ns + transfer_ns) + CALL_NS;
        step[r].arrive_ns = step[r].wait_done_ns + 30 + simulation_random(random, p->noise_ns);
    }
    all_ns = latest(step, p->ranks, offsetof(struct schedule, arrive_ns));
    for (int r = 0; r < p->ranks; r++)
        step[r].done_ns = all_ns + transfer_ns + CALL_NS;
}

/* Walks through one step of a rank nanosecond by nanosecond and says what each is. */
static void paint(const struct schedule *s, int64_t posted_ns, int64_t arrived_ns, int64_t end_ns,
                  struct simulated_step *out)
{
    for (int64_t t = s->begin_ns; t < end_ns; t++) {
        int first = t >= s->post_ns && t < s->wait_done_ns,
            second = t >= s->arrive_ns && t < s->done_ns;
        int called = (t >= s->post_ns && t < s->post_ns + CALL_NS) ||
                     (t >= s->wait_call_ns && t < s->wait_done_ns) || second;
        int moves = (first && t >= posted_ns) || (second && t >= arrived_ns);
        out->compute_ns += !called;
        out->hidden_ns += !called && (first || second);
        out->transfer_ns += called && moves;
        out->wait_ns += called && !moves && (first || second);
        out->mpi_call_ns += called && !first && !second;
    }
}

static void put_event(struct simulation *s, int rank, uint8_t kind, int64_t begin_ns,
                      int64_t end_ns, int64_t ref)
{
    struct events_rows *e = &s->rows[rank].events;
    size_t at;
    rows_append(e, table_events, 1, &at);
    e->begin_ns[at] = begin_ns + s->plan.shift_ns;
    e->duration_ns[at] = end_ns - begin_ns;
    e->lane[at] = (uint32_t)rank;
    e->kind[at] = kind;
    e->flags[at] = 0;
    e->name[at] = 0;
    e->cause[at] = -1;
    e->site[at] = TABLE_NONE;
    e->ref[at] = ref;
    e->bytes[at] = -1;
}

/* Events are rows of the whole run: the rank's own are counted on from its first. */
static void put_collective(struct simulation *s, int rank, int64_t sequence, int64_t event,
                           int64_t done)
{
    struct collectives_rows *c = &s->rows[rank].collectives;
    size_t at;
    rows_append(c, table_collectives, 1, &at);
    c->rank[at] = rank;
    c->communicator[at] = 0;
    c->kind[at] = COLLECTIVE_allreduce;
    c->sequence[at] = sequence;
    c->sequence_scope[at] = SEQUENCE_COMMUNICATOR;
    c->root[at] = -1;
    c->bytes_sent[at] = c->bytes_received[at] = 4096;
    c->event[at] = event;
    c->done_event[at] = done;
    c->device_event[at] = c->enqueue_ns[at] = c->begin_ns[at] = c->end_ns[at] = -1;
    c->time_source[at] = TIME_CALL;
    c->algorithm[at] = 0;
    c->channels[at] = 0;
}

static void put_sample(struct simulation *s, int rank, const char *name, int64_t time_ns,
                       int64_t value)
{
    struct counters_rows *c = &s->rows[rank].counters;
    size_t at;
    rows_append(c, table_counters, 1, &at);
    c->rank[at] = rank;
    c->lane[at] = (uint32_t)rank;
    c->name[at] = strings_put_text(s->strings, name);
    c->time_ns[at] = time_ns + s->plan.shift_ns;
    c->value[at] = (double)value;
}

/* The thread works and spins all the time, but for a planted sleep, which gives its core away once
 * a step. */
static void put_usage(struct simulation *s, int rank, int step, int64_t time_ns)
{
    int64_t slept = 0, sleeps = 0;
    for (int k = 0; k < step && s->plan.cause == PLANT_SLEEP; k++) {
        slept += late_of(&s->plan, rank, k);
        sleeps += late_of(&s->plan, rank, k) > 0;
    }
    put_sample(s, rank, "thread_cpu_ns", time_ns, time_ns - slept);
    put_sample(s, rank, "involuntary_switches", time_ns, 0);
    put_sample(s, rank, "voluntary_switches", time_ns, sleeps);
}

static void put_step(struct simulation *s, int rank, int k, const struct schedule *t,
                     int64_t end_ns)
{
    int64_t first = (int64_t)s->rows[rank].events.count, base = s->tables.ranks.event_first[rank];
    put_event(s, rank, EVENT_step, t->begin_ns, end_ns, k);
    put_event(s, rank, EVENT_mpi_call, t->post_ns, t->post_ns + CALL_NS, -1);
    put_event(s, rank, EVENT_mpi_call, t->wait_call_ns, t->wait_done_ns, -1);
    put_event(s, rank, EVENT_mpi_call, t->arrive_ns, t->done_ns, -1);
    put_collective(s, rank, 2 * k, base + first + 1, base + first + 2);
    if (!(s->plan.missing && rank == 0 && k + 1 == s->plan.steps))
        put_collective(s, rank, 2 * k + 1, base + first + 3, base + first + 3);
}

static void put_tables(struct simulation *s)
{
    size_t n = (size_t)s->plan.ranks;
    zero_rows(&s->tables.ranks, table_ranks, n);
    zero_rows(&s->tables.comms, table_comms, 1);
    zero_rows(&s->tables.comm_members, table_comm_members, n);
    s->tables.comms.size[0] = s->plan.ranks;
    for (size_t i = 0; i < n; i++) {
        s->tables.ranks.rank[i] = s->tables.comm_members.rank[i] =
            s->tables.comm_members.comm_rank[i] = (int32_t)i;
        s->tables.ranks.main_lane[i] = (uint32_t)i;
        s->tables.ranks.event_first[i] = (int64_t)i * 4 * s->plan.steps;
        s->tables.ranks.clock_bound_max_ns[i] = s->tables.ranks.clock_estimate_ns[i] = 1;
    }
}

static int32_t last_of(const struct schedule *step, int ranks)
{
    int32_t last = 0;
    for (int r = 1; r < ranks; r++)
        if (step[r].arrive_ns > step[last].arrive_ns)
            last = r;
    return last;
}

static int part_of(const struct simulation_plan *p, int rank)
{
    return p->reversed ? p->ranks - 1 - rank : rank;
}

static void put_truth(struct simulation *s, const struct schedule *step, int k)
{
    int64_t posted_ns = latest(step, s->plan.ranks, offsetof(struct schedule, post_ns));
    int64_t arrived_ns = latest(step, s->plan.ranks, offsetof(struct schedule, arrive_ns));
    for (int r = 0; r < s->plan.ranks; r++) {
        int rank = part_of(&s->plan, r);
        struct simulated_step *truth = &s->truth[rank][k];
        truth->begin_ns = step[r].begin_ns;
        truth->end_ns = step[r].done_ns + 2;
        truth->last_rank = part_of(&s->plan, last_of(step, s->plan.ranks));
        if (s->plan.compute_ns < 100000)
            paint(&step[r], posted_ns, arrived_ns, truth->end_ns, truth);
        put_step(s, rank, k, &step[r], truth->end_ns);
    }
}

static enum err read_rows(void *context, size_t row, enum reduce_want want,
                          struct reduce_rank_rows *out)
{
    struct simulation *s = context;
    (void)want;
    *out = s->rows[row];
    return ERR_OK;
}

static void keep_rows(void *context, struct reduce_rank_rows *rows)
{
    (void)context;
    (void)rows;
}

void simulation_open(struct simulation *s, const struct simulation_plan *plan)
{
    struct schedule step[SIMULATED_RANKS];
    int64_t free_ns[SIMULATED_RANKS] = {0};
    uint64_t random = plan->seed;
    memset(s, 0, sizeof *s);
    s->plan = *plan;
    strings_open(&s->strings);
    put_tables(s);
    for (int r = 0; r < plan->ranks; r++)
        put_usage(s, part_of(plan, r), 0, 0);
    for (int k = 0; k < plan->steps; k++) {
        schedule_step(plan, &random, k, step, free_ns);
        put_truth(s, step, k);
        for (int r = 0; r < plan->ranks; r++) {
            free_ns[r] = step[r].done_ns + 2;
            put_usage(s, part_of(plan, r), k + 1, free_ns[r]);
        }
    }
    s->source = (struct reduce_source){.tables = &s->tables,
                                       .strings = s->strings,
                                       .read = read_rows,
                                       .release = keep_rows,
                                       .context = s};
}

void simulation_close(struct simulation *s)
{
    for (int r = 0; r < s->plan.ranks; r++) {
        rows_free(&s->rows[r].events, table_events);
        rows_free(&s->rows[r].collectives, table_collectives);
        rows_free(&s->rows[r].counters, table_counters);
    }
    run_tables_free(&s->tables);
    strings_close(s->strings);
}
