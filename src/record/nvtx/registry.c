#include "registry.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>

#define ARENA_BYTES (1u << 20)
#define TEXT_BYTES  1000u

/* One registered text. `cached` is the number it got in the process whose pid is kept beside it. */
struct entry {
    struct record_name name;
    char text[];
};

static _Alignas(struct entry) char arena[ARENA_BYTES];
static atomic_size_t arena_used;
static _Alignas(struct entry) char nothing[sizeof(struct entry) + 8];

static size_t entry_bytes(size_t length)
{
    size_t bytes = sizeof(struct entry) + length + 1;
    return (bytes + _Alignof(struct entry) - 1) / _Alignof(struct entry) * _Alignof(struct entry);
}

const void *registry_put(const char *text)
{
    size_t length = text ? strnlen(text, TEXT_BYTES) : 0;
    size_t bytes = entry_bytes(length);
    size_t at = atomic_fetch_add(&arena_used, bytes);
    if (at > ARENA_BYTES - bytes) {
        scaleprof_fault("nvtx", "no room for more registered strings");
        return nothing;
    }
    struct entry *entry = (struct entry *)(arena + at);
    if (length > 0)
        memcpy(entry->text, text, length);
    entry->text[length] = 0;
    entry->name.text = entry->text;
    return entry;
}

/* The arena starts as zeroes, so an address inside it that is not an entry has no text. */
uint32_t registry_name(const void *handle)
{
    ptrdiff_t at = (const char *)handle - arena;
    if (at < 0 || (size_t)at > ARENA_BYTES - sizeof(struct entry) ||
        at % (ptrdiff_t) _Alignof(struct entry))
        return 0;
    struct entry *entry = (struct entry *)(arena + at);
    if (entry->name.text != entry->text)
        return 0;
    return record_name_number(&entry->name);
}

void registry_narrow(const wchar_t *wide, char *out, size_t size)
{
    size_t at = 0;
    for (; wide != NULL && *wide != 0 && at + 4 < size; wide++) {
        uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            out[at++] = (char)c;
        } else if (c < 0x800) {
            out[at++] = (char)(0xC0 | c >> 6);
            out[at++] = (char)(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            out[at++] = (char)(0xE0 | c >> 12);
            out[at++] = (char)(0x80 | (c >> 6 & 0x3F));
            out[at++] = (char)(0x80 | (c & 0x3F));
        } else {
            out[at++] = (char)(0xF0 | (c >> 18 & 7));
            out[at++] = (char)(0x80 | (c >> 12 & 0x3F));
            out[at++] = (char)(0x80 | (c >> 6 & 0x3F));
            out[at++] = (char)(0x80 | (c & 0x3F));
        }
    }
    out[at] = 0;
}
