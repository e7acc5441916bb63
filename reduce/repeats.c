#include "repeats.h"

#include <stdlib.h>

#define LONGEST_PERIOD 1024
#define LOOKED_AT      16384 /* signatures at the begin of a long sequence */
#define LEAST_TIMES    4

/* Longest stretch in which each signature equals the one a period before. */
static size_t longest_stretch(const uint64_t *s, size_t count, size_t period, size_t *first)
{
    size_t best = 0, length = 0;
    for (size_t i = period; i < count; i++) {
        length = s[i] == s[i - period] ? length + 1 : 0;
        if (length > best) {
            best = length;
            *first = i + 1 - length - period;
        }
    }
    return best ? best + period : 0;
}

int repeats_find(const uint64_t *signatures, size_t count, struct repeats *out)
{
    size_t looked_at = count < LOOKED_AT ? count : LOOKED_AT;
    size_t longest =
        looked_at / LEAST_TIMES < LONGEST_PERIOD ? looked_at / LEAST_TIMES : LONGEST_PERIOD;
    for (size_t period = 1; period <= longest; period++) {
        size_t first = 0, stretch = longest_stretch(signatures, looked_at, period, &first);
        if (stretch < LEAST_TIMES * period || stretch < looked_at / 2)
            continue;
        size_t end = first + stretch;
        while (end < count && signatures[end] == signatures[end - period])
            end++;
        *out = (struct repeats){.first = first, .period = period, .times = (end - first) / period};
        return 1;
    }
    return 0;
}

static uint64_t signature(const struct operation *o)
{
    uint64_t h = o->communicator * 0x9E3779B97F4A7C15u ^ o->kind;
    return (h ^ (uint64_t)o->bytes) * 0xC2B2AE3D27D4EB4Fu;
}

static int find_on_rank(const struct state *s, const struct rank_state *r, uint64_t *signatures,
                        struct repeats *out)
{
    size_t count = 0;
    for (size_t k = 0; k < r->operation_count; k++)
        if (!s->operations[r->first_operation + k].is_message)
            signatures[count++] = signature(&s->operations[r->first_operation + k]);
    return repeats_find(signatures, count, out);
}

int repeats_agree(const struct state *s, struct repeats *out)
{
    uint64_t *signatures = malloc((s->operation_count + 1) * sizeof *signatures);
    int found = 0, agreed = signatures != NULL;
    for (size_t i = 0; i < s->rank_count && agreed; i++) {
        struct repeats mine;
        if (s->ranks[i].collectives == 0)
            continue;
        agreed = find_on_rank(s, &s->ranks[i], signatures, &mine) &&
                 (!found || (mine.period == out->period && mine.first == out->first));
        if (agreed && (!found || mine.times < out->times))
            *out = mine;
        found |= agreed;
    }
    free(signatures);
    return found && agreed;
}
