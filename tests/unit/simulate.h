/* A bulk-synchronous job by its own schedule: rows for the reducer, and the truth of the schedule
 * beside them. Nothing here uses the reducer's rules. */
#ifndef UNIT_SIMULATE_H
#define UNIT_SIMULATE_H

#include "reduce/reduce.h"

#define SIMULATED_RANKS 8
#define SIMULATED_STEPS 64

enum simulated_cause { PLANT_NOTHING, PLANT_WORK, PLANT_SLEEP };

struct simulation_plan {
    uint64_t seed;
    int ranks, steps;
    int64_t compute_ns; /* of a step; each rank's differs by up to noise_ns */
    int64_t noise_ns;
    int64_t shift_ns; /* added to all times */
    int reversed;     /* rank r plays the part of rank ranks - 1 - r */
    enum simulated_cause cause;
    int late_rank, from_step;
    int64_t late_ns;
    int missing; /* rank 0 leaves its last collective out of the record */
};

/* What the schedule says of one rank's step. */
struct simulated_step {
    int64_t begin_ns, end_ns, compute_ns, wait_ns, transfer_ns, mpi_call_ns, hidden_ns;
    int32_t last_rank; /* who came last to its blocking collective */
};

struct simulation {
    struct simulation_plan plan;
    struct run_tables tables;
    struct strings *strings;
    struct reduce_rank_rows rows[SIMULATED_RANKS];
    struct simulated_step truth[SIMULATED_RANKS][SIMULATED_STEPS];
    struct reduce_source source;
};

void simulation_open(struct simulation *s, const struct simulation_plan *plan);
void simulation_close(struct simulation *s);

/* A number below `limit` (0 for 0), the next of the sequence. */
int64_t simulation_random(uint64_t *state, int64_t limit);

#endif
