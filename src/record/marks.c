/* scaleprof.h: what a program marks itself. */
#include <string.h>
#include <sys/resource.h>

#include "lane.h"
#include "process.h"

static void write_usage(struct record_writer *w, int64_t step)
{
    struct rusage usage;
    union slot *s = record_reserve(w, 1);
    if (s == NULL)
        return;
    memset(&usage, 0, sizeof usage);
    getrusage(RUSAGE_THREAD, &usage);
    s->usage = (struct slot_usage){.kind = SLOT_usage,
                                   .time_ns = clock_now_ns(),
                                   .cpu_ns = clock_thread_cpu_ns(),
                                   .involuntary_switches = usage.ru_nivcsw,
                                   .voluntary_switches = usage.ru_nvcsw,
                                   .step = step};
    record_publish(w);
}

static void close_innermost(struct record_writer *w)
{
    if (record_close(w, -1, 0) != NULL)
        record_publish(w);
}

/* Place of the open step among the thread's open intervals; -1 none. */
static int find_step(const struct segment_lane *lane)
{
    uint32_t depth = atomic_load_explicit(&lane->open_count, memory_order_relaxed);
    for (int i = (int)(depth < SEGMENT_OPEN_MAX ? depth : SEGMENT_OPEN_MAX) - 1; i >= 0; i--)
        if (lane->opens[i].kind == EVENT_step)
            return i;
    return -1;
}

static void end_step(struct record_writer *w, int at)
{
    int64_t number = w->lane->opens[at].ref;
    while (atomic_load_explicit(&w->lane->open_count, memory_order_relaxed) > (uint32_t)at + 1) {
        scaleprof_unbalanced(w);
        close_innermost(w);
    }
    close_innermost(w);
    write_usage(w, number);
}

void scaleprof_step_begin(int64_t number)
{
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return;
    int at = find_step(w->lane);
    if (at >= 0)
        end_step(w, at);
    else
        write_usage(w, -1);
    record_open(w, EVENT_step, 0, 0, number);
    atomic_store_explicit(&process.current_step, number, memory_order_relaxed);
}

void scaleprof_step_end(void)
{
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return;
    int at = find_step(w->lane);
    if (at < 0) {
        scaleprof_unbalanced(w);
        return;
    }
    end_step(w, at);
    atomic_store_explicit(&process.current_step, -1, memory_order_relaxed);
}

static void open_range(struct record_writer *w, uint32_t name)
{
    if (atomic_load_explicit(&process.paused, memory_order_relaxed))
        w->ranges_skipped++;
    else
        record_open(w, EVENT_range, name, 0, -1);
}

void scaleprof_range_open(uint32_t name)
{
    struct record_writer *w = lane_writer();
    if (w != NULL)
        open_range(w, name);
}

void scaleprof_range_begin(const char *name)
{
    struct record_writer *w = lane_writer();
    if (w != NULL)
        open_range(w, scaleprof_string(name));
}

void scaleprof_range_end(void)
{
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return;
    if (w->ranges_skipped > 0) {
        w->ranges_skipped--;
        return;
    }
    uint32_t depth = atomic_load_explicit(&w->lane->open_count, memory_order_relaxed);
    if (depth == 0 || (depth <= SEGMENT_OPEN_MAX && w->lane->opens[depth - 1].kind != EVENT_range))
        scaleprof_unbalanced(w);
    else
        close_innermost(w);
}

void scaleprof_counter(const char *name, double value)
{
    struct record_writer *w = scaleprof_writer();
    if (w == NULL)
        return;
    uint32_t number = scaleprof_string(name);
    union slot *s = record_reserve(w, 1);
    if (s == NULL)
        return;
    s->counter = (struct slot_counter){
        .kind = SLOT_counter, .name = number, .time_ns = clock_now_ns(), .value = value};
    record_publish(w);
}
