#include "names.h"
#include "ranking.h"
#include "sentence.h"
#include "text.h"
#include "units.h"
#include "utf8.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ends the sentence as the text after a label. */
static void wrap(struct text *t, const char *label, struct sentence *sentence, size_t lines)
{
    char *words = sentence_end(sentence);
    if (words != NULL)
        page_wrap(&t->page, label, PAGE_PLAIN, words, lines);
    free(words);
}

static void add_when(struct sentence *s, const struct report_run *run)
{
    char when[64], length[UNITS_BYTES], source[NAMES_BYTES];
    time_t seconds = (time_t)(run->start_utc_ns / 1000000000);
    struct tm utc;
    if (run->start_utc_ns >= 0 && gmtime_r(&seconds, &utc) != NULL &&
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &utc) > 0)
        sentence_add(s, " · %s", when);
    if (run->length_ns >= 0)
        sentence_add(s, " · %s", units_length(length, (double)run->length_ns));
    if (run->exit_code > 0)
        sentence_add(s, " · exit code %" PRId64, run->exit_code);
    utf8_clean(source, sizeof source, run->source, NAMES_COLUMNS);
    if (*source != 0 && strcmp(source, "recorded") != 0)
        sentence_add(s, " · %s", source);
}

static void say_where(struct text *t)
{
    const struct report_run *run = &t->summary->run;
    char ranks[UNITS_BYTES], hosts[UNITS_BYTES], cores[UNITS_BYTES];
    char host[NAMES_BYTES], cut[NAMES_BYTES];
    struct sentence s;
    sentence_begin(&s);
    sentence_add(&s, "%s rank%s on %s host%s", units_count(ranks, run->ranks),
                 run->ranks == 1 ? "" : "s", units_count(hosts, run->hosts),
                 run->hosts == 1 ? "" : "s");
    for (int64_t i = 0; i < run->hosts && i < 2; i++) {
        utf8_clean(cut, sizeof cut, names_host(host, t->input, (uint32_t)i), 16);
        sentence_add(&s, "%s%s", i == 0 ? " (" : ", ", cut);
    }
    if (run->hosts > 0)
        sentence_add(&s, "%s)", run->hosts > 2 ? ", …" : "");
    if (run->cores > 0)
        sentence_add(&s, ", %s core%s", units_count(cores, run->cores), run->cores == 1 ? "" : "s");
    add_when(&s, run);
    wrap(t, "with", &s, 1);
}

static void say_what(struct text *t)
{
    const struct report_run *run = &t->summary->run;
    char command[4 * PAGE_COLUMNS + 8], path[4 * PAGE_COLUMNS + 8];
    utf8_clean(path, sizeof path, t->input->path, PAGE_COLUMNS - PAGE_LABEL - 16);
    utf8_clean(command, sizeof command, *run->command != 0 ? run->command : "unknown command",
               PAGE_COLUMNS - PAGE_LABEL);
    page_label(&t->page, "scaleprof");
    page_add(&t->page, "%s", path);
    page_end(&t->page);
    page_label(&t->page, "ran");
    page_add(&t->page, "%s", command);
    page_end(&t->page);
    say_where(t);
}

static void say_verdict(struct text *t)
{
    const struct report_summary *s = t->summary;
    enum page_style style = s->verdict == VERDICT_late || s->verdict == VERDICT_empty ? PAGE_RED
                            : s->verdict == VERDICT_compute || s->verdict == VERDICT_alone
                                ? PAGE_GREEN
                                : PAGE_YELLOW;
    page_end(&t->page);
    page_wrap(&t->page, "VERDICT", style, s->verdict_text, 3);
    if (*s->verdict_detail != 0)
        page_wrap(&t->page, "", PAGE_PLAIN, s->verdict_detail, 2);
    page_end(&t->page);
}

static void say_steps(struct text *t)
{
    const struct report_steps *steps = &t->summary->steps;
    char median[UNITS_BYTES], mean[UNITS_BYTES], p95[UNITS_BYTES], cv[UNITS_BYTES];
    char kept[UNITS_BYTES], total[UNITS_BYTES], trend[UNITS_BYTES];
    struct sentence s;
    sentence_begin(&s);
    sentence_add(&s, "%s", units_time(median, steps->median));
    if (steps->total > 1) {
        sentence_add(&s, " median · mean %s · p95 %s · CV %s", units_time(mean, steps->mean),
                     units_time(p95, steps->p95), units_share(cv, steps->variation));
        if (summary_is_steady(t->summary))
            sentence_add(&s, " · steady");
        else
            sentence_add(&s, " · trend %s%s", steps->trend > 0 ? "+" : "",
                         units_share(trend, steps->trend));
        sentence_add(&s, " · %s of %s kept", units_count(kept, steps->kept),
                     units_count(total, steps->total));
    }
    wrap(t, steps->total > 1 ? "a step takes" : "it takes", &s, 1);
}

