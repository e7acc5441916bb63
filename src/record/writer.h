/* The way of an event: the inline half of record.h. */
#ifndef RECORD_WRITER_H
#define RECORD_WRITER_H

#include "record/record.h"

/* Open intervals that a thread can hold; the first SEGMENT_OPEN_MAX of them show in its lane. */
#define RECORD_OPEN_MAX 256u

/* Lies in memory that a fork wipes: a child finds zeros, and with them neither lane nor chunk nor
 * open intervals. */
struct record_writer {
    _Alignas(64) _Atomic uint32_t
        admits; /* 0: scaleprof_writer has to look whether the thread records */
    uint32_t open_count;
    uint32_t used;     /* slots of the chunk that are published */
    uint32_t limit;    /* slots of the chunk; 0 without one */
    uint32_t reserved; /* slots after the used ones that the next publish shows */
    struct segment_chunk *chunk;
    struct segment_lane *lane;
    clockid_t clock_id;
    _Atomic int64_t gap_begin_ns; /* when a pause began that the lane does not show yet; 0 none */
    /* The last is nobody's: what is deeper goes there, and is counted when it ends. */
    struct segment_open deeper[RECORD_OPEN_MAX - SEGMENT_OPEN_MAX + 1];
};

/* The rare ways of record_reserve and record_close: another chunk, else NULL and the drop of
 * `events` (0 or 1) and of the other slots counted; an end that has no begin, counted. */
SCALEPROF_API union slot *scaleprof_refill(struct record_writer *w, unsigned count,
                                           unsigned events);
SCALEPROF_API union slot *scaleprof_refuse(struct record_writer *w);

static inline int64_t record_now_ns(const struct record_writer *w)
{
    struct timespec t;
    clock_gettime(w->clock_id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline union slot *record_take(struct record_writer *w, unsigned count, unsigned events)
{
    uint32_t used = w->used;
    if (__builtin_expect(count > w->limit - used, 0))
        return scaleprof_refill(w, count, events);
    w->reserved = count;
    return &w->chunk->slots[used];
}

static inline union slot *record_reserve(struct record_writer *w, unsigned count)
{
    return record_take(w, count, 0);
}

static inline union slot *record_reserve_event(struct record_writer *w, unsigned details)
{
    return record_take(w, 1 + details, 1);
}

static inline void record_publish(struct record_writer *w)
{
    w->used += w->reserved;
    w->reserved = 0;
    atomic_store_explicit(&w->chunk->count, w->used, memory_order_release);
}

static inline struct segment_open *record_open_at(struct record_writer *w, uint32_t place)
{
    if (__builtin_expect(place < SEGMENT_OPEN_MAX, 1))
        return &w->lane->opens[place];
    uint32_t last = RECORD_OPEN_MAX - SEGMENT_OPEN_MAX;
    return &w->deeper[place - SEGMENT_OPEN_MAX < last ? place - SEGMENT_OPEN_MAX : last];
}

static inline void record_set_open_count(struct record_writer *w, uint32_t count)
{
    w->open_count = count;
    atomic_store_explicit(&w->lane->open_count, count, memory_order_release);
}

static inline int64_t record_open(struct record_writer *w, uint8_t kind, uint32_t name,
                                  uint32_t site, int64_t ref)
{
    uint32_t place = w->open_count;
    struct segment_open *open = record_open_at(w, place);
    open->kind = kind;
    open->name = name;
    open->site = site;
    open->ref = ref;
    int64_t begin_ns = record_now_ns(w);
    open->begin_ns = begin_ns;
    record_set_open_count(w, place + 1);
    return begin_ns;
}

static inline union slot *record_close(struct record_writer *w, int64_t bytes, unsigned details)
{
    int64_t end_ns = record_now_ns(w);
    uint32_t place = w->open_count - 1;
    if (__builtin_expect(place >= RECORD_OPEN_MAX, 0))
        return scaleprof_refuse(w);
    const struct segment_open *open = record_open_at(w, place);
    union slot *s = record_take(w, 1 + details, 1);
    if (__builtin_expect(s != NULL, 1))
        s->event = (struct slot_event){.kind = open->kind,
                                       .name = open->name,
                                       .site = open->site,
                                       .begin_ns = open->begin_ns,
                                       .duration_ns = end_ns - open->begin_ns,
                                       .ref = open->ref,
                                       .bytes = bytes};
    record_set_open_count(w, place);
    return s;
}

static inline void record_cancel(struct record_writer *w)
{
    if (__builtin_expect(w->open_count == 0, 0))
        scaleprof_refuse(w);
    else
        record_set_open_count(w, w->open_count - 1);
}

static inline uint32_t record_name_number(struct record_name *name)
{
    uint64_t cached = atomic_load_explicit(&name->cached, memory_order_relaxed);
    uint32_t generation = scaleprof_generation;
    if (__builtin_expect(cached >> 32 == generation, 1))
        return (uint32_t)cached;
    uint32_t number = scaleprof_string(name->text);
    if (number != 0)
        atomic_store_explicit(&name->cached, (uint64_t)generation << 32 | number,
                              memory_order_relaxed);
    return number;
}

#endif
