#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host.h"
#include "unit/check.h"

static void test_hosts(void)
{
    static const char *const all[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                      "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_NUM_NODES"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unsetenv(all[i]);
    CHECK(!host_launcher_spans_hosts(4));
    setenv("SLURM_STEP_NUM_NODES", "2", 1);
    CHECK(host_launcher_spans_hosts(4));
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
    CHECK(!host_launcher_spans_hosts(4));
    CHECK(host_launcher_spans_hosts(8));
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "x", 1);
    CHECK(host_launcher_spans_hosts(4));
}

/* What a child of a process called `name` sees; with an agent between, its grandchild. */
static int child_sees(const char *name, const char *between)
{
    int status;
    prctl(PR_SET_NAME, name);
    pid_t child = fork();
    if (child == 0 && between == NULL)
        _exit(host_launcher_is_parent());
    if (child == 0)
        _exit(child_sees(between, NULL));
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void test_parent(void)
{
    unsetenv("OMPI_NUM_APP_CTX");
    CHECK_EQUAL(child_sees("mpirun", NULL), 1);
    CHECK_EQUAL(child_sees("slurmstepd", NULL), 1);
    CHECK_EQUAL(child_sees("bash", NULL), 0);
    CHECK_EQUAL(child_sees("orted", "scaleprof"), 1);
    CHECK_EQUAL(child_sees("bash", "scaleprof"), 0);
    CHECK_EQUAL(child_sees("orted", "bash"), 0);
    setenv("OMPI_NUM_APP_CTX", "2", 1);
    CHECK_EQUAL(child_sees("mpirun", NULL), 0);
}

static void test_mpi_processes(void)
{
    static const char *const all[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                      "PMIX_NAMESPACE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unsetenv(all[i]);
    CHECK_EQUAL(host_mpi_processes(), 1);
    setenv("SLURM_NTASKS", "6", 1);
    setenv("SLURM_STEP_NUM_TASKS", "5", 1);
    setenv("WORLD_SIZE", "7", 1);
    CHECK_EQUAL(host_mpi_processes(), 1);
    setenv("PMIX_NAMESPACE", "slurm.pmix.1.0", 1);
    CHECK_EQUAL(host_mpi_processes(), 5);
    setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    CHECK_EQUAL(host_mpi_processes(), 3);
    setenv("OMPI_COMM_WORLD_SIZE", "0", 1);
    CHECK_EQUAL(host_mpi_processes(), 5);
}

int main(void)
{
    test_mpi_processes();
    test_hosts();
    test_parent();
    return check_result();
}
