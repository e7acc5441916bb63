/* record.h: what probes tell about the process, and numbers they share. */
#include "base/host.h"
#include "base/log.h"
#include "lane.h"
#include "process.h"

#define FAULTS_SAID 16u

uint64_t scaleprof_operation(void)
{
    if (!process_is_open())
        return 0;
    return atomic_fetch_add_explicit(&process->segment->next_operation, 1, memory_order_relaxed) +
           1;
}

void scaleprof_set_rank(int rank, int size)
{
    process_set_rank(rank, size);
}

void scaleprof_set_mpi(enum mpi_phase phase, int thread_level)
{
    if (!process_open())
        return;
    if (thread_level >= 0)
        process->segment->mpi_thread_level = thread_level;
    atomic_store(&process->segment->mpi_phase, (uint32_t)phase);
}

uint64_t scaleprof_clock_domain(void)
{
    struct lane_guard guard;
    if (process_is_open())
        return process->segment->clock_domain;
    if (!lane_enter(&guard))
        return 0;
    uint64_t domain = host_clock_domain();
    lane_leave(&guard);
    return domain;
}

clockid_t scaleprof_clock(void)
{
    return clock_in_use;
}

int scaleprof_recording(void)
{
    return process != NULL && atomic_load(&process->state) != PROCESS_FAILED;
}

/* A fault that repeats would fill the log file: only the first ones are said. */
void scaleprof_fault(const char *where, const char *what)
{
    struct lane_guard guard;
    if (!process_open() || !lane_enter(&guard))
        return;
    if (atomic_fetch_add(&process->segment->faults, 1) < FAULTS_SAID)
        log_warning("%s: %s", where, what);
    lane_leave(&guard);
}
