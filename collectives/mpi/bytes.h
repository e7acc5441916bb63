/* Sizes of what a call moves. To be called only for arguments that MPI has accepted and that are
 * significant: a datatype that is neither would be an error of ours in the program's own error
 * handler. -1: not known. */
#ifndef MPI_BYTES_H
#define MPI_BYTES_H

#include <stdint.h>

#include "collectives/mpi/own.h"

static inline int64_t bytes_times(int64_t bytes, int64_t count)
{
    int64_t product;
    if (bytes < 0 || __builtin_mul_overflow(bytes, count, &product))
        return -1;
    return product;
}

static inline int64_t bytes_of(int count, MPI_Datatype type)
{
    MPI_Count size;
    if (count == 0)
        return 0;
    if (own.Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return -1;
    return bytes_times(size, count);
}

/* Of counts[0] to counts[n - 1] elements of one type. */
static inline int64_t bytes_sum(const int *counts, int n, MPI_Datatype type)
{
    int64_t elements = 0;
    MPI_Count size;
    for (int i = 0; i < n; i++)
        elements += counts[i];
    if (elements == 0)
        return 0;
    if (own.Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return -1;
    return bytes_times(size, elements);
}

static inline int64_t bytes_sum_types(const int *counts, const MPI_Datatype *types, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        int64_t bytes = bytes_of(counts[i], types[i]);
        if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
            return -1;
    }
    return sum;
}

/* Of an access to another rank's window; none to MPI_PROC_NULL. */
static inline int64_t bytes_to(int target, int count, MPI_Datatype type)
{
    return target == MPI_PROC_NULL ? 0 : bytes_of(count, type);
}

/* Of a received message. */
static inline int64_t bytes_received(const MPI_Status *status)
{
    MPI_Count bytes;
    if (own.Get_elements_x(status, own_handle.byte, &bytes) != MPI_SUCCESS || bytes < 0)
        return -1;
    return bytes;
}

#endif
