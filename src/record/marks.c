/* scaleprof.h: ranges and counters. */
#include "lane.h"
#include "opens.h"
#include "process.h"

/* A range begun while recording is paused keeps its place among the open ones, as EVENT_none. */
static void open_range(struct record_writer *w, uint32_t name, int recorded)
{
    record_open(w, recorded ? EVENT_range : EVENT_none, name, 0, -1);
}

void scaleprof_range_open(uint32_t name)
{
    struct record_writer *w = lane_writer();
    if (w != NULL)
        open_range(w, name, lane_admits(w));
}

void scaleprof_range_begin(const char *name)
{
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return;
    int recorded = lane_admits(w);
    open_range(w, recorded && name != NULL ? texts_number(&process->texts, w, name) : 0, recorded);
}

/* A range that another interval lies inside of: one that began before a step and ends in it. */
static void end_outer_range(struct record_writer *w, int place)
{
    struct segment_open range = *record_open_at(w, (uint32_t)place);
    opens_remove(w, place);
    if (range.kind != EVENT_range)
        return;
    union slot *s = record_reserve_event(w, 0);
    if (s == NULL)
        return;
    s->event = (struct slot_event){.kind = EVENT_range,
                                   .name = range.name,
                                   .begin_ns = range.begin_ns,
                                   .duration_ns = record_now_ns(w) - range.begin_ns,
                                   .ref = -1,
                                   .bytes = -1};
    record_publish(w);
}

void scaleprof_range_end(void)
{
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return;
    uint32_t count = w->open_count;
    if (count > RECORD_OPEN_MAX ||
        (count > 0 && record_open_at(w, count - 1)->kind == EVENT_range)) {
        if (record_close(w, -1, 0) != NULL)
            record_publish(w);
        return;
    }
    int place = opens_find(w, EVENT_range, EVENT_none);
    if (place >= 0)
        end_outer_range(w, place);
    else
        lane_count_unbalanced(w);
}

void scaleprof_counter(const char *name, double value)
{
    struct record_writer *w = scaleprof_writer();
    if (w == NULL)
        return;
    uint32_t number = name != NULL ? texts_number(&process->texts, w, name) : 0;
    union slot *s = record_reserve(w, 1);
    if (s == NULL)
        return;
    s->counter = (struct slot_counter){
        .kind = SLOT_counter, .name = number, .time_ns = record_now_ns(w), .value = value};
    record_publish(w);
}
