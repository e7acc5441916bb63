#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "repeats.h"

static enum err add_step(struct rank_state *r, int64_t number, int64_t begin_ns, int64_t end_ns)
{
    enum err e = list_make_room((void **)&r->steps, r->step_count, &r->step_room, sizeof *r->steps);
    if (!e)
        r->steps[r->step_count++] = (struct rank_step){number, begin_ns, end_ns};
    return e;
}

/* "ProfilerStep#12" by the pattern "ProfilerStep#": the digits that follow one of the beginnings.
 */
static int step_number(const char *patterns, const char *name, int64_t *number)
{
    for (const char *at = patterns; *at;) {
        size_t length = strcspn(at, "|");
        if (length > 0 && strncmp(name, at, length) == 0 && name[length] >= '0' &&
            name[length] <= '9') {
            *number = strtoll(name + length, NULL, 10);
            return 1;
        }
        at += length + (at[length] == '|');
    }
    return 0;
}

static enum err read_marks(struct rank_state *r, const struct events_rows *e)
{
    enum err error = ERR_OK;
    for (size_t i = 0; i < e->count && !error; i++)
        if (e->kind[i] == EVENT_step)
            error = add_step(r, e->ref[i], e->begin_ns[i], e->begin_ns[i] + e->duration_ns[i]);
    return error;
}

/* A name is parsed once, though it comes with every event. */
static enum err read_ranges(struct state *s, struct rank_state *r, const struct events_rows *e)
{
    size_t names = strings_count(s->source->strings);
    int64_t *numbers = malloc((names + 1) * sizeof *numbers);
    enum err error = numbers ? ERR_OK : ERR_NO_MEMORY;
    for (size_t i = 0; i < names && !error; i++)
        if (!step_number(s->options->step_patterns, strings_get(s->source->strings, (uint32_t)i),
                         &numbers[i]))
            numbers[i] = INT64_MIN;
    for (size_t i = 0; i < e->count && !error; i++)
        if (e->kind[i] == EVENT_range && e->name[i] < names && numbers[e->name[i]] != INT64_MIN)
            error = add_step(r, numbers[e->name[i]], e->begin_ns[i],
                             e->begin_ns[i] + e->duration_ns[i]);
    free(numbers);
    return error;
}

/* Numbers that do not grow say nothing across ranks: then steps are numbered in their order. */
static void number_by_order(struct rank_state *r)
{
    for (size_t i = 1; i < r->step_count; i++)
        if (r->steps[i].number <= r->steps[i - 1].number) {
            for (size_t k = 0; k < r->step_count; k++)
                r->steps[k].number = (int64_t)k;
            return;
        }
}

enum err steps_read(struct state *s, size_t rank_row, const struct events_rows *events,
                    int *by_range)
{
    struct rank_state *r = &s->ranks[rank_row];
    enum err e = read_marks(r, events);
    *by_range = 0;
    if (!e && r->step_count == 0) {
        e = read_ranges(s, r, events);
        *by_range = r->step_count > 0;
    }
    number_by_order(r);
    return e;
}

static enum err whole_run(struct state *s)
{
    enum err e = ERR_OK;
    s->steps_from = "run";
    for (size_t i = 0; i < s->rank_count && !e; i++)
        if (s->ranks[i].end_ns > s->ranks[i].begin_ns)
            e = add_step(&s->ranks[i], 0, s->ranks[i].begin_ns, s->ranks[i].end_ns);
    return e;
}

/* Every `period`-th collective from `first` on begins a step; the last of them runs to the end of
 * its own. */
