/* Peers that are ranks of an MPI job of our own; and their communicator, for the store alone. */
#ifndef PEERS_MPI_COMM_H
#define PEERS_MPI_COMM_H

#include <mpi.h>

#include "peers/peers.h"

/* Starts MPI where it has not been started, and makes the group of all ranks, with a communicator
 * of its own that returns errors. Collective over the job. peers_close ends MPI if this started it.
 */
enum err peers_open_mpi_all(struct peers **out);

/* The group's communicator; MPI_COMM_NULL for a group without MPI. Owned by the group. */
MPI_Comm peers_communicator(const struct peers *p);

#endif
