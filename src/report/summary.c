#include "summary.h"

#include "advice.h"
#include "names.h"
#include "sample.h"
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *label, *meaning;
} parts[] = {
#define PART(name, label, meaning) {#name, label, meaning},
#include "parts.def"
#undef PART
};

const char *summary_part_name(enum report_part part)
{
    return parts[part].name;
}

const char *summary_part_label(enum report_part part)
{
    return parts[part].label;
}

const char *summary_part_meaning(enum report_part part)
{
    return parts[part].meaning;
}

static int64_t part_of(const struct partition_rows *rows, size_t row, enum report_part part)
{
    switch (part) {
#define PART(name, label, meaning)                                                                 \
    case PART_##name:                                                                              \
        return rows->name##_ns[row];
#include "parts.def"
#undef PART
    default:
        return 0;
    }
}

int64_t summary_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a > 0 ? INT64_MAX : INT64_MIN;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void find_crowded_node(struct report_run *run, const struct nodes_rows *nodes)
{
    double worst = 1;
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->cores[i] <= 0)
            continue;
        double load = (double)nodes->ranks[i] / nodes->cores[i];
        if (load > worst) {
            worst = load;
            run->crowded_node = (int64_t)i;
        }
    }
}

static int64_t length_of_records(const struct ranks_rows *ranks)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < ranks->count; i++) {
        if (ranks->status[i] == RANK_MISSING || ranks->end_ns[i] < ranks->begin_ns[i])
            continue;
        begin = ranks->begin_ns[i] < begin ? ranks->begin_ns[i] : begin;
        end = larger(end, ranks->end_ns[i]);
    }
    int64_t length;
    return begin > end || __builtin_sub_overflow(end, begin, &length) ? -1 : length;
}

static void make_run(struct report_run *run, const struct report_input *input)
{
    const struct nodes_rows *nodes = &input->run->nodes;
    const struct ranks_rows *ranks = &input->run->ranks;
    int64_t end = names_fact_number(input, "end_utc_ns");
    *run = (struct report_run){.tool_version = names_fact(input, "tool_version"),
                               .command = names_fact(input, "command"),
                               .source = names_fact(input, "source"),
                               .steps_from = names_finding(input, "steps_from"),
                               .start_utc_ns = names_fact_number(input, "start_utc_ns"),
                               .exit_code = names_fact_number(input, "exit_code"),
                               .length_ns = length_of_records(ranks),
                               .ranks = (int64_t)ranks->count,
                               .hosts = (int64_t)nodes->count,
                               .crowded_node = -1};
    if (run->start_utc_ns >= 0 && end >= run->start_utc_ns)
        run->length_ns = end - run->start_utc_ns;
    for (size_t i = 0; i < nodes->count; i++)
        run->cores += nodes->cores[i] > 0 ? nodes->cores[i] : 0;
    for (size_t i = 0; i < ranks->count; i++) {
        run->ranks_missing += ranks->status[i] == RANK_MISSING;
        run->ranks_not_ok += ranks->status[i] != RANK_OK && ranks->status[i] != RANK_MISSING;
    }
    find_crowded_node(run, nodes);
}

static int used(const struct report_steps *steps, const struct steps_rows *rows, size_t step)
{
    return steps->all_used || (rows->flags[step] & STEP_KEPT) != 0;
}

/* `times` and `skews` have room for all steps. */
static void measure_steps(struct report_steps *out, const struct steps_rows *rows, double *times,
                          double *skews)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (!used(out, rows, i))
            continue;
        times[n] = (double)rows->end_ns[i] - (double)rows->begin_ns[i];
        skews[n++] = (double)rows->skew_ns[i];
        out->skew_bound_ns = larger(out->skew_bound_ns, rows->bound_ns[i]);
    }
    out->kept = (int64_t)n;
    out->trend = sample_trend(times, n);
    sample_sort(times, n);
    sample_sort(skews, n);
    out->median = sample_median(times, n);
    out->mean = sample_mean(times, n);
    out->variation = sample_variation(times, n);
    out->p95 = sample_quantile(times, n, 0.95);
    out->least = sample_quantile(times, n, 0);
    out->most = sample_quantile(times, n, 1);
    out->skew_median = sample_median(skews, n);
}

