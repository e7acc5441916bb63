#include "collectives/mpi/probe.h"

#include <pthread.h>

#include "collectives/mpi/calls.h"
#include "collectives/mpi/comms.h"
#include "collectives/mpi/own.h"
#include "record/record.h"

_Atomic int probe_state = PROBE_WAITING;
_Thread_local unsigned probe_depth;
bool probe_multiple;

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

void probe_stop(void)
{
    atomic_store(&probe_state, PROBE_OFF);
}

void probe_fail(const char *where, const char *what)
{
    scaleprof_fault(where, what);
    probe_stop();
}

/* The process of a fork is not a rank. */
static void stop_in_child(void)
{
    probe_stop();
}

static bool is_recorded(void)
{
    return scaleprof_writer() != NULL || scaleprof_recording();
}

void probe_start(int thread_level)
{
    int rank, size;
    if (!is_recorded() || own_open() != ERR_OK || comms_open() != ERR_OK) {
        probe_stop();
        return;
    }
    if (own.Comm_rank(own_handle.comm_world, &rank) != MPI_SUCCESS ||
        own.Comm_size(own_handle.comm_world, &size) != MPI_SUCCESS) {
        probe_fail("mpi start", "MPI does not say rank and size");
        return;
    }
    scaleprof_set_rank(rank, size);
    scaleprof_set_mpi(MPI_PHASE_INITIALISED, thread_level);
    pthread_atfork(NULL, NULL, stop_in_child);
    probe_multiple = thread_level == MPI_THREAD_MULTIPLE;
    atomic_store(&probe_state, PROBE_ON);
}

bool probe_wake(void)
{
    __typeof__(&PMPI_Initialized) initialized =
        (__typeof__(&PMPI_Initialized))call_function("PMPI_Initialized");
    __typeof__(&PMPI_Query_thread) query =
        (__typeof__(&PMPI_Query_thread))call_function("PMPI_Query_thread");
    int up = 0, level = 0;
    if (initialized == NULL || query == NULL || initialized(&up) != MPI_SUCCESS || !up ||
        query(&level) != MPI_SUCCESS)
        return false;
    pthread_mutex_lock(&start_lock);
    if (atomic_load(&probe_state) == PROBE_WAITING)
        probe_start(level);
    pthread_mutex_unlock(&start_lock);
    return atomic_load(&probe_state) == PROBE_ON;
}

__attribute__((constructor)) static void load(void)
{
    clock_use(scaleprof_clock());
}
