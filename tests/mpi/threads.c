/* Several threads in MPI at a time: each exchanges messages with its twin on the neighbouring
 * ranks, and takes part in collectives of a communicator of its own. threads ROUNDS */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "mpi/expect.h"

#define THREADS 4
#define LENGTHS 7 /* message i carries i % LENGTHS + 1 integers */

static int rank, size, rounds;
static MPI_Comm comms[THREADS];

static void finish(int way, MPI_Request *r)
{
    int index, flag = 0, count, indices[2];
    switch (way) {
    case 0:
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        break;
    case 1:
        MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
        MPI_Wait(&r[1 - index], MPI_STATUS_IGNORE);
        break;
    case 2:
        while (!flag)
            MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
        break;
    case 3:
        for (int left = 2; left > 0; left -= count)
            MPI_Waitsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
        break;
    default:
        for (int i = 0; i < 2; i++)
            for (flag = 0; !flag;)
                MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
    }
}

static void *work(void *argument)
{
    int me = *(int *)argument, left = (rank + size - 1) % size, right = (rank + 1) % size;
    int out[LENGTHS], in[LENGTHS], sum;
    for (int i = 0; i < rounds; i++) {
        MPI_Request r[2];
        int count = i % LENGTHS + 1;
        for (int k = 0; k < count; k++)
            out[k] = i + k;
        MPI_Irecv(in, LENGTHS, MPI_INT, left, me, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, count, MPI_INT, right, me, MPI_COMM_WORLD, &r[1]);
        finish(i % 5, r);
        MUST(in[count - 1] == i + count - 1);
        if (i % 10 == 0) {
            MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
            MUST(sum == me * size);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE || argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    rounds = atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return expect_wrong;
}
