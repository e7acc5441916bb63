#include "unit/sample_analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vocabulary.h"

#define MS INT64_C(1000000)

static const char hostile[] =
    "</script>\"\\\n\t\x01\x1b[31m\xff\xfe\xc0\xaf \xe2\x80\xae \xf0\x9f\x98\x80 name";

/* All columns of the new rows are 0. */
static size_t put_rows(void *rows, const struct table *t, size_t n)
{
    size_t first;
    if (n == 0)
        return 0;
    if (rows_append(rows, t, n, &first))
        abort();
    for (size_t c = 0; c < t->column_count; c++) {
        size_t bytes = column_type_bytes(t->columns[c].type);
        memset((char *)rows_column(rows, &t->columns[c]) + first * bytes, 0, n * bytes);
    }
    return first;
}

static void put_pair(struct run_rows *rows, struct strings *strings, const char *key,
                     const char *value)
{
    size_t at = put_rows(rows, table_run, 1);
    rows->key[at] = strings_put_text(strings, key);
    rows->value[at] = strings_put_text(strings, value);
}

void sample_put_fact(struct sample *s, const char *key, const char *value)
{
    put_pair(&s->run.run, s->run_strings, key, value);
}

static void put_finding(struct sample *s, const char *key, const char *value)
{
    struct findings_rows *rows = &s->analysis.findings;
    size_t at = put_rows(rows, table_findings, 1);
    rows->key[at] = strings_put_text(s->analysis_strings, key);
    rows->value[at] = strings_put_text(s->analysis_strings, value);
}

static void put_hosts(struct sample *s, int ranks)
{
    int hosts = (ranks + 1) / 2;
    put_rows(&s->run.nodes, table_nodes, (size_t)hosts);
    put_rows(&s->run.clock_domains, table_clock_domains, (size_t)hosts);
    for (int i = 0; i < hosts; i++) {
        char name[32];
        snprintf(name, sizeof name, "node%02d", i);
        s->run.nodes.host[i] = strings_put_text(s->run_strings, name);
        s->run.nodes.ranks[i] = 2 * i + 1 < ranks ? 2 : 1;
        s->run.nodes.cores[i] = 4;
    }
    put_rows(&s->run.ranks, table_ranks, (size_t)ranks);
    put_rows(&s->analysis.quality, table_quality, (size_t)ranks);
    for (int i = 0; i < ranks; i++) {
        s->run.ranks.rank[i] = s->analysis.quality.rank[i] = i;
        s->run.ranks.node[i] = (uint32_t)i / 2;
        s->run.ranks.pid[i] = 1000 + i;
        s->run.ranks.end_ns[i] = 1000 * MS;
        s->run.ranks.probe_ns[i] = 2 * MS;
        s->analysis.quality.events[i] = 1000;
        s->run.ranks.clock_bound_max_ns[i] = s->analysis.quality.clock_bound_ns[i] = 1000;
        s->run.ranks.clock_estimate_ns[i] = s->analysis.quality.clock_estimate_ns[i] = 100;
    }
}

/* Steps of 10 ms, a little uneven. */
static int64_t step_begin(int step)
{
    return 10 * MS * step + (int64_t)step * 7919 % 1009 * 101;
}

static void put_partition(struct sample *s, int step, int rank)
{
    struct partition_rows *p = &s->analysis.partition;
    size_t row = put_rows(p, table_partition, 1);
    p->step[row] = (uint32_t)step;
    p->rank[row] = rank;
    p->begin_ns[row] = step_begin(step);
    p->end_ns[row] = step_begin(step + 1);
    p->transfer_ns[row] = 1 * MS;
    p->wait_ns[row] = 2 * MS;
    p->compute_ns[row] = p->end_ns[row] - p->begin_ns[row] - 3 * MS;
    p->cpu_ns[row] = 7 * MS;
}

