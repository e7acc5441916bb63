/* scaleprof.h: collectives of the program's own, begun here, ended by any thread. */
#include "own.h"

#include <string.h>

#include "lane.h"
#include "process.h"

#define GROUPS_MAX 256u
#define NAME_BYTES 200u

/* A group that the program has named; entry 0 is the group of all ranks. A forked child goes on
 * with the parent's, under numbers of its own. */
struct group {
    _Atomic uint64_t key; /* 0 free */
    _Atomic uint32_t ready;
    _Atomic uint64_t numbered; /* generation << 32 | number in the segment */
    _Atomic int64_t sequence;
    int32_t member, size;
    char name[NAME_BYTES];
};

static struct group groups[GROUPS_MAX] = {{.key = 1, .ready = 1, .name = "world"}};

static uint64_t key_of(const char *name, int32_t size)
{
    uint64_t key = 0xCBF29CE484222325u ^ (uint32_t)size;
    for (const char *c = name; *c; c++)
        key = (key ^ (unsigned char)*c) * 0x100000001B3u;
    return key | 1u << 1;
}

/* Two threads that meet here for the first time define the group twice: both numbers carry the same
 * key. */
static uint32_t group_number(struct group *g, struct record_writer *w)
{
    uint64_t numbered = atomic_load_explicit(&g->numbered, memory_order_acquire);
    if (numbered >> 32 == scaleprof_generation && (uint32_t)numbered != 0)
        return (uint32_t)numbered;
    if (!atomic_load_explicit(&g->ready, memory_order_acquire))
        return 0;
    struct slot_communicator definition = {.source = COMMUNICATOR_OWN,
                                           .key = atomic_load(&g->key),
                                           .size = g->size,
                                           .member = g->member,
                                           .name = texts_number(&process->texts, w, g->name)};
    if (g == &groups[0]) {
        definition.size = process->segment->size;
        definition.member = process->segment->rank;
    }
    uint32_t number = communicators_define(&process->communicators, w, &definition);
    atomic_store_explicit(&g->numbered, (uint64_t)scaleprof_generation << 32 | number,
                          memory_order_release);
    return number;
}

static void fill_group(struct group *g, const char *name, int rank, int size)
{
    size_t length = strnlen(name, sizeof g->name - 1);
    memcpy(g->name, name, length);
    g->name[length] = 0;
    g->member = rank;
    g->size = size;
    atomic_store_explicit(&g->ready, 1, memory_order_release);
}

uint32_t scaleprof_communicator(const char *name, int rank, int size)
{
    if (lane_writer() == NULL)
        return 0;
    name = name != NULL ? name : "";
    uint64_t key = key_of(name, size);
    for (uint32_t i = 1; i < GROUPS_MAX; i++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&groups[i].key, &there, key)) {
            fill_group(&groups[i], name, rank, size);
            return i;
        }
        if (there == key)
            return i;
    }
    scaleprof_fault("scaleprof_communicator",
                    "more than 255 groups; collectives of further ones have no group");
    return GROUPS_MAX;
}

/* A free place, taken; NULL when too many are open. */
static struct own_begun *take_place(uint64_t *token)
{
    struct own *own = &process->own;
    uint32_t turn = atomic_fetch_add_explicit(&own->turns, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < OWN_OPEN_MAX; i++) {
        uint32_t at = (turn + i) % OWN_OPEN_MAX;
        uint64_t nothing = 0;
        if (atomic_compare_exchange_strong_explicit(&own->begun[at].token, &nothing, 1,
                                                    memory_order_acquire, memory_order_relaxed)) {
            *token = ((uint64_t)scaleprof_generation << 32 | turn) * OWN_OPEN_MAX + at;
            return &own->begun[at];
        }
    }
    return NULL;
}

/* Sequence numbers go on while recording is paused, as they do on the other members. */
uint64_t scaleprof_collective_begin(const char *kind, uint32_t communicator, int root,
                                    int64_t bytes)
{
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return 0;
    int64_t sequence =
        communicator < GROUPS_MAX ? atomic_fetch_add(&groups[communicator].sequence, 1) : -1;
    if (!lane_admits(w))
        return 0;
    uint64_t token;
    struct own_begun *place = take_place(&token);
    if (place == NULL) {
        scaleprof_fault("scaleprof_collective_begin", "more than 4096 collectives are open");
        return 0;
    }
    place->sequence = sequence;
    place->bytes = bytes;
    place->group = communicator;
    place->kind_name = kind != NULL ? texts_number(&process->texts, w, kind) : 0;
    place->root = root;
    place->begin_ns = record_now_ns(w);
    atomic_store_explicit(&place->token, token, memory_order_release);
    return token;
}

static void write_collective(struct record_writer *w, const struct own_begun *b, int64_t end_ns)
{
    uint32_t communicator = b->group < GROUPS_MAX ? group_number(&groups[b->group], w) : 0;
    union slot *s = record_reserve_event(w, 1);
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
                                               .bytes_received = -1};
    record_publish(w);
}

void scaleprof_collective_end(uint64_t token)
{
    struct record_writer *w = token != 0 ? lane_writer() : NULL;
    if (w == NULL)
        return;
    int64_t end_ns = record_now_ns(w);
    struct own_begun *place = &process->own.begun[token % OWN_OPEN_MAX];
    uint64_t expected = token;
    if (token < OWN_OPEN_MAX ||
        !atomic_compare_exchange_strong_explicit(&place->token, &expected, 1, memory_order_acquire,
                                                 memory_order_relaxed)) {
        lane_count_unbalanced(w);
        return;
    }
    struct own_begun copy = {.begin_ns = place->begin_ns,
                             .sequence = place->sequence,
                             .bytes = place->bytes,
                             .group = place->group,
                             .kind_name = place->kind_name,
                             .root = place->root};
    atomic_store_explicit(&place->token, 0, memory_order_release);
    write_collective(w, &copy, end_ns);
}
