#include "rank_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "collectives/collectives.h"
#include "finish.h"
#include "names.h"
#include "operations.h"

/* What building one rank needs at hand. */
struct builder {
    struct rank_rows *rows;
    const struct rank_survey *survey;
    const struct rank_places *places;
    const struct dictionary *d;
    const struct clocks *clocks;
    const struct recording *recording; /* of the process at hand */
    struct names names;
    uint32_t domain;
    int64_t lane_base; /* rows of /lanes before this process's */
    struct operations operations;
    size_t *ends; /* of each lane's rows among the events */
    size_t runs;
};

static int64_t to_reference(struct builder *b, int64_t local_ns)
{
    int64_t bound_ns, ref_ns = clocks_apply(b->clocks, b->domain, local_ns, &bound_ns);
    if (bound_ns < 0 || b->rows->bound_max_ns < 0)
        b->rows->bound_max_ns = -1;
    else if (bound_ns > b->rows->bound_max_ns)
        b->rows->bound_max_ns = bound_ns;
    return ref_ns;
}

static uint32_t lane_row(const struct builder *b, uint32_t lane, uint32_t track)
{
    uint32_t index = names_find(&b->names.tracks, track, TABLE_NONE);
    uint32_t place = index == TABLE_NONE ? lane : b->recording->lane_count + index;
    return (uint32_t)(b->places->lanes + b->lane_base + place);
}

static enum err add_event(struct builder *b, uint32_t lane, const struct slot_event *s,
                          uint8_t more_flags)
{
    struct events_rows *e = &b->rows->events;
    size_t at;
    enum err error = rows_append(e, table_events, 1, &at);
    if (error)
        return error;
    e->begin_ns[at] = to_reference(b, recording_time(s->begin_ns));
    int64_t duration_ns = to_reference(b, recording_end(s)) - e->begin_ns[at];
    e->duration_ns[at] = duration_ns > 0 ? duration_ns : 0;
    e->lane[at] = lane_row(b, lane, s->track);
    e->kind[at] = s->kind;
    e->flags[at] = s->flags | more_flags;
    e->name[at] = names_find(&b->names.strings, s->name, 0);
    e->cause[at] = -1;
    e->site[at] = names_find(&b->names.sites, s->site, TABLE_NONE);
    e->ref[at] = s->ref;
    e->bytes[at] = s->bytes;
    return ERR_OK;
}

static uint8_t kind_of(const struct builder *b, const struct slot_collective *s)
{
    if (s->kind_name == 0)
        return s->collective < COLLECTIVE_KIND_COUNT ? s->collective : COLLECTIVE_unknown;
    return (uint8_t)collective_find(
        strings_get(b->d->strings, names_find(&b->names.strings, s->kind_name, 0)));
}

static enum err add_collective(struct builder *b, const struct slot_collective *s, size_t event)
{
    struct collectives_rows *c = &b->rows->collectives;
    size_t at;
    enum err e = rows_append(c, table_collectives, 1, &at);
    if (e)
        return e;
    c->rank[at] = b->survey->rank;
    c->communicator[at] = names_find(&b->names.communicators, s->communicator, TABLE_NONE);
    c->kind[at] = kind_of(b, s);
    c->sequence[at] = s->sequence;
    c->sequence_scope[at] = s->scope;
    c->root[at] = s->root;
    c->bytes_sent[at] = s->bytes_sent;
    c->bytes_received[at] = s->bytes_received;
    c->event[at] = (int64_t)event;
    c->done_event[at] = s->operation == 0 ? (int64_t)event : -1;
    c->device_event[at] = c->enqueue_ns[at] = c->begin_ns[at] = c->end_ns[at] = -1;
    c->time_source[at] = TIME_CALL;
    c->algorithm[at] = 0;
    c->channels[at] = 0;
    b->rows->events.flags[event] |= EVENT_FLAG_starts_collective;
    if (s->operation == 0)
        return ERR_OK;
    return operations_put(&b->operations, (struct operation){.number = s->operation, .row = at});
}

static enum err add_message(struct builder *b, const struct slot_message *s, size_t event)
{
    struct messages_rows *m = &b->rows->messages;
    size_t at;
    enum err e = rows_append(m, table_messages, 1, &at);
    if (e)
        return e;
    m->rank[at] = b->survey->rank;
    m->communicator[at] = names_find(&b->names.communicators, s->communicator, TABLE_NONE);
    m->peer[at] = s->peer;
    m->tag[at] = s->tag;
    m->order[at] = s->order;
    m->direction[at] = s->direction;
    m->mode[at] = s->mode;
    m->bytes[at] = s->bytes;
    m->event[at] = (int64_t)event;
    m->done_event[at] = s->operation == 0 ? (int64_t)event : -1;
    m->device_event[at] = m->begin_ns[at] = m->end_ns[at] = -1;
    m->flags[at] = s->flags;
    b->rows->events.flags[event] |= EVENT_FLAG_starts_message;
    if (s->operation == 0)
        return ERR_OK;
    return operations_put(&b->operations,
                          (struct operation){.number = s->operation, .row = at, .is_message = 1});
}

