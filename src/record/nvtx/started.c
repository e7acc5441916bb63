#include "started.h"

#include <stdatomic.h>

#include "record/record.h"

#define RANGES_MAX 1024u

/* `id` is 0 while the place is free, 1 while its owner fills it, else the number given out: the
 * place in its low digits, a turn above, so that an old number never meets a new range. */
static struct {
    _Atomic uint64_t id;
    int64_t begin_ns;
    uint32_t name;
} ranges[RANGES_MAX];
static _Atomic uint64_t turns;

uint64_t started_put(int64_t begin_ns, uint32_t name)
{
    uint64_t turn = atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed) + 1;
    for (uint64_t i = 0; i < RANGES_MAX; i++) {
        uint64_t place = (turn + i) % RANGES_MAX, expected = 0;
        if (!atomic_compare_exchange_strong_explicit(&ranges[place].id, &expected, 1,
                                                     memory_order_acquire, memory_order_relaxed))
            continue;
        ranges[place].begin_ns = begin_ns;
        ranges[place].name = name;
        uint64_t id = turn * RANGES_MAX + place;
        atomic_store_explicit(&ranges[place].id, id, memory_order_release);
        return id;
    }
    scaleprof_fault("nvtx", "more than 1024 started ranges are open");
    return 0;
}

int started_take(uint64_t id, int64_t *begin_ns, uint32_t *name)
{
    uint64_t place = id % RANGES_MAX, expected = id;
    if (id < RANGES_MAX ||
        !atomic_compare_exchange_strong_explicit(&ranges[place].id, &expected, 1,
                                                 memory_order_acquire, memory_order_relaxed))
        return 0;
    *begin_ns = ranges[place].begin_ns;
    *name = ranges[place].name;
    atomic_store_explicit(&ranges[place].id, 0, memory_order_release);
    return 1;
}
