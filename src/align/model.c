#include "align.h"

#include <stdlib.h>

/* Farther than any clock reads. */
#define FOREVER_NS (INT64_MAX / 2)

enum err align_model_same(struct align_model *out)
{
    struct align_node *nodes = calloc(2, sizeof *nodes);
    if (nodes == NULL)
        return ERR_NO_MEMORY;
    nodes[0] = (struct align_node){-FOREVER_NS, 0, ALIGN_GRANULARITY_NS};
    nodes[1] = (struct align_node){FOREVER_NS, 0, ALIGN_GRANULARITY_NS};
    *out = (struct align_model){.count = 2, .nodes = nodes};
    return ERR_OK;
}

void align_model_free(struct align_model *model)
{
    free(model->nodes);
    *model = (struct align_model){0};
}

static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* a + (b - a) * part / whole, rounded down; 0 <= part <= whole. */
static int64_t between(int64_t a, int64_t b, uint64_t part, uint64_t whole)
{
    int64_t rise, product; /* the common case needs no 128 bits, whose division is slow */
    if (whole <= INT64_MAX && !__builtin_sub_overflow(b, a, &rise) &&
        !__builtin_mul_overflow(rise, (int64_t)part, &product))
        return a + product / (int64_t)whole - (product % (int64_t)whole < 0);
    __int128 wide = ((__int128)b - a) * (__int128)part;
    return (int64_t)(a + wide / (__int128)whole - (wide % (__int128)whole < 0));
}

static int64_t apply_outside(const struct align_model *model, const struct align_node *end,
                             int64_t local_ns, int64_t *bound_ns)
{
    uint64_t distance = local_ns < end->time_ns ? (uint64_t)end->time_ns - (uint64_t)local_ns
                                                : (uint64_t)local_ns - (uint64_t)end->time_ns;
    uint64_t drift = model->curvature > 0 ? distance / (1000000 / ALIGN_DRIFT_PPM) + 1 : 0;
    if (bound_ns != NULL)
        *bound_ns = add_saturated(end->bound_ns, (int64_t)drift);
    return add_saturated(local_ns, end->offset_ns);
}

/* The last node that is not after local_ns; there is one. */
static const struct align_node *find_node(const struct align_model *model, int64_t local_ns)
{
    size_t low = 0, high = model->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (model->nodes[middle].time_ns <= local_ns)
            low = middle;
        else
            high = middle;
    }
    return &model->nodes[low];
}

int64_t align_apply(const struct align_model *model, int64_t local_ns, int64_t *bound_ns)
{
    const struct align_node *first = model->nodes, *last = &model->nodes[model->count - 1];
    if (local_ns <= first->time_ns)
        return apply_outside(model, first, local_ns, bound_ns);
    if (local_ns >= last->time_ns)
        return apply_outside(model, last, local_ns, bound_ns);
    const struct align_node *a = find_node(model, local_ns), *b = a + 1;
    uint64_t whole = (uint64_t)b->time_ns - (uint64_t)a->time_ns;
    uint64_t part = (uint64_t)local_ns - (uint64_t)a->time_ns;
    if (bound_ns != NULL)
        *bound_ns = between(a->bound_ns, b->bound_ns, part, whole) + 1;
    if (a->offset_ns == b->offset_ns)
        return add_saturated(local_ns, a->offset_ns);
    return add_saturated(local_ns, between(a->offset_ns, b->offset_ns, part, whole));
}
