#include "groups.h"

#include <stdlib.h>

#include "steps.h"

/* Like operations are those of one kind, communicator, size and call site. */
struct group {
    uint8_t kind;
    uint32_t communicator, site;
    int64_t bytes;
    int64_t times, exposed_ns, wait_ns, transfer_ns, hidden_ns, whole_ns;
    int64_t sharers; /* ranks over which the sums are still to be divided */
    int members;
};

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->communicator != y->communicator)
        return x->communicator < y->communicator ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->site < y->site ? -1 : x->site > y->site;
}

/* The call site of the lowest rank in each instance. */
static uint32_t *find_sites(const struct state *s)
{
    uint32_t *sites = malloc((s->out->instances.count + 1) * sizeof *sites);
    for (size_t i = 0; sites != NULL && i < s->out->instances.count; i++)
        sites[i] = TABLE_NONE;
    for (size_t i = s->rank_count; sites != NULL && i-- > 0;)
        for (size_t k = 0; k < s->ranks[i].operation_count; k++) {
            const struct operation *o = &s->operations[s->ranks[i].first_operation + k];
            if (!o->is_message && o->instance != TABLE_NONE)
                sites[o->instance] = o->site;
        }
    return sites;
}

static struct group of_instance(const struct state *s, size_t i, uint32_t site)
{
    const struct instances_rows *n = &s->out->instances;
    int64_t present = n->present[i];
    return (struct group){.kind = n->kind[i],
                          .communicator = n->communicator[i],
                          .site = site,
                          .bytes = n->bytes[i],
                          .times = 1,
                          .exposed_ns = s->instance_sums[i].exposed_ns / present,
                          .wait_ns = s->instance_sums[i].wait_ns / present,
                          .transfer_ns = n->transfer_ns[i],
                          .hidden_ns = s->instance_sums[i].hidden_ns / present,
                          .whole_ns = n->end_ns[i] - n->first_begin_ns[i],
                          .sharers = 1,
                          .members = n->present[i]};
}

static int64_t members_of(const struct state *s, uint32_t communicator)
{
    const struct comms_rows *comms = &s->source->tables->comms;
    return communicator < comms->count && comms->size[communicator] > 2 ? comms->size[communicator]
                                                                        : 2;
}

/* A matched message counts once, with what both its sides leave exposed; of all members of the
 * communicator the others lose nothing by it. */
static struct group of_message(const struct state *s, const struct operation *receive)
{
    const struct operation *send = &s->operations[receive->instance - 1];
    int64_t wait_ns = receive->exposed_wait_ns + send->exposed_wait_ns;
    int64_t exposed_ns = wait_ns + receive->exposed_transfer_ns + send->exposed_transfer_ns;
    int64_t length_ns = receive->end_ns - receive->begin_ns;
    return (struct group){.kind = COLLECTIVE_send_receive,
                          .communicator = receive->communicator,
                          .site = receive->site,
                          .bytes = receive->bytes,
                          .times = 1,
                          .exposed_ns = exposed_ns,
                          .wait_ns = wait_ns,
                          .transfer_ns = receive->end_ns - receive->wait_end_ns,
                          .hidden_ns = receive->hidden_ns + send->hidden_ns,
                          .whole_ns = length_ns,
                          .sharers = members_of(s, receive->communicator),
                          .members = 2};
}

static void add_up(struct group *sum, const struct group *one)
{
    sum->times += one->times;
    sum->exposed_ns += one->exposed_ns;
    sum->wait_ns += one->wait_ns;
    sum->transfer_ns += one->transfer_ns;
    sum->hidden_ns += one->hidden_ns;
    sum->whole_ns += one->whole_ns;
}

static struct group *list_groups(const struct state *s, size_t *count)
{
    uint32_t *sites = find_sites(s);
    struct group *list = malloc((s->out->instances.count + s->operation_count + 1) * sizeof *list);
    *count = 0;
    for (size_t i = 0; list != NULL && sites != NULL && i < s->out->instances.count; i++)
        if (steps_counts(s, s->out->instances.last_begin_ns[i]))
            list[(*count)++] = of_instance(s, i, sites[i]);
    for (size_t k = 0; list != NULL && sites != NULL && k < s->operation_count; k++) {
        const struct operation *o = &s->operations[k];
        if (o->is_message && o->direction == MESSAGE_RECEIVE && o->instance != 0 &&
            steps_counts(s, o->end_ns))
            list[(*count)++] = of_message(s, o);
    }
    if (sites == NULL) {
        free(list);
        list = NULL;
    }
    free(sites);
    return list;
}

static enum err put_group(struct state *s, const struct group *g)
{
    struct operations_rows *out = &s->out->operations;
    size_t at;
    enum err e = rows_append(out, table_operations, 1, &at);
    if (e)
        return e;
    int64_t all_bytes = g->bytes > 0 ? g->bytes * g->times : 0;
    out->kind[at] = strings_put_text(s->strings, collective_name(g->kind));
    out->communicator[at] = g->communicator;
    out->bytes[at] = g->bytes;
    out->site[at] = g->site;
    out->times[at] = g->times;
    out->exposed_ns[at] = g->exposed_ns / g->sharers;
    out->wait_ns[at] = g->wait_ns / g->sharers;
    out->transfer_ns[at] = g->transfer_ns;
    out->hidden_ns[at] = g->hidden_ns / g->sharers;
    out->algbw[at] = collective_algbw(all_bytes, g->transfer_ns);
    out->busbw[at] = collective_busbw(g->kind, g->members, all_bytes, g->transfer_ns);
    out->busbw_whole[at] = collective_busbw(g->kind, g->members, all_bytes, g->whole_ns);
    return out->kind[at] == TABLE_NONE ? ERR_NO_MEMORY : ERR_OK;
}

