/* State of the probe in this process: whether it is on, and how deep the calling thread is inside
 * MPI. */
#ifndef MPI_PROBE_H
#define MPI_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* WAITING until MPI is initialised; OFF when the process is not recorded, after MPI_Finalize, in a
 * forked child, and after a fault. */
enum probe_state { PROBE_WAITING, PROBE_ON, PROBE_OFF };
extern _Atomic int probe_state;

/* Nonzero inside a wrapped call: what MPI or another tool calls there is part of it. */
extern _Thread_local unsigned probe_depth;

/* Tells the calling thread from others that live. */
static inline uint32_t probe_thread(void)
{
    return (uint32_t)((uintptr_t)&probe_depth >> 6);
}

/* More than one thread may be in MPI at a time. */
extern bool probe_multiple;

/* Adds one to a count and returns what it was: an atomic addition only where it is needed. */
static inline int64_t probe_count(_Atomic int64_t *count)
{
    if (probe_multiple)
        return atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    int64_t was = atomic_load_explicit(count, memory_order_relaxed);
    atomic_store_explicit(count, was + 1, memory_order_relaxed);
    return was;
}

/* MPI is initialised now: finds its functions and the two communicators, tells the recorder rank
 * and size. */
void probe_start(int thread_level);

/* For a process that initialised MPI in a way that is not wrapped: starts when MPI is up. True when
 * the probe is on. */
bool probe_wake(void);

/* No call is recorded from here on. */
void probe_stop(void);

/* A fault of our own: counts it and stops the probe. */
void probe_fail(const char *where, const char *what);

/* True when nothing is recorded. */
static inline bool probe_is_off(void)
{
    int state = atomic_load_explicit(&probe_state, memory_order_relaxed);
    if (__builtin_expect(state == PROBE_ON, 1))
        return false;
    return state == PROBE_OFF || !probe_wake();
}

/* True when the call is not ours to record. */
static inline bool probe_passes(void)
{
    return probe_depth != 0 || probe_is_off();
}

#endif
