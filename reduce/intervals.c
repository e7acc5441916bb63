#include "intervals.h"

#include <stdlib.h>

#include "lists.h"

enum err intervals_add(struct intervals *s, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns <= begin_ns)
        return ERR_OK;
    enum err e = list_make_room((void **)&s->list, s->count, &s->room, sizeof *s->list);
    if (!e)
        s->list[s->count++] = (struct interval){begin_ns, end_ns};
    return e;
}

static int compare(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Moves few elements a little way, or gives up: then a general sort is cheaper. */
static int insertion_sort(struct interval *list, size_t count)
{
    size_t budget = 8 * count + 64;
    for (size_t i = 1; i < count; i++) {
        struct interval x = list[i];
        size_t at = i;
        for (; at > 0 && list[at - 1].begin_ns > x.begin_ns && budget > 0; at--, budget--)
            list[at] = list[at - 1];
        list[at] = x;
        if (budget == 0)
            return 0;
    }
    return 1;
}

void intervals_normalise(struct intervals *s)
{
    size_t kept = 0;
    if (!insertion_sort(s->list, s->count))
        qsort(s->list, s->count, sizeof *s->list, compare);
    for (size_t i = 0; i < s->count; i++) {
        struct interval x = s->list[i];
        if (kept > 0 && s->list[kept - 1].end_ns >= x.begin_ns) {
            if (s->list[kept - 1].end_ns < x.end_ns)
                s->list[kept - 1].end_ns = x.end_ns;
        } else
            s->list[kept++] = x;
    }
    s->count = kept;
}

enum err intervals_subtract(struct intervals *out, const struct intervals *a,
                            const struct intervals *b)
{
    enum err e = ERR_OK;
    size_t k = 0;
    for (size_t i = 0; i < a->count && !e; i++) {
        int64_t at = a->list[i].begin_ns, end = a->list[i].end_ns;
        while (k < b->count && b->list[k].end_ns <= at)
            k++;
        for (size_t j = k; j < b->count && b->list[j].begin_ns < end && !e; j++) {
            e = intervals_add(out, at, b->list[j].begin_ns);
            at = b->list[j].end_ns;
        }
        if (!e)
            e = intervals_add(out, at, end);
    }
    return e;
}

enum err intervals_intersect(struct intervals *out, const struct intervals *a,
                             const struct intervals *b)
{
    enum err e = ERR_OK;
    for (size_t i = 0, k = 0; i < a->count && k < b->count && !e;) {
        int64_t begin =
            a->list[i].begin_ns > b->list[k].begin_ns ? a->list[i].begin_ns : b->list[k].begin_ns;
        int64_t end = a->list[i].end_ns < b->list[k].end_ns ? a->list[i].end_ns : b->list[k].end_ns;
        e = intervals_add(out, begin, end);
        if (a->list[i].end_ns < b->list[k].end_ns)
            i++;
        else
            k++;
    }
    return e;
}

int64_t intervals_measure(const struct intervals *s, int64_t from_ns, int64_t to_ns, size_t *cursor)
{
    int64_t sum = 0;
    while (*cursor < s->count && s->list[*cursor].end_ns <= from_ns)
        (*cursor)++;
    for (size_t i = *cursor; i < s->count && s->list[i].begin_ns < to_ns; i++) {
        int64_t begin = s->list[i].begin_ns > from_ns ? s->list[i].begin_ns : from_ns;
        int64_t end = s->list[i].end_ns < to_ns ? s->list[i].end_ns : to_ns;
        sum += end > begin ? end - begin : 0;
    }
    return sum;
}

int64_t *intervals_sums(const struct intervals *s)
{
    int64_t *sums = malloc((s->count + 1) * sizeof *sums), sum = 0;
    for (size_t i = 0; sums != NULL && i < s->count; i++) {
        sums[i] = sum;
        sum += s->list[i].end_ns - s->list[i].begin_ns;
    }
    if (sums != NULL)
        sums[s->count] = sum;
    return sums;
}

/* The first interval from `first` on that begins at `to_ns` or later; near ones cost least. */
static size_t find_begin(const struct intervals *s, size_t first, int64_t to_ns)
{
    size_t low = first, high = first, stride = 1;
    while (high < s->count && s->list[high].begin_ns < to_ns) {
        low = high + 1;
        high = s->count - high > stride ? high + stride : s->count;
        stride *= 2;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->list[middle].begin_ns < to_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t intervals_measure_long(const struct intervals *s, const int64_t *sums, int64_t from_ns,
                               int64_t to_ns, size_t *cursor)
{
    while (*cursor < s->count && s->list[*cursor].end_ns <= from_ns)
        (*cursor)++;
    size_t end = find_begin(s, *cursor, to_ns);
    if (end <= *cursor)
        return 0;
    int64_t before = from_ns - s->list[*cursor].begin_ns, after = s->list[end - 1].end_ns - to_ns;
    return sums[end] - sums[*cursor] - (before > 0 ? before : 0) - (after > 0 ? after : 0);
}

int64_t intervals_total(const struct intervals *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum += s->list[i].end_ns - s->list[i].begin_ns;
    return sum;
}

void intervals_free(struct intervals *s)
{
    free(s->list);
    *s = (struct intervals){0};
}
