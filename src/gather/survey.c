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

enum err rank_recordings_open(struct rank_recordings *out, const struct sources *sources, int rank,
                              int64_t *torn)
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
        *torn += e != ERR_OK;
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

int64_t recording_last_ns(const struct recording *r)
{
    int64_t last_ns =
        r->header.last_ns > r->header.opened_ns ? r->header.last_ns : r->header.opened_ns;
    for (size_t c = 0; c < r->chunk_count; c++) {
        const struct recording_chunk *chunk = &r->chunks[c];
        for (uint32_t i = chunk->count; i-- > 0;)
            if (chunk->slots[i].kind != EVENT_none && chunk->slots[i].kind < EVENT_KIND_COUNT) {
                int64_t end_ns = chunk->slots[i].event.begin_ns + chunk->slots[i].event.duration_ns;
                last_ns = end_ns > last_ns ? end_ns : last_ns;
                break;
            }
    }
    return last_ns;
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

/* A detail counts only after an event of its lane: rank_rows drops it otherwise, too. */
static enum err count_lane(const struct recording *r, uint32_t lane, struct rank_survey *out,
                           struct clocks *clocks)
{
    size_t first, end;
    int seen = 0;
    enum err e = ERR_OK;
    recording_lane(r, lane, &first, &end);
    for (size_t c = first; c < end; c++) {
        const struct recording_chunk *chunk = &r->chunks[c];
        for (uint32_t i = 0; i < chunk->count && !e;
             i += recording_slots(&chunk->slots[i], chunk->count - i)) {
            uint8_t kind = chunk->slots[i].kind;
            int event = kind != EVENT_none && kind < EVENT_KIND_COUNT;
            seen |= event;
            out->events += event;
            out->collectives += seen && kind == SLOT_collective;
            out->messages += seen && kind == SLOT_message;
            out->counters += kind == SLOT_counter ? 1 : kind == SLOT_usage ? 3 : 0;
            if (kind == SLOT_clock)
                e = count_bursts(r, &chunk->slots[i], clocks);
        }
    }
    return e;
}

static int64_t count_tracks(const struct recording *r)
{
    struct names names;
    struct dictionary none;
    struct comms_rows comms = {0};
    if (r->header.next_track == 0 || dictionary_open(&none) != ERR_OK)
        return 0;
    int64_t count = names_open(&names, r, &none, &comms) == ERR_OK ? (int64_t)names.track_count : 0;
    if (count > 0)
        names_close(&names);
    dictionary_close(&none);
    return count;
}

static enum err survey_recording(const struct recording *r, struct rank_survey *out,
                                 struct clocks *clocks)
{
    enum err e = ERR_OK;
    int64_t last_ns = recording_last_ns(r);
    for (uint32_t lane = 0; lane < r->lane_count && !e; lane++) {
        e = count_lane(r, lane, out, clocks);
        for (uint32_t i = 0; i < SEGMENT_OPEN_MAX; i++)
            out->events += recording_open_at(&r->lanes[lane], i) != NULL;
        out->dropped += (int64_t)r->lanes[lane].dropped;
        out->dropped_details += (int64_t)r->lanes[lane].dropped_details;
        out->unbalanced += (int64_t)r->lanes[lane].unbalanced;
    }
    out->lanes += r->lane_count + count_tracks(r);
    out->dropped += (int64_t)r->header.dropped_no_lane;
    out->faults += (int64_t)r->header.faults;
    out->torn += r->torn;
    out->first_ns = r->header.opened_ns < out->first_ns ? r->header.opened_ns : out->first_ns;
    out->last_ns = last_ns > out->last_ns ? last_ns : out->last_ns;
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

enum err survey_rank(const struct sources *sources, int rank, struct dictionary *dictionary,
                     struct clocks *clocks, struct rank_survey *out)
{
    struct rank_recordings r;
    struct rank_survey s = {.rank = rank};
    enum err e = rank_recordings_open(&r, sources, rank, &s.torn);
    if (e)
        return e;
    if (r.count > 0)
        describe(&r, &s);
    for (size_t i = 0; i < r.count && !e; i++) {
        e = names_collect(&r.list[i], rank, dictionary);
        if (!e)
            e = survey_recording(&r.list[i], &s, clocks);
        if (!e)
            e = clocks_put_sight(
                clocks, (struct clock_sight){.domain = r.list[i].header.clock_domain,
                                             .opened_ns = r.list[i].header.opened_ns,
                                             .opened_utc_ns = r.list[i].header.opened_utc_ns,
                                             .rank = rank});
    }
    rank_recordings_close(&r);
    if (!e)
        *out = s;
    return e;
}
