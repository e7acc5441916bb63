#include "clock.h"

clockid_t clock_in_use = CLOCK_MONOTONIC;

static int64_t read_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_utc_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t clock_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The shortest of several series: a series that was interrupted says nothing about the clock. */
static int64_t cost_ns(clockid_t id)
{
    int64_t best = INT64_MAX;
    for (int series = 0; series < 8; series++) {
        int64_t start = read_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < 32; i++)
            read_ns(id);
        int64_t cost = read_ns(CLOCK_MONOTONIC) - start;
        if (cost < best)
            best = cost;
    }
    return best;
}

clockid_t clock_choose(void)
{
    return cost_ns(CLOCK_MONOTONIC_RAW) < 3 * cost_ns(CLOCK_MONOTONIC) ? CLOCK_MONOTONIC_RAW
                                                                       : CLOCK_MONOTONIC;
}

void clock_use(clockid_t id)
{
    if (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW)
        clock_in_use = id;
}

void clock_pause_ns(int64_t ns)
{
    struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    nanosleep(&t, NULL);
}
