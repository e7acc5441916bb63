#include "survey.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"

/* Sources are sorted by rank: the first of this one, and the end. */
static void range_of_rank(const struct sources *s, int rank, size_t *first, size_t *end)
{
    size_t at = 0;
    while (at < s->count && s->list[at].rank < rank)
        at++;
    *first = at;
    while (at < s->count && s->list[at].rank == rank)
        at++;
    *end = at;
}

enum err rank_recordings_open(struct rank_recordings *out, const struct sources *sources, int rank)
{
    size_t first, end;
    range_of_rank(sources, rank, &first, &end);
    struct rank_recordings r = {.list = calloc(end - first + 1, sizeof *r.list)};
    if (r.list == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = first; i < end; i++) {
        enum err e =
            recording_open(&r.list[r.count], sources->list[i].part, sources->list[i].segment);
        if (e == ERR_NO_MEMORY) {
            rank_recordings_close(&r);
            return e;
        }
        r.count += e == ERR_OK;
        r.unread += e != ERR_OK;
    }
    *out = r;
    return ERR_OK;
}

void rank_recordings_close(struct rank_recordings *r)
{
    for (size_t i = 0; i < r->count; i++)
        recording_close(&r->list[i]);
    free(r->list);
    *r = (struct rank_recordings){0};
}

static enum err count_bursts(const struct recording *r, const union slot *slot,
                             struct clocks *clocks)
{
    return clocks_put_burst(
        clocks, (struct clock_burst){.domain = r->header.clock_domain,
                                     .peer = slot->clock.peer_domain,
                                     .burst = {.time_ns = slot->clock.time_ns,
                                               .low_ns = slot->clock.low_ns,
                                               .high_ns = slot->clock.high_ns,
                                               .round_trip_ns = slot->clock.round_trip_ns,
                                               .exchanges = slot->clock.exchanges}});
}

const struct segment_open *recording_open_at(const struct segment_lane *lane, uint32_t index)
{
    uint32_t count = lane->state == LANE_LIVE ? lane->open_count : 0;
    if (index >= count || index >= SEGMENT_OPEN_MAX)
        return NULL;
    const struct segment_open *open = &lane->opens[index];
    return open->kind != EVENT_none && open->kind < EVENT_KIND_COUNT ? open : NULL;
}

/* What is known of a slot that is not an event. Details count only when the event is there which
 * they belong to, as in rank_rows. */
static enum err count_detail(struct recording *r, const union slot *slot, uint32_t left, int seen,
                             struct rank_survey *out, struct clocks *clocks)
{
    switch (recording_kind(slot)) {
    case SLOT_collective:
        out->collectives += seen;
        break;
    case SLOT_message:
        out->messages += seen;
        break;
    case SLOT_counter:
        out->counters++;
        break;
    case SLOT_usage:
        out->counters += USAGE_COUNTERS;
        break;
    case SLOT_clock:
        return count_bursts(r, slot, clocks);
    case SLOT_string:
    case SLOT_site:
    case SLOT_communicator:
    case SLOT_track:
        return recording_keep_definition(r, slot, left);
    case SLOT_KIND_END:
        out->dropped_details++;
        break;
    default:
        break;
    }
    return ERR_OK;
}

static enum err count_lane(struct recording *r, uint32_t lane, struct rank_survey *out,
                           struct clocks *clocks)
{
    size_t first, end;
    int seen = 0;
    enum err e = ERR_OK;
    recording_lane(r, lane, &first, &end);
    for (size_t c = first; c < end; c++) {
        const struct recording_chunk *chunk = &r->chunks[c];
        const union slot *last = NULL;
        seen = seen && !recording_is_gap(r, c);
        for (uint32_t i = 0; i < chunk->count && !e;) {
            const union slot *slot = &chunk->slots[i];
            if (recording_is_event(slot->kind)) {
                out->events++;
                last = slot;
                seen = 1;
                i++;
                continue;
            }
            e = count_detail(r, slot, chunk->count - i, seen, out, clocks);
            i += recording_slots(slot, chunk->count - i);
        }
        int64_t end_ns = last ? recording_end(&last->event) : r->last_ns;
        r->last_ns = end_ns > r->last_ns ? end_ns : r->last_ns;
    }
    return e;
}

static enum err count_tracks(const struct recording *r, int64_t *count)
{
    struct names names;
    enum err e = names_open_tracks(&names, r);
    if (e)
        return e;
    *count += (int64_t)names.track_count;
    names_close(&names);
    return ERR_OK;
}

static enum err survey_recording(struct recording *r, struct rank_survey *out,
                                 struct clocks *clocks)
{
    enum err e = ERR_OK;
    r->last_ns = r->header.last_ns > r->header.opened_ns ? r->header.last_ns : r->header.opened_ns;
    for (uint32_t lane = 0; lane < r->lane_count && !e; lane++) {
        e = count_lane(r, lane, out, clocks);
        for (uint32_t i = 0; i < SEGMENT_OPEN_MAX; i++)
            out->events += recording_open_at(&r->lanes[lane], i) != NULL;
        out->dropped += (int64_t)r->lanes[lane].dropped;
        out->dropped_details += (int64_t)r->lanes[lane].dropped_details;
        out->unbalanced += (int64_t)r->lanes[lane].unbalanced;
    }
    out->lanes += r->lane_count;
    if (!e)
        e = count_tracks(r, &out->lanes);
    out->dropped += (int64_t)r->header.dropped_no_lane;
    out->faults += (int64_t)r->header.faults;
    out->torn += r->torn;
    out->first_ns = r->header.opened_ns < out->first_ns ? r->header.opened_ns : out->first_ns;
    out->last_ns = r->last_ns > out->last_ns ? r->last_ns : out->last_ns;
    return e;
}

/* The rank's own process is the one that used MPI, else the first. */
static size_t main_recording(const struct rank_recordings *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i].header.mpi_phase != MPI_PHASE_NONE)
            return i;
    return 0;
}

static void describe(const struct rank_recordings *r, struct rank_survey *out)
{
    const struct segment_header *h = &r->list[main_recording(r)].header;
    out->pid = h->pid;
    out->processes = (int32_t)r->count;
    out->mpi_phase = (int32_t)h->mpi_phase;
    out->domain = h->clock_domain;
    out->probe_ns = h->probe_ns > 0 ? h->probe_ns : -1;
    memcpy(out->host, h->host, sizeof out->host);
    memcpy(out->boot_id, h->boot_id, sizeof out->boot_id);
    out->first_ns = INT64_MAX;
    out->last_ns = INT64_MIN;
}

enum err survey_rank(struct rank_recordings *r, int rank, struct dictionary *dictionary,
                     struct clocks *clocks, struct rank_survey *out)
{
    struct rank_survey s = {.rank = rank, .torn = r->unread};
    enum err e = ERR_OK;
    if (r->count > 0)
        describe(r, &s);
    for (size_t i = 0; i < r->count && !e; i++) {
        const struct segment_header *h = &r->list[i].header;
        e = survey_recording(&r->list[i], &s, clocks);
        if (!e)
            e = names_collect(&r->list[i], rank, dictionary);
        if (!e)
            e = clocks_put_sight(clocks, (struct clock_sight){.domain = h->clock_domain,
                                                              .opened_ns = h->opened_ns,
                                                              .opened_utc_ns = h->opened_utc_ns,
                                                              .rank = rank});
        recording_rest(&r->list[i]);
    }
    if (!e)
        *out = s;
    return e;
}
