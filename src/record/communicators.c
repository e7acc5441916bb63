#include "communicators.h"

#include "lane.h"
#include "process.h"

static int write_definition(struct record_writer *w, const struct slot_communicator *definition)
{
    union slot *s = record_reserve(w, 1);
    if (s == NULL)
        return 0;
    s->communicator = *definition;
    record_publish(w);
    return 1;
}

uint32_t communicators_define(struct communicators *t, struct record_writer *w,
                              const struct slot_communicator *definition)
{
    struct slot_communicator complete = *definition;
    uint32_t number = atomic_fetch_add(&process->segment->next_communicator, 1) + 1;
    complete.kind = SLOT_communicator;
    complete.number = number;
    if (!write_definition(w, &complete))
        return 0;
    if (number < COMMUNICATORS_MAX) {
        t->places[number].definition = complete;
        atomic_store_explicit(&t->places[number].known, 1, memory_order_release);
    }
    return number;
}

void communicators_rename(struct communicators *t, struct record_writer *w, uint32_t number,
                          uint32_t name)
{
    if (number >= COMMUNICATORS_MAX ||
        !atomic_load_explicit(&t->places[number].known, memory_order_acquire)) {
        lane_count_lost(w, number != 0);
        return;
    }
    struct slot_communicator renamed = t->places[number].definition;
    renamed.name = name;
    write_definition(w, &renamed);
}
