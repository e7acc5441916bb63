#include "strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Texts lie one after another, each with a closing 0; starts[i] is where text i begins. `slots` is
 * an open addressing hash table of numbers + 1, at most half full. */
struct strings {
    char *bytes;
    size_t used, room;
    size_t *starts;
    size_t count, starts_room;
    uint32_t *slots;
    size_t slot_count;
};

static size_t length_of(const struct strings *s, uint32_t number)
{
    size_t end = number + 1 < s->count ? s->starts[number + 1] : s->used;
    return end - s->starts[number] - 1;
}

static uint64_t hash(const char *text, size_t length)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001B3u;
    return h ^ h >> 29;
}

/* The slot that holds the text, or the empty one where it belongs. */
static size_t find_slot(const struct strings *s, const char *text, size_t length)
{
    size_t at = hash(text, length) & (s->slot_count - 1);
    for (; s->slots[at] != 0; at = (at + 1) & (s->slot_count - 1)) {
        uint32_t number = s->slots[at] - 1;
        if (length_of(s, number) == length &&
            memcmp(s->bytes + s->starts[number], text, length) == 0)
            break;
    }
    return at;
}

static void fill_slots(struct strings *s)
{
    memset(s->slots, 0, s->slot_count * sizeof *s->slots);
    for (size_t i = 0; i < s->count; i++) {
        size_t at = find_slot(s, s->bytes + s->starts[i], length_of(s, (uint32_t)i));
        if (s->slots[at] == 0)
            s->slots[at] = (uint32_t)i + 1;
    }
}

static enum err grow_slots(struct strings *s)
{
    size_t wanted = s->slot_count ? s->slot_count * 2 : 64;
    uint32_t *larger = malloc(wanted * sizeof *larger);
    if (larger == NULL)
        return ERR_NO_MEMORY;
    free(s->slots);
    s->slots = larger;
    s->slot_count = wanted;
    fill_slots(s);
    return ERR_OK;
}

static enum err grow(struct strings *s, size_t length)
{
    if (s->used + length + 1 > s->room) {
        size_t wanted = (s->used + length + 1) * 2;
        char *larger = realloc(s->bytes, wanted);
        if (larger == NULL)
            return ERR_NO_MEMORY;
        s->bytes = larger;
        s->room = wanted;
    }
    if (s->count == s->starts_room) {
        size_t wanted = s->starts_room ? s->starts_room * 2 : 64;
        size_t *larger = realloc(s->starts, wanted * sizeof *larger);
        if (larger == NULL)
            return ERR_NO_MEMORY;
        s->starts = larger;
        s->starts_room = wanted;
    }
    return (s->count + 1) * 2 > s->slot_count ? grow_slots(s) : ERR_OK;
}

/* Adds a text without looking for it. */
static enum err append(struct strings *s, const char *text, size_t length)
{
    if (s->count >= TABLE_NONE - 1)
        return ERR_LIMIT;
    enum err e = grow(s, length);
    if (e)
        return e;
    s->starts[s->count] = s->used;
    if (length > 0)
        memcpy(s->bytes + s->used, text, length);
    s->bytes[s->used + length] = 0;
    s->used += length + 1;
    s->count++;
    return ERR_OK;
}

enum err strings_open(struct strings **out)
{
    struct strings *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ERR_NO_MEMORY;
    if (strings_put(s, "", 0) == TABLE_NONE) {
        strings_close(s);
        return ERR_NO_MEMORY;
    }
    *out = s;
    return ERR_OK;
}

void strings_close(struct strings *s)
{
    if (s == NULL)
        return;
    free(s->bytes);
    free(s->starts);
    free(s->slots);
    free(s);
}

uint32_t strings_put(struct strings *s, const char *text, size_t length)
{
    if (s->slot_count == 0 && grow_slots(s) != ERR_OK)
        return TABLE_NONE;
    size_t at = find_slot(s, text, length);
    if (s->slots[at] != 0)
        return s->slots[at] - 1;
    if (append(s, text, length) != ERR_OK)
        return TABLE_NONE;
    s->slots[find_slot(s, text, length)] = (uint32_t)s->count;
    return (uint32_t)s->count - 1;
}

uint32_t strings_find_text(const struct strings *s, const char *text)
{
    size_t at = find_slot(s, text, strlen(text)); /* "" is always there, and so are slots */
    return s->slots[at] != 0 ? s->slots[at] - 1 : TABLE_NONE;
}

uint32_t strings_put_text(struct strings *s, const char *text)
{
    return strings_put(s, text, strlen(text));
}

const char *strings_get(const struct strings *s, uint32_t number)
{
    return number < s->count ? s->bytes + s->starts[number] : "";
}

size_t strings_count(const struct strings *s)
{
    return s->count;
}

static int compare_texts(const void *a, const void *b, void *context)
{
    const struct strings *s = context;
    return strcmp(s->bytes + s->starts[*(const uint32_t *)a],
                  s->bytes + s->starts[*(const uint32_t *)b]);
}

enum err strings_sort(struct strings *s, uint32_t *map)
{
    uint32_t *order = malloc(s->count * sizeof *order);
    struct strings sorted = {0};
    if (order == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < s->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, s->count, sizeof *order, compare_texts, s);
    enum err e = ERR_OK;
    for (size_t i = 0; i < s->count && !e; i++)
        e = append(&sorted, s->bytes + s->starts[order[i]], length_of(s, order[i]));
    if (!e) {
        for (size_t i = 0; i < s->count; i++)
            map[order[i]] = (uint32_t)i;
        fill_slots(&sorted);
        struct strings old = *s;
        *s = sorted;
        sorted = old;
    }
    free(order);
    free(sorted.bytes);
    free(sorted.starts);
    free(sorted.slots);
    return e;
}

enum err strings_store(const struct strings *s, struct string_bytes_rows *bytes,
                       struct string_ends_rows *ends)
{
    size_t first, at = 0;
    enum err e = rows_append(bytes, table_string_bytes, s->used - s->count, NULL);
    if (!e)
        e = rows_append(ends, table_string_ends, s->count, &first);
    if (e)
        return e;
    for (size_t i = 0; i < s->count; i++) {
        size_t length = length_of(s, (uint32_t)i);
        if (length > 0)
            memcpy((char *)bytes->bytes + at, s->bytes + s->starts[i], length);
        at += length;
        ends->end[i] = (int64_t)at;
    }
    return ERR_OK;
}

/* A file may hold a text twice, or one with a 0 byte in it: numbers must stay as they are, so none
 * is merged. */
enum err strings_load(struct strings *s, const struct string_bytes_rows *bytes,
                      const struct string_ends_rows *ends)
{
    struct strings fresh = {0};
    enum err e = ERR_OK;
    int64_t begin = 0;
    for (size_t i = 0; i < ends->count && !e; i++) {
        int64_t end = ends->end[i];
        if (end < begin || (uint64_t)end > bytes->count) {
            log_error("text %zu of the file ends at byte %lld of %zu", i, (long long)end,
                      bytes->count);
            e = ERR_FORMAT;
            break;
        }
        e = append(&fresh, (const char *)bytes->bytes + begin, (size_t)(end - begin));
        begin = end;
    }
    if (!e && (fresh.count == 0 || length_of(&fresh, 0) != 0)) {
        log_error("entry 0 of the file's texts is not the empty text");
        e = ERR_FORMAT;
    }
    if (!e) {
        fill_slots(&fresh);
        struct strings old = *s;
        *s = fresh;
        fresh = old;
    }
    free(fresh.bytes);
    free(fresh.starts);
    free(fresh.slots);
    return e;
}
