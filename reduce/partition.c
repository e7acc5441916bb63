#include "partition.h"

#include <stdlib.h>
#include <string.h>

#include "intervals.h"
#include "steps.h"

/* One rank's time outside and inside MPI, and what of the latter is explained. */
struct rank_time {
    struct intervals calls;                /* inside MPI, on the main lane */
    struct intervals transfer;             /* of them: data moves */
    struct intervals wait;                 /* of the rest: a peer is not there */
    struct intervals moving, waiting, any; /* of all operations, also outside MPI */
};

static void free_time(struct rank_time *t)
{
    struct intervals *const all[] = {&t->calls,  &t->transfer, &t->wait,
                                     &t->moving, &t->waiting,  &t->any};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        intervals_free(all[i]);
}

static int is_call(const struct events_rows *e, size_t i, uint32_t main_lane)
{
    return e->lane[i] == main_lane &&
           (e->kind[i] == EVENT_mpi_call || e->kind[i] == EVENT_own_collective);
}

static enum err read_calls(struct rank_time *t, const struct events_rows *e, uint32_t main_lane)
{
    enum err error = ERR_OK;
    for (size_t i = 0; i < e->count && !error; i++)
        if (is_call(e, i, main_lane))
            error = intervals_add(&t->calls, e->begin_ns[i], e->begin_ns[i] + e->duration_ns[i]);
    intervals_normalise(&t->calls);
    return error;
}

static enum err read_operations(struct rank_time *t, const struct operation *o, size_t count)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < count && !e; i++) {
        e = intervals_add(&t->waiting, o[i].begin_ns, o[i].wait_end_ns);
        if (!e)
            e = intervals_add(&t->moving, o[i].wait_end_ns, o[i].end_ns);
        if (!e)
            e = intervals_add(&t->any, o[i].begin_ns, o[i].end_ns);
    }
    intervals_normalise(&t->waiting);
    intervals_normalise(&t->moving);
    intervals_normalise(&t->any);
    return e;
}

/* Where several operations cover an instant, transfer has it: then something moves. */
static enum err divide(struct rank_time *t)
{
    struct intervals waiting_calls = {0};
    enum err e = intervals_intersect(&t->transfer, &t->calls, &t->moving);
    if (!e)
        e = intervals_intersect(&waiting_calls, &t->calls, &t->waiting);
    if (!e)
        e = intervals_subtract(&t->wait, &waiting_calls, &t->transfer);
    intervals_free(&waiting_calls);
    return e;
}

static const char *const usage_names[3] = {"thread_cpu_ns", "involuntary_switches",
                                           "voluntary_switches"};

/* A sample is taken right after a step's end and before the next one's begin, within what the
 * recorder needs. */
#define SAMPLE_SLACK_NS INT64_C(20000)

/* Place among the samples, which are sorted by time, and the value of the last one before it. */
struct usage_cursor {
    size_t at;
    int64_t value; /* -1 before the first */
};

/* The value at a time that is never earlier than the one asked for before. */
static int64_t sample_at(const struct counters_rows *c, uint32_t lane, uint32_t name,
                         int64_t time_ns, struct usage_cursor *cursor)
{
    for (; cursor->at < c->count && c->time_ns[cursor->at] <= time_ns; cursor->at++)
        if (c->lane[cursor->at] == lane && c->name[cursor->at] == name)
            cursor->value = (int64_t)c->value[cursor->at];
    return cursor->value;
}

static int64_t used(const struct counters_rows *c, uint32_t lane, uint32_t name, int64_t begin_ns,
                    int64_t end_ns, struct usage_cursor *cursor)
{
    int64_t before = sample_at(c, lane, name, begin_ns + SAMPLE_SLACK_NS, cursor);
    int64_t after = sample_at(c, lane, name, end_ns + SAMPLE_SLACK_NS, cursor);
    return before < 0 || after < 0 ? -1 : after - before;
}

static void fill_usage(struct state *s, size_t row, const struct counters_rows *c, uint32_t lane,
                       struct usage_cursor cursors[3])
{
    struct partition_rows *p = &s->out->partition;
    int64_t *const columns[] = {p->cpu_ns, p->involuntary, p->voluntary};
    for (size_t i = 0; i < 3; i++)
        columns[i][row] =
            used(c, lane, s->usage_names[i], p->begin_ns[row], p->end_ns[row], &cursors[i]);
}

struct cursors {
    size_t calls, transfer, wait, any, any_calls;
};

static void fill_parts(struct partition_rows *p, size_t row, const struct rank_time *t,
                       const struct intervals *any_calls, struct cursors *c)
{
    int64_t begin = p->begin_ns[row], end = p->end_ns[row];
    int64_t calls = intervals_measure(&t->calls, begin, end, &c->calls);
    p->transfer_ns[row] = intervals_measure(&t->transfer, begin, end, &c->transfer);
    p->wait_ns[row] = intervals_measure(&t->wait, begin, end, &c->wait);
    p->mpi_call_ns[row] = calls - p->transfer_ns[row] - p->wait_ns[row];
    p->compute_ns[row] = end - begin - calls;
    p->hidden_ns[row] = intervals_measure(&t->any, begin, end, &c->any) -
                        intervals_measure(any_calls, begin, end, &c->any_calls);
    p->copy_ns[row] = p->idle_launch_ns[row] = p->idle_host_ns[row] = p->idle_sync_ns[row] = 0;
    p->idle_input_ns[row] = p->idle_unexplained_ns[row] = 0;
    p->caused_wait_ns[row] = 0;
}

