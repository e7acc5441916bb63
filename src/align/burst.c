#include "align.h"

/* How far an offset may have moved in `ns`, rounded up. */
static int64_t drift_ns(int64_t ns)
{
    return (ns < 0 ? -ns : ns) / (1000000 / ALIGN_DRIFT_PPM) + 1;
}

/* One exchange as a burst of its own at the middle of its child's times; nonzero when its times go
 * backwards. */
static int interval_of(const struct align_exchange *x, struct align_burst *out)
{
    int64_t low, high, whole, inside;
    if (__builtin_sub_overflow(x->parent_send_ns, x->child_receive_ns, &low) ||
        __builtin_sub_overflow(x->parent_receive_ns, x->child_send_ns, &high) ||
        __builtin_sub_overflow(x->child_receive_ns, x->child_send_ns, &whole) ||
        __builtin_sub_overflow(x->parent_send_ns, x->parent_receive_ns, &inside))
        return 1;
    if (whole < 0 || inside < 0)
        return 1;
    int64_t widened = ALIGN_GRANULARITY_NS + drift_ns(whole);
    if (__builtin_sub_overflow(low, widened, &low) || __builtin_add_overflow(high, widened, &high))
        return 1;
    *out = (struct align_burst){x->child_send_ns + whole / 2, low, high, whole - inside, 1};
    return low > high;
}

static void move_to(struct align_burst *b, int64_t time_ns)
{
    int64_t widened = drift_ns(time_ns - b->time_ns);
    b->low_ns -= widened;
    b->high_ns += widened;
    b->time_ns = time_ns;
}

static void intersect(struct align_burst *b, const struct align_burst *other)
{
    if (other->low_ns > b->low_ns)
        b->low_ns = other->low_ns;
    if (other->high_ns < b->high_ns)
        b->high_ns = other->high_ns;
}

/* Both intervals at the time of either one; the narrower result stays. */
static enum err add_interval(struct align_burst *all, const struct align_burst *next)
{
    struct align_burst here = *all, there = *all, moved = *next;
    int64_t distance;
    if (__builtin_sub_overflow(next->time_ns, all->time_ns, &distance))
        return ERR_FORMAT;
    move_to(&moved, all->time_ns);
    intersect(&here, &moved);
    move_to(&there, next->time_ns);
    intersect(&there, next);
    int stay = here.high_ns - here.low_ns <= there.high_ns - there.low_ns;
    struct align_burst *narrower = stay ? &here : &there;
    if (narrower->low_ns > narrower->high_ns)
        return ERR_FORMAT;
    narrower->exchanges = all->exchanges + 1;
    if (next->round_trip_ns < narrower->round_trip_ns)
        narrower->round_trip_ns = next->round_trip_ns;
    *all = *narrower;
    return ERR_OK;
}

enum err align_burst_run(const struct align_link *link, uint32_t count, struct align_burst *out)
{
    struct align_burst all = {0};
    enum err e = count > 0 ? ERR_OK : ERR_EMPTY;
    for (uint32_t i = 0; i < count; i++) {
        struct align_exchange x;
        struct align_burst next;
        if (link->exchange(link->context, &x))
            return ERR_PEER;
        if (e)
            continue; /* the parent still serves all of them */
        if (interval_of(&x, &next))
            e = ERR_FORMAT;
        else if (i == 0)
            all = next;
        else
            e = add_interval(&all, &next);
    }
    if (e == ERR_OK)
        *out = all;
    return e;
}
