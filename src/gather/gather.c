#include "gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "clocks.h"
#include "dictionary.h"
#include "list.h"
#include "machine.h"
#include "rank_rows.h"
#include "sources.h"
#include "store/store.h"
#include "survey.h"

#define RUN_ID_BYTES 17

/* What building a rank's rows found that its survey could not know. */
struct rank_outcome {
    int64_t unfinished, bound_max_ns;
    uint32_t main_lane, unused;
};

struct gathering {
    const struct gather_options *options;
    struct peers *p;
    struct sources sources;
    struct dictionary dictionary;
    struct clocks clocks;
    struct rank_recordings *recordings; /* of this process's ranks, open from pass to pass */
    size_t recordings_count;
    struct rank_survey *surveys; /* of all ranks, in order */
    size_t survey_count, survey_room;
    struct rank_places *places; /* of all ranks */
    struct rank_outcome *outcomes;
    size_t outcome_count, outcome_room;
    struct run_tables tables; /* those that do not grow with events */
    struct store *store;
};

/* Ranks [first, end) are this process's. */
static void my_ranks(const struct gathering *g, int *first, int *end)
{
    int64_t ranks = g->sources.ranks, size = peers_size(g->p), rank = peers_rank(g->p);
    *first = (int)(ranks * rank / size);
    *end = (int)(ranks * (rank + 1) / size);
}

static enum err survey_mine(struct gathering *g)
{
    int first, end;
    enum err e = ERR_OK;
    my_ranks(g, &first, &end);
    g->recordings = calloc((size_t)(end - first) + 1, sizeof *g->recordings);
    if (g->recordings == NULL)
        return ERR_NO_MEMORY;
    for (int rank = first; rank < end && !e; rank++) {
        struct rank_recordings *r = &g->recordings[g->recordings_count];
        e = rank_recordings_open(r, &g->sources, rank);
        if (e)
            return e;
        g->recordings_count++;
        e = list_make_room((void **)&g->surveys, g->survey_count, &g->survey_room,
                           sizeof *g->surveys);
        if (!e)
            e = survey_rank(r, rank, &g->dictionary, &g->clocks, &g->surveys[g->survey_count]);
        if (!e)
            g->survey_count++;
    }
    return e;
}

/* The texts that only the machine's rows hold come into the dictionary through the first process.
 */
static enum err collect_machine_texts(struct gathering *g)
{
    static const char *const counters[] = {"thread_cpu_ns", "involuntary_switches",
                                           "voluntary_switches"};
    struct run_rows run = {0};
    struct nodes_rows nodes = {0};
    struct strings *strings = g->dictionary.strings;
    if (peers_rank(g->p) != 0)
        return ERR_OK;
    enum err e = machine_run_rows(&g->sources, g->options, g->clocks.epoch_utc_ns, strings, &run);
    if (!e)
        e = machine_node_rows(&g->sources, g->surveys, g->survey_count, strings, &nodes);
    for (size_t i = 0; i < sizeof counters / sizeof *counters && !e; i++)
        if (strings_put_text(strings, counters[i]) == TABLE_NONE)
            e = ERR_NO_MEMORY;
    for (size_t i = 0; i < g->sources.agent_count && !e; i++) {
        char *cpuset = agent_fact(&g->sources.agents[i], "cpuset");
        if (cpuset != NULL && strings_put_text(strings, cpuset) == TABLE_NONE)
            e = ERR_NO_MEMORY;
        free(cpuset);
    }
    rows_free(&run, table_run);
    rows_free(&nodes, table_nodes);
    return e;
}

static enum err place_ranks(struct gathering *g)
{
    struct rank_places at = {0};
    g->places = malloc((g->survey_count + 1) * sizeof *g->places);
    if (g->places == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < g->survey_count; i++) {
        g->places[i] = at;
        at.events += g->surveys[i].events;
        at.collectives += g->surveys[i].collectives;
        at.messages += g->surveys[i].messages;
        at.counters += g->surveys[i].counters;
        at.lanes += g->surveys[i].lanes;
    }
    return ERR_OK;
}

