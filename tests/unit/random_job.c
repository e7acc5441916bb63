#include "unit/random_job.h"

#include "collectives/collectives.h"
#include "trace/vocabulary.h"
#include "unit/simulate.h"
#include "unit/zero_rows.h"

static int below(uint64_t *random, int limit)
{
    return (int)simulation_random(random, limit);
}

/* Communicators: 0 all ranks in order, 1 all in reverse, 2 all but the last. */
#define COMMUNICATORS 3

static int size_of(const struct job *j, int communicator)
{
    return communicator == 2 ? j->ranks - 1 : j->ranks;
}

static int rank_of(const struct job *j, int communicator, int member)
{
    return communicator == 1 ? j->ranks - 1 - member : member;
}

static void put_tables(struct job *j)
{
    struct run_tables *t = &j->tables;
    zero_rows(&t->ranks, table_ranks, (size_t)j->ranks);
    zero_rows(&t->comms, table_comms, COMMUNICATORS);
    for (int c = 0; c < COMMUNICATORS; c++) {
        t->comms.size[c] = size_of(j, c);
        for (int m = 0; m < size_of(j, c); m++) {
            size_t at = zero_rows(&t->comm_members, table_comm_members, 1);
            t->comm_members.communicator[at] = (uint32_t)c;
            t->comm_members.comm_rank[at] = m;
            t->comm_members.rank[at] = rank_of(j, c, m);
        }
    }
    for (int r = 0; r < j->ranks; r++) {
        t->ranks.rank[r] = r;
        t->ranks.main_lane[r] = (uint32_t)(2 * r);
        t->ranks.event_first[r] = (int64_t)r * (JOB_CALLS + JOB_STEPS);
    }
}

static void put_event(struct job *j, int rank, int kind, int64_t begin_ns, int64_t end_ns, int lane)
{
    struct events_rows *e = &j->rows[rank].events;
    size_t at = zero_rows(e, table_events, 1);
    e->begin_ns[at] = begin_ns;
    e->duration_ns[at] = end_ns - begin_ns;
    e->kind[at] = (uint8_t)kind;
    e->lane[at] = (uint32_t)(2 * rank + lane);
    e->site[at] = TABLE_NONE;
    e->ref[at] = -1;
}

/* Steps fill the whole length. Calls follow each other on the main lane; some are of a second one,
 * whose time is nobody's. Only the first JOB_CALLS rows are calls. */
static void put_calls(struct job *j, int rank, uint64_t *random)
{
    int64_t at_ns = 0, begin_ns = 0;
    int longest = JOB_LENGTH_NS / JOB_CALLS;
    for (int i = 0; i < JOB_CALLS; i++) {
        int64_t begin = at_ns + below(random, longest / 2), lane = below(random, 8) == 0;
        at_ns = begin + below(random, longest / 2);
        put_event(j, rank, EVENT_mpi_call, begin, at_ns, (int)lane);
        for (int64_t t = begin; t < at_ns && !lane; t++)
            j->cells[rank][t].in_call = 1;
    }
    for (int k = 0; k < JOB_STEPS; k++) {
        int64_t end_ns =
            k + 1 == JOB_STEPS ? JOB_LENGTH_NS : 100 * (k + 1) + (int64_t)below(random, 60);
        put_event(j, rank, EVENT_step, begin_ns, end_ns, 0);
        j->rows[rank].events.ref[JOB_CALLS + k] = k;
        j->step_ends_ns[rank][k] = begin_ns = end_ns;
    }
}

static struct job_operation *add_operation(struct job *j, int rank, int member, int64_t *event,
                                           int64_t *done, uint64_t *random)
{
    const struct events_rows *e = &j->rows[rank].events;
    struct job_operation *o = &j->operations[j->operation_count++];
    int first = below(random, JOB_CALLS), last = first + below(random, JOB_CALLS - first);
    int seen = below(random, 8) > 0;
    if (!seen)
        last = first;
    *event = j->tables.ranks.event_first[rank] + first;
    *done = seen ? j->tables.ranks.event_first[rank] + last : -1;
    *o = (struct job_operation){.rank = rank,
                                .member = member,
                                .instance = j->instance_count,
                                .begin_ns = e->begin_ns[first],
                                .end_ns = e->begin_ns[last] + e->duration_ns[last]};
    return o;
}

