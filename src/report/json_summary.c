#include "json_summary.h"

#include <stdlib.h>
#include <string.h>

#include "late.h"
#include "verdict.h"

static void number(struct json_writer *w, const char *name, double value)
{
    json_name(w, name);
    json_double(w, value);
}

static void integer(struct json_writer *w, const char *name, int64_t value)
{
    json_name(w, name);
    json_integer(w, value);
}

static void text(struct json_writer *w, const char *name, const char *value)
{
    json_name(w, name);
    json_text(w, value);
}

static void put_run(struct json_writer *w, const struct report_run *run)
{
    json_name(w, "run");
    json_object(w);
    text(w, "command", run->command);
    text(w, "tool_version", run->tool_version);
    text(w, "source", run->source);
    text(w, "steps_from", run->steps_from);
    integer(w, "start_utc_ns", run->start_utc_ns);
    integer(w, "length_ns", run->length_ns);
    integer(w, "exit_code", run->exit_code);
    integer(w, "ranks", run->ranks);
    integer(w, "ranks_missing", run->ranks_missing);
    integer(w, "ranks_not_ok", run->ranks_not_ok);
    integer(w, "hosts", run->hosts);
    integer(w, "cores", run->cores);
    json_object_end(w);
}

static void put_steps(struct json_writer *w, const struct report_steps *s)
{
    json_name(w, "steps");
    json_object(w);
    integer(w, "total", s->total);
    integer(w, "kept", s->kept);
    number(w, "median_ns", s->median);
    number(w, "mean_ns", s->mean);
    number(w, "p95_ns", s->p95);
    number(w, "min_ns", s->least);
    number(w, "max_ns", s->most);
    number(w, "cv", s->variation);
    number(w, "trend", s->trend);
    number(w, "skew_median_ns", s->skew_median);
    integer(w, "skew_bound_ns", s->skew_bound_ns);
    json_object_end(w);
}

static void put_parts(struct json_writer *w, const struct report_summary *s)
{
    char name[64];
    json_name(w, "parts");
    json_object(w);
    for (int p = 0; p < PART_COUNT; p++) {
        snprintf(name, sizeof name, "%s_ns", summary_part_name(p));
        number(w, name, s->part[p]);
    }
    number(w, "step_ns", s->step);
    number(w, "hidden_ns", s->hidden);
    json_object_end(w);
}

/* One column of the per-rank means: the double at `offset` of every row. */
static void put_rank_column(struct json_writer *w, const struct report_summary *s, const char *name,
                            size_t offset)
{
    json_name(w, name);
    json_array(w);
    for (size_t i = 0; i < s->rank_count; i++) {
        double value;
        memcpy(&value, (const char *)&s->ranks[i] + offset, sizeof value);
        json_double(w, value);
    }
    json_array_end(w);
}

static void put_ranks(struct json_writer *w, const struct report_summary *s)
{
    char name[64];
    json_name(w, "ranks");
    json_object(w);
    json_name(w, "rank");
    json_array(w);
    for (size_t i = 0; i < s->rank_count; i++)
        json_integer(w, s->ranks[i].rank);
    json_array_end(w);
    json_name(w, "steps");
    json_array(w);
    for (size_t i = 0; i < s->rank_count; i++)
        json_integer(w, s->ranks[i].steps);
    json_array_end(w);
    for (int p = 0; p < PART_COUNT; p++) {
        snprintf(name, sizeof name, "%s_ns", summary_part_name(p));
        put_rank_column(w, s, name,
                        offsetof(struct report_rank, part) + (size_t)p * sizeof(double));
    }
    put_rank_column(w, s, "step_ns", offsetof(struct report_rank, step));
    put_rank_column(w, s, "hidden_ns", offsetof(struct report_rank, hidden));
    put_rank_column(w, s, "caused_wait_ns", offsetof(struct report_rank, caused_wait));
    put_rank_column(w, s, "cpu_ns", offsetof(struct report_rank, cpu));
    put_rank_column(w, s, "involuntary", offsetof(struct report_rank, involuntary));
    json_object_end(w);
}