static enum err make_small_rows(struct gathering *g)
{
    struct run_tables *t = &g->tables;
    struct strings *strings = g->dictionary.strings;
    enum err e = dictionary_rows(&g->dictionary, &t->sites, &t->comms, &t->comm_members);
    if (!e)
        e = clocks_rows(&g->clocks, &t->clock_domains, &t->clock_bursts, &t->clock_models);
    if (!e)
        e = machine_run_rows(&g->sources, g->options, g->clocks.epoch_utc_ns, strings, &t->run);
    if (!e)
        e = machine_node_rows(&g->sources, g->surveys, g->survey_count, strings, &t->nodes);
    if (!e)
        e = strings_store(strings, &t->string_bytes, &t->string_ends);
    return e;
}

/* The first pass: all that must be known before a row can be written. */
static enum err survey_all(struct gathering *g)
{
    enum err e = peers_agree_all(g->p, survey_mine(g));
    if (!e)
        e = clocks_join_all(&g->clocks, g->p);
    if (!e)
        e = list_join_all((void **)&g->surveys, &g->survey_count, &g->survey_room,
                          sizeof *g->surveys, g->p);
    if (!e)
        e = peers_agree_all(g->p, collect_machine_texts(g));
    if (!e)
        e = dictionary_join_all(&g->dictionary, g->p);
    if (!e)
        e = peers_agree_all(g->p, place_ranks(g));
    if (!e)
        e = peers_agree_all(g->p, make_small_rows(g));
    return e;
}

static enum err write_rank(struct gathering *g, const struct rank_rows *rows,
                           const struct rank_places *places)
{
    enum err e = store_write_all(g->store, table_events, &rows->events, places->events);
    if (!e)
        e = store_write_all(g->store, table_collectives, &rows->collectives, places->collectives);
    if (!e)
        e = store_write_all(g->store, table_messages, &rows->messages, places->messages);
    if (!e)
        e = store_write_all(g->store, table_counters, &rows->counters, places->counters);
    if (!e)
        e = store_write_all(g->store, table_lanes, &rows->lanes, places->lanes);
    return e;
}

static enum err keep_outcome(struct gathering *g, const struct rank_rows *rows)
{
    enum err e = list_make_room((void **)&g->outcomes, g->outcome_count, &g->outcome_room,
                                sizeof *g->outcomes);
    if (!e)
        g->outcomes[g->outcome_count++] = (struct rank_outcome){.unfinished = rows->unfinished,
                                                                .bound_max_ns = rows->bound_max_ns,
                                                                .main_lane = rows->main_lane};
    return e;
}

/* The second pass: all processes write one rank at a time, those that have none left write nothing.
 */
static enum err write_ranks(struct gathering *g)
{
    int first, end;
    enum err e = ERR_OK;
    struct rank_rows rows = {0};
    my_ranks(g, &first, &end);
    int rounds = (int)peers_max_all(g->p, end - first);
    for (int i = 0; i < rounds && !e; i++) {
        static const struct rank_rows nothing;
        static const struct rank_places nowhere;
        int mine = first + i < end;
        const struct rank_places *places = mine ? &g->places[first + i] : &nowhere;
        if (mine) {
            e = rank_rows_build(&rows, &g->recordings[i], &g->surveys[first + i], places,
                                &g->dictionary, &g->clocks);
            rank_recordings_close(&g->recordings[i]);
            if (!e)
                e = keep_outcome(g, &rows);
        }
        e = peers_agree_all(g->p, e);
        if (!e)
            e = write_rank(g, mine ? &rows : &nothing, places);
    }
    rank_rows_free(&rows);
    return e;
}

static uint8_t status_of(const struct rank_survey *s, const struct agent_facts *agent)
{
    if (s->processes == 0)
        return RANK_MISSING;
    if (agent == NULL || agent_number(agent, "end_utc_ns", -1) < 0)
        return RANK_OPEN;
    if (agent_number(agent, "signal", -1) > 0)
        return RANK_KILLED;
    return agent_number(agent, "exit_code", -1) == 0 ? RANK_OK : RANK_FAILED;
}

