#include "instances.h"

#include <stdlib.h>

#include "steps.h"

/* Who came last, of all members or of those that others wait for. */
struct latest {
    size_t member;
    int together;    /* members within the clock error of it */
    int32_t culprit; /* the lowest rank of those; -1 when that is everybody */
};

/* One matched collective while it is worked on. */
struct instance {
    const struct collective_member *members;
    size_t count, earliest; /* a member */
    struct latest arrived, awaited;
};

static struct operation *operation_of(const struct state *s, const struct collective_member *m)
{
    return &s->operations[m->row];
}

/* A member of a v or w form without bytes has nothing to wait for, and nobody waits for it. */
static int takes_part(const struct operation *o)
{
    return o->bytes != 0 || (o->kind != COLLECTIVE_gatherv && o->kind != COLLECTIVE_scatterv &&
                             o->kind != COLLECTIVE_allgatherv && o->kind != COLLECTIVE_alltoallv &&
                             o->kind != COLLECTIVE_alltoallw);
}

static size_t find_earliest(const struct state *s, const struct instance *n)
{
    size_t earliest = 0;
    for (size_t i = 1; i < n->count; i++)
        if (operation_of(s, &n->members[i])->begin_ns <
            operation_of(s, &n->members[earliest])->begin_ns)
            earliest = i;
    return earliest;
}

/* Members stand in order of rank, so the first one within the error is the lowest rank. */
static void find_culprit(const struct state *s, const struct instance *n, struct latest *latest,
                         int of_all)
{
    size_t latest_row = state_rank_row(s, n->members[latest->member].rank), looked_at = 0;
    int64_t latest_ns = operation_of(s, &n->members[latest->member])->begin_ns;
    for (size_t i = 0; i < n->count; i++) {
        const struct operation *o = operation_of(s, &n->members[i]);
        if (!of_all && !takes_part(o))
            continue;
        int64_t error_ns = state_estimate_ns(s, state_rank_row(s, n->members[i].rank), latest_row);
        looked_at++;
        if (i != latest->member && error_ns >= 0 && o->begin_ns < latest_ns - error_ns)
            continue;
        if (latest->together++ == 0)
            latest->culprit = n->members[i].rank;
    }
    if (latest->together == (int)looked_at)
        latest->culprit = -1;
}

static struct latest find_latest(const struct state *s, const struct instance *n, int of_all)
{
    struct latest latest = {.culprit = -1};
    int64_t latest_ns = INT64_MIN;
    for (size_t i = 0; i < n->count; i++) {
        const struct operation *o = operation_of(s, &n->members[i]);
        if ((of_all || takes_part(o)) && o->begin_ns > latest_ns) {
            latest_ns = o->begin_ns;
            latest.member = i;
        }
    }
    find_culprit(s, n, &latest, of_all);
    return latest;
}

static int all_take_part(const struct state *s, const struct instance *n)
{
    for (size_t i = 0; i < n->count; i++)
        if (!takes_part(operation_of(s, &n->members[i])))
            return 0;
    return 1;
}

static void wait_until(struct operation *o, int64_t until_ns, int32_t culprit)
{
    if (until_ns <= o->begin_ns || !takes_part(o))
        return;
    o->wait_end_ns = until_ns < o->end_ns ? until_ns : o->end_ns;
    o->culprit = culprit;
}

/* How long is waited does not depend on who is named: one that is named for the others, though
 * another came a reading of the clock later, waits for that one. */
static void wait_for_latest(const struct state *s, const struct instance *n,
                            struct operation *waiter, int32_t rank)
{
    const struct collective_member *latest = &n->members[n->awaited.member];
    int named = rank == n->awaited.culprit;
    wait_until(waiter, operation_of(s, latest)->begin_ns,
               named ? latest->rank : n->awaited.culprit);
}

static void wait_for_all(const struct state *s, const struct instance *n)
{
    for (size_t i = 0; i < n->count; i++)
        wait_for_latest(s, n, operation_of(s, &n->members[i]), n->members[i].rank);
}

/* The member whose rank in the communicator is the root's; NULL when it is not there. */
static struct operation *find_root(const struct state *s, const struct instance *n, int32_t *rank)
{
    const struct operation *any = operation_of(s, &n->members[0]);
    *rank = state_member_rank(s, any->communicator, any->root);
    for (size_t i = 0; i < n->count; i++)
        if (n->members[i].rank == *rank)
            return operation_of(s, &n->members[i]);
    return NULL;
}

