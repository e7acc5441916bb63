#include "cores.h"

#include <stdlib.h>

void cores_add(struct cores *set, const char *list)
{
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last >= CORES_MOST)
            return;
        for (unsigned long core = first; core <= last; core++)
            set->bits[core / 64] |= UINT64_C(1) << core % 64;
        list = *end == ',' ? end + 1 : end;
    }
}

int cores_count(const struct cores *set)
{
    int count = 0;
    for (unsigned i = 0; i < CORES_MOST / 64; i++)
        count += __builtin_popcountll(set->bits[i]);
    return count;
}
