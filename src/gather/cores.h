/* Sets of cores as the kernel writes them: "0-3,8,10-11". */
#ifndef GATHER_CORES_H
#define GATHER_CORES_H

#include <stdint.h>

#define CORES_MOST 8192

struct cores {
    uint64_t bits[CORES_MOST / 64];
};

/* Adds those of the list; what is not a number or beyond CORES_MOST ends the reading. */
void cores_add(struct cores *set, const char *list);

int cores_count(const struct cores *set);

#endif
