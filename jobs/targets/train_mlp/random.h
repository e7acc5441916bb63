/* Seeded random numbers: the same on every machine, so that a run can be repeated. */
#ifndef TRAIN_MLP_RANDOM_H
#define TRAIN_MLP_RANDOM_H

#include <math.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* Streams of different (seed, stream) are independent for our purposes. */
static inline struct random random_begin(uint64_t seed, uint64_t stream)
{
    return (struct random){seed * 0x9E3779B97F4A7C15u + stream * 0xD1B54A32D192ED03u + 1};
}

/* splitmix64 */
static inline uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* In (0, 1). */
static inline double random_uniform(struct random *r)
{
    return ((double)(random_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

/* Mean 0, variance 1 (Box-Muller). */
static inline float random_normal(struct random *r)
{
    double radius = sqrt(-2 * log(random_uniform(r)));
    return (float)(radius * cos(6.283185307179586 * random_uniform(r)));
}

#endif