static void put_efficiency(struct json_writer *w, const struct report_efficiency *e)
{
    json_name(w, "efficiency");
    json_object(w);
    number(w, "load_balance", e->load_balance);
    number(w, "communication", e->communication);
    number(w, "serialisation", e->serialisation);
    number(w, "transfer", e->transfer);
    number(w, "parallel", e->parallel);
    json_object_end(w);
}

static void put_quality(struct json_writer *w, const struct report_quality *q)
{
    json_name(w, "quality");
    json_object(w);
#define PUT(name) integer(w, #name, q->name)
    PUT(events);
    PUT(dropped);
    PUT(dropped_details);
    PUT(torn);
    PUT(open_events);
    PUT(unbalanced);
    PUT(collectives);
    PUT(unmatched_collectives);
    PUT(mismatched_collectives);
    PUT(messages);
    PUT(unmatched_messages);
    PUT(unfinished);
    PUT(faults);
    PUT(clock_domains);
    PUT(clock_violations);
    PUT(clock_bound_ns);
    PUT(clock_estimate_ns);
#undef PUT
    number(w, "overhead", q->overhead);
    json_object_end(w);
}

/* A sentence about a row of late_ranks, made by `say`. */
static void put_sentence(struct json_writer *w, const char *name, const struct report_summary *s,
                         const struct report_input *input, size_t row,
                         void (*say)(struct sentence *out, const struct report_summary *s,
                                     const struct report_input *input, size_t row))
{
    struct sentence sentence;
    sentence_begin(&sentence);
    say(&sentence, s, input, row);
    char *words = sentence_end(&sentence);
    text(w, name, words);
    free(words);
}

static void put_late(struct json_writer *w, const struct report_summary *s,
                     const struct report_input *input)
{
    const struct late_ranks_rows *late = &input->analysis->late_ranks;
    json_name(w, "late_ranks");
    json_array(w);
    for (size_t i = 0; i < late->count; i++) {
        json_object(w);
        integer(w, "rank", late->rank[i]);
        text(w, "pattern", late_pattern_name(late->pattern[i]));
        text(w, "cause", late_cause_name(late->cause[i]));
        json_name(w, "resolved");
        json_bool(w, late_resolved(s, input, i));
        integer(w, "first_step", late->first_step[i]);
        integer(w, "steps", late->steps[i]);
        integer(w, "kept_steps", late->kept_steps[i]);
        integer(w, "lateness_ns", late->lateness_ns[i]);
        integer(w, "caused_wait_ns", late->caused_wait_ns[i]);
        integer(w, "cost_ns", late->cost_ns[i]);
        integer(w, "cpu_excess_ns", late->cpu_excess_ns[i]);
        integer(w, "bound_ns", late->bound_ns[i]);
        put_sentence(w, "text", s, input, i, late_say);
        put_sentence(w, "detail", s, input, i, late_say_more);
        put_sentence(w, "next", s, input, i, late_advise);
        json_object_end(w);
    }
    json_array_end(w);
}

static void put_texts(struct json_writer *w, const char *name, char *const *texts, size_t count)
{
    json_name(w, name);
    json_array(w);
    for (size_t i = 0; i < count; i++)
        json_text(w, texts[i]);
    json_array_end(w);
}

void json_summary(struct json_writer *w, const struct report_summary *s,
                  const struct report_input *input)
{
    json_name(w, "summary");
    json_object(w);
    json_name(w, "verdict");
    json_object(w);
    text(w, "kind", verdict_name(s->verdict));
    integer(w, "rank", s->late >= 0 ? input->analysis->late_ranks.rank[s->late] : -1);
    text(w, "text", s->verdict_text);
    text(w, "detail", s->verdict_detail);
    json_object_end(w);
    put_run(w, &s->run);
    put_steps(w, &s->steps);
    put_parts(w, s);
    put_ranks(w, s);
    put_late(w, s, input);
    put_efficiency(w, &s->efficiency);
    put_quality(w, &s->quality);
    put_texts(w, "cautions", s->cautions, s->caution_count);
    put_texts(w, "next", s->advice, s->advice_count);
    json_object_end(w);
}
