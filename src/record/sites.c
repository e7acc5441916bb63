#include "sites.h"

#include "lane.h"
#include "module.h"
#include "process.h"

static uint32_t first_place(uintptr_t address)
{
    return (uint32_t)((address * 0x9E3779B97F4A7C15u) >> 49);
}
_Static_assert(SITES_MAX == 1u << (64 - 49), "first_place covers the table");

uint32_t sites_find(const struct sites *t, const void *address)
{
    uint32_t start = first_place((uintptr_t)address);
    for (uint32_t i = 0; i < SITES_MAX; i++) {
        const struct site *site = &t->places[(start + i) % SITES_MAX];
        uintptr_t there = atomic_load_explicit(&site->address, memory_order_relaxed);
        if (there == (uintptr_t)address)
            return atomic_load_explicit(&site->defined, memory_order_acquire)
                       ? atomic_load_explicit(&site->number, memory_order_relaxed)
                       : 0;
        if (there == 0)
            return 0;
    }
    return 0;
}

/* The entry of the address, new or old; NULL when the table is full. */
static struct site *make_site(struct sites *t, uintptr_t address)
{
    uint32_t start = first_place(address);
    for (uint32_t i = 0; i < SITES_MAX; i++) {
        struct site *site = &t->places[(start + i) % SITES_MAX];
        uintptr_t there = atomic_load_explicit(&site->address, memory_order_relaxed);
        if (there == 0) {
            if (atomic_load(&t->count) >= SITES_MAX / 2)
                return NULL;
            if (atomic_compare_exchange_strong(&site->address, &there, address)) {
                atomic_fetch_add(&t->count, 1);
                return site;
            }
        }
        if (there == address)
            return site;
    }
    return NULL;
}

static int define_site(struct record_writer *w, const void *address, uint32_t number)
{
    struct module module;
    if (record_reserve(w, 1) == NULL) /* to look for the module takes microseconds */
        return 0;
    if (!module_find(address, &module))
        module = (struct module){.offset = (int64_t)(uintptr_t)address};
    uint32_t path = texts_number(&process->texts, w, module.path);
    uint32_t build_id = texts_number(&process->texts, w, module.build_id);
    union slot *s = record_reserve(w, 1);
    if (s == NULL)
        return 0;
    s->site = (struct slot_site){.kind = SLOT_site,
                                 .number = number,
                                 .module = path,
                                 .build_id = build_id,
                                 .offset = module.offset};
    record_publish(w);
    return path != 0 || module.path[0] == 0;
}

uint32_t sites_number(struct sites *t, struct record_writer *w, const void *address)
{
    if (address == NULL)
        return 0;
    struct site *site = make_site(t, (uintptr_t)address);
    if (site == NULL) {
        lane_count_lost(w, 1);
        return 0;
    }
    uint32_t number = 0, fresh = atomic_fetch_add(&process->segment->next_site, 1) + 1;
    if (atomic_compare_exchange_strong(&site->number, &number, fresh))
        number = fresh;
    if (!define_site(w, address, number))
        return 0;
    atomic_store_explicit(&site->defined, 1, memory_order_release);
    return number;
}