#define SCREEN_PARTS 4

static void say_part(struct text *t, int first, const char *label, double ns)
{
    double share = t->summary->step > 0 ? ns / t->summary->step : 0;
    char percent[UNITS_BYTES], time[UNITS_BYTES];
    page_label(&t->page, first ? "and goes to" : "");
    page_add(&t->page, "%s", label);
    page_to(&t->page, PAGE_LABEL + 15);
    page_bar(&t->page, 30, share);
    page_right(&t->page, 9, units_share(percent, share));
    page_right(&t->page, 11, units_time(time, ns));
    if (first && t->summary->rank_count > 1)
        page_add(&t->page, "  mean over ranks");
    page_end(&t->page);
}

static void say_parts(struct text *t)
{
    int64_t rounded[PART_COUNT];
    size_t order[PART_COUNT];
    double other = 0;
    for (int p = 0; p < PART_COUNT; p++)
        rounded[p] = ranking_value(t->summary->part[p]);
    size_t count = ranking_largest(order, PART_COUNT, rounded, PART_COUNT), shown = 0;
    while (count > 0 && rounded[order[count - 1]] <= 0)
        count--;
    for (; shown < count && (shown + 1 < SCREEN_PARTS || count == SCREEN_PARTS); shown++)
        say_part(t, shown == 0, summary_part_label((enum report_part)order[shown]),
                 t->summary->part[order[shown]]);
    for (size_t i = shown; i < count; i++)
        other += t->summary->part[order[i]];
    if (shown < count)
        say_part(t, 0, "other", other);
}

static void say_waits(struct text *t)
{
    const struct waits_rows *waits = &t->input->analysis->waits;
    /* Where the verdict names who is waited for, one line is enough. */
    size_t wanted = t->summary->verdict == VERDICT_late ? 1 : 2;
    size_t rows[2], count = ranking_largest(rows, wanted, waits->wait_ns, waits->count);
    char wait[UNITS_BYTES], clock[VERDICT_CLOCK_BYTES];
    if (t->summary->rank_count > 1 && (count == 0 || waits->wait_ns[rows[0]] <= 0)) {
        page_label(&t->page, "who waits");
        page_add(&t->page, "nobody");
        page_end(&t->page);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double ns = text_of_step(t, waits->wait_ns[rows[i]]);
        double once = waits->times[rows[i]] > 0
                          ? (double)waits->wait_ns[rows[i]] / (double)waits->times[rows[i]]
                          : 0;
        page_label(&t->page, i == 0 ? "who waits" : "");
        page_add(&t->page, "rank %" PRId32 " waits %s in %s for ", waits->waiter[rows[i]],
                 units_time(wait, ns), summary_unit(t->summary));
        if (waits->waited_for[rows[i]] < 0)
            page_add(&t->page, "ranks that the clock cannot tell apart");
        else
            page_add(&t->page, "rank %" PRId32 " (%s)", waits->waited_for[rows[i]],
                     text_clock(clock, t, once, waits->bound_ns[rows[i]]));
        page_end(&t->page);
    }
}

static void say_operation(struct text *t, size_t row, const char *label)
{
    const struct operations_rows *o = &t->input->analysis->operations;
    char exposed[UNITS_BYTES], wait[UNITS_BYTES], size[UNITS_BYTES], rate[UNITS_BYTES];
    char kind[128], name[NAMES_BYTES];
    double times = text_of_step(t, o->times[row]);
    struct sentence s;
    sentence_begin(&s);
    utf8_clean(kind, sizeof kind, strings_get(t->input->analysis_strings, o->kind[row]), 16);
    sentence_add(&s, "%s %s: ", units_time(exposed, text_of_step(t, o->exposed_ns[row])),
                 t->summary->steps.total > 1 ? "a step" : "in all");
    if (times >= 1.5)
        sentence_add(&s, "%.0f × ", times);
    sentence_add(&s, "%s", kind);
    if (o->bytes[row] > 0)
        sentence_add(&s, " of %s", units_size(size, (double)o->bytes[row]));
    if (*names_source(name, t->input, o->site[row]) != 0)
        sentence_add(&s, " at %s", name);
    else
        sentence_add(&s, " on %s", names_communicator(name, t->input, o->communicator[row]));
    sentence_add(&s, "; %s waiting", units_time(wait, text_of_step(t, o->wait_ns[row])));
    if (o->busbw[row] > 0)
        sentence_add(&s, ", %s", units_rate(rate, o->busbw[row]));
    wrap(t, label, &s, 2);
}

