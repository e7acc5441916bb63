/* The way of an event: the inline half of record.h. */
#ifndef RECORD_WRITER_H
#define RECORD_WRITER_H

struct record_writer {
    struct segment_lane *lane;
    struct segment_chunk *chunk; /* NULL when none could be had; then used is SEGMENT_CHUNK_SLOTS */
    uint32_t used;               /* slots published */
    uint32_t reserved;           /* slots handed out after them */
    uint32_t ranges_skipped;     /* ranges begun while recording was paused and not ended yet */
};

/* Seals the full chunk and takes another. 0 when there is none: the drop of `count` slots has been
 * counted. */
SCALEPROF_API int scaleprof_refill(struct record_writer *w, unsigned count);

/* An end without a begin: counted. */
SCALEPROF_API void scaleprof_unbalanced(struct record_writer *w);

static inline union slot *record_reserve(struct record_writer *w, unsigned count)
{
    if (__builtin_expect(w->used + count > SEGMENT_CHUNK_SLOTS, 0) && !scaleprof_refill(w, count))
        return NULL;
    w->reserved = count;
    return &w->chunk->slots[w->used];
}

static inline void record_publish(struct record_writer *w)
{
    w->used += w->reserved;
    w->reserved = 0;
    atomic_store_explicit(&w->chunk->count, w->used, memory_order_release);
}

static inline int64_t record_open(struct record_writer *w, uint8_t kind, uint32_t name,
                                  uint32_t site, int64_t ref)
{
    struct segment_lane *lane = w->lane;
    uint32_t depth = atomic_load_explicit(&lane->open_count, memory_order_relaxed);
    int64_t begin_ns = clock_now_ns();
    if (__builtin_expect(depth < SEGMENT_OPEN_MAX, 1)) {
        struct segment_open *open = &lane->opens[depth];
        open->kind = kind;
        open->name = name;
        open->site = site;
        open->begin_ns = begin_ns;
        open->ref = ref;
    }
    atomic_store_explicit(&lane->open_count, depth + 1, memory_order_release);
    return begin_ns;
}

static inline void record_cancel(struct record_writer *w)
{
    uint32_t depth = atomic_load_explicit(&w->lane->open_count, memory_order_relaxed);
    if (depth > 0)
        atomic_store_explicit(&w->lane->open_count, depth - 1, memory_order_release);
}

/* An interval deeper than the header keeps has no begin: it is dropped, and counted as one. */
static inline union slot *record_close(struct record_writer *w, int64_t bytes, unsigned details)
{
    struct segment_lane *lane = w->lane;
    uint32_t depth = atomic_load_explicit(&lane->open_count, memory_order_relaxed);
    int64_t end_ns = clock_now_ns();
    if (__builtin_expect(depth == 0 || depth > SEGMENT_OPEN_MAX, 0)) {
        record_cancel(w);
        scaleprof_unbalanced(w);
        return NULL;
    }
    union slot *s = record_reserve(w, 1 + details);
    const struct segment_open *open = &lane->opens[depth - 1];
    if (__builtin_expect(s != NULL, 1))
        s->event = (struct slot_event){.kind = open->kind,
                                       .name = open->name,
                                       .site = open->site,
                                       .begin_ns = open->begin_ns,
                                       .duration_ns = end_ns - open->begin_ns,
                                       .ref = open->ref,
                                       .bytes = bytes};
    atomic_store_explicit(&lane->open_count, depth - 1, memory_order_release);
    return s;
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