static int has_sizes_of_its_own(int kind)
{
    return kind == COLLECTIVE_gatherv || kind == COLLECTIVE_scatterv ||
           kind == COLLECTIVE_allgatherv || kind == COLLECTIVE_alltoallv ||
           kind == COLLECTIVE_alltoallw;
}

static void put_member(struct job *j, const struct job_instance *n, int member, uint64_t *random)
{
    int rank = rank_of(j, n->communicator, member);
    struct collectives_rows *c = &j->rows[rank].collectives;
    size_t at = zero_rows(c, table_collectives, 1);
    struct job_operation *o =
        add_operation(j, rank, member, &c->event[at], &c->done_event[at], random);
    o->bytes = below(random, 3) * 100;
    o->takes_part = o->bytes > 0 || !has_sizes_of_its_own(n->kind);
    c->begin_ns[at] = c->end_ns[at] = -1;
    if (below(random, 6) == 0)
        c->begin_ns[at] = o->begin_ns = o->begin_ns / 2;
    if (below(random, 6) == 0)
        c->end_ns[at] = o->end_ns = o->begin_ns + below(random, JOB_LENGTH_NS - (int)o->begin_ns);
    c->rank[at] = rank;
    c->communicator[at] = (uint32_t)n->communicator;
    c->kind[at] = (uint8_t)n->kind;
    c->sequence[at] = n->sequence;
    c->root[at] = n->root;
    c->bytes_sent[at] = c->bytes_received[at] = o->bytes;
}

static void put_collective(struct job *j, int64_t *sequences, uint64_t *random)
{
    struct job_instance *n = &j->instances[j->instance_count];
    int first = j->operation_count;
    n->communicator = below(random, j->ranks > 1 && !j->plain ? COMMUNICATORS : 2);
    n->kind = below(random, COLLECTIVE_KIND_COUNT);
    n->root = below(random, size_of(j, n->communicator));
    n->sequence = sequences[n->communicator]++;
    n->missing_rank = -1;
    for (int m = 0; m < size_of(j, n->communicator); m++) {
        int rank = rank_of(j, n->communicator, m);
        if (j->plain || below(random, 12) > 0)
            put_member(j, n, m, random);
        else if (n->missing_rank < 0 || rank < n->missing_rank)
            n->missing_rank = rank;
    }
    n->present = j->operation_count - first;
    for (int i = first; i < j->operation_count; i++)
        j->unmatched[j->operations[i].rank] += n->missing_rank >= 0;
    j->instance_count += n->present > 0;
}

static void put_side(struct job *j, int rank, int peer, int64_t order, int sends, uint64_t *random)
{
    struct messages_rows *m = &j->rows[rank].messages;
    size_t at = zero_rows(m, table_messages, 1);
    struct job_operation *o =
        add_operation(j, rank, rank, &m->event[at], &m->done_event[at], random);
    o->is_message = o->takes_part = 1;
    o->sends = sends;
    o->bytes = 10;
    m->rank[at] = rank;
    m->communicator[at] = 1;
    m->peer[at] = rank_of(j, 1, peer);
    m->tag[at] = (int32_t)order % 2;
    m->order[at] = order / 2;
    m->direction[at] = sends ? MESSAGE_SEND : MESSAGE_RECEIVE;
    m->bytes[at] = o->bytes;
    m->begin_ns[at] = m->end_ns[at] = -1;
    if (below(random, 10) == 0) {
        m->flags[at] = below(random, 2) ? MESSAGE_NULL_PEER : MESSAGE_CANCELLED;
        j->operation_count--;
    }
}

static void put_message(struct job *j, int64_t orders[JOB_RANKS][JOB_RANKS], uint64_t *random)
{
    struct job_instance *n = &j->instances[j->instance_count];
    int from = below(random, j->ranks), to = below(random, j->ranks);
    int first = j->operation_count;
    int64_t order = orders[from][to]++;
    n->is_message = 1;
    if (below(random, 10) > 0)
        put_side(j, from, to, order, 1, random);
    if (below(random, 10) > 0)
        put_side(j, to, from, order, 0, random);
    n->present = j->operation_count - first;
    if (n->present == 1)
        j->unmatched_messages[j->operations[first].rank]++;
    j->instance_count += n->present > 0;
}

