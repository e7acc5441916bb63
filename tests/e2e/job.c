/* A small MPI job that ends as it is told:  job ENDING [RANK]
 *   ok | exit (RANK ends with 3) | abort (RANK calls MPI_Abort with 5) | kill (RANK kills itself)
 *   nofinalize | after (calls MPI after MPI_Finalize) | wait (reduces again and again until a file
 * named "stop" appears) Prints its rank and what it read from stdin on rank 0. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void reduce(int times)
{
    for (int i = 0; i < times; i++) {
        double mine = i, sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void reduce_until_stopped(int rank)
{
    for (int stop = 0; !stop;) {
        stop = rank == 0 && access("stop", F_OK) == 0;
        MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
        reduce(10);
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    const char *ending = argc > 1 ? argv[1] : "ok";
    int who = argc > 2 ? atoi(argv[2]) : 0, rank, version, subversion;
    char line[100] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && fgets(line, sizeof line, stdin) == NULL)
        strcpy(line, "\n");
    reduce(100);
    printf("rank %d %s", rank, rank == 0 ? line : "\n");
    fflush(stdout);
    fprintf(stderr, "error stream of rank %d\n", rank);
    if (strcmp(ending, "wait") == 0)
        reduce_until_stopped(rank);
    if (strcmp(ending, "exit") == 0 && rank == who)
        exit(3);
    if (strcmp(ending, "abort") == 0 && rank == who)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(ending, "kill") == 0 && rank == who)
        raise(SIGKILL);
    if (strcmp(ending, "nofinalize") == 0)
        _exit(0);
    MPI_Finalize();
    if (strcmp(ending, "after") == 0)
        MPI_Get_version(&version, &subversion);
    return 0;
}
