#include "intern.h"

#include <string.h>
#include <sys/mman.h>

#include "module.h"
#include "process.h"

#define STRINGS_MAX       (1u << 16)
#define SITES_MAX         (1u << 15)
#define COMMUNICATORS_MAX (1u << 14)
#define TEXT_BYTES        1000u
#define ARENA_BYTES       (16u << 20)

/* A text we have seen. */
struct text {
    uint64_t hash;
    uint32_t length, number;
    _Atomic uint32_t defined;
    char bytes[];
};

struct site {
    _Atomic uintptr_t address;
    _Atomic uint32_t number;
    _Atomic uint32_t defined;
};

struct intern {
    _Atomic(struct text *) strings[STRINGS_MAX];
    _Atomic uint32_t string_count;
    struct site sites[SITES_MAX];
    _Atomic uint32_t site_count;
    struct slot_communicator communicators[COMMUNICATORS_MAX];
    _Atomic size_t arena_used;
    char arena[ARENA_BYTES];
};

enum err intern_open(struct intern **out)
{
    void *memory = mmap(NULL, sizeof(struct intern), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return ERR_NO_MEMORY;
    *out = memory;
    return ERR_OK;
}

void intern_close(struct intern *t)
{
    if (t != NULL)
        munmap(t, sizeof *t);
}

static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001B3u;
    return h ^ h >> 32;
}

/* A fresh entry; NULL when the arena is full. What a lost race leaves in it stays unused. */
static struct text *make_text(struct intern *t, const char *bytes, size_t length, uint64_t hash)
{
    size_t size = (sizeof(struct text) + length + 15) & ~(size_t)15;
    size_t at = atomic_fetch_add_explicit(&t->arena_used, size, memory_order_relaxed);
    if (at > ARENA_BYTES - size)
        return NULL;
    struct text *text = (struct text *)(t->arena + at);
    text->hash = hash;
    text->length = (uint32_t)length;
    text->number = atomic_fetch_add(&process.segment->next_string, 1) + 1;
    memcpy(text->bytes, bytes, length);
    return text;
}

static int is_text(const struct text *text, const char *bytes, size_t length, uint64_t hash)
{
    return text->hash == hash && text->length == length && memcmp(text->bytes, bytes, length) == 0;
}

static struct text *find_text(struct intern *t, const char *bytes, size_t length)
{
    uint64_t hash = hash_text(bytes, length);
    for (uint32_t i = 0; i < STRINGS_MAX; i++) {
        _Atomic(struct text *) *place = &t->strings[(hash + i) % STRINGS_MAX];
        struct text *text = atomic_load_explicit(place, memory_order_acquire);
        if (text == NULL) {
            if (atomic_fetch_add(&t->string_count, 1) >= STRINGS_MAX / 2)
                return NULL;
            struct text *fresh = make_text(t, bytes, length, hash);
            if (fresh == NULL)
                return NULL;
            if (atomic_compare_exchange_strong(place, &text, fresh))
                return fresh;
        }
        if (is_text(text, bytes, length, hash))
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
    memset(s, 0, (1 + more) * sizeof *s);
    s->string = (struct slot_string){.kind = SLOT_string,
                                     .more = (uint16_t)more,
                                     .number = text->number,
                                     .length = text->length};
    memcpy(s->string.text, text->bytes, text->length - rest);
    memcpy(s[1].raw, text->bytes + text->length - rest, rest);
    record_publish(w);
    return 1;
}

uint32_t intern_string(struct intern *t, struct record_writer *w, const char *bytes)
{
    size_t length = strnlen(bytes, TEXT_BYTES);
    struct text *text = length > 0 ? find_text(t, bytes, length) : NULL;
    if (text == NULL)
        return 0;
    if (!atomic_load_explicit(&text->defined, memory_order_acquire)) {
        if (!define_text(w, text))
            return 0;
        atomic_store_explicit(&text->defined, 1, memory_order_release);
    }
    return text->number;
}

static int define_site(struct intern *t, struct record_writer *w, const void *address,
                       uint32_t number)
{
    struct module module;
    if (!module_find(address, &module))
        return 0;
    uint32_t path = intern_string(t, w, module.path),
             build_id = intern_string(t, w, module.build_id);
    union slot *s = record_reserve(w, 1);
    if (s == NULL)
        return 0;
    s->site = (struct slot_site){.kind = SLOT_site,
                                 .number = number,
                                 .module = path,
                                 .build_id = build_id,
                                 .offset = module.offset};
    record_publish(w);
    return 1;
}

/* The entry of the address, new or old; its number is set once, by whoever comes first. */
static struct site *find_site(struct intern *t, uintptr_t address)
{
    uintptr_t start = (address * 0x9E3779B97F4A7C15u) >> 40;
    for (uint32_t i = 0; i < SITES_MAX; i++) {
        struct site *site = &t->sites[(start + i) % SITES_MAX];
        uintptr_t there = atomic_load_explicit(&site->address, memory_order_relaxed);
        if (there == 0) {
            if (atomic_fetch_add(&t->site_count, 1) >= SITES_MAX / 2)
                return NULL;
            if (atomic_compare_exchange_strong(&site->address, &there, address))
                return site;
        }
        if (there == address)
            return site;
    }
    return NULL;
}

uint32_t intern_site(struct intern *t, struct record_writer *w, const void *address)
{
    struct site *site = address ? find_site(t, (uintptr_t)address) : NULL;
    if (site == NULL)
        return 0;
    if (__builtin_expect(atomic_load_explicit(&site->defined, memory_order_acquire), 1))
        return atomic_load_explicit(&site->number, memory_order_relaxed);
    uint32_t number = 0;
    uint32_t fresh = atomic_fetch_add(&process.segment->next_site, 1) + 1;
    if (atomic_compare_exchange_strong(&site->number, &number, fresh))
        number = fresh;
    if (!define_site(t, w, address, number))
        return 0;
    atomic_store_explicit(&site->defined, 1, memory_order_release);
    return number;
}

static int define_communicator(struct record_writer *w, const struct slot_communicator *definition)
{
    union slot *s = record_reserve(w, 1);
    if (s == NULL)
        return 0;
    s->communicator = *definition;
    record_publish(w);
    return 1;
}

uint32_t intern_communicator(struct intern *t, struct record_writer *w,
                             const struct slot_communicator *definition)
{
    struct slot_communicator complete = *definition;
    complete.kind = SLOT_communicator;
    complete.number = atomic_fetch_add(&process.segment->next_communicator, 1) + 1;
    if (complete.number < COMMUNICATORS_MAX)
        t->communicators[complete.number] = complete;
    return define_communicator(w, &complete) ? complete.number : 0;
}

void intern_rename(struct intern *t, struct record_writer *w, uint32_t number, uint32_t name)
{
    if (number == 0 || number >= COMMUNICATORS_MAX || t->communicators[number].number != number)
        return;
    t->communicators[number].name = name;
    define_communicator(w, &t->communicators[number]);
}