enum err groups_operations(struct state *s)
{
    size_t count;
    struct group *list = list_groups(s, &count);
    enum err e = list ? ERR_OK : ERR_NO_MEMORY;
    if (!e)
        qsort(list, count, sizeof *list, compare_groups);
    for (size_t first = 0, i; first < count && !e; first = i) {
        struct group sum = list[first];
        for (i = first + 1; i < count && compare_groups(&list[i], &list[first]) == 0; i++)
            add_up(&sum, &list[i]);
        e = put_group(s, &sum);
    }
    free(list);
    return e;
}

static enum err put_efficiency(struct state *s, uint32_t step, int64_t sum_ns, int64_t most_ns,
                               int64_t ranks, int64_t time_ns)
{
    struct efficiency_rows *out = &s->out->efficiency;
    size_t at;
    enum err e = rows_append(out, table_efficiency, 1, &at);
    if (e)
        return e;
    double mean_ns = ranks > 0 ? (double)sum_ns / (double)ranks : 0;
    out->step[at] = step;
    out->load_balance[at] = most_ns > 0 ? mean_ns / (double)most_ns : 0;
    out->communication[at] = time_ns > 0 ? (double)most_ns / (double)time_ns : 0;
    out->parallel[at] = out->load_balance[at] * out->communication[at];
    out->serialisation[at] = out->transfer[at] = -1;
    out->useful_mean_ns[at] = mean_ns;
    out->useful_max_ns[at] = most_ns;
    out->time_ns[at] = time_ns;
    return ERR_OK;
}

/* Useful time of a step: the ranks' own sums and largest, as columns per step. */
struct step_sums {
    int64_t sum, most, ranks;
};

static void sum_steps(const struct state *s, struct step_sums *steps, int64_t *kept_by_rank)
{
    const struct partition_rows *p = &s->out->partition;
    for (size_t i = 0; i < p->count; i++) {
        if (p->step[i] >= s->out->steps.count)
            continue;
        struct step_sums *sum = &steps[p->step[i]];
        sum->sum += p->compute_ns[i];
        sum->most = p->compute_ns[i] > sum->most ? p->compute_ns[i] : sum->most;
        sum->ranks++;
        if (s->out->steps.flags[p->step[i]] & STEP_KEPT)
            kept_by_rank[state_rank_row(s, p->rank[i])] += p->compute_ns[i];
    }
}

enum err groups_efficiency(struct state *s)
{
    const struct steps_rows *steps = &s->out->steps;
    struct step_sums *sums = calloc(steps->count + 1, sizeof *sums);
    int64_t *kept = calloc(s->rank_count + 1, sizeof *kept);
    int64_t time_ns = 0, all = 0, most = 0, ranks = 0;
    enum err e = sums && kept ? ERR_OK : ERR_NO_MEMORY;
    if (!e)
        sum_steps(s, sums, kept);
    for (size_t i = 0; i < steps->count && !e; i++) {
        int64_t length_ns = steps->end_ns[i] - steps->begin_ns[i];
        e = put_efficiency(s, (uint32_t)i, sums[i].sum, sums[i].most, sums[i].ranks, length_ns);
        time_ns += steps->flags[i] & STEP_KEPT ? length_ns : 0;
    }
    for (size_t i = 0; i < s->rank_count && !e; i++) {
        all += kept[i];
        most = kept[i] > most ? kept[i] : most;
        ranks += s->ranks[i].step_count > 0;
    }
    if (!e)
        e = put_efficiency(s, TABLE_NONE, all, most, ranks, time_ns);
    free(sums);
    free(kept);
    return e;
}

enum err groups_quality(struct state *s)
{
    const struct ranks_rows *r = &s->source->tables->ranks;
    struct quality_rows *q = &s->out->quality;
    enum err e = rows_append(q, table_quality, s->rank_count, NULL);
    for (size_t i = 0; i < s->rank_count && !e; i++) {
        q->rank[i] = r->rank[i];
        q->events[i] = r->event_count[i];
        q->dropped[i] = r->dropped[i];
        q->torn[i] = r->torn[i];
        q->open_events[i] = s->ranks[i].open_events;
        q->collectives[i] = s->ranks[i].collectives;
        q->unmatched_collectives[i] = s->ranks[i].unmatched_collectives;
        q->mismatched_collectives[i] = s->ranks[i].mismatched_collectives;
        q->messages[i] = s->ranks[i].messages;
        q->unmatched_messages[i] = s->ranks[i].unmatched_messages;
        q->unfinished[i] = r->unfinished[i];
        q->clock_bound_ns[i] = r->clock_bound_max_ns[i];
        q->clock_estimate_ns[i] = r->clock_estimate_ns[i];
    }
    return e;
}
