#include "collect.h"

#include <stdlib.h>

#include "lists.h"

/* Rows name events of the whole run; a rank's rows hold its own. */
static int has_event(const struct events_rows *e, int64_t first, int64_t event)
{
    return event >= first && (uint64_t)(event - first) < e->count;
}

static int64_t end_of(const struct events_rows *e, int64_t first, int64_t event)
{
    return e->begin_ns[event - first] + e->duration_ns[event - first];
}

/* Times as the source has them, else those of the calls. An operation that nobody saw end lasts to
 * the end of its first call at least. 0 when it has no time at all. */
static int take_times(struct operation *o, const struct events_rows *e, int64_t first,
                      int64_t event, int64_t done, int64_t begin_ns, int64_t end_ns)
{
    int called = has_event(e, first, event);
    if (begin_ns < 0 && !called)
        return 0;
    o->begin_ns = begin_ns >= 0 ? begin_ns : e->begin_ns[event - first];
    o->site = called ? e->site[event - first] : TABLE_NONE;
    if (end_ns >= 0)
        o->end_ns = end_ns;
    else if (has_event(e, first, done))
        o->end_ns = end_of(e, first, done);
    else
        o->end_ns = called ? end_of(e, first, event) : o->begin_ns;
    if (o->end_ns < o->begin_ns)
        o->end_ns = o->begin_ns;
    o->wait_end_ns = o->begin_ns;
    return 1;
}

static struct operation *add(struct state *s, enum err *e)
{
    *e = list_make_room((void **)&s->operations, s->operation_count, &s->operation_room,
                        sizeof *s->operations);
    if (*e)
        return NULL;
    struct operation *o = &s->operations[s->operation_count++];
    *o = (struct operation){.culprit = -1, .root = -1, .peer = -1, .instance = TABLE_NONE};
    return o;
}

static enum err add_collectives(struct state *s, int64_t first_event,
                                const struct reduce_rank_rows *rows)
{
    const struct collectives_rows *c = &rows->collectives;
    enum err e = ERR_OK;
    for (size_t i = 0; i < c->count && !e; i++) {
        struct operation *o = add(s, &e);
        if (e)
            break;
        if (!take_times(o, &rows->events, first_event, c->event[i], c->done_event[i],
                        c->begin_ns[i], c->end_ns[i])) {
            s->operation_count--;
            continue;
        }
        o->communicator = c->communicator[i];
        o->key = (uint64_t)c->sequence[i];
        o->kind = c->kind[i];
        o->scope = c->sequence_scope[i];
        o->root = c->root[i];
        o->bytes = collective_payload(c->kind[i], c->bytes_sent[i], c->bytes_received[i]);
    }
    return e;
}

static enum err add_messages(struct state *s, int64_t first_event,
                             const struct reduce_rank_rows *rows)
{
    const struct messages_rows *m = &rows->messages;
    enum err e = ERR_OK;
    for (size_t i = 0; i < m->count && !e; i++) {
        if (m->flags[i] & (MESSAGE_NULL_PEER | MESSAGE_CANCELLED))
            continue;
        struct operation *o = add(s, &e);
        if (e)
            break;
        if (!take_times(o, &rows->events, first_event, m->event[i], m->done_event[i],
                        m->begin_ns[i], m->end_ns[i])) {
            s->operation_count--;
            continue;
        }
        o->is_message = 1;
        o->communicator = m->communicator[i];
        o->peer = state_member_rank(s, m->communicator[i], m->peer[i]);
        o->root = m->tag[i];
        o->key = (uint64_t)m->order[i];
        o->direction = m->direction[i];
        o->kind = COLLECTIVE_send_receive;
        o->bytes = m->bytes[i];
        o->instance = 0;
    }
    return e;
}

static int compare_begins(const void *a, const void *b)
{
    const struct operation *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* Collectives and messages each stand in order of their calls; a rank that uses one kind only needs
 * no sorting. */
static void sort_by_begin(struct operation *o, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (o[i].begin_ns < o[i - 1].begin_ns) {
            qsort(o, count, sizeof *o, compare_begins);
            return;
        }
}

static void look_at_events(struct rank_state *r, const struct events_rows *e)
{
    for (size_t i = 0; i < e->count; i++) {
        int64_t end_ns = e->begin_ns[i] + e->duration_ns[i];
        r->open_events += e->flags[i] & EVENT_FLAG_open;
        r->begin_ns = e->begin_ns[i] < r->begin_ns ? e->begin_ns[i] : r->begin_ns;
        r->end_ns = end_ns > r->end_ns ? end_ns : r->end_ns;
    }
}

enum err collect_rank(struct state *s, size_t rank_row, const struct reduce_rank_rows *rows)
{
    struct rank_state *r = &s->ranks[rank_row];
    int64_t first_event = s->source->tables->ranks.event_first[rank_row];
    r->begin_ns = INT64_MAX;
    r->end_ns = INT64_MIN;
    look_at_events(r, &rows->events);
    r->first_operation = s->operation_count;
    enum err e = add_collectives(s, first_event, rows);
    r->collectives = (int64_t)(s->operation_count - r->first_operation);
    if (!e)
        e = add_messages(s, first_event, rows);
    r->operation_count = s->operation_count - r->first_operation;
    r->messages = (int64_t)r->operation_count - r->collectives;
    if (!e && r->operation_count > 0)
        sort_by_begin(s->operations + r->first_operation, r->operation_count);
    return e;
}