static void put_steps(struct sample *s, int ranks, int steps)
{
    struct steps_rows *rows = &s->analysis.steps;
    put_rows(rows, table_steps, (size_t)steps);
    for (int k = 0; k < steps; k++) {
        rows->number[k] = k;
        rows->begin_ns[k] = step_begin(k);
        rows->end_ns[k] = step_begin(k + 1);
        rows->ranks[k] = ranks;
        rows->skew_ns[k] = 20000;
        rows->bound_ns[k] = 2000;
        rows->flags[k] = k > 0 ? STEP_KEPT : STEP_FIRST;
        for (int r = 0; r < ranks; r++)
            put_partition(s, k, r);
    }
}

static void put_operation(struct sample *s, int ranks, int times)
{
    struct operations_rows *o = &s->analysis.operations;
    put_rows(&s->run.comms, table_comms, 1);
    s->run.comms.size[0] = ranks;
    s->run.comms.name[0] = strings_put_text(s->run_strings, "world");
    put_rows(&s->run.sites, table_sites, 2);
    put_rows(&s->analysis.site_names, table_site_names, 2);
    s->analysis.site_names.function[0] = strings_put_text(s->analysis_strings, "train_step");
    s->analysis.site_names.file[0] = strings_put_text(s->analysis_strings, "/src/mlp/train.c");
    s->analysis.site_names.line[0] = 123;
    s->run.sites.module[1] = strings_put_text(s->run_strings, "/usr/lib/libsolver.so.2");
    s->run.sites.offset[1] = 0x1234;
    s->analysis.site_names.line[1] = -1;
    put_rows(o, table_operations, 2);
    for (int i = 0; i < 2; i++) {
        o->kind[i] = strings_put_text(s->analysis_strings, i ? "barrier" : "allreduce");
        o->site[i] = (uint32_t)i;
        o->times[i] = times;
        o->exposed_ns[i] = (i ? 5000 : 3 * MS) * times;
        o->wait_ns[i] = (i ? 4000 : 2 * MS) * times;
        o->transfer_ns[i] = (i ? 1000 : 1 * MS) * times;
    }
    o->bytes[0] = 45600000;
    o->algbw[0] = 45.6e9;
    o->busbw[0] = 68.4e9;
}

static void put_waits(struct sample *s, int ranks, int steps)
{
    for (int r = 1; r < ranks && r < 100; r++) {
        struct waits_rows *w = &s->analysis.waits;
        size_t at = put_rows(w, table_waits, 1);
        w->waiter[at] = r;
        w->waited_for[at] = r - 1;
        w->times[at] = steps;
        w->wait_ns[at] = 2 * MS * steps - r;
        w->bound_ns[at] = 2000;
    }
}

static void put_efficiency(struct sample *s)
{
    struct efficiency_rows *e = &s->analysis.efficiency;
    put_rows(e, table_efficiency, 1);
    e->step[0] = TABLE_NONE;
    e->load_balance[0] = 1;
    e->communication[0] = e->parallel[0] = 0.7;
    e->serialisation[0] = e->transfer[0] = -1;
}

static void begin(struct sample *s)
{
    *s = (struct sample){0};
    if (strings_open(&s->run_strings) || strings_open(&s->analysis_strings))
        abort();
    s->input = (struct report_input){.path = "run.h5",
                                     .run = &s->run,
                                     .analysis = &s->analysis,
                                     .run_strings = s->run_strings,
                                     .analysis_strings = s->analysis_strings};
}

void sample_open(struct sample *s, int ranks, int steps)
{
    int kept = steps > 1 ? steps - 1 : steps;
    begin(s);
    sample_put_fact(s, "command", "./train --epochs 3");
    sample_put_fact(s, "start_utc_ns", "1700000000000000000");
    sample_put_fact(s, "end_utc_ns", "1700000001234000000");
    put_finding(s, "steps_from", "marks");
    put_hosts(s, ranks);
    put_steps(s, ranks, steps);
    put_operation(s, ranks, kept);
    put_waits(s, ranks, kept);
    put_efficiency(s);
}

void sample_close(struct sample *s)
{
    run_tables_free(&s->run);
    analysis_tables_free(&s->analysis);
    strings_close(s->run_strings);
    strings_close(s->analysis_strings);
}

