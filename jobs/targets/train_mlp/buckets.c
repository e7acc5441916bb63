#include "buckets.h"

#include <stdlib.h>

int buckets_open(struct buckets **out, float *gradients, size_t total, int count, int large_last,
                 MPI_Comm comm)
{
    struct buckets *b = calloc(1, sizeof *b);
    if (b == NULL)
        return -1;
    b->count = count;
    b->total = total;
    b->gradients = gradients;
    b->comm = comm;
    b->begin = calloc((size_t)count, sizeof *b->begin);
    b->requests = calloc((size_t)count, sizeof *b->requests);
    if (b->begin == NULL || b->requests == NULL) {
        buckets_close(b);
        return -1;
    }
    size_t last = large_last && count > 1 ? total / 4 * 3 : total / (size_t)count;
    for (int i = 0; i < count; i++) {
        size_t after = (size_t)(count - 1 - i);
        b->begin[i] = after == 0 ? 0 : last + (total - last) / (size_t)(count - 1) * (after - 1);
        b->requests[i] = MPI_REQUEST_NULL;
    }
    *out = b;
    return 0;
}

void buckets_close(struct buckets *b)
{
    if (b == NULL)
        return;
    free(b->begin);
    free(b->requests);
    free(b);
}

void buckets_start(struct buckets *b, size_t ready_from)
{
    while (b->started < b->count && b->begin[b->started] >= ready_from) {
        int i = b->started++;
        size_t end = i == 0 ? b->total : b->begin[i - 1];
        MPI_Iallreduce(MPI_IN_PLACE, b->gradients + b->begin[i], (int)(end - b->begin[i]),
                       MPI_FLOAT, MPI_SUM, b->comm, &b->requests[i]);
    }
}

void buckets_progress(struct buckets *b)
{
    int done;
    if (b->started > 0)
        MPI_Testall(b->started, b->requests, &done, MPI_STATUSES_IGNORE);
}

void buckets_finish(struct buckets *b)
{
    int ranks;
    MPI_Waitall(b->count, b->requests, MPI_STATUSES_IGNORE);
    b->started = 0;
    MPI_Comm_size(b->comm, &ranks);
    for (size_t i = 0; i < b->total; i++)
        b->gradients[i] /= (float)ranks;
}