static void fill_rank_times(const struct gathering *g, const struct rank_survey *s,
                            struct ranks_rows *r, size_t i)
{
    r->clock_domain[i] = s->processes ? clocks_find(&g->clocks, s->domain) : TABLE_NONE;
    r->begin_ns[i] = r->end_ns[i] = r->clock_bound_max_ns[i] = r->clock_estimate_ns[i] = -1;
    if (s->processes == 0)
        return;
    r->begin_ns[i] = clocks_apply(&g->clocks, r->clock_domain[i], s->first_ns, NULL);
    r->end_ns[i] = clocks_apply(&g->clocks, r->clock_domain[i], s->last_ns, NULL);
    r->clock_bound_max_ns[i] = r->clock_estimate_ns[i] = g->outcomes[i].bound_max_ns;
}

static void fill_rank_places(const struct gathering *g, const struct rank_survey *s,
                             struct ranks_rows *r, size_t i)
{
    r->event_first[i] = g->places[i].events;
    r->event_count[i] = s->events;
    r->collective_first[i] = g->places[i].collectives;
    r->collective_count[i] = s->collectives;
    r->message_first[i] = g->places[i].messages;
    r->message_count[i] = s->messages;
    r->counter_first[i] = g->places[i].counters;
    r->counter_count[i] = s->counters;
}

static void fill_rank_losses(const struct gathering *g, const struct rank_survey *s,
                             struct ranks_rows *r, size_t i)
{
    r->dropped[i] = s->dropped;
    r->dropped_details[i] = s->dropped_details;
    r->torn[i] = s->torn;
    r->unbalanced[i] = s->unbalanced;
    r->unfinished[i] = g->outcomes[i].unfinished;
    r->faults[i] = s->faults;
    r->probe_ns[i] = s->processes ? s->probe_ns : -1;
}

static void fill_rank(const struct gathering *g, struct ranks_rows *r, size_t i)
{
    const struct rank_survey *s = &g->surveys[i];
    const struct agent_facts *agent = machine_find_agent(&g->sources, s->rank);
    char *cpuset = agent ? agent_fact(agent, "cpuset") : NULL;
    r->rank[i] = s->rank;
    r->node[i] = s->processes ? machine_find_node(&g->tables.nodes, g->dictionary.strings, s->host,
                                                  s->boot_id)
                              : TABLE_NONE;
    r->pid[i] = s->processes ? s->pid : -1;
    r->processes[i] = s->processes;
    r->device[i] = -1;
    r->cpuset[i] = cpuset ? strings_put_text(g->dictionary.strings, cpuset) : 0;
    r->main_lane[i] = s->lanes > 0 ? g->outcomes[i].main_lane : TABLE_NONE;
    r->status[i] = status_of(s, agent);
    r->exit_code[i] = machine_exit_code(agent);
    r->mpi_phase[i] = (uint8_t)s->mpi_phase;
    free(cpuset);
    fill_rank_times(g, s, r, i);
    fill_rank_places(g, s, r, i);
    fill_rank_losses(g, s, r, i);
}

static void place_domains(const struct gathering *g, struct clock_domains_rows *domains)
{
    const struct ranks_rows *r = &g->tables.ranks;
    for (size_t i = r->count; i-- > 0;)
        if (r->clock_domain[i] < domains->count)
            domains->node[r->clock_domain[i]] = r->node[i];
}

static enum err make_rank_rows(struct gathering *g)
{
    enum err e = list_join_all((void **)&g->outcomes, &g->outcome_count, &g->outcome_room,
                               sizeof *g->outcomes, g->p);
    if (!e)
        e = rows_append(&g->tables.ranks, table_ranks, g->survey_count, NULL);
    for (size_t i = 0; i < g->survey_count && !e; i++)
        fill_rank(g, &g->tables.ranks, i);
    if (!e)
        place_domains(g, &g->tables.clock_domains);
    return peers_agree_all(g->p, e);
}