void sample_put_late(struct sample *s, int rank, uint8_t pattern, uint8_t cause, int64_t late_ns)
{
    struct late_ranks_rows *late = &s->analysis.late_ranks;
    size_t at = put_rows(late, table_late_ranks, 1);
    int64_t kept = (int64_t)s->analysis.steps.count - 1;
    late->rank[at] = rank;
    late->pattern[at] = pattern;
    late->cause[at] = cause;
    late->first_step[at] = 1;
    late->steps[at] = late->kept_steps[at] = kept;
    late->lateness_ns[at] = late->caused_wait_ns[at] = late->cost_ns[at] = late_ns;
    late->cpu_excess_ns[at] = cause == LATE_CPU_WORK ? late_ns : late_ns / 100;
    late->bound_ns[at] = 2000;
}

/* ---- the named ones ---- */

static void late_cpu(struct sample *s)
{
    sample_open(s, 4, 101);
    sample_put_late(s, 3, LATE_CHRONIC, LATE_CPU_WORK, 4100000);
    for (size_t i = 0; i < s->analysis.partition.count; i++)
        if (s->analysis.partition.rank[i] == 3)
            s->analysis.partition.caused_wait_ns[i] = 3 * 4100000;
}

static void late_sleeps(struct sample *s)
{
    sample_open(s, 2, 101);
    sample_put_late(s, 1, LATE_FROM_STEP, LATE_OFF_CPU, 5 * MS);
}

static void late_unseen(struct sample *s)
{
    sample_open(s, 4, 101);
    s->run.nodes.cores[0] = 1;
    sample_put_late(s, 3, LATE_FROM_STEP, LATE_OFF_CPU, 3 * MS);
    s->analysis.late_ranks.caused_wait_ns[0] = MS;
}

static void late_crowded(struct sample *s)
{
    sample_open(s, 4, 101);
    s->run.nodes.cores[1] = 1;
    for (size_t i = 0; i < s->analysis.partition.count; i++)
        s->analysis.partition.involuntary[i] = 30;
    sample_put_late(s, 2, LATE_CHRONIC, LATE_DESCHEDULED, 5 * MS);
    sample_put_late(s, 0, LATE_SINGLE, LATE_UNKNOWN, 4 * MS);
    s->analysis.late_ranks.cpu_excess_ns[1] = -1;
}

static void late_below_clock(struct sample *s)
{
    sample_open(s, 4, 101);
    sample_put_late(s, 3, LATE_CHRONIC, LATE_SLOWER, 150);
    for (size_t i = 0; i < s->analysis.waits.count; i++)
        s->analysis.waits.waited_for[i] = -1;
}

static void quiet(struct sample *s)
{
    sample_open(s, 4, 101);
    for (size_t i = 0; i < s->analysis.partition.count; i++) {
        s->analysis.partition.compute_ns[i] += 2 * MS;
        s->analysis.partition.wait_ns[i] = 0;
    }
    s->analysis.waits.count = 0;
}

static void no_steps(struct sample *s)
{
    sample_open(s, 3, 1);
    s->analysis.findings.value[0] = strings_put_text(s->analysis_strings, "run");
}

static void no_collectives(struct sample *s)
{
    quiet(s);
    s->analysis.operations.count = 0;
}

static void one_rank(struct sample *s)
{
    sample_open(s, 1, 50);
}

static void empty(struct sample *s)
{
    begin(s);
}

static void damaged(struct sample *s)
{
    sample_open(s, 8, 20);
    s->run.ranks.status[3] = s->run.ranks.status[5] = RANK_MISSING;
    s->run.ranks.status[6] = RANK_KILLED;
    s->analysis.quality.dropped[1] = 4000;
    s->analysis.quality.torn[1] = 1;
    s->analysis.quality.unmatched_collectives[2] = 7;
    s->analysis.quality.collectives[2] = 70;
    for (size_t i = 0; i < s->analysis.steps.count; i++)
        s->analysis.steps.end_ns[i] += (int64_t)i * MS / 2;
    for (size_t i = 0; i < s->analysis.quality.count; i++)
        s->analysis.quality.clock_bound_ns[i] = s->analysis.quality.clock_estimate_ns[i] = -1;
}

static void many_ranks(struct sample *s)
{
    sample_open(s, 10000, 4);
    for (size_t i = 0; i < s->analysis.partition.count; i++)
        s->analysis.partition.caused_wait_ns[i] =
            s->analysis.partition.rank[i] == 7777 ? 9999 * MS : 0;
    sample_put_late(s, 7777, LATE_CHRONIC, LATE_SLOWER, MS);
}