/* The costliest, and the next one where each takes a line alone. */
static void say_operations(struct text *t)
{
    const struct operations_rows *o = &t->input->analysis->operations;
    size_t rows[2], count = ranking_largest(rows, 2, o->exposed_ns, o->count);
    size_t begin = t->page.lines;
    if (count > 0)
        say_operation(t, rows[0], "costs most");
    if (count > 1 && o->exposed_ns[rows[1]] > 0 && t->page.lines == begin + 1)
        say_operation(t, rows[1], "");
}

static void say_efficiency(struct text *t)
{
    const struct report_efficiency *e = &t->summary->efficiency;
    char balance[UNITS_BYTES], communication[UNITS_BYTES], parallel[UNITS_BYTES];
    if (e->parallel < 0)
        return;
    page_label(&t->page, "efficiency");
    page_add(&t->page, "parallel %s = load balance %s × communication %s",
             units_share(parallel, e->parallel), units_share(balance, e->load_balance),
             units_share(communication, e->communication));
    page_end(&t->page);
}

static void say_data(struct text *t)
{
    const struct report_quality *q = &t->summary->quality;
    char events[UNITS_BYTES], dropped[UNITS_BYTES], torn[UNITS_BYTES], open[UNITS_BYTES];
    char unmatched[UNITS_BYTES], bound[UNITS_BYTES], estimate[UNITS_BYTES], own[UNITS_BYTES];
    struct sentence s;
    sentence_begin(&s);
    sentence_add(
        &s, "%s events, %s dropped, %s torn, %s unmatched, %s unfinished",
        units_count(events, q->events), units_count(dropped, q->dropped),
        units_count(torn, q->torn),
        units_count(unmatched, summary_add(q->unmatched_collectives, q->unmatched_messages)),
        units_count(open, q->unfinished));
    if (q->clock_bound_ns < 0)
        sentence_add(&s, " · clock error unknown");
    else
        sentence_add(&s, " · clocks ±%s", units_time(bound, (double)q->clock_bound_ns));
    /* A bound of a hundredth of a step needs no finer word. */
    if (q->clock_estimate_ns >= 0 && (double)q->clock_bound_ns > t->summary->steps.median / 100)
        sentence_add(&s, ", likely %s", units_time(estimate, (double)q->clock_estimate_ns));
    if (q->overhead >= 0)
        sentence_add(&s, " · own cost %s", units_share(own, q->overhead));
    wrap(t, "data", &s, 2);
}

/* Says texts while there is room; returns how many were said whole. */
static size_t say_list(struct text *t, const char *label, enum page_style style, char *const *texts,
                       size_t count, size_t room)
{
    size_t end = t->page.lines + room, i = 0;
    int whole = 1;
    for (; i < count && t->page.lines < end && whole; i++)
        whole = page_wrap(&t->page, i == 0 ? label : "", style, texts[i], end - t->page.lines);
    return whole ? i : i - 1;
}

void text_screen(struct text *t)
{
    const struct report_summary *s = t->summary;
    say_what(t);
    say_verdict(t);
    if (s->verdict != VERDICT_empty) {
        say_steps(t);
        say_parts(t);
        say_waits(t);
        say_operations(t);
        say_efficiency(t);
        say_data(t);
    }
    size_t left = TEXT_SCREEN_LINES - t->page.lines, next = s->advice_count > 0 ? 2 : 0;
    t->cautions_said = say_list(t, "caution", PAGE_YELLOW, s->cautions, s->caution_count,
                                left > next ? left - next : 0);
    t->advice_said = say_list(t, "next", PAGE_PLAIN, s->advice, s->advice_count,
                              TEXT_SCREEN_LINES - t->page.lines);
}

void text_unsaid(struct text *t)
{
    const struct report_summary *s = t->summary;
    if (t->cautions_said == s->caution_count && t->advice_said == s->advice_count)
        return;
    page_heading(&t->page, "Cautions and advice in full");
    say_list(t, "caution", PAGE_YELLOW, s->cautions, s->caution_count, SIZE_MAX / 2);
    say_list(t, "next", PAGE_PLAIN, s->advice, s->advice_count, SIZE_MAX / 2);
}
