#include "texts.h"

#include <string.h>

#include "lane.h"
#include "process.h"

#define TEXT_BYTES 1000u

/* A text we have seen. */
struct text {
    uint64_t hash;
    uint32_t length, number;
    _Atomic uint32_t defined;
    char bytes[];
};

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    return sum ^ sum >> 32;
}

static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t sum = length, word;
    for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
        memcpy(&word, text, sizeof word);
        sum = mix(sum, word);
    }
    word = 0;
    memcpy(&word, text, length);
    return mix(mix(sum, word), length);
}

/* A fresh entry; NULL when the arena is full. What a lost race leaves in it stays unused. */
static struct text *make_text(struct texts *t, const char *bytes, size_t length, uint64_t hash)
{
    uint32_t size = (uint32_t)(sizeof(struct text) + length + 15) & ~15u;
    uint32_t at = atomic_load_explicit(&t->arena_used, memory_order_relaxed);
    do {
        if (at > TEXTS_ARENA_BYTES - size)
            return NULL;
    } while (!atomic_compare_exchange_weak(&t->arena_used, &at, at + size));
    struct text *text = (struct text *)(void *)(t->arena + at);
    text->hash = hash;
    text->length = (uint32_t)length;
    text->number = atomic_fetch_add(&process->segment->next_string, 1) + 1;
    memcpy(text->bytes, bytes, length);
    return text;
}

static int is_text(const struct text *text, const char *bytes, size_t length, uint64_t hash)
{
    return text->hash == hash && text->length == length && memcmp(text->bytes, bytes, length) == 0;
}

/* Puts a fresh entry into the empty place, or returns what another thread has put there. */
static struct text *fill_place(struct texts *t, _Atomic(struct text *) *place, const char *bytes,
                               size_t length, uint64_t hash)
{
    struct text *there = NULL;
    if (atomic_load(&t->count) >= TEXTS_MAX / 2)
        return NULL;
    struct text *fresh = make_text(t, bytes, length, hash);
    if (fresh == NULL || !atomic_compare_exchange_strong(place, &there, fresh))
        return there;
    atomic_fetch_add(&t->count, 1);
    return fresh;
}

static struct text *find_text(struct texts *t, const char *bytes, size_t length)
{
    uint64_t hash = hash_text(bytes, length);
    for (uint32_t i = 0; i < TEXTS_MAX; i++) {
        _Atomic(struct text *) *place = &t->places[(hash + i) % TEXTS_MAX];
        struct text *text = atomic_load_explicit(place, memory_order_acquire);
        if (text == NULL)
            text = fill_place(t, place, bytes, length, hash);
        if (text == NULL || is_text(text, bytes, length, hash))
            return text;
    }
    return NULL;
}

static int define_text(struct record_writer *w, const struct text *text)
{
    uint32_t rest =
        text->length > SLOT_STRING_FIRST_BYTES ? text->length - SLOT_STRING_FIRST_BYTES : 0;
    uint32_t more = (rest + SEGMENT_SLOT_BYTES - 1) / SEGMENT_SLOT_BYTES;
    union slot *s = record_reserve(w, 1 + more);
    if (s == NULL)
        return 0;
    s->string = (struct slot_string){.kind = SLOT_string,
                                     .more = (uint16_t)more,
                                     .number = text->number,
                                     .length = text->length};
    memcpy(s->string.text, text->bytes, text->length - rest);
    if (more > 0) {
        memset(s + 1, 0, more * sizeof *s);
        memcpy(s + 1, text->bytes + text->length - rest, rest);
    }
    record_publish(w);
    return 1;
}

uint32_t texts_number(struct texts *t, struct record_writer *w, const char *bytes)
{
    size_t length = strnlen(bytes, TEXT_BYTES);
    if (length == 0)
        return 0;
    struct text *text = find_text(t, bytes, length);
    if (text == NULL) {
        lane_count_lost(w, 1);
        return 0;
    }
    if (__builtin_expect(atomic_load_explicit(&text->defined, memory_order_acquire), 1))
        return text->number;
    if (!define_text(w, text))
        return 0;
    atomic_store_explicit(&text->defined, 1, memory_order_release);
    return text->number;
}
