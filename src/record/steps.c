#include "steps.h"

#include <string.h>
#include <sys/resource.h>

#include "lane.h"
#include "opens.h"
#include "process.h"

static void fill_usage(struct slot_usage *out, int64_t time_ns, int64_t step)
{
    struct rusage usage;
    struct lane_guard guard;
    memset(&usage, 0, sizeof usage);
    if (lane_enter(&guard)) {
        getrusage(RUSAGE_THREAD, &usage);
        lane_leave(&guard);
    }
    *out = (struct slot_usage){.kind = SLOT_usage,
                               .time_ns = time_ns,
                               .cpu_ns = clock_thread_cpu_ns(),
                               .involuntary_switches = usage.ru_nivcsw,
                               .voluntary_switches = usage.ru_nvcsw,
                               .step = step};
}

/* Steps of this thread, also one that another thread has ended, show no longer as open. A range
 * inside that has not ended reaches over the border: it is counted and goes on. */
static void forget_open_steps(struct record_writer *w)
{
    for (int place; (place = opens_find(w, EVENT_step, EVENT_step)) >= 0;) {
        for (uint32_t inside = w->open_count - 1; inside > (uint32_t)place; inside--)
            lane_count_unbalanced(w);
        opens_remove(w, place);
    }
}

/* Ends the open step of the process at `end_ns`. 0 when there is none. */
static int end_step(struct record_writer *w, int64_t end_ns)
{
    struct steps *steps = &process->steps;
    int64_t number = atomic_load(&steps->number), begin_ns = atomic_load(&steps->begin_ns);
    int was_open = atomic_exchange(&steps->open, 0) != 0;
    forget_open_steps(w);
    union slot *s = was_open ? record_reserve_event(w, 1) : NULL;
    if (s == NULL)
        return was_open;
    s[0].event = (struct slot_event){.kind = EVENT_step,
                                     .begin_ns = begin_ns,
                                     .duration_ns = end_ns - begin_ns,
                                     .ref = number,
                                     .bytes = -1};
    fill_usage(&s[1].usage, end_ns, number);
    record_publish(w);
    return 1;
}

static void sample_usage(struct record_writer *w)
{
    union slot *s = record_reserve(w, 1);
    if (s == NULL)
        return;
    fill_usage(&s->usage, record_now_ns(w), -1);
    record_publish(w);
}

void scaleprof_step_begin(int64_t number)
{
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return;
    if (!end_step(w, record_now_ns(w)))
        sample_usage(w);
    atomic_store(&process->steps.number, number);
    atomic_store(&process->steps.begin_ns, record_open(w, EVENT_step, 0, 0, number));
    atomic_store(&process->steps.open, 1);
}

void scaleprof_step_end(void)
{
    struct record_writer *w = lane_writer();
    if (w != NULL && !end_step(w, record_now_ns(w)))
        lane_count_unbalanced(w);
}

int64_t scaleprof_current_step(void)
{
    return process_is_open() && atomic_load_explicit(&process->steps.open, memory_order_relaxed)
               ? atomic_load_explicit(&process->steps.number, memory_order_relaxed)
               : -1;
}