static enum err fill_steps(struct state *s, size_t rank_row, const struct rank_time *t,
                           const struct counters_rows *counters)
{
    const struct rank_state *r = &s->ranks[rank_row];
    struct partition_rows *p = &s->out->partition;
    struct intervals any_calls = {0};
    struct cursors c = {0};
    struct usage_cursor usage[3] = {{0, -1}, {0, -1}, {0, -1}};
    size_t first;
    enum err e = intervals_intersect(&any_calls, &t->any, &t->calls);
    if (!e)
        e = rows_append(p, table_partition, r->step_count, &first);
    for (size_t i = 0; i < r->step_count && !e; i++) {
        p->step[first + i] = steps_row(s, r->steps[i].number);
        p->rank[first + i] = s->source->tables->ranks.rank[rank_row];
        p->begin_ns[first + i] = r->steps[i].begin_ns;
        p->end_ns[first + i] = r->steps[i].end_ns;
        fill_parts(p, first + i, t, &any_calls, &c);
        fill_usage(s, first + i, counters, s->source->tables->ranks.main_lane[rank_row], usage);
    }
    intervals_free(&any_calls);
    return e;
}

/* How far a set has been charged to operations: no instant is counted twice, the first operation
 * has it. */
struct charged {
    int64_t until_ns;
    size_t cursor;
};

/* What one rank's operations leave exposed, and to whom its waits are due. */
struct blame {
    int64_t
        *wait_by_rank; /* per row of /ranks waited for; the last entry: nobody that can be named */
    int64_t *times;
    int64_t *call_sums; /* of the rank's calls */
    struct transfer_begin *transfers;
    struct charged wait, transfer;
    size_t calls;
};

struct transfer_begin {
    int64_t begin_ns;
    size_t operation;
};

/* The wait is charged to the step in which the one waited for was then. */
static void charge(struct state *s, size_t culprit_row, int64_t time_ns, int64_t wait_ns)
{
    const struct rank_state *r = &s->ranks[culprit_row];
    size_t low = 0, high = r->step_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->steps[middle].end_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < r->step_count && r->steps[low].begin_ns <= time_ns)
        s->caused_ns[r->first_partition + low] += wait_ns;
}

/* The part of a set inside [from, to) that no operation before has been charged with. */
static int64_t take(const struct intervals *set, int64_t from_ns, int64_t to_ns, struct charged *c)
{
    from_ns = from_ns > c->until_ns ? from_ns : c->until_ns;
    if (to_ns <= from_ns)
        return 0;
    c->until_ns = to_ns;
    return intervals_measure(set, from_ns, to_ns, &c->cursor);
}

/* Who waits for its own message holds up no other. */
static void blame_wait(struct state *s, size_t waiter, struct operation *o,
                       const struct rank_time *t, struct blame *b)
{
    o->exposed_wait_ns = take(&t->wait, o->begin_ns, o->wait_end_ns, &b->wait);
    if (o->exposed_wait_ns == 0 || !steps_counts(s, o->wait_end_ns))
        return;
    size_t row = o->culprit >= 0 ? state_rank_row(s, o->culprit) : s->rank_count;
    b->wait_by_rank[row] += o->exposed_wait_ns;
    b->times[row]++;
    if (row < s->rank_count && row != waiter)
        charge(s, row, o->wait_end_ns, o->exposed_wait_ns);
}

static int compare_transfers(const void *a, const void *b)
{
    const struct transfer_begin *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->operation < y->operation ? -1 : x->operation > y->operation;
}

/* Operations are sorted by their begin; data may move in another order. */
static void blame_transfers(struct operation *o, size_t count, const struct rank_time *t,
                            struct blame *b)
{
    int sorted = 1;
    for (size_t k = 0; k < count; k++) {
        b->transfers[k] = (struct transfer_begin){o[k].wait_end_ns, k};
        sorted &= k == 0 || o[k - 1].wait_end_ns <= o[k].wait_end_ns;
    }
    if (!sorted)
        qsort(b->transfers, count, sizeof *b->transfers, compare_transfers);
    for (size_t k = 0; k < count; k++) {
        struct operation *one = &o[b->transfers[k].operation];
        one->exposed_transfer_ns = take(&t->transfer, one->wait_end_ns, one->end_ns, &b->transfer);
    }
}

static void sum_instances(struct state *s, const struct operation *o, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (o[k].is_message || o[k].instance == TABLE_NONE)
            continue;
        struct instance_sums *sums = &s->instance_sums[o[k].instance];
        sums->wait_ns += o[k].exposed_wait_ns;
        sums->exposed_ns += o[k].exposed_wait_ns + o[k].exposed_transfer_ns;
        sums->hidden_ns += o[k].hidden_ns;
    }
}