static enum err make_steps(struct report_steps *out, const struct steps_rows *rows)
{
    *out = (struct report_steps){.total = (int64_t)rows->count, .all_used = 1, .skew_bound_ns = -1};
    for (size_t i = 0; i < rows->count; i++)
        if (rows->flags[i] & STEP_KEPT)
            out->all_used = 0;
    double *times = calloc(2 * rows->count + 1, sizeof *times);
    if (times == NULL)
        return ERR_NO_MEMORY;
    measure_steps(out, rows, times, times + rows->count);
    free(times);
    return ERR_OK;
}

int64_t summary_pair_estimate(const struct report_summary *s)
{
    int64_t one = s->quality.clock_estimate_ns;
    return one < 0 ? -1 : summary_add(one, one);
}

const char *summary_unit(const struct report_summary *s)
{
    return s->steps.total > 1 ? "a step" : "the run";
}

double summary_preemptions(const struct report_summary *s)
{
    double sum = 0, sampled = 0;
    for (size_t i = 0; i < s->rank_count; i++)
        if (s->ranks[i].involuntary >= 0) {
            sum += s->ranks[i].involuntary;
            sampled++;
        }
    return sampled > 0 ? sum / sampled : -1;
}

int summary_is_steady(const struct report_summary *s)
{
    return s->steps.trend >= -SUMMARY_STEADY && s->steps.trend <= SUMMARY_STEADY;
}

static int compare_ranks(const void *a, const void *b)
{
    const struct report_rank *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

const struct report_rank *summary_rank(const struct report_summary *s, int64_t rank)
{
    struct report_rank key = {.rank = rank};
    if (s->rank_count == 0)
        return NULL;
    return bsearch(&key, s->ranks, s->rank_count, sizeof key, compare_ranks);
}

static enum err list_ranks(struct report_summary *s, const struct ranks_rows *rows)
{
    s->ranks = calloc(rows->count + 1, sizeof *s->ranks);
    if (s->ranks == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < rows->count; i++)
        s->ranks[i] = (struct report_rank){.rank = rows->rank[i], .row = (int64_t)i};
    s->rank_count = rows->count;
    qsort(s->ranks, s->rank_count, sizeof *s->ranks, compare_ranks);
    return ERR_OK;
}

static void add_row(struct report_rank *rank, const struct partition_rows *rows, size_t row)
{
    rank->steps++;
    for (int p = 0; p < PART_COUNT; p++)
        rank->part[p] += (double)part_of(rows, row, p);
    rank->step += (double)rows->end_ns[row] - (double)rows->begin_ns[row];
    rank->hidden += (double)rows->hidden_ns[row];
    rank->caused_wait += (double)rows->caused_wait_ns[row];
    /* One step without a sample leaves the whole mean unknown. */
    rank->cpu = rank->cpu < 0 || rows->cpu_ns[row] < 0 ? -1 : rank->cpu + (double)rows->cpu_ns[row];
    rank->involuntary = rank->involuntary < 0 || rows->involuntary[row] < 0
                            ? -1
                            : rank->involuntary + (double)rows->involuntary[row];
}

static void divide(struct report_rank *rank)
{
    if (rank->steps == 0) {
        rank->cpu = rank->involuntary = -1;
        return;
    }
    double n = (double)rank->steps;
    for (int p = 0; p < PART_COUNT; p++)
        rank->part[p] /= n;
    rank->step /= n;
    rank->hidden /= n;
    rank->caused_wait /= n;
    rank->cpu = rank->cpu < 0 ? -1 : rank->cpu / n;
    rank->involuntary = rank->involuntary < 0 ? -1 : rank->involuntary / n;
}

static void make_parts(struct report_summary *s, const struct report_input *input)
{
    const struct partition_rows *rows = &input->analysis->partition;
    const struct steps_rows *steps = &input->analysis->steps;
    struct report_rank *next = s->ranks;
    double with_steps = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->step[i] >= steps->count || !used(&s->steps, steps, rows->step[i]))
            continue;
        if (next == s->ranks + s->rank_count || next->rank != rows->rank[i])
            next = (struct report_rank *)summary_rank(s, rows->rank[i]);
        if (next != NULL)
            add_row(next++, rows, i);
        else
            next = s->ranks;
    }
    for (size_t i = 0; i < s->rank_count; i++) {
        struct report_rank *rank = &s->ranks[i];
        divide(rank);
        with_steps += rank->steps > 0;
        for (int p = 0; p < PART_COUNT; p++)
            s->part[p] += rank->part[p];
        s->step += rank->step;
        s->hidden += rank->hidden;
    }
    for (int p = 0; p < PART_COUNT && with_steps > 0; p++)
        s->part[p] /= with_steps;
    s->step = with_steps > 0 ? s->step / with_steps : 0;
    s->hidden = with_steps > 0 ? s->hidden / with_steps : 0;
}

