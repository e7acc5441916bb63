/* What probes tell about the process, and numbers they share. */
#include "base/host.h"
#include "base/log.h"
#include "lane.h"
#include "process.h"

uint64_t scaleprof_operation(void)
{
    if (!process_open())
        return 0;
    return atomic_fetch_add_explicit(&process.segment->next_operation, 1, memory_order_relaxed) + 1;
}

void scaleprof_set_rank(int rank, int size)
{
    if (!process_open())
        return;
    process.segment->rank = rank;
    process.segment->size = size;
}

void scaleprof_set_mpi(enum mpi_phase phase, int thread_level)
{
    if (!process_open())
        return;
    if (thread_level >= 0)
        process.segment->mpi_thread_level = thread_level;
    atomic_store(&process.segment->mpi_phase, (uint32_t)phase);
}

uint64_t scaleprof_clock_domain(void)
{
    return process_open() ? process.segment->clock_domain : host_clock_domain();
}

clockid_t scaleprof_clock(void)
{
    return clock_in_use;
}

int64_t scaleprof_current_step(void)
{
    return process_open() ? atomic_load_explicit(&process.current_step, memory_order_relaxed) : -1;
}

void scaleprof_pause(int paused)
{
    atomic_store(&process.paused, paused != 0);
}

int scaleprof_recording(void)
{
    return lane_writer() != NULL;
}

void scaleprof_fault(const char *where, const char *what)
{
    if (!process_open())
        return;
    uint64_t before = atomic_fetch_add(&process.segment->faults, 1);
    if (before < 16)
        log_warning("%s: %s", where, what);
}