static int64_t pair_bound(const struct state *s, size_t waiter, size_t row)
{
    return row < s->rank_count ? state_bound_ns(s, waiter, row) : -1;
}

static enum err put_waits(struct state *s, size_t waiter, const struct blame *b)
{
    struct waits_rows *out = &s->out->waits;
    enum err e = ERR_OK;
    for (size_t row = 0; row <= s->rank_count && !e; row++) {
        size_t at;
        if (b->times[row] == 0)
            continue;
        e = rows_append(out, table_waits, 1, &at);
        if (e)
            break;
        out->waiter[at] = s->source->tables->ranks.rank[waiter];
        out->waited_for[at] = row < s->rank_count ? s->source->tables->ranks.rank[row] : -1;
        out->times[at] = b->times[row];
        out->wait_ns[at] = b->wait_by_rank[row];
        out->bound_ns[at] = pair_bound(s, waiter, row);
    }
    return e;
}

static enum err open_blame(struct blame *b, size_t ranks, size_t operations,
                           const struct intervals *calls)
{
    *b = (struct blame){.wait_by_rank = calloc(ranks + 1, sizeof *b->wait_by_rank),
                        .times = calloc(ranks + 1, sizeof *b->times),
                        .call_sums = intervals_sums(calls),
                        .transfers = malloc((operations + 1) * sizeof *b->transfers),
                        .wait.until_ns = INT64_MIN,
                        .transfer.until_ns = INT64_MIN};
    return b->wait_by_rank && b->times && b->call_sums && b->transfers ? ERR_OK : ERR_NO_MEMORY;
}

static void close_blame(struct blame *b)
{
    free(b->wait_by_rank);
    free(b->times);
    free(b->call_sums);
    free(b->transfers);
}

static enum err blame_all(struct state *s, size_t rank_row, const struct rank_time *t)
{
    const struct rank_state *r = &s->ranks[rank_row];
    struct operation *o = s->operations + r->first_operation;
    struct blame b;
    enum err e = open_blame(&b, s->rank_count, r->operation_count, &t->calls);
    for (size_t k = 0; k < r->operation_count && !e; k++) {
        blame_wait(s, rank_row, &o[k], t, &b);
        o[k].hidden_ns =
            o[k].end_ns - o[k].begin_ns -
            intervals_measure_long(&t->calls, b.call_sums, o[k].begin_ns, o[k].end_ns, &b.calls);
    }
    if (!e) {
        blame_transfers(o, r->operation_count, t, &b);
        sum_instances(s, o, r->operation_count);
        e = put_waits(s, rank_row, &b);
    }
    close_blame(&b);
    return e;
}

enum err partition_rank(struct state *s, size_t rank_row, const struct reduce_rank_rows *rows)
{
    const struct rank_state *r = &s->ranks[rank_row];
    struct rank_time t = {0};
    enum err e = read_calls(&t, &rows->events, s->source->tables->ranks.main_lane[rank_row]);
    if (!e)
        e = read_operations(&t, s->operations + r->first_operation, r->operation_count);
    if (!e)
        e = divide(&t);
    if (!e)
        e = fill_steps(s, rank_row, &t, &rows->counters);
    if (!e)
        e = blame_all(s, rank_row, &t);
    free_time(&t);
    return e;
}

/* The number of a text that is there; TABLE_NONE. */
static uint32_t find_name(const struct strings *strings, const char *text)
{
    for (size_t i = 0; i < strings_count(strings); i++)
        if (strcmp(strings_get(strings, (uint32_t)i), text) == 0)
            return (uint32_t)i;
    return TABLE_NONE;
}

enum err partition_begin(struct state *s)
{
    size_t steps = 0;
    for (size_t i = 0; i < s->rank_count; i++) {
        s->ranks[i].first_partition = steps;
        steps += s->ranks[i].step_count;
    }
    for (size_t i = 0; i < 3; i++)
        s->usage_names[i] = find_name(s->source->strings, usage_names[i]);
    s->caused_ns = calloc(steps + 1, sizeof *s->caused_ns);
    return s->caused_ns ? ERR_OK : ERR_NO_MEMORY;
}

void partition_finish(struct state *s)
{
    for (size_t i = 0; i < s->out->partition.count; i++)
        s->out->partition.caused_wait_ns[i] = s->caused_ns[i];
}

int64_t partition_check(const struct partition_rows *p)
{
    int64_t wrong = 0;
    for (size_t i = 0; i < p->count; i++)
        wrong += p->compute_ns[i] + p->transfer_ns[i] + p->wait_ns[i] + p->mpi_call_ns[i] +
                     p->copy_ns[i] + p->idle_launch_ns[i] + p->idle_host_ns[i] +
                     p->idle_sync_ns[i] + p->idle_input_ns[i] + p->idle_unexplained_ns[i] !=
                 p->end_ns[i] - p->begin_ns[i];
    return wrong;
}
