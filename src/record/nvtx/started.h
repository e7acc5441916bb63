/* Ranges that NVTX starts and ends by a number, in any order and on any thread. */
#ifndef NVTX_STARTED_H
#define NVTX_STARTED_H

#include <stdint.h>

/* Keeps a range that begins now; 0 when too many are open at once (counted as a fault). */
uint64_t started_put(int64_t begin_ns, uint32_t name);

/* Takes the range of this number out; 0 when there is none. */
int started_take(uint64_t id, int64_t *begin_ns, uint32_t *name);

#endif