static void hostile_names(struct sample *s)
{
    char *longest = malloc(10001);
    sample_open(s, 4, 101);
    for (int i = 0; i < 10000; i++)
        longest[i] = hostile[(size_t)i % (sizeof hostile - 1)];
    longest[10000] = 0;
    s->input.path = longest;
    s->run.nodes.host[0] = strings_put_text(s->run_strings, longest);
    s->run.run.value[0] = s->run.nodes.host[0];
    s->run.comms.name[0] = strings_put_text(s->run_strings, hostile);
    s->analysis.operations.kind[0] = strings_put_text(s->analysis_strings, hostile);
    s->analysis.site_names.file[0] = s->analysis.operations.kind[0];
    s->analysis.site_names.function[0] = strings_put_text(s->analysis_strings, longest);
    sample_put_late(s, 1, LATE_CHRONIC, LATE_OFF_CPU, 2 * MS);
    s->input.path = strings_get(s->run_strings, s->run.nodes.host[0]);
    free(longest);
}

#define SAMPLES(X)                                                                                 \
    X(late_cpu)                                                                                    \
    X(late_sleeps)                                                                                 \
    X(late_unseen)                                                                                 \
    X(late_crowded)                                                                                \
    X(late_below_clock)                                                                            \
    X(quiet)                                                                                       \
    X(no_steps)                                                                                    \
    X(no_collectives)                                                                              \
    X(one_rank)                                                                                    \
    X(empty)                                                                                       \
    X(damaged)                                                                                     \
    X(many_ranks)                                                                                  \
    X(hostile_names)

static const struct {
    const char *name;
    void (*open)(struct sample *s);
} named[] = {
#define X(name) {#name, name},
    SAMPLES(X)
#undef X
};
#define NAMED (sizeof named / sizeof *named)

const char *const sample_names[] = {
#define X(name) #name,
    SAMPLES(X)
#undef X
        NULL};

int sample_open_named(struct sample *s, const char *name)
{
    for (size_t i = 0; i < NAMED; i++)
        if (strcmp(named[i].name, name) == 0) {
            named[i].open(s);
            return 1;
        }
    return 0;
}

/* ---- any values ---- */

static uint64_t state;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Small numbers, extreme ones, and anything. */
static uint64_t any_value(void)
{
    static const uint64_t extremes[] = {0,          1,          UINT64_MAX, INT64_MAX,
                                        1ULL << 63, UINT32_MAX, 1e6,        1e9};
    switch (next() % 4) {
    case 0:
        return extremes[next() % (sizeof extremes / sizeof *extremes)];
    case 1:
        return next();
    default:
        return next() % 8;
    }
}

static void fill_any(void *rows, const struct table *t)
{
    size_t n = next() % 40;
    put_rows(rows, t, n);
    for (size_t c = 0; c < t->column_count; c++) {
        size_t bytes = column_type_bytes(t->columns[c].type);
        for (size_t i = 0; i < n; i++) {
            uint64_t value = any_value();
            memcpy((char *)rows_column(rows, &t->columns[c]) + i * bytes, &value, bytes);
        }
    }
}

static void fill_strings(struct strings *strings)
{
    for (int i = 0; i < 8; i++) {
        char text[300];
        size_t length = next() % sizeof text;
        for (size_t k = 0; k < length; k++)
            text[k] = (char)(1 + next() % 255);
        strings_put(strings, text, length);
    }
}

void sample_open_random(struct sample *s, unsigned seed)
{
    state = 88172645463325252ULL + seed * 7919ULL;
    begin(s);
    fill_strings(s->run_strings);
    fill_strings(s->analysis_strings);
    for (size_t i = 0; i < run_table_count; i++)
        fill_any((char *)&s->run + run_table_list[i].rows_offset, &run_table_list[i]);
    for (size_t i = 0; i < analysis_table_count; i++)
        fill_any((char *)&s->analysis + analysis_table_list[i].rows_offset,
                 &analysis_table_list[i]);
}
