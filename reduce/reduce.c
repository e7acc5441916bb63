#include "reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "collect.h"
#include "groups.h"
#include "instances.h"
#include "late.h"
#include "messages.h"
#include "partition.h"
#include "state.h"
#include "steps.h"

/* First row of each communicator's members; rows are sorted by communicator. */
static enum err index_members(struct state *s)
{
    const struct run_tables *t = s->source->tables;
    size_t *first = malloc((t->comms.count + 1) * sizeof *first), at = 0;
    if (first == NULL)
        return ERR_NO_MEMORY;
    for (size_t c = 0; c <= t->comms.count; c++) {
        while (at < t->comm_members.count && t->comm_members.communicator[at] < c)
            at++;
        first[c] = at;
    }
    s->member_first = first;
    return ERR_OK;
}

static enum err open_state(struct state *s, const struct reduce_source *source,
                           const struct reduce_options *options, struct analysis_tables *out,
                           struct strings *strings)
{
    *s = (struct state){.source = source,
                        .options = options,
                        .out = out,
                        .strings = strings,
                        .rank_count = source->tables->ranks.count};
    if (s->rank_count == 0) {
        log_error("the run has no ranks");
        return ERR_EMPTY;
    }
    s->ranks = calloc(s->rank_count, sizeof *s->ranks);
    return s->ranks ? index_members(s) : ERR_NO_MEMORY;
}

static void close_state(struct state *s)
{
    for (size_t i = 0; s->ranks != NULL && i < s->rank_count; i++)
        free(s->ranks[i].steps);
    free(s->ranks);
    free(s->operations);
    free(s->instance_sums);
    free(s->caused_ns);
    free((void *)s->member_first);
}

/* First pass: each rank's steps and operations. */
static enum err read_ranks(struct state *s)
{
    enum err e = ERR_OK;
    int marked = 0, by_range = 0;
    for (size_t i = 0; i < s->rank_count && !e; i++) {
        struct reduce_rank_rows rows = {0};
        int ranges = 0;
        e = s->source->read(s->source->context, i, REDUCE_OPERATIONS, &rows);
        if (e)
            break;
        e = collect_rank(s, i, &rows);
        if (!e)
            e = steps_read(s, i, &rows.events, &ranges);
        marked |= s->ranks[i].step_count > 0;
        by_range |= !e && ranges;
        s->source->release(s->source->context, &rows);
    }
    s->steps_from = by_range ? "ranges" : "marks";
    return e ? e : marked ? ERR_OK : steps_find(s);
}

/* Second pass: where each rank's time went. */
static enum err partition_ranks(struct state *s)
{
    enum err e = partition_begin(s);
    for (size_t i = 0; i < s->rank_count && !e; i++) {
        struct reduce_rank_rows rows = {0};
        if (s->ranks[i].step_count == 0)
            continue;
        e = s->source->read(s->source->context, i, REDUCE_CALLS, &rows);
        if (e)
            break;
        e = partition_rank(s, i, &rows);
        s->source->release(s->source->context, &rows);
    }
    if (!e)
        partition_finish(s);
    return e;
}

static enum err put_finding(struct state *s, const char *key, const char *value)
{
    size_t at;
    enum err e = rows_append(&s->out->findings, table_findings, 1, &at);
    if (e)
        return e;
    s->out->findings.key[at] = strings_put_text(s->strings, key);
    s->out->findings.value[at] = strings_put_text(s->strings, value);
    return s->out->findings.value[at] == TABLE_NONE ? ERR_NO_MEMORY : ERR_OK;
}

static enum err put_findings(struct state *s)
{
    char text[32];
    int64_t wrong = partition_check(&s->out->partition);
    if (wrong > 0) {
        log_error("%lld partitions do not add up: a fault of scaleprof", (long long)wrong);
        return ERR_INTERNAL;
    }
    snprintf(text, sizeof text, "%lld", (long long)wrong);
    enum err e = put_finding(s, "tool_version", s->options->tool_version);
    if (!e)
        e = put_finding(s, "steps_from", s->steps_from);
    return e ? e : put_finding(s, "partitions_wrong", text);
}

enum err reduce_run(const struct reduce_source *source, const struct reduce_options *options,
                    struct analysis_tables *out, struct strings *strings)
{
    struct state s;
    enum err e = open_state(&s, source, options, out, strings);
    if (!e)
        e = read_ranks(&s);
    if (!e)
        e = steps_join(&s);
    if (!e)
        e = instances_match(&s);
    if (!e)
        e = messages_match(&s);
    if (!e)
        e = partition_ranks(&s);
    if (!e)
        e = messages_pairs(&s);
    if (!e)
        e = groups_operations(&s);
    if (!e)
        e = groups_efficiency(&s);
    if (!e)
        e = groups_quality(&s);
    if (!e)
        e = late_find(&s);
    if (!e)
        e = put_findings(&s);
    close_state(&s);
    return e;
}
