#include "collectives/mpi/orders.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "collectives/mpi/digest.h"
#include "collectives/mpi/probe.h"
#include "record/record.h"

#define PROBES_MAX 64u

/* A counter is never taken away, so a key that is found or stored stays. Pages are touched as they
 * are used. */
struct order {
    _Atomic uint64_t key;
    _Atomic int64_t next;
};
static struct order orders[ORDERS_MAX];
static _Atomic bool full;

int64_t orders_next(uint32_t number, int peer, int tag, unsigned direction)
{
    uint64_t key = digest_add((uint64_t)number << 32 | (uint32_t)peer,
                              (uint64_t)(uint32_t)tag << 1 | direction);
    for (uint32_t i = 0; i < PROBES_MAX; i++) {
        struct order *o = &orders[(key + i) % ORDERS_MAX];
        uint64_t found = atomic_load_explicit(&o->key, memory_order_relaxed);
        if (found == 0 && atomic_compare_exchange_strong(&o->key, &found, key))
            found = key;
        if (found == key)
            return probe_count(&o->next);
    }
    if (!atomic_exchange(&full, true))
        scaleprof_fault("mpi message order", "too many different peers and tags");
    return -1;
}