static enum err add_counter(struct builder *b, uint32_t lane, uint32_t name, int64_t time_ns,
                            double value)
{
    struct counters_rows *c = &b->rows->counters;
    size_t at;
    enum err e = rows_append(c, table_counters, 1, &at);
    if (e)
        return e;
    c->rank[at] = b->survey->rank;
    c->lane[at] = lane;
    c->name[at] = name;
    c->time_ns[at] = to_reference(b, recording_time(time_ns));
    c->value[at] = value;
    return ERR_OK;
}

static enum err add_usage(struct builder *b, uint32_t lane, const struct slot_usage *s)
{
    const struct {
        const char *name;
        int64_t value;
    } samples[USAGE_COUNTERS] = {{"thread_cpu_ns", s->cpu_ns},
                                 {"involuntary_switches", s->involuntary_switches},
                                 {"voluntary_switches", s->voluntary_switches}};
    enum err e = ERR_OK;
    for (size_t i = 0; i < USAGE_COUNTERS && !e; i++)
        e = add_counter(b, lane, strings_find_text(b->d->strings, samples[i].name), s->time_ns,
                        (double)samples[i].value);
    return e;
}

/* The last event of a lane is what its details belong to; none yet: SIZE_MAX. */
static enum err add_detail(struct builder *b, uint32_t lane, const union slot *s, size_t last_event)
{
    unsigned kind = recording_kind(s);
    if (kind == SLOT_counter)
        return add_counter(b, lane_row(b, lane, 0),
                           names_find(&b->names.strings, s->counter.name, 0), s->counter.time_ns,
                           s->counter.value);
    if (kind == SLOT_usage)
        return add_usage(b, lane_row(b, lane, 0), &s->usage);
    if (last_event == SIZE_MAX)
        return ERR_OK;
    if (kind == SLOT_collective)
        return add_collective(b, &s->collective, last_event);
    if (kind == SLOT_message)
        return add_message(b, &s->message, last_event);
    if (kind == SLOT_completion)
        return operations_put_end(&b->operations,
                                  (struct completion){.number = s->completion.operation,
                                                      .event = last_event,
                                                      .bytes = s->completion.bytes,
                                                      .peer = s->completion.peer,
                                                      .tag = s->completion.tag,
                                                      .flags = s->completion.flags});
    return ERR_OK;
}

static enum err add_lane_slots(struct builder *b, uint32_t lane)
{
    size_t first, end, last_event = SIZE_MAX;
    enum err e = ERR_OK;
    recording_lane(b->recording, lane, &first, &end);
    for (size_t c = first; c < end; c++) {
        const struct recording_chunk *chunk = &b->recording->chunks[c];
        if (recording_is_gap(b->recording, c))
            last_event = SIZE_MAX;
        for (uint32_t i = 0; i < chunk->count && !e;
             i += recording_slots(&chunk->slots[i], chunk->count - i)) {
            const union slot *s = &chunk->slots[i];
            if (recording_is_event(s->kind)) {
                e = add_event(b, lane, &s->event, 0);
                last_event = b->rows->events.count - 1;
            } else
                e = add_detail(b, lane, s, last_event);
        }
    }
    return e;
}

/* What was open ends at the last moment known of the process. Inner ones first, as a lane records
 * them. */
static enum err add_open(struct builder *b, uint32_t lane)
{
    const struct segment_lane *l = &b->recording->lanes[lane];
    int64_t last_ns = b->recording->last_ns;
    enum err e = ERR_OK;
    for (uint32_t i = SEGMENT_OPEN_MAX; i-- > 0 && !e;) {
        const struct segment_open *o = recording_open_at(l, i);
        if (o == NULL)
            continue;
        struct slot_event event = {.kind = o->kind,
                                   .name = o->name,
                                   .site = o->site,
                                   .begin_ns = o->begin_ns,
                                   .duration_ns = last_ns > o->begin_ns ? last_ns - o->begin_ns : 0,
                                   .ref = o->ref,
                                   .bytes = -1};
        e = add_event(b, lane, &event, EVENT_FLAG_open);
    }
    return e;
}

static enum err add_lane_row(struct builder *b, uint8_t kind, int64_t thread,
                             const struct slot_track *track, uint32_t name, int64_t dropped)
{
    struct lanes_rows *l = &b->rows->lanes;
    size_t at;
    enum err e = rows_append(l, table_lanes, 1, &at);
    if (e)
        return e;
    l->rank[at] = b->survey->rank;
    l->kind[at] = kind;
    l->pid[at] = b->recording->header.pid;
    l->thread[at] = thread;
    l->device[at] = track ? track->device : -1;
    l->context[at] = track ? (int64_t)track->context : -1;
    l->stream[at] = track ? track->stream : -1;
    l->name[at] = name;
    l->dropped[at] = dropped;
    return ERR_OK;
}

