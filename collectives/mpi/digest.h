/* 64-bit digests for keys that every process computes alike. */
#ifndef MPI_DIGEST_H
#define MPI_DIGEST_H

#include <stdint.h>

/* The digest of what `digest` stands for followed by `value`; never 0. A finaliser with full
 * avalanche, so that any bits of it serve as a hash. */
static inline uint64_t digest_add(uint64_t digest, uint64_t value)
{
    uint64_t x = ((digest + 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u) ^ value;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x != 0 ? x : 1;
}

#endif
