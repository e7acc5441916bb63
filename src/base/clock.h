/* The only place where time is read. All recorders of one clock domain must read the same clock, so
 * the agent chooses it once and its children get the choice by a setting. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Local time in nanoseconds of the clock in use (CLOCK_MONOTONIC until clock_use). Never steps. */
static inline int64_t clock_now_ns(void);

/* Wall time (UTC) in nanoseconds since 1970; for dates only, it steps. */
int64_t clock_utc_ns(void);

/* CLOCK_MONOTONIC_RAW where reading it costs less than three times CLOCK_MONOTONIC (its vDSO is
 * fast), else CLOCK_MONOTONIC. Takes about 20 us. */
clockid_t clock_choose(void);

/* Makes `id` the clock of this library; anything but the two monotonic clocks is ignored. */
void clock_use(clockid_t id);

/* CPU time that the calling thread has used, in nanoseconds (CLOCK_THREAD_CPUTIME_ID). */
int64_t clock_thread_cpu_ns(void);

/* Waits `ns` nanoseconds. */
void clock_pause_ns(int64_t ns);

extern clockid_t clock_in_use;

static inline int64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(clock_in_use, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
