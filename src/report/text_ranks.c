#include "late.h"
#include "names.h"
#include "ranking.h"
#include "sample.h"
#include "text.h"
#include "units.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FEW_RANKS    16 /* all are shown up to here */
#define WORST_RANKS  6
#define BEST_RANKS   3
#define LATE_SHOWN   8
#define HOST_COLUMNS 14
#define CELL         9

void text_parts(struct text *t)
{
    const struct report_summary *s = t->summary;
    char time[UNITS_BYTES], share[UNITS_BYTES];
    char title[64];
    if (s->step <= 0)
        return;
    snprintf(title, sizeof title, "Where the time of %s goes: mean over ranks", summary_unit(s));
    page_heading(&t->page, title);
    for (int p = 0; p < PART_COUNT; p++) {
        if (s->part[p] == 0)
            continue;
        page_add(&t->page, "%s", summary_part_label(p));
        page_to(&t->page, 14);
        page_right(&t->page, 9, units_time(time, s->part[p]));
        page_right(&t->page, 8, units_share(share, s->part[p] / s->step));
        page_add(&t->page, "  %s", summary_part_meaning(p));
        page_end(&t->page);
    }
    page_add(&t->page, "together");
    page_to(&t->page, 14);
    page_right(&t->page, 9, units_time(time, s->step));
    page_right(&t->page, 8, "100 %");
    page_add(&t->page, "  hidden behind compute besides: %s of communication",
             units_time(time, s->hidden));
    page_end(&t->page);
}

/* The columns of the table of ranks: parts of which the idle kinds are one. */
enum rank_column {
    RANK_COMPUTE,
    RANK_TRANSFER,
    RANK_WAIT,
    RANK_MPI,
    RANK_COPY,
    RANK_IDLE,
    RANK_CPU,
    RANK_CAUSED,
    RANK_COLUMNS
};
static const char *const column_titles[RANK_COLUMNS] = {"compute", "transfer", "wait", "in MPI",
                                                        "copy",    "idle",     "CPU",  "causes"};

struct rank_table {
    int shown[RANK_COLUMNS];
    int involuntary;
    double others; /* ranks that could wait for one */
    struct units_column unit;
};

static double cell_of(const struct rank_table *table, const struct report_rank *r,
                      enum rank_column column)
{
    double idle = 0;
    switch (column) {
    case RANK_COMPUTE:
        return r->part[PART_compute];
    case RANK_TRANSFER:
        return r->part[PART_transfer];
    case RANK_WAIT:
        return r->part[PART_wait];
    case RANK_MPI:
        return r->part[PART_mpi_call];
    case RANK_COPY:
        return r->part[PART_copy];
    case RANK_IDLE:
        for (int p = PART_idle_launch; p <= PART_idle_unexplained; p++)
            idle += r->part[p];
        return idle;
    case RANK_CPU:
        return r->cpu < 0 ? 0 : r->cpu;
    default:
        return r->caused_wait / table->others;
    }
}

static struct rank_table plan_table(const struct report_summary *s)
{
    struct rank_table table = {.shown = {[RANK_COMPUTE] = 1, [RANK_TRANSFER] = 1, [RANK_WAIT] = 1},
                               .others = s->rank_count > 1 ? (double)(s->rank_count - 1) : 1};
    double largest = 0;
    for (size_t i = 0; i < s->rank_count; i++) {
        for (int c = 0; c < RANK_COLUMNS; c++) {
            double value = cell_of(&table, &s->ranks[i], c);
            table.shown[c] |= value > 0;
            largest = value > largest ? value : largest;
        }
        table.involuntary |= s->ranks[i].involuntary > 0;
    }
    table.unit = units_column_for(largest);
    return table;
}

static void say_titles(struct text *t, const struct rank_table *table)
{
    page_style(&t->page, PAGE_BOLD);
    page_right(&t->page, 6, "rank");
    page_add(&t->page, " host");
    page_to(&t->page, 7 + HOST_COLUMNS);
    for (int c = 0; c < RANK_COLUMNS; c++)
        if (table->shown[c])
            page_right(&t->page, CELL, column_titles[c]);
    if (table->involuntary)
        page_right(&t->page, 9, "preempt");
    page_style(&t->page, PAGE_PLAIN);
    page_end(&t->page);
}

static int is_late(const struct text *t, int64_t rank)
{
    const struct late_ranks_rows *late = &t->input->analysis->late_ranks;
    for (size_t i = 0; i < late->count; i++)
        if (late->rank[i] == rank)
            return 1;
    return 0;
}

static void say_rank(struct text *t, const struct rank_table *table, const struct report_rank *r)
{
    const struct ranks_rows *ranks = &t->input->run->ranks;
    char number[UNITS_BYTES], host[NAMES_BYTES], cut[NAMES_BYTES];
    int late = is_late(t, r->rank);
    unsigned status = r->row >= 0 ? ranks->status[r->row] : RANK_MISSING;
    snprintf(number, sizeof number, "%" PRId64, r->rank);
    page_style(&t->page, late ? PAGE_RED : PAGE_PLAIN);
    page_right(&t->page, 6, number);
    names_host(host, t->input, r->row >= 0 ? ranks->node[r->row] : TABLE_NONE);
    utf8_clean(cut, sizeof cut, host, HOST_COLUMNS - 1);
    page_add(&t->page, " %s", cut);
    page_to(&t->page, 7 + HOST_COLUMNS);
    for (int c = 0; c < RANK_COLUMNS && r->steps > 0; c++) {
        int unknown = c == RANK_CPU && r->cpu < 0;
        if (table->shown[c])
            page_right(&t->page, CELL,
                       unknown ? "-" : units_cell(number, &table->unit, cell_of(table, r, c)));
    }
    snprintf(number, sizeof number, "%.1f", r->involuntary);
    if (table->involuntary && r->steps > 0)
        page_right(&t->page, 9, r->involuntary < 0 ? "-" : number);
    if (r->steps == 0 || (status != RANK_OK && t->page.columns + 10 < PAGE_COLUMNS))
        page_add(&t->page, "  %s",
                 r->steps == 0 && status == RANK_OK ? "no kept step" : rank_status_name(status));
    page_style(&t->page, PAGE_PLAIN);
    page_end(&t->page);
}