static int is_one_of(int kind, const int *kinds)
{
    for (; *kinds >= 0; kinds++)
        if (*kinds == kind)
            return 1;
    return 0;
}

/* Whether `a` cannot go on before `b` of the same collective has begun. */
static int needs(const struct job_instance *n, const struct job_operation *a,
                 const struct job_operation *b)
{
    static const int from_root[] = {COLLECTIVE_broadcast, COLLECTIVE_scatter, COLLECTIVE_scatterv,
                                    -1};
    static const int to_root[] = {COLLECTIVE_reduce, COLLECTIVE_gather, COLLECTIVE_gatherv, -1};
    static const int up_to[] = {COLLECTIVE_scan, COLLECTIVE_exscan, -1};
    static const int none[] = {COLLECTIVE_unknown,
                               COLLECTIVE_neighbor_allgather,
                               COLLECTIVE_neighbor_allgatherv,
                               COLLECTIVE_neighbor_alltoall,
                               COLLECTIVE_neighbor_alltoallv,
                               COLLECTIVE_neighbor_alltoallw,
                               COLLECTIVE_send_receive,
                               -1};
    if (is_one_of(n->kind, from_root))
        return b->member == n->root;
    if (is_one_of(n->kind, to_root))
        return a->member == n->root;
    if (is_one_of(n->kind, up_to))
        return b->member < a->member;
    return !is_one_of(n->kind, none);
}

/* A send that ended before its receive began did not need it. */
static int waits_for(const struct job_instance *n, const struct job_operation *a,
                     const struct job_operation *b, int64_t time_ns)
{
    if (a == b || a->instance != b->instance || b->begin_ns <= time_ns)
        return 0;
    if (n->is_message)
        return !a->sends || a->end_ns > b->begin_ns;
    return a->takes_part && b->takes_part && needs(n, a, b);
}

static void paint(struct job *j, const struct job_operation *o)
{
    struct job_instance *n = &j->instances[o->instance];
    int64_t moving_ns = 0;
    for (int64_t t = o->begin_ns; t < o->end_ns; t++) {
        int waits = 0;
        for (int i = 0; i < j->operation_count; i++)
            waits |= waits_for(n, o, &j->operations[i], t);
        j->cells[o->rank][t].waits |= (char)waits;
        j->cells[o->rank][t].moves |= (char)!waits;
        moving_ns += !waits;
        n->wait_ns += waits;
    }
    n->transfer_ns = moving_ns > n->transfer_ns ? moving_ns : n->transfer_ns;
}

static enum err read_rows(void *context, size_t row, enum reduce_want want,
                          struct reduce_rank_rows *out)
{
    struct job *j = context;
    (void)want;
    *out = j->rows[row];
    return ERR_OK;
}

static void keep_rows(void *context, struct reduce_rank_rows *rows)
{
    (void)context, (void)rows;
}

void random_job_open(struct job *j, uint64_t seed)
{
    uint64_t random = seed;
    int64_t sequences[COMMUNICATORS] = {0}, orders[JOB_RANKS][JOB_RANKS] = {{0}};
    memset(j, 0, sizeof *j);
    j->plain = seed % 4 == 0;
    j->ranks = 1 + below(&random, JOB_RANKS);
    strings_open(&j->strings);
    put_tables(j);
    for (int r = 0; r < j->ranks; r++)
        put_calls(j, r, &random);
    for (int i = below(&random, JOB_OPERATIONS / 2); i > 0; i--)
        put_collective(j, sequences, &random);
    for (int i = j->plain ? 0 : below(&random, JOB_OPERATIONS / 2); i > 0; i--)
        put_message(j, orders, &random);
    for (int i = 0; i < j->operation_count; i++)
        paint(j, &j->operations[i]);
    j->source = (struct reduce_source){.tables = &j->tables,
                                       .strings = j->strings,
                                       .read = read_rows,
                                       .release = keep_rows,
                                       .context = j};
}

void random_job_close(struct job *j)
{
    for (int r = 0; r < j->ranks; r++) {
        rows_free(&j->rows[r].events, table_events);
        rows_free(&j->rows[r].collectives, table_collectives);
        rows_free(&j->rows[r].messages, table_messages);
    }
    run_tables_free(&j->tables);
    strings_close(j->strings);
}
