#include "collectives.h"

#include <stdlib.h>
#include <string.h>

#include "trace/vocabulary.h"

/* The key of a member as digits of one byte, least significant first. */
#define KEY_BYTES 22
#define RADIX     256

static unsigned subkey(const struct collective_member *m)
{
    return (unsigned)m->scope << 8 | (m->scope == SEQUENCE_FUNCTION ? m->kind : 0);
}

/* Signed numbers sort as unsigned ones once their sign bit is turned. */
static unsigned digit(const struct collective_member *m, int place)
{
    if (place < 4)
        return ((uint32_t)m->rank ^ 0x80000000u) >> (8 * place) & 0xff;
    if (place < 6)
        return subkey(m) >> (8 * (place - 4)) & 0xff;
    if (place < 14)
        return ((uint64_t)m->sequence ^ 1ull << 63) >> (8 * (place - 6)) & 0xff;
    return m->communicator >> (8 * (place - 14)) & 0xff;
}

static void count_digits(const struct collective_member *members, size_t count, int place,
                         size_t starts[RADIX])
{
    memset(starts, 0, RADIX * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[digit(&members[i], place)]++;
}

/* One stable pass by the digit; 0 when all members have the same, and nothing was moved. */
static int sort_by_digit(const struct collective_member *from, struct collective_member *to,
                         size_t count, int place)
{
    size_t starts[RADIX];
    count_digits(from, count, place, starts);
    if (starts[digit(&from[0], place)] == count)
        return 0;
    size_t before = 0;
    for (int d = 0; d < RADIX; d++) {
        size_t here = starts[d];
        starts[d] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[digit(&from[i], place)]++] = from[i];
    return 1;
}

enum err collective_match(struct collective_member *members, size_t count)
{
    if (count < 2)
        return ERR_OK;
    struct collective_member *spare = malloc(count * sizeof *spare);
    if (spare == NULL)
        return ERR_NO_MEMORY;
    struct collective_member *from = members, *to = spare;
    for (int place = 0; place < KEY_BYTES; place++) {
        if (!sort_by_digit(from, to, count, place))
            continue;
        struct collective_member *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != members)
        memcpy(members, from, count * sizeof *members);
    free(spare);
    return ERR_OK;
}

static int same_instance(const struct collective_member *a, const struct collective_member *b)
{
    return a->communicator == b->communicator && a->sequence == b->sequence &&
           subkey(a) == subkey(b);
}

size_t collective_instance_end(const struct collective_member *members, size_t count, size_t first)
{
    size_t end = first;
    while (end < count && same_instance(&members[first], &members[end]))
        end++;
    return end;
}
