/* Collectives that a program marks itself: begun here, ended by any thread. */
#include <stdio.h>
#include <string.h>

#include "lane.h"
#include "process.h"

#define COMMUNICATORS_MAX 256u
#define OPEN_MAX          4096u

/* A group the program has named; entry 0 is the group of all ranks. */
struct group {
    _Atomic uint32_t number; /* in the segment of `generation`; 0 not defined there yet */
    uint32_t generation;
    _Atomic int64_t sequence;
    int32_t member, size;
    char name[64];
};

struct begun {
    _Atomic uint64_t token; /* 0 free, 1 being filled */
    int64_t begin_ns;
    int64_t sequence, bytes;
    uint32_t group, kind_name;
    int32_t root;
};

static struct group groups[COMMUNICATORS_MAX] = {{.name = "world", .member = -1, .size = -1}};
static _Atomic uint32_t group_count = 1;
static struct begun begun[OPEN_MAX];
static _Atomic uint64_t turns;

static uint64_t key_of(const struct group *g)
{
    uint64_t key = 0xCBF29CE484222325u ^ (uint64_t)(uint32_t)g->size;
    for (const char *c = g->name; *c; c++)
        key = (key ^ (unsigned char)*c) * 0x100000001B3u;
    return key | 1;
}

static void learn_world(struct group *g)
{
    g->member = process.segment->rank;
    g->size = process.segment->size;
}

/* Two threads that meet here for the first time define the group twice: both numbers carry the same
 * key. */
static uint32_t group_number(struct group *g)
{
    if (g->generation == scaleprof_generation)
        return atomic_load_explicit(&g->number, memory_order_acquire);
    if (g == &groups[0])
        learn_world(g);
    struct slot_communicator definition = {.source = COMMUNICATOR_OWN,
                                           .key = key_of(g),
                                           .size = g->size,
                                           .member = g->member,
                                           .name = scaleprof_string(g->name)};
    atomic_store_explicit(&g->number, scaleprof_communicator_define(&definition),
                          memory_order_release);
    g->generation = scaleprof_generation;
    return atomic_load_explicit(&g->number, memory_order_relaxed);
}

uint32_t scaleprof_communicator(const char *name, int rank, int size)
{
    if (lane_writer() == NULL)
        return 0;
    uint32_t at = atomic_fetch_add(&group_count, 1);
    if (at >= COMMUNICATORS_MAX) {
        atomic_store(&group_count, COMMUNICATORS_MAX);
        scaleprof_fault("scaleprof_communicator",
                        "more than 255 groups; further ones count as the group of all ranks");
        return 0;
    }
    struct group *g = &groups[at];
    snprintf(g->name, sizeof g->name, "%s", name ? name : "");
    g->member = rank;
    g->size = size;
    return at;
}

/* A free place, taken; NULL when too many are open. */
static struct begun *take_place(uint64_t *token)
{
    uint64_t turn = atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed) + 1;
    for (uint64_t i = 0; i < OPEN_MAX; i++) {
        struct begun *place = &begun[(turn + i) % OPEN_MAX];
        uint64_t nothing = 0;
        if (atomic_compare_exchange_strong_explicit(&place->token, &nothing, 1,
                                                    memory_order_acquire, memory_order_relaxed)) {
            *token = turn * OPEN_MAX + (turn + i) % OPEN_MAX;
            return place;
        }
    }
    return NULL;
}

uint64_t scaleprof_collective_begin(const char *kind, uint32_t communicator, int root,
                                    int64_t bytes)
{
    if (lane_writer() == NULL)
        return 0;
    struct group *g = &groups[communicator < COMMUNICATORS_MAX ? communicator : 0];
    int64_t sequence = atomic_fetch_add(&g->sequence, 1);
    uint64_t token;
    struct begun *place = take_place(&token);
    if (place == NULL) {
        scaleprof_fault("scaleprof_collective_begin", "more than 4096 collectives are open");
        return 0;
    }
    place->begin_ns = clock_now_ns();
    place->sequence = sequence;
    place->bytes = bytes;
    place->group = (uint32_t)(g - groups);
    place->kind_name = scaleprof_string(kind ? kind : "");
    place->root = root;
    atomic_store_explicit(&place->token, token, memory_order_release);
    return token;
}

static void write_collective(struct record_writer *w, const struct begun *b)
{
    uint32_t communicator = group_number(&groups[b->group]);
    int64_t end_ns = clock_now_ns();
    union slot *s = record_reserve(w, 2);
    if (s == NULL)
        return;
    s[0].event = (struct slot_event){.kind = EVENT_own_collective,
                                     .name = b->kind_name,
                                     .begin_ns = b->begin_ns,
                                     .duration_ns = end_ns - b->begin_ns,
                                     .ref = -1,
                                     .bytes = b->bytes};
    s[1].collective = (struct slot_collective){.kind = SLOT_collective,
                                               .scope = SEQUENCE_COMMUNICATOR,
                                               .blocking = 1,
                                               .communicator = communicator,
                                               .root = b->root,
                                               .kind_name = b->kind_name,
                                               .sequence = b->sequence,
                                               .bytes_sent = b->bytes,
                                               .bytes_received = b->bytes};
    record_publish(w);
}

void scaleprof_collective_end(uint64_t token)
{
    struct begun *place = &begun[token % OPEN_MAX];
    uint64_t expected = token;
    if (token < OPEN_MAX ||
        !atomic_compare_exchange_strong_explicit(&place->token, &expected, 1, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    struct begun copy = {.begin_ns = place->begin_ns,
                         .sequence = place->sequence,
                         .bytes = place->bytes,
                         .group = place->group,
                         .kind_name = place->kind_name,
                         .root = place->root};
    atomic_store_explicit(&place->token, 0, memory_order_release);
    struct record_writer *w = scaleprof_writer();
    if (w != NULL)
        write_collective(w, &copy);
}
