/* Gradients in buckets, each averaged over the ranks by one MPI_Iallreduce that starts as soon as
 * backward has filled it. Bucket 0 holds the last parameters, for backward fills those first. */
#ifndef TRAIN_MLP_BUCKETS_H
#define TRAIN_MLP_BUCKETS_H

#include <mpi.h>
#include <stddef.h>

struct buckets {
    int count, started;
    size_t *begin; /* bucket b is gradients [begin[b], begin[b - 1]); begin[-1] is `total` */
    size_t total;
    MPI_Request *requests;
    float *gradients;
    MPI_Comm comm;
};

/* Equal buckets, or, with `large_last`, a last one of three quarters that nothing can hide behind.
 * The gradients stay the caller's. Returns 0, or -1 when memory is short. */
int buckets_open(struct buckets **out, float *gradients, size_t total, int count, int large_last,
                 MPI_Comm comm);
void buckets_close(struct buckets *b);

/* Starts every bucket that lies wholly in gradients [ready_from, total) and was not started yet. */
void buckets_start(struct buckets *b, size_t ready_from);
/* Lets MPI work on what was started, without waiting. */
void buckets_progress(struct buckets *b);
/* Waits for all, which have been started, and divides by the number of ranks. Collective. */
void buckets_finish(struct buckets *b);

#endif