static enum err add_lanes(struct builder *b)
{
    enum err e = ERR_OK;
    char name[65];
    for (uint32_t i = 0; i < b->recording->lane_count && !e; i++) {
        const struct segment_lane *lane = &b->recording->lanes[i];
        names_lane(lane, name);
        e = add_lane_row(b, LANE_THREAD, lane->thread_id, NULL,
                         strings_find_text(b->d->strings, name), (int64_t)lane->dropped);
        if (b->recording->header.pid == b->survey->pid && (int)lane->thread_id == b->survey->pid)
            b->rows->main_lane = lane_row(b, i, 0);
    }
    for (size_t i = 0; i < b->names.track_count && !e; i++)
        e = add_lane_row(b, b->names.track_list[i].lane_kind, -1, &b->names.track_list[i],
                         names_find(&b->names.strings, b->names.track_list[i].name, 0), 0);
    return e;
}

static void complete_message(struct builder *b, size_t row, const struct completion *c)
{
    struct messages_rows *m = &b->rows->messages;
    m->flags[row] |= c->flags;
    if (c->peer >= 0)
        m->peer[row] = c->peer;
    if (c->tag >= 0)
        m->tag[row] = c->tag;
    if (c->bytes >= 0)
        m->bytes[row] = c->bytes;
}

static void complete_operations(struct builder *b)
{
    operations_sort(&b->operations);
    for (size_t i = 0; i < b->operations.end_count; i++) {
        const struct completion *c = &b->operations.ends[i];
        const struct operation *o = operations_find(&b->operations, c->number);
        if (o == NULL)
            continue;
        b->rows->events.flags[c->event] |= EVENT_FLAG_completes;
        int64_t *done = o->is_message ? &b->rows->messages.done_event[o->row]
                                      : &b->rows->collectives.done_event[o->row];
        if (*done >= 0)
            continue; /* an operation ends once: a second end is not its own */
        *done = (int64_t)c->event;
        if (o->is_message)
            complete_message(b, o->row, c);
    }
    operations_clear(&b->operations);
}

static enum err add_recording(struct builder *b, const struct recording *r)
{
    b->recording = r;
    b->domain = clocks_find(b->clocks, r->header.clock_domain);
    enum err e = names_open(&b->names, r, b->d);
    if (e)
        return e;
    e = add_lanes(b);
    for (uint32_t lane = 0; lane < r->lane_count && !e; lane++) {
        e = add_lane_slots(b, lane);
        if (!e)
            e = add_open(b, lane);
        b->ends[b->runs++] = b->rows->events.count;
    }
    complete_operations(b);
    b->lane_base = (int64_t)b->rows->lanes.count;
    names_close(&b->names);
    return e;
}

static enum err reserve(struct rank_rows *r, const struct rank_survey *s)
{
    enum err e = rows_reserve(&r->events, table_events, (size_t)s->events);
    if (!e)
        e = rows_reserve(&r->collectives, table_collectives, (size_t)s->collectives);
    if (!e)
        e = rows_reserve(&r->messages, table_messages, (size_t)s->messages);
    if (!e)
        e = rows_reserve(&r->counters, table_counters, (size_t)s->counters);
    return e;
}

static void clear(struct rank_rows *r)
{
    r->events.count = r->collectives.count = r->messages.count = 0;
    r->counters.count = r->lanes.count = 0;
    r->unfinished = r->bound_max_ns = 0;
    r->main_lane = TABLE_NONE;
}

/* Its places in the tables are as large as the survey found. A segment whose chunks an agent gives
 * back and a process fills anew between the two passes may have other rows by now. */
static enum err check_counts(const struct rank_rows *r, const struct rank_survey *s)
{
    if ((int64_t)r->events.count == s->events && (int64_t)r->collectives.count == s->collectives &&
        (int64_t)r->messages.count == s->messages && (int64_t)r->counters.count == s->counters &&
        (int64_t)r->lanes.count == s->lanes)
        return ERR_OK;
    log_error("the recording of rank %d changed while it was read: gather when the run has ended",
              s->rank);
    return ERR_FORMAT;
}

enum err rank_rows_build(struct rank_rows *rows, const struct rank_recordings *recordings,
                         const struct rank_survey *survey, const struct rank_places *places,
                         const struct dictionary *d, const struct clocks *clocks)
{
    struct builder b = {.rows = rows, .survey = survey, .places = places, .d = d, .clocks = clocks};
    clear(rows);
    enum err e = reserve(rows, survey);
    b.ends = malloc((recordings->count * SEGMENT_LANES_MAX + 1) * sizeof *b.ends);
    if (b.ends == NULL)
        e = ERR_NO_MEMORY;
    for (size_t i = 0; i < recordings->count && !e; i++)
        e = add_recording(&b, &recordings->list[i]);
    if (!e)
        e = check_counts(rows, survey);
    if (!e)
        e = rank_rows_finish(rows, places, b.ends, b.runs);
    if (rows->main_lane == TABLE_NONE && rows->lanes.count > 0)
        rows->main_lane = (uint32_t)places->lanes;
    free(b.ends);
    operations_close(&b.operations);
    return e;
}

void rank_rows_free(struct rank_rows *r)
{
    rows_free(&r->events, table_events);
    rows_free(&r->collectives, table_collectives);
    rows_free(&r->messages, table_messages);
    rows_free(&r->counters, table_counters);
    rows_free(&r->lanes, table_lanes);
}