static void say_group(struct text *t, const struct rank_table *table, const char *title,
                      const size_t *rows, size_t count)
{
    if (count == 0)
        return;
    page_style(&t->page, PAGE_FAINT);
    page_add(&t->page, "%s", title);
    page_style(&t->page, PAGE_PLAIN);
    page_end(&t->page);
    for (size_t i = 0; i < count; i++)
        say_rank(t, table, &t->summary->ranks[rows[i]]);
}

/* The rows of the largest positive values of a column of the table. */
static size_t largest_ranks(size_t *rows, size_t wanted, const struct report_summary *s,
                            const struct rank_table *table, enum rank_column column, int64_t *keys)
{
    for (size_t i = 0; i < s->rank_count; i++)
        keys[i] = ranking_value(cell_of(table, &s->ranks[i], column));
    size_t count = ranking_largest(rows, wanted, keys, s->rank_count);
    while (count > 0 && keys[rows[count - 1]] <= 0)
        count--;
    return count;
}

/* The rank whose compute time is the median. */
static size_t typical_rank(const struct report_summary *s, double *values)
{
    size_t row = 0;
    for (size_t i = 0; i < s->rank_count; i++)
        values[i] = s->ranks[i].part[PART_compute];
    sample_sort(values, s->rank_count);
    while (row + 1 < s->rank_count && s->ranks[row].part[PART_compute] != values[s->rank_count / 2])
        row++;
    return row;
}

static enum err say_some_ranks(struct text *t, const struct rank_table *table)
{
    const struct report_summary *s = t->summary;
    size_t rows[WORST_RANKS + BEST_RANKS], count;
    int64_t *keys = calloc(s->rank_count, sizeof *keys);
    double *values = calloc(s->rank_count, sizeof *values);
    enum err e = keys && values ? ERR_OK : ERR_NO_MEMORY;
    if (!e) {
        count = largest_ranks(rows, WORST_RANKS, s, table, RANK_CAUSED, keys);
        say_group(t, table, "the others wait most for", rows, count);
        rows[0] = typical_rank(s, values);
        say_group(t, table, "typical (median compute)", rows, 1);
        count = largest_ranks(rows, BEST_RANKS, s, table, RANK_WAIT, keys);
        say_group(t, table, "wait most themselves", rows, count);
    }
    free(keys);
    free(values);
    return e;
}

void text_ranks(struct text *t)
{
    const struct report_summary *s = t->summary;
    struct rank_table table = plan_table(s);
    char title[96], count[UNITS_BYTES];
    if (s->rank_count == 0 || s->step <= 0)
        return;
    snprintf(title, sizeof title, "Ranks: mean over kept steps, in %s", table.unit.unit);
    page_heading(&t->page, title);
    say_titles(t, &table);
    if (s->rank_count <= FEW_RANKS || t->options->all_ranks) {
        for (size_t i = 0; i < s->rank_count; i++)
            say_rank(t, &table, &s->ranks[i]);
    } else if (say_some_ranks(t, &table) == ERR_OK) {
        page_add(&t->page, "%s ranks in all; --ranks shows each of them",
                 units_count(count, (int64_t)s->rank_count));
        page_end(&t->page);
    }
    if (table.shown[RANK_CAUSED]) {
        page_style(&t->page, PAGE_FAINT);
        page_add(&t->page, "causes: how long each of the others waits for this rank");
        if (table.involuntary)
            page_add(&t->page, "; preempt: times a step it lost its core");
        page_style(&t->page, PAGE_PLAIN);
        page_end(&t->page);
    }
}

void text_late_ranks(struct text *t)
{
    const struct late_ranks_rows *late = &t->input->analysis->late_ranks;
    char left[UNITS_BYTES];
    /* A single one is the verdict already. */
    if (late->count == 0 || (late->count == 1 && t->summary->late == 0))
        return;
    page_heading(&t->page, "Late ranks, worst first");
    for (size_t i = 0; i < late->count && i < LATE_SHOWN; i++) {
        struct sentence s;
        sentence_begin(&s);
        late_say(&s, t->summary, t->input, i);
        sentence_add(&s, " ");
        late_say_more(&s, t->summary, t->input, i);
        char *text = sentence_end(&s), label[UNITS_BYTES];
        snprintf(label, sizeof label, "rank %" PRId32, late->rank[i]);
        if (text != NULL)
            page_wrap(&t->page, label, PAGE_PLAIN, text, 4);
        free(text);
    }
    if (late->count > LATE_SHOWN) {
        page_add(&t->page, "and %s more (--json lists all)",
                 units_count(left, (int64_t)(late->count - LATE_SHOWN)));
        page_end(&t->page);
    }
}
