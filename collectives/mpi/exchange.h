/* Clock exchange inside the job: the lowest rank of each clock domain other than rank 0's does one
 * burst with rank 0, over a communicator of our own. Its result lies in that rank's lane. */
#ifndef MPI_EXCHANGE_H
#define MPI_EXCHANGE_H

/* After MPI_Init, and before MPI_Finalize; collective over MPI_COMM_WORLD when it is wanted, which
 * every rank decides alike and without a message (setting `exchange`): ranks on one host need none,
 * and on several hosts all must be recorded, which is taken to be so where the launcher itself has
 * started one command. A failure counts as a fault and ends the exchanges of this process. */
void exchange_start(int rank, int size);
void exchange_finish(void);

#endif
