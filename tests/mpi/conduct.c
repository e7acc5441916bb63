/* A program in unusual situations: conduct SITUATION. What it prints must not depend on the probe.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/expect.h"

static int rank, handled;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

/* Errors of the program: same codes, same calls of its error handler. */
static void errors(void)
{
    MPI_Errhandler handler;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm none = MPI_COMM_NULL, copy;
    int value = 1, class;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    int codes[] = {
        MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD),
        MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD),
        MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD),
        MPI_Isend(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD, &request),
        MPI_Irecv(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD, &request),
        MPI_Recv(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD),
        MPI_Allreduce(&value, &value, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD),
        MPI_Barrier(none),
        MPI_Comm_dup(none, &copy),
        MPI_Comm_free(&none),
        MPI_Wait(NULL, MPI_STATUS_IGNORE),
        MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE),
        MPI_Request_free(&request),
        MPI_Start(&request),
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        MPI_Error_class(codes[i], &class);
        printf("%zu: class %d\n", i, class);
    }
    /* a message that is too long */
    int two[2] = {1, 2};
    MPI_Isend(two, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    int code = MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("truncated: class %d, handler called %d times\n", class, handled);
    MPI_Errhandler_free(&handler);
}

/* A child that is no rank, and one that is another program. */
static void children(void)
{
    int status;
    fflush(stdout);
    if (fork() == 0) {
        int up = 0;
        MPI_Initialized(&up);
        _exit(up);
    }
    wait(&status);
    printf("child ended with %d\n", WEXITSTATUS(status));
    fflush(stdout);
    if (fork() == 0)
        execl("/bin/echo", "echo", "from another program", (char *)NULL);
    wait(&status);
}

/* What a program may still ask. */
static void after(void)
{
    int initialised, finalised, version, subversion;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    MPI_Get_version(&version, &subversion);
    printf("%d %d\n", initialised, finalised);
}

int main(int argc, char **argv)
{
    const char *situation = argc > 1 ? argv[1] : "";
    int early;
    MPI_Initialized(&early);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(situation, "errors") == 0)
        errors();
    if (strcmp(situation, "children") == 0)
        children();
    if (strcmp(situation, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(situation, "kill") == 0)
        abort();
    if (strcmp(situation, "unfinished") == 0)
        return 0;
    MPI_Finalize();
    after();
    return early;
}
