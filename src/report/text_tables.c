#include "names.h"
#include "ranking.h"
#include "sample.h"
#include "text.h"
#include "units.h"
#include "utf8.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROWS_SHOWN 10

/* A line of right-aligned titles; {title, width} pairs, a width of 0 ends. */
struct title {
    const char *text;
    size_t width;
};

static void say_titles(struct text *t, const struct title *titles)
{
    page_style(&t->page, PAGE_BOLD);
    for (; titles->width > 0; titles++)
        page_right(&t->page, titles->width, titles->text);
    page_style(&t->page, PAGE_PLAIN);
}

static void say_rest(struct text *t, size_t shown, size_t all)
{
    char number[UNITS_BYTES];
    if (all <= shown)
        return;
    page_style(&t->page, PAGE_FAINT);
    page_add(&t->page, "and %s more (--json lists all)",
             units_count(number, (int64_t)(all - shown)));
    page_style(&t->page, PAGE_PLAIN);
    page_end(&t->page);
}

static const char *rank_name(char out[UNITS_BYTES], int32_t rank)
{
    snprintf(out, UNITS_BYTES, "%" PRId32, rank);
    return rank < 0 ? "unclear" : out;
}

void text_waits(struct text *t)
{
    const struct waits_rows *w = &t->input->analysis->waits;
    size_t rows[ROWS_SHOWN], count = ranking_largest(rows, ROWS_SHOWN, w->wait_ns, w->count);
    static const struct title titles[] = {{"rank", 6},    {"waits for", 11}, {"times", 12},
                                          {"a step", 12}, {"in all", 12},    {"once", 12},
                                          {NULL, 0}};
    char cell[UNITS_BYTES], clock[VERDICT_CLOCK_BYTES];
    if (w->count == 0)
        return;
    page_heading(&t->page, "Who made whom wait");
    say_titles(t, titles);
    page_add(&t->page, "  clock error of one wait");
    page_end(&t->page);
    for (size_t i = 0; i < count; i++) {
        size_t row = rows[i];
        double all = (double)w->wait_ns[row];
        double once = w->times[row] > 0 ? all / (double)w->times[row] : 0;
        page_right(&t->page, 6, rank_name(cell, w->waiter[row]));
        page_right(&t->page, 11, rank_name(cell, w->waited_for[row]));
        page_right(&t->page, 12, units_count(cell, w->times[row]));
        page_right(&t->page, 12, units_time(cell, text_of_step(t, w->wait_ns[row])));
        page_right(&t->page, 12, units_time(cell, all));
        page_right(&t->page, 12, units_time(cell, once));
        page_add(&t->page, "  %s",
                 w->waited_for[row] < 0 ? "below clock resolution"
                                        : text_clock(clock, t, once, w->bound_ns[row]));
        page_end(&t->page);
    }
    say_rest(t, count, w->count);
}

void text_operations(struct text *t)
{
    const struct operations_rows *o = &t->input->analysis->operations;
    size_t rows[ROWS_SHOWN], count = ranking_largest(rows, ROWS_SHOWN, o->exposed_ns, o->count);
    static const struct title titles[] = {{"size", 10},  {"times", 9},    {"exposed", 9},
                                          {"wait", 9},   {"transfer", 9}, {"overlap", 9},
                                          {"busbw", 11}, {NULL, 0}};
    char cell[UNITS_BYTES], name[NAMES_BYTES];
    if (o->count == 0)
        return;
    page_heading(&t->page, "Operations that cost most: mean over ranks and kept steps");
    page_to(&t->page, 2);
    say_titles(t, titles);
    page_end(&t->page);
    for (size_t i = 0; i < count; i++) {
        size_t row = rows[i];
        utf8_clean(name, sizeof name, strings_get(t->input->analysis_strings, o->kind[row]), 20);
        page_style(&t->page, PAGE_BOLD);
        page_add(&t->page, "%s", name);
        page_style(&t->page, PAGE_PLAIN);
        page_add(&t->page, " on %s", names_communicator(name, t->input, o->communicator[row]));
        if (*names_site(name, t->input, o->site[row]) != 0)
            page_add(&t->page, " from %s", name);
        page_end(&t->page);
        page_to(&t->page, 2);
        page_right(&t->page, 10, units_size(cell, (double)o->bytes[row]));
        page_right(&t->page, 9, units_count(cell, o->times[row]));
        page_right(&t->page, 9, units_time(cell, text_of_step(t, o->exposed_ns[row])));
        page_right(&t->page, 9, units_time(cell, text_of_step(t, o->wait_ns[row])));
        page_right(&t->page, 9, units_time(cell, text_of_step(t, o->transfer_ns[row])));
        page_right(&t->page, 9, units_time(cell, text_of_step(t, o->hidden_ns[row])));
        page_right(&t->page, 11, o->busbw[row] > 0 ? units_rate(cell, o->busbw[row]) : "-");
        page_end(&t->page);
    }
    say_rest(t, count, o->count);
    page_style(&t->page, PAGE_FAINT);
    page_add(&t->page, "exposed: neither compute nor another operation goes on meanwhile; overlap: "
                       "the rest");
    page_style(&t->page, PAGE_PLAIN);
    page_end(&t->page);
}

