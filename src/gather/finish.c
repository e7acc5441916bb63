#include "finish.h"

#include <stdlib.h>
#include <string.h>

#include "order.h"

/* Where each row went: place[order[k]] = k. */
static void invert(const size_t *order, size_t count, size_t *place)
{
    for (size_t k = 0; k < count; k++)
        place[order[k]] = k;
}

static void move_events(int64_t *column, size_t count, const size_t *place)
{
    for (size_t i = 0; i < count; i++)
        if (column[i] >= 0)
            column[i] = (int64_t)place[column[i]];
}

static void shift(int64_t *column, size_t count, int64_t first)
{
    for (size_t i = 0; i < count; i++)
        if (column[i] >= 0)
            column[i] += first;
}

static int compare_by_event(const void *a, const void *b, void *context)
{
    const int64_t *event = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (event[x] != event[y])
        return event[x] < event[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int is_sorted(const int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i - 1] > values[i])
            return 0;
    return 1;
}

/* Side tables stand in order of their calls. */
static enum err sort_by(void *rows, const struct table *t, const int64_t *key, size_t count)
{
    if (is_sorted(key, count))
        return ERR_OK;
    size_t *order = malloc((count + 1) * sizeof *order);
    int64_t *copy = malloc((count + 1) * sizeof *copy);
    enum err e = order && copy ? ERR_OK : ERR_NO_MEMORY;
    if (!e) {
        memcpy(copy, key, count * sizeof *copy);
        for (size_t i = 0; i < count; i++)
            order[i] = i;
        qsort_r(order, count, sizeof *order, compare_by_event, copy);
        e = rows_permute(rows, t, order);
    }
    free(order);
    free(copy);
    return e;
}

/* A call's ref is the first of its rows. */
static void refer(struct events_rows *e, const int64_t *event, size_t count, int64_t first)
{
    for (size_t i = count; i-- > 0;)
        e->ref[event[i]] = first + (int64_t)i;
}

static int compare_receives(const void *a, const void *b, void *context)
{
    const struct messages_rows *m = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (m->communicator[x] != m->communicator[y])
        return m->communicator[x] < m->communicator[y] ? -1 : 1;
    if (m->peer[x] != m->peer[y])
        return m->peer[x] < m->peer[y] ? -1 : 1;
    if (m->tag[x] != m->tag[y])
        return m->tag[x] < m->tag[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int continues(const struct messages_rows *m, size_t a, size_t b)
{
    return m->communicator[a] == m->communicator[b] && m->peer[a] == m->peer[b] &&
           m->tag[a] == m->tag[b];
}

/* With receives from any source or of any tag among them, the probe could not count; MPI matches
 * messages of one sender, communicator and tag in the order in which their receives were posted, so
 * counting now is exact. */
static enum err count_receives(struct messages_rows *m)
{
    size_t *order = malloc((m->count + 1) * sizeof *order), count = 0;
    int wild = 0;
    if (order == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < m->count; i++) {
        if (m->direction[i] != MESSAGE_RECEIVE ||
            m->flags[i] & (MESSAGE_CANCELLED | MESSAGE_NULL_PEER))
            continue;
        wild |= m->order[i] < 0;
        if (m->peer[i] >= 0 && m->tag[i] >= 0)
            order[count++] = i;
    }
    if (wild) {
        qsort_r(order, count, sizeof *order, compare_receives, m);
        for (size_t k = 0; k < count; k++)
            m->order[order[k]] =
                k > 0 && continues(m, order[k - 1], order[k]) ? m->order[order[k - 1]] + 1 : 0;
    }
    free(order);
    return ERR_OK;
}

static enum err place_events(struct rank_rows *r, const size_t *ends, size_t runs)
{
    size_t count = r->events.count;
    size_t *order = malloc((count + 1) * sizeof *order),
           *place = malloc((count + 1) * sizeof *place);
    enum err e = order && place ? ERR_OK : ERR_NO_MEMORY;
    if (!e && runs > 0)
        e = order_events(&r->events, ends, runs, order);
    if (!e)
        e = rows_permute(&r->events, table_events, order);
    if (!e) {
        invert(order, count, place);
        move_events(r->collectives.event, r->collectives.count, place);
        move_events(r->collectives.done_event, r->collectives.count, place);
        move_events(r->messages.event, r->messages.count, place);
        move_events(r->messages.done_event, r->messages.count, place);
    }
    free(order);
    free(place);
    return e;
}

static void count_unfinished(struct rank_rows *r)
{
    for (size_t i = 0; i < r->collectives.count; i++)
        r->unfinished += r->collectives.done_event[i] < 0;
    for (size_t i = 0; i < r->messages.count; i++)
        r->unfinished +=
            r->messages.done_event[i] < 0 && !(r->messages.flags[i] & MESSAGE_CANCELLED);
}

enum err rank_rows_finish(struct rank_rows *r, const struct rank_places *places, const size_t *ends,
                          size_t runs)
{
    enum err e = place_events(r, ends, runs);
    if (!e)
        e = sort_by(&r->collectives, table_collectives, r->collectives.event, r->collectives.count);
    if (!e)
        e = sort_by(&r->messages, table_messages, r->messages.event, r->messages.count);
    if (!e)
        e = sort_by(&r->counters, table_counters, r->counters.time_ns, r->counters.count);
    if (!e)
        e = count_receives(&r->messages);
    if (e)
        return e;
    refer(&r->events, r->collectives.event, r->collectives.count, places->collectives);
    refer(&r->events, r->messages.event, r->messages.count, places->messages);
    count_unfinished(r);
    shift(r->collectives.event, r->collectives.count, places->events);
    shift(r->collectives.done_event, r->collectives.count, places->events);
    shift(r->messages.event, r->messages.count, places->events);
    shift(r->messages.done_event, r->messages.count, places->events);
    return ERR_OK;
}
