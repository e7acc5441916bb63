#include "state.h"

#define SAME_CLOCK_NS 2 /* one reading early, one late */

/* /ranks is sorted by rank, normally without gaps. */
size_t state_rank_row(const struct state *s, int32_t rank)
{
    const struct ranks_rows *r = &s->source->tables->ranks;
    if (rank >= 0 && (size_t)rank < r->count && r->rank[rank] == rank)
        return (size_t)rank;
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->rank[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count && r->rank[low] == rank ? low : s->rank_count;
}

static int64_t combine(const struct ranks_rows *r, const int64_t *errors, size_t a, size_t b)
{
    if (r->clock_domain[a] == r->clock_domain[b])
        return SAME_CLOCK_NS;
    return errors[a] < 0 || errors[b] < 0 ? -1 : errors[a] + errors[b];
}

int64_t state_bound_ns(const struct state *s, size_t a, size_t b)
{
    const struct ranks_rows *r = &s->source->tables->ranks;
    return combine(r, r->clock_bound_max_ns, a, b);
}

int64_t state_estimate_ns(const struct state *s, size_t a, size_t b)
{
    const struct ranks_rows *r = &s->source->tables->ranks;
    int64_t estimate = combine(r, r->clock_estimate_ns, a, b);
    return estimate < 0 ? state_bound_ns(s, a, b) : estimate;
}

/* Rows of a communicator are sorted by member; two ranks that are one member number (the two groups
 * of an intercommunicator) name nobody. */
int32_t state_member_rank(const struct state *s, uint32_t communicator, int32_t member)
{
    const struct comm_members_rows *m = &s->source->tables->comm_members;
    if (communicator >= s->source->tables->comms.count || member < 0)
        return -1;
    size_t low = s->member_first[communicator], end = s->member_first[communicator + 1], high = end;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->comm_rank[middle] < member)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= end || m->comm_rank[low] != member ||
        (low + 1 < end && m->comm_rank[low + 1] == member))
        return -1;
    return m->rank[low];
}
