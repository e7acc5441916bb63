#include "messages.h"

#include <stdlib.h>

#include "lists.h"

struct side {
    int32_t sender, receiver;
    uint32_t communicator;
    int32_t tag;
    int64_t order;
    uint32_t direction;
    size_t row;
};

static int compare_ends(const struct side *x, const struct side *y)
{
    if (x->sender != y->sender)
        return x->sender < y->sender ? -1 : 1;
    if (x->receiver != y->receiver)
        return x->receiver < y->receiver ? -1 : 1;
    if (x->communicator != y->communicator)
        return x->communicator < y->communicator ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare(const void *a, const void *b)
{
    const struct side *x = a, *y = b;
    int ends = compare_ends(x, y);
    if (ends != 0)
        return ends;
    return x->direction < y->direction ? -1 : x->direction > y->direction;
}

static void match_pair(struct operation *send, struct operation *receive, const struct side *ends,
                       size_t send_row, size_t receive_row)
{
    send->instance = (uint32_t)receive_row + 1;
    receive->instance = (uint32_t)send_row + 1;
    if (send->begin_ns > receive->begin_ns) {
        receive->wait_end_ns = send->begin_ns < receive->end_ns ? send->begin_ns : receive->end_ns;
        receive->culprit = ends->sender;
    }
    if (send->end_ns > receive->begin_ns && receive->begin_ns > send->begin_ns) {
        send->wait_end_ns = receive->begin_ns;
        send->culprit = ends->receiver;
    }
}

/* A peer that is not of the run, or not to be told, has no other side to be found. */
static struct side *list_sides(struct state *s, size_t *count)
{
    size_t most = 0;
    for (size_t i = 0; i < s->rank_count; i++)
        most += (size_t)s->ranks[i].messages;
    struct side *sides = malloc((most + 1) * sizeof *sides);
    *count = 0;
    for (size_t i = 0; sides != NULL && i < s->rank_count; i++)
        for (size_t k = 0; k < s->ranks[i].operation_count; k++) {
            size_t row = s->ranks[i].first_operation + k;
            const struct operation *o = &s->operations[row];
            int32_t own = s->source->tables->ranks.rank[i];
            if (!o->is_message || o->peer < 0)
                continue;
            int sends = o->direction == MESSAGE_SEND;
            sides[(*count)++] = (struct side){.sender = sends ? own : o->peer,
                                              .receiver = sends ? o->peer : own,
                                              .communicator = o->communicator,
                                              .tag = o->root,
                                              .order = (int64_t)o->key,
                                              .direction = o->direction,
                                              .row = row};
        }
    return sides;
}

static void count_unmatched(struct state *s)
{
    for (size_t i = 0; i < s->rank_count; i++)
        for (size_t k = 0; k < s->ranks[i].operation_count; k++) {
            const struct operation *o = &s->operations[s->ranks[i].first_operation + k];
            s->ranks[i].unmatched_messages += o->is_message && o->peer >= 0 && o->instance == 0;
        }
}

enum err messages_match(struct state *s)
{
    size_t count;
    struct side *sides = list_sides(s, &count);
    if (sides == NULL)
        return ERR_NO_MEMORY;
    qsort(sides, count, sizeof *sides, compare);
    for (size_t i = 0; i + 1 < count; i++) {
        if (compare_ends(&sides[i], &sides[i + 1]) != 0 ||
            sides[i].direction == sides[i + 1].direction)
            continue;
        match_pair(&s->operations[sides[i].row], &s->operations[sides[i + 1].row], &sides[i],
                   sides[i].row, sides[i + 1].row);
        i++;
    }
    free(sides);
    count_unmatched(s);
    return ERR_OK;
}

struct pair {
    int32_t sender, receiver;
    int64_t times, bytes, late_sender_ns, late_receiver_ns;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->sender != y->sender)
        return x->sender < y->sender ? -1 : 1;
    return x->receiver < y->receiver ? -1 : x->receiver > y->receiver;
}

/* A matched message as a pair of its own, from its receive. */
static struct pair *list_pairs(const struct state *s, size_t *count)
{
    struct pair *pairs = malloc((s->operation_count + 1) * sizeof *pairs);
    *count = 0;
    for (size_t i = 0; pairs != NULL && i < s->rank_count; i++)
        for (size_t k = 0; k < s->ranks[i].operation_count; k++) {
            const struct operation *receive = &s->operations[s->ranks[i].first_operation + k];
            if (!receive->is_message || receive->direction != MESSAGE_RECEIVE ||
                receive->instance == 0)
                continue;
            const struct operation *send = &s->operations[receive->instance - 1];
            pairs[(*count)++] =
                (struct pair){.sender = receive->peer,
                              .receiver = s->source->tables->ranks.rank[i],
                              .times = 1,
                              .bytes = receive->bytes > 0 ? receive->bytes : 0,
                              .late_sender_ns = receive->wait_end_ns - receive->begin_ns,
                              .late_receiver_ns = send->wait_end_ns - send->begin_ns};
        }
    return pairs;
}

static enum err put_pair(struct message_pairs_rows *out, const struct pair *p)
{
    size_t at = out->count;
    if (at == 0 || out->sender[at - 1] != p->sender || out->receiver[at - 1] != p->receiver) {
        enum err e = rows_append(out, table_message_pairs, 1, &at);
        if (e)
            return e;
        out->sender[at] = p->sender;
        out->receiver[at] = p->receiver;
        out->times[at] = out->bytes[at] = out->late_sender_ns[at] = out->late_receiver_ns[at] = 0;
    } else
        at--;
    out->times[at] += p->times;
    out->bytes[at] += p->bytes;
    out->late_sender_ns[at] += p->late_sender_ns;
    out->late_receiver_ns[at] += p->late_receiver_ns;
    return ERR_OK;
}

enum err messages_pairs(struct state *s)
{
    size_t count;
    struct pair *pairs = list_pairs(s, &count);
    enum err e = pairs ? ERR_OK : ERR_NO_MEMORY;
    if (!e)
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count && !e; i++)
        e = put_pair(&s->out->message_pairs, &pairs[i]);
    free(pairs);
    return e;
}