/* What tells this run from any other, also from one that is gathered again when more of it was
 * found. */
static void name_run(const struct gathering *g, char out[RUN_ID_BYTES])
{
    int64_t facts[4] = {g->clocks.epoch_utc_ns, (int64_t)g->survey_count, 0, 0};
    uint64_t id = 0xCBF29CE484222325u;
    for (size_t i = 0; i < g->survey_count; i++) {
        facts[2] += g->surveys[i].events + g->surveys[i].counters;
        facts[3] += g->surveys[i].pid;
    }
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        id = (id ^ (uint64_t)facts[i]) * 0x9E3779B97F4A7C15u;
    snprintf(out, RUN_ID_BYTES, "%016llx", (unsigned long long)id);
}

/* All processes hold the same small rows; the first writes them. */
static enum err write_small_rows(struct gathering *g)
{
    const struct table *const tables[] = {
        table_run,           table_nodes,        table_ranks,       table_string_bytes,
        table_string_ends,   table_sites,        table_comms,       table_comm_members,
        table_clock_domains, table_clock_bursts, table_clock_models};
    struct run_tables none = {0};
    char run_id[RUN_ID_BYTES];
    const struct run_tables *from = peers_rank(g->p) == 0 ? &g->tables : &none;
    enum err e = ERR_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !e; i++)
        e = store_write_all(g->store, tables[i], (const char *)from + tables[i]->rows_offset, 0);
    if (!e)
        e = store_attribute_all(g->store, "tool_version", g->options->tool_version);
    if (!e)
        e = store_attribute_all(g->store, "source", "recorded");
    name_run(g, run_id);
    return e ? e : store_attribute_all(g->store, "run_id", run_id);
}

static enum err write_file(struct gathering *g)
{
    enum err e = store_create_all(&g->store, g->options->output, g->options->force, run_table_list,
                                  run_table_count, g->p);
    if (e)
        return e;
    e = write_ranks(g);
    if (!e)
        e = make_rank_rows(g);
    if (!e)
        e = write_small_rows(g);
    if (e) {
        store_abandon_all(g->store);
        return e;
    }
    return store_commit_all(g->store);
}

static void sum_up(const struct gathering *g, struct gather_summary *out)
{
    struct stat status;
    *out = (struct gather_summary){.ranks = (int64_t)g->survey_count, .torn = g->sources.wrong};
    for (size_t i = 0; i < g->survey_count; i++) {
        out->ranks_missing += g->surveys[i].processes == 0;
        out->processes += g->surveys[i].processes;
        out->events += g->surveys[i].events;
        out->dropped += g->surveys[i].dropped;
        out->torn += g->surveys[i].torn;
    }
    out->bytes = stat(g->options->output, &status) == 0 ? status.st_size : 0;
}

static void close_gathering(struct gathering *g)
{
    sources_close(&g->sources);
    dictionary_close(&g->dictionary);
    clocks_close(&g->clocks);
    run_tables_free(&g->tables);
    for (size_t i = 0; i < g->recordings_count; i++)
        rank_recordings_close(&g->recordings[i]);
    free(g->recordings);
    free(g->surveys);
    free(g->places);
    free(g->outcomes);
}

enum err gather_run_all(const char *const *folders, size_t folder_count,
                        const struct gather_options *options, struct peers *p,
                        struct gather_summary *summary)
{
    struct gathering g = {.options = options, .p = p};
    enum err e = peers_agree_all(p, dictionary_open(&g.dictionary));
    if (!e)
        e = peers_agree_all(p, sources_open(&g.sources, folders, folder_count));
    if (!e && g.sources.count == 0)
        e = ERR_EMPTY;
    if (!e)
        e = survey_all(&g);
    if (!e)
        e = write_file(&g);
    if (!e)
        sum_up(&g, summary);
    close_gathering(&g);
    return e;
}