static void make_efficiency(struct report_efficiency *out, const struct efficiency_rows *rows)
{
    *out = (struct report_efficiency){-1, -1, -1, -1, -1};
    for (size_t i = 0; i < rows->count; i++)
        if (rows->step[i] == TABLE_NONE)
            *out = (struct report_efficiency){rows->load_balance[i], rows->communication[i],
                                              rows->serialisation[i], rows->transfer[i],
                                              rows->parallel[i]};
}

/* Sum of what is positive; the rest is unknown. */
static int64_t sum(const int64_t *values, size_t count)
{
    int64_t total = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i] > 0)
            total = summary_add(total, values[i]);
    return total;
}

static double overhead_of(const struct ranks_rows *ranks)
{
    double inside = 0, length = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        if (ranks->status[i] == RANK_MISSING)
            continue;
        if (ranks->probe_ns[i] < 0)
            return -1;
        inside += (double)ranks->probe_ns[i];
        length += (double)ranks->end_ns[i] - (double)ranks->begin_ns[i];
    }
    return length > 0 ? inside / length : -1;
}

static void make_quality(struct report_quality *out, const struct report_input *input)
{
    const struct quality_rows *q = &input->analysis->quality;
    const struct ranks_rows *ranks = &input->run->ranks;
    const struct clock_domains_rows *domains = &input->run->clock_domains;
    *out = (struct report_quality){.clock_bound_ns = -1, .clock_estimate_ns = -1};
#define SUM(name) out->name = sum(q->name, q->count)
    SUM(events);
    SUM(dropped);
    SUM(torn);
    SUM(open_events);
    SUM(collectives);
    SUM(unmatched_collectives);
    SUM(mismatched_collectives);
    SUM(messages);
    SUM(unmatched_messages);
    SUM(unfinished);
#undef SUM
    out->dropped_details = sum(ranks->dropped_details, ranks->count);
    out->unbalanced = sum(ranks->unbalanced, ranks->count);
    out->faults = sum(ranks->faults, ranks->count);
    for (size_t i = 0; i < q->count; i++) {
        out->clock_bound_ns = larger(out->clock_bound_ns, q->clock_bound_ns[i]);
        out->clock_estimate_ns = larger(out->clock_estimate_ns, q->clock_estimate_ns[i]);
    }
    out->clock_domains = (int64_t)domains->count;
    out->clock_violations = sum(domains->violations, domains->count);
    out->overhead = overhead_of(ranks);
}

enum err summary_make(struct report_summary *out, const struct report_input *input)
{
    struct report_summary s = {.late = -1};
    make_run(&s.run, input);
    make_efficiency(&s.efficiency, &input->analysis->efficiency);
    make_quality(&s.quality, input);
    enum err e = make_steps(&s.steps, &input->analysis->steps);
    if (!e)
        e = list_ranks(&s, &input->run->ranks);
    if (!e) {
        make_parts(&s, input);
        e = verdict_make(&s, input);
    }
    if (!e)
        e = advice_make(&s, input);
    if (e) {
        summary_free(&s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

void summary_free(struct report_summary *s)
{
    free(s->ranks);
    free(s->verdict_text);
    free(s->verdict_detail);
    for (size_t i = 0; i < SUMMARY_TEXTS; i++) {
        free(s->cautions[i]);
        free(s->advice[i]);
    }
    *s = (struct report_summary){0};
}
