/* Another tool that stands in front of MPI by the profiling interface: counts some calls and says
 * so at the end. */
#include <mpi.h>
#include <stdio.h>

static int sends, reductions, waits;

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    sends++;
    return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    waits++;
    return PMPI_Waitall(count, requests, statuses);
}

int MPI_Finalize(void)
{
    printf("tool: %d sends, %d reductions, %d waits\n", sends, reductions, waits);
    fflush(stdout);
    return PMPI_Finalize();
}
