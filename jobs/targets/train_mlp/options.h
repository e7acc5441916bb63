/* The command line of train_mlp, from one table. */
#ifndef TRAIN_MLP_OPTIONS_H
#define TRAIN_MLP_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "plant.h"

struct options {
    int64_t steps, width, batch, buckets, seed;
    int64_t sleep_work_us; /* 0: the work is the network's own */
    int64_t late_rank, late_us, slow_rank, slow_from, slow_us;
    enum plant_way late_way, slow_way;
    int overlap, large_last_bucket, alternate_recording, quiet, help;
    const char *times_path; /* NULL: no file of step times */
};

/* Reads the command line. Returns 0, or -1 after it has written to `complaints`, if that is not
 * NULL, what is wrong. */
int options_read(struct options *o, int argc, char **argv, FILE *complaints);

void options_print_help(FILE *out);

#endif
