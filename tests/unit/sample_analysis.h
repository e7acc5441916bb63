/* Tables of a run and its analysis written by hand, for tests of what is made from them. */
#ifndef UNIT_SAMPLE_ANALYSIS_H
#define UNIT_SAMPLE_ANALYSIS_H

#include "report/report.h"

struct sample {
    struct run_tables run;
    struct analysis_tables analysis;
    struct strings *run_strings, *analysis_strings;
    struct report_input input; /* of the above */
};

/* A run of `ranks` ranks, two to a host of four cores, whose `steps` steps take about 10 ms each: 7
 * ms compute, 1 ms transfer, 2 ms wait on every rank. The first step is not kept. One allreduce a
 * step at train.c:123. Clocks within 1 us, likely 0.1 us. */
void sample_open(struct sample *s, int ranks, int steps);
void sample_close(struct sample *s);

/* The named sample: see sample_names, which NULL ends. 0 when there is none. */
int sample_open_named(struct sample *s, const char *name);
extern const char *const sample_names[];

/* Every table with any values in every column, of the seed; texts too. */
void sample_open_random(struct sample *s, unsigned seed);

void sample_put_fact(struct sample *s, const char *key, const char *value);

/* `rank` makes the others wait `late_ns` in each kept step. */
void sample_put_late(struct sample *s, int rank, uint8_t pattern, uint8_t cause, int64_t late_ns);

#endif