void text_messages(struct text *t)
{
    const struct message_pairs_rows *m = &t->input->analysis->message_pairs;
    static const struct title titles[] = {{"from", 6},   {"to", 7},           {"times", 12},
                                          {"bytes", 11}, {"late sender", 13}, {"late receiver", 15},
                                          {NULL, 0}};
    int64_t *lost = calloc(m->count + 1, sizeof *lost);
    size_t rows[ROWS_SHOWN], count = 0;
    char cell[UNITS_BYTES];
    for (size_t i = 0; lost != NULL && i < m->count; i++)
        if (__builtin_add_overflow(m->late_sender_ns[i], m->late_receiver_ns[i], &lost[i]))
            lost[i] = INT64_MAX;
    if (lost != NULL)
        count = ranking_largest(rows, ROWS_SHOWN, lost, m->count);
    free(lost);
    if (count == 0)
        return;
    page_heading(&t->page, "Messages between two ranks: waiting over the whole run, most first");
    say_titles(t, titles);
    page_end(&t->page);
    for (size_t i = 0; i < count; i++) {
        size_t row = rows[i];
        page_right(&t->page, 6, rank_name(cell, m->sender[row]));
        page_right(&t->page, 7, rank_name(cell, m->receiver[row]));
        page_right(&t->page, 12, units_count(cell, m->times[row]));
        page_right(&t->page, 11, units_size(cell, (double)m->bytes[row]));
        page_right(&t->page, 13, units_time(cell, (double)m->late_sender_ns[row]));
        page_right(&t->page, 15, units_time(cell, (double)m->late_receiver_ns[row]));
        page_end(&t->page);
    }
    say_rest(t, count, m->count);
}

static void say_step(struct text *t, size_t row, int64_t length)
{
    const struct steps_rows *s = &t->input->analysis->steps;
    double median = t->summary->steps.median, skew = (double)s->skew_ns[row];
    char cell[UNITS_BYTES], clock[VERDICT_CLOCK_BYTES];
    snprintf(cell, sizeof cell, "%" PRId64, s->number[row]);
    page_right(&t->page, 10, cell);
    page_right(&t->page, 11, units_time(cell, (double)length));
    page_right(&t->page, 15, median > 0 ? units_share(cell, (double)length / median) : "-");
    page_right(&t->page, 11, rank_name(cell, s->last_rank[row]));
    page_right(&t->page, 13, units_time(cell, skew));
    page_add(&t->page, "  %s", text_clock(clock, t, skew, s->bound_ns[row]));
    if ((s->flags[row] & STEP_KEPT) == 0)
        page_add(&t->page, "  not kept");
    page_end(&t->page);
}

void text_steps(struct text *t)
{
    const struct steps_rows *s = &t->input->analysis->steps;
    static const struct title titles[] = {{"step", 10},          {"took", 11},
                                          {"of the median", 15}, {"last rank", 11},
                                          {"ends within", 13},   {NULL, 0}};
    int64_t *lengths = calloc(s->count + 1, sizeof *lengths);
    size_t rows[5], count = 0;
    for (size_t i = 0; lengths != NULL && i < s->count; i++)
        if (__builtin_sub_overflow(s->end_ns[i], s->begin_ns[i], &lengths[i]))
            lengths[i] = 0;
    if (lengths != NULL && s->count > 1)
        count = ranking_largest(rows, 5, lengths, s->count);
    if (count > 0) {
        page_heading(&t->page, "Slowest steps");
        say_titles(t, titles);
        page_add(&t->page, "  clock error");
        page_end(&t->page);
    }
    for (size_t i = 0; i < count; i++)
        say_step(t, rows[i], lengths[rows[i]]);
    free(lengths);
}
