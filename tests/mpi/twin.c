/* The program whose twins in Fortran (twin.F90) and Python (twin.py) must give the same rows. */
#include <mpi.h>
#include <string.h>

#include "mpi/expect.h"

int main(int argc, char **argv)
{
    int rank, size, value, sum, provided, index, pair[2], all[16] = {0}, counts[8], starts[8];
    double matrix[8] = {0};
    MPI_Request r[2];
    MPI_Status status;
    MPI_Comm comm;
    MPI_Datatype column;
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    value = rank;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MUST(sum == size * (size - 1) / 2 && value == size - 1);
    MPI_Bcast(matrix, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    all[rank] = rank;
    if (rank == 0)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Gather(&rank, 1, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        starts[i] = i;
    }
    MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, starts, MPI_INT, MPI_COMM_WORLD);
    MUST(all[size - 1] == size - 1);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MUST(sum == size * (size - 1) / 2);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &value, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MUST(value == left);
    MPI_Irecv(pair, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MUST(pair[0] == left);
    MPI_Irecv(pair, 2, MPI_INT, left, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Send(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    MPI_Wait(&r[0], &status);
    MUST(status.MPI_SOURCE == left && status.MPI_TAG == 3);
    MPI_Isend(&rank, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Probe(left, 4, MPI_COMM_WORLD, &status);
    MPI_Recv(&value, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &status);
    MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE);
    MUST(value == left && index == 0);
    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv_replace(matrix, 1, column, right, 5, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    MPI_Recv_init(&value, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(&rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &r[1]);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MUST(value == left);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    MPI_Comm_set_name(comm, "parity");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    printf("%d of %d: %d\n", rank, size, sum);
    MPI_Finalize();
    return expect_wrong;
}
