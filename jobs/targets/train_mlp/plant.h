/* Planted causes: a known rank that loses a known time in a known way, which the report
 * must name. */
#ifndef TRAIN_MLP_PLANT_H
#define TRAIN_MLP_PLANT_H

#include <stdint.h>

enum plant_way { PLANT_AS_IT_WORKS, PLANT_BY_CPU, PLANT_BY_SLEEP };

struct plant {
    int rank;           /* -1: nothing planted */
    int64_t from_step;  /* in every step from this one on */
    int64_t us;         /* how much in a step */
    enum plant_way way; /* by CPU time, however long the cores are someone else's, or by sleeping */
};

/* Loses 1/`parts` of the step's planted time, if any is planted here and now. */
void plant_lose(const struct plant *p, int rank, int64_t step, int parts);

/* Sleeps `us` microseconds; nothing below 1. */
void plant_sleep(int64_t us);

#endif