static enum err steps_from_period(struct state *s, const struct repeats *found)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < s->rank_count && !e; i++) {
        const struct operation *o = &s->operations[s->ranks[i].first_operation];
        size_t seen = 0, end = found->first + found->period * found->times;
        int64_t begin_ns = 0, last_ns = 0, number = -1;
        for (size_t k = 0; k < s->ranks[i].operation_count && !e; k++) {
            if (o[k].is_message || seen++ < found->first || seen > end)
                continue;
            if ((seen - 1 - found->first) % found->period == 0) {
                e = number >= 0 ? add_step(&s->ranks[i], number, begin_ns, o[k].begin_ns) : ERR_OK;
                begin_ns = o[k].begin_ns;
                number++;
            }
            last_ns = o[k].end_ns > last_ns ? o[k].end_ns : last_ns;
        }
        if (number >= 0 && !e)
            e = add_step(&s->ranks[i], number, begin_ns, last_ns);
    }
    return e;
}

enum err steps_find(struct state *s)
{
    struct repeats found;
    if (!repeats_agree(s, &found))
        return whole_run(s);
    s->steps_from = "collectives";
    return steps_from_period(s, &found);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* All numbers that occur, sorted and unlike; *count of them. NULL when memory is out. */
static int64_t *collect_numbers(const struct state *s, size_t *count)
{
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < s->rank_count; i++)
        all += s->ranks[i].step_count;
    int64_t *numbers = malloc((all + 1) * sizeof *numbers);
    if (numbers == NULL)
        return NULL;
    all = 0;
    for (size_t i = 0; i < s->rank_count; i++)
        for (size_t k = 0; k < s->ranks[i].step_count; k++)
            numbers[all++] = s->ranks[i].steps[k].number;
    qsort(numbers, all, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    *count = kept;
    return numbers;
}

uint32_t steps_row(const struct state *s, int64_t number)
{
    const struct steps_rows *steps = &s->out->steps;
    const int64_t *found =
        steps->count ? bsearch(&number, steps->number, steps->count, sizeof number, compare_numbers)
                     : NULL;
    return found ? (uint32_t)(found - steps->number) : TABLE_NONE;
}

uint32_t steps_at(const struct state *s, int64_t time_ns)
{
    const struct steps_rows *steps = &s->out->steps;
    size_t low = 0, high = steps->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (steps->end_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < steps->count && time_ns >= steps->begin_ns[low] ? (uint32_t)low : TABLE_NONE;
}

int steps_counts(const struct state *s, int64_t time_ns)
{
    uint32_t row = steps_at(s, time_ns);
    return row != TABLE_NONE && (s->none_kept || (s->out->steps.flags[row] & STEP_KEPT));
}

/* Ranks whose clock error covers the difference to the latest end are all the latest: then nobody
 * is named. */
static void name_last(const struct state *s, size_t row, size_t last, size_t first)
{
    struct steps_rows *steps = &s->out->steps;
    steps->bound_ns[row] = last == first ? -1 : state_bound_ns(s, last, first);
    if (steps->skew_ns[row] > state_estimate_ns(s, last, first) && last != first)
        steps->last_rank[row] = s->source->tables->ranks.rank[last];
}

static enum err fill_windows(struct state *s)
{
    struct steps_rows *steps = &s->out->steps;
    size_t *last = calloc(2 * steps->count + 1, sizeof *last), *first = last + steps->count;
    int64_t *earliest = calloc(steps->count + 1, sizeof *earliest);
    enum err e = last && earliest ? ERR_OK : ERR_NO_MEMORY;
    for (size_t i = 0; i < s->rank_count && !e; i++)
        for (size_t k = 0; k < s->ranks[i].step_count; k++) {
            const struct rank_step *step = &s->ranks[i].steps[k];
            uint32_t row = steps_row(s, step->number);
            if (row >= steps->count)
                continue;
            if (steps->ranks[row]++ == 0 || step->begin_ns < steps->begin_ns[row])
                steps->begin_ns[row] = step->begin_ns;
            if (steps->ranks[row] == 1 || step->end_ns > steps->end_ns[row]) {
                steps->end_ns[row] = step->end_ns;
                last[row] = i;
            }
            if (steps->ranks[row] == 1 || step->end_ns < earliest[row]) {
                earliest[row] = step->end_ns;
                first[row] = i;
            }
        }
    for (size_t row = 0; row < steps->count && !e; row++) {
        steps->skew_ns[row] = steps->end_ns[row] - earliest[row];
        name_last(s, row, last[row], first[row]);
    }
    free(last);
    free(earliest);
    return e;
}

/* Windows follow each other without a gap: each begins where the one before ends. */
static void chain_windows(struct steps_rows *steps)
{
    for (size_t row = 1; row < steps->count; row++) {
        if (steps->end_ns[row] < steps->end_ns[row - 1]) {
            steps->end_ns[row] = steps->end_ns[row - 1];
            steps->flags[row] |= STEP_OVERLAPS;
        }
        steps->begin_ns[row] = steps->end_ns[row - 1];
    }
}

#define BATCH      5
#define LEAST_KEPT 30

/* Mean length of the steps of one batch. */
static double batch_mean(const struct steps_rows *steps, size_t batch)
{
    double sum = 0;
    for (size_t i = batch * BATCH; i < (batch + 1) * BATCH; i++)
        sum += (double)(steps->end_ns[i] - steps->begin_ns[i]);
    return sum / BATCH;
}

/* Warm-up by MSER-5 (White, Cobb and Spratt 2000): the cut after which the mean of batches of five
 * steps is most certain. A cut at half of the steps or later says that they never became steady:
 * then only step 0 goes. */
static size_t warm_up(const struct steps_rows *steps)
{
    size_t batches = steps->count / BATCH, best = 0;
    double sum = 0, squares = 0, least = -1;
    if (steps->count < 2 * LEAST_KEPT)
        return 0;
    for (size_t i = batches; i-- > 0;) {
        double mean = batch_mean(steps, i), left = (double)(batches - i);
        sum += mean;
        squares += mean * mean;
        double error = (squares - sum * sum / left) / (left * left);
        if ((batches - i) * BATCH >= LEAST_KEPT && (least < 0 || error <= least)) {
            least = error;
            best = i;
        }
    }
    return best >= batches / 2 ? 0 : best * BATCH;
}

static void choose_kept(struct state *s)
{
    struct steps_rows *steps = &s->out->steps;
    size_t first = warm_up(steps);
    s->none_kept = 1;
    if (first == 0 && steps->count > 3)
        first = 1;
    int32_t ranks = 0;
    for (size_t i = 0; i < s->rank_count; i++)
        ranks += s->ranks[i].step_count > 0;
    for (size_t row = 0; row < steps->count; row++) {
        steps->flags[row] |= row == 0 ? STEP_FIRST : 0;
        steps->flags[row] |= row + 1 == steps->count ? STEP_LAST : 0;
        steps->flags[row] |= steps->ranks[row] < ranks ? STEP_PARTIAL : 0;
        if (row >= first && !(steps->flags[row] & STEP_PARTIAL)) {
            steps->flags[row] |= STEP_KEPT;
            s->none_kept = 0;
        }
    }
}

/* On its rank a step lasts until the next one begins, so that no time is lost between them. */
static void extend_steps(struct state *s)
{
    for (size_t i = 0; i < s->rank_count; i++)
        for (size_t k = 0; k + 1 < s->ranks[i].step_count; k++)
            s->ranks[i].steps[k].end_ns = s->ranks[i].steps[k + 1].begin_ns;
}

enum err steps_join(struct state *s)
{
    size_t count = 0, at;
    struct steps_rows *steps = &s->out->steps;
    int64_t *numbers = collect_numbers(s, &count);
    enum err e = numbers ? rows_append(steps, table_steps, count, &at) : ERR_NO_MEMORY;
    for (size_t i = 0; i < count && !e; i++) {
        steps->number[i] = numbers[i];
        steps->begin_ns[i] = steps->end_ns[i] = steps->skew_ns[i] = 0;
        steps->ranks[i] = 0;
        steps->last_rank[i] = -1;
        steps->bound_ns[i] = -1;
        steps->flags[i] = 0;
    }
    free(numbers);
    if (!e)
        e = fill_windows(s);
    if (e)
        return e;
    chain_windows(steps);
    choose_kept(s);
    extend_steps(s);
    return ERR_OK;
}
