#include "plant.h"

#include <errno.h>
#include <time.h>

static int64_t cpu_time_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void burn(int64_t us)
{
    int64_t end_ns = cpu_time_ns() + us * 1000;
    while (cpu_time_ns() < end_ns)
        ;
}

void plant_sleep(int64_t us)
{
    struct timespec left = {us / 1000000, us % 1000000 * 1000};
    if (us < 1)
        return;
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

void plant_lose(const struct plant *p, int rank, int64_t step, int parts)
{
    if (rank != p->rank || step < p->from_step)
        return;
    if (p->way == PLANT_BY_SLEEP)
        plant_sleep(p->us / parts);
    else
        burn(p->us / parts);
}
