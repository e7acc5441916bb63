#include "order.h"

#include <stdlib.h>
#include <string.h>

/* A row of a well-nested lane moves over the rows it encloses once: its depth on average. */
#define MOVES_MAX  64
#define MOVES_FREE 1000000

static int is_before(const struct events_rows *e, size_t a, size_t b)
{
    if (e->begin_ns[a] != e->begin_ns[b])
        return e->begin_ns[a] < e->begin_ns[b];
    if (e->duration_ns[a] != e->duration_ns[b])
        return e->duration_ns[a] > e->duration_ns[b];
    return a < b;
}

static void merge(const struct events_rows *e, const size_t *from, size_t first, size_t middle,
                  size_t end, size_t *to)
{
    size_t a = first, b = middle;
    for (size_t k = first; k < end; k++) {
        if (b >= end || (a < middle && !is_before(e, from[b], from[a])))
            to[k] = from[a++];
        else
            to[k] = from[b++];
    }
}

/* An interval stands after those it encloses: it moves before them, and they are the last ones.
 * Returns the end of what is in order: less than `end` when rows are in another order and moving
 * them one by one would take too long. */
static size_t insert_rows(const struct events_rows *e, size_t first, size_t end, size_t *order)
{
    size_t moves = 0;
    for (size_t i = first; i < end; i++) {
        size_t at = i;
        while (at > first && is_before(e, i, order[at - 1]))
            at--;
        memmove(order + at + 1, order + at, (i - at) * sizeof *order);
        order[at] = i;
        moves += i - at;
        if (moves > MOVES_MAX * (i - first + 1) + MOVES_FREE)
            return i + 1;
    }
    return end;
}

/* Sorts order[first, end) by merging ever longer pieces. */
static void sort_rows(const struct events_rows *e, size_t first, size_t end, size_t *order,
                      size_t *spare)
{
    for (size_t i = first; i < end; i++)
        order[i] = i;
    for (size_t width = 1; width < end - first; width *= 2) {
        for (size_t i = first; i < end; i += 2 * width) {
            size_t middle = end - i < width ? end : i + width;
            size_t last = end - i < 2 * width ? end : i + 2 * width;
            merge(e, order, i, middle, last, spare);
        }
        memcpy(order + first, spare + first, (end - first) * sizeof *order);
    }
}

static void order_run(const struct events_rows *e, size_t first, size_t end, size_t *order,
                      size_t *spare)
{
    size_t done = insert_rows(e, first, end, order);
    if (done == end)
        return;
    sort_rows(e, done, end, order, spare);
    merge(e, order, first, done, end, spare);
    memcpy(order + first, spare + first, (end - first) * sizeof *order);
}

static size_t end_of(const size_t *ends, size_t runs, size_t index)
{
    return index < runs ? ends[index] : ends[runs - 1];
}

enum err order_events(const struct events_rows *events, const size_t *ends, size_t runs,
                      size_t *order)
{
    size_t *spare = malloc((events->count + 1) * sizeof *spare);
    if (spare == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < runs; i++)
        order_run(events, i ? ends[i - 1] : 0, ends[i], order, spare);
    for (size_t width = 1; width < runs; width *= 2) {
        for (size_t i = 0; i < runs; i += 2 * width)
            merge(events, order, i ? ends[i - 1] : 0, end_of(ends, runs, i + width - 1),
                  end_of(ends, runs, i + 2 * width - 1), spare);
        memcpy(order, spare, events->count * sizeof *order);
    }
    free(spare);
    return ERR_OK;
}
