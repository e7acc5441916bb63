/* Parts of the tour through all wrapped calls. */
#ifndef TEST_MPI_TOUR_H
#define TEST_MPI_TOUR_H

#include "mpi/expect.h"

struct tour {
    int rank, size;
    long world_sequence; /* collectives of MPI_COMM_WORLD so far */
    long operations;     /* non-blocking ones so far */
};

void tour_collectives(struct tour *t);
void tour_communicators(struct tour *t);
void tour_windows(struct tour *t);

#endif
