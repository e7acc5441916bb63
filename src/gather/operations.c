#include "operations.h"

#include <stdlib.h>

#include "list.h"

enum err operations_put(struct operations *o, struct operation operation)
{
    enum err e = list_make_room((void **)&o->list, o->count, &o->room, sizeof operation);
    if (!e)
        o->list[o->count++] = operation;
    return e;
}

enum err operations_put_end(struct operations *o, struct completion completion)
{
    enum err e = list_make_room((void **)&o->ends, o->end_count, &o->end_room, sizeof completion);
    if (!e)
        o->ends[o->end_count++] = completion;
    return e;
}

static int compare(const void *a, const void *b)
{
    const struct operation *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* One thread hands its numbers out in order: there is then nothing to sort. */
void operations_sort(struct operations *o)
{
    for (size_t i = 1; i < o->count; i++)
        if (o->list[i - 1].number > o->list[i].number) {
            qsort(o->list, o->count, sizeof *o->list, compare);
            return;
        }
}

const struct operation *operations_find(const struct operations *o, uint64_t number)
{
    size_t low = 0, high = o->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->list[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < o->count && o->list[low].number == number ? &o->list[low] : NULL;
}

void operations_clear(struct operations *o)
{
    o->count = o->end_count = 0;
}

void operations_close(struct operations *o)
{
    free(o->list);
    free(o->ends);
    *o = (struct operations){0};
}