static void wait_for_root(const struct state *s, const struct instance *n)
{
    int32_t rank;
    const struct operation *root = find_root(s, n, &rank);
    for (size_t i = 0; root != NULL && takes_part(root) && i < n->count; i++)
        if (n->members[i].rank != rank)
            wait_until(operation_of(s, &n->members[i]), root->begin_ns, rank);
}

static void root_waits(const struct state *s, const struct instance *n)
{
    int32_t rank;
    struct operation *root = find_root(s, n, &rank);
    if (root != NULL)
        wait_for_latest(s, n, root, rank);
}

/* The member of a rank; the count when it is not there. */
static size_t find_member(const struct instance *n, int32_t rank)
{
    size_t low = 0, high = n->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (n->members[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n->count && n->members[low].rank == rank ? low : n->count;
}

/* Each waits for the latest of those before it in the communicator. */
static void wait_for_prefix(const struct state *s, const struct instance *n)
{
    const struct comm_members_rows *m = &s->source->tables->comm_members;
    uint32_t communicator = operation_of(s, &n->members[0])->communicator;
    int64_t latest_ns = INT64_MIN;
    int32_t culprit = -1;
    if (communicator >= s->source->tables->comms.count)
        return;
    for (size_t i = s->member_first[communicator]; i < s->member_first[communicator + 1]; i++) {
        size_t member = find_member(n, m->rank[i]);
        if (member == n->count)
            continue;
        struct operation *o = operation_of(s, &n->members[member]);
        wait_until(o, latest_ns, culprit);
        if (o->begin_ns > latest_ns) {
            latest_ns = o->begin_ns;
            culprit = m->rank[i];
        }
    }
}

static void find_waits(const struct state *s, const struct instance *n, unsigned kind)
{
    switch (collective_waits(kind)) {
    case COLLECTIVE_WAITS_ALL:
        wait_for_all(s, n);
        break;
    case COLLECTIVE_WAITS_ROOT_TO_ALL:
        wait_for_root(s, n);
        break;
    case COLLECTIVE_WAITS_ALL_TO_ROOT:
        root_waits(s, n);
        break;
    case COLLECTIVE_WAITS_PREFIX:
        wait_for_prefix(s, n);
        break;
    case COLLECTIVE_WAITS_NEIGHBOURS:
    case COLLECTIVE_WAITS_NONE:
        break;
    }
}

static int members_expected(const struct state *s, uint32_t communicator)
{
    const struct comms_rows *comms = &s->source->tables->comms;
    return communicator < comms->count ? comms->size[communicator] : -1;
}

/* The lowest rank of the communicator that is not among the members; -1 none. */
static int32_t find_missing(const struct state *s, const struct instance *n, uint32_t communicator)
{
    const struct comm_members_rows *m = &s->source->tables->comm_members;
    int32_t missing = -1;
    if (communicator >= s->source->tables->comms.count)
        return -1;
    for (size_t i = s->member_first[communicator]; i < s->member_first[communicator + 1]; i++) {
        int there = find_member(n, m->rank[i]) < n->count;
        if (!there && (missing < 0 || m->rank[i] < missing))
            missing = m->rank[i];
    }
    return missing;
}

static void count_faults(struct state *s, const struct instance *n, int complete, unsigned kind)
{
    for (size_t i = 0; i < n->count; i++) {
        struct rank_state *r = &s->ranks[state_rank_row(s, n->members[i].rank)];
        r->unmatched_collectives += !complete;
        r->mismatched_collectives += operation_of(s, &n->members[i])->kind != kind;
    }
}

static void fill_times(struct state *s, const struct instance *n, size_t row)
{
    struct instances_rows *out = &s->out->instances;
    out->first_begin_ns[row] = operation_of(s, &n->members[n->earliest])->begin_ns;
    out->last_begin_ns[row] = operation_of(s, &n->members[n->arrived.member])->begin_ns;
    out->end_ns[row] = INT64_MIN;
    out->wait_ns[row] = out->transfer_ns[row] = 0;
    for (size_t i = 0; i < n->count; i++) {
        const struct operation *o = operation_of(s, &n->members[i]);
        int64_t transfer_ns = o->end_ns - o->wait_end_ns;
        out->end_ns[row] = o->end_ns > out->end_ns[row] ? o->end_ns : out->end_ns[row];
        out->wait_ns[row] += o->wait_end_ns - o->begin_ns;
        out->transfer_ns[row] =
            transfer_ns > out->transfer_ns[row] ? transfer_ns : out->transfer_ns[row];
    }
    out->step[row] = steps_at(s, out->last_begin_ns[row]);
}

static int64_t largest_bytes(const struct state *s, const struct instance *n)
{
    int64_t bytes = -1;
    for (size_t i = 0; i < n->count; i++)
        if (operation_of(s, &n->members[i])->bytes > bytes)
            bytes = operation_of(s, &n->members[i])->bytes;
    return bytes;
}

static void fill_instance(struct state *s, const struct instance *n, size_t row)
{
    struct instances_rows *out = &s->out->instances;
    const struct operation *any = operation_of(s, &n->members[0]);
    size_t early = state_rank_row(s, n->members[n->earliest].rank);
    size_t late = state_rank_row(s, n->members[n->arrived.member].rank);
    out->communicator[row] = any->communicator;
    out->kind[row] = any->kind;
    out->sequence[row] = (int64_t)any->key;
    out->members[row] = members_expected(s, any->communicator);
    out->present[row] = (int32_t)n->count;
    out->missing_rank[row] = out->members[row] >= 0 && out->present[row] < out->members[row]
                                 ? find_missing(s, n, any->communicator)
                                 : -1;
    out->first_rank[row] = n->members[n->earliest].rank;
    out->last_rank[row] =
        n->arrived.culprit >= 0 ? n->arrived.culprit : n->members[n->arrived.member].rank;
    out->last_count[row] = n->arrived.together;
    out->bytes[row] = largest_bytes(s, n);
    out->bound_ns[row] = state_bound_ns(s, early, late);
    out->estimate_ns[row] = state_estimate_ns(s, early, late);
    out->matched_by[row] = MATCH_COMMUNICATOR;
    fill_times(s, n, row);
    count_faults(s, n, out->members[row] < 0 || out->present[row] >= out->members[row], any->kind);
    for (size_t i = 0; i < n->count; i++)
        operation_of(s, &n->members[i])->instance = (uint32_t)row;
}

static enum err add_instance(struct state *s, const struct collective_member *members, size_t count)
{
    struct instance n = {.members = members, .count = count};
    size_t row;
    enum err e = rows_append(&s->out->instances, table_instances, 1, &row);
    if (e)
        return e;
    n.earliest = find_earliest(s, &n);
    n.arrived = find_latest(s, &n, 1);
    n.awaited = all_take_part(s, &n) ? n.arrived : find_latest(s, &n, 0);
    find_waits(s, &n, operation_of(s, &members[0])->kind);
    fill_instance(s, &n, row);
    return ERR_OK;
}

/* Only collectives of a known communicator can be matched; the others stand alone and are counted.
 */
static struct collective_member *list_members(struct state *s, size_t *count)
{
    struct collective_member *members = malloc((s->operation_count + 1) * sizeof *members);
    *count = 0;
    for (size_t i = 0; members != NULL && i < s->rank_count; i++)
        for (size_t k = 0; k < s->ranks[i].operation_count; k++) {
            size_t row = s->ranks[i].first_operation + k;
            const struct operation *o = &s->operations[row];
            if (o->is_message)
                continue;
            if (o->communicator == TABLE_NONE || (int64_t)o->key < 0) {
                s->ranks[i].unmatched_collectives++;
                continue;
            }
            members[(*count)++] =
                (struct collective_member){.communicator = o->communicator,
                                           .sequence = (int64_t)o->key,
                                           .rank = s->source->tables->ranks.rank[i],
                                           .kind = o->kind,
                                           .scope = o->scope,
                                           .row = row};
        }
    return members;
}

enum err instances_match(struct state *s)
{
    size_t count;
    struct collective_member *members = list_members(s, &count);
    enum err e = members ? collective_match(members, count) : ERR_NO_MEMORY;
    for (size_t first = 0, end; first < count && !e; first = end) {
        end = collective_instance_end(members, count, first);
        e = add_instance(s, members + first, end - first);
    }
    free(members);
    if (!e)
        s->instance_sums = calloc(s->out->instances.count + 1, sizeof *s->instance_sums);
    return e ? e : s->instance_sums ? ERR_OK : ERR_NO_MEMORY;
}
