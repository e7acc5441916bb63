#include "collectives/mpi/polls.h"

_Thread_local struct polls polls_pending;

void polls_write(struct record_writer *w)
{
    struct polls *p = &polls_pending;
    union slot *s = record_reserve_event(w, 0);
    if (s != NULL) {
        s->event = (struct slot_event){
            .kind = EVENT_mpi_call,
            .flags = EVENT_FLAG_merged,
            .name = p->name,
            .site = p->site,
            .begin_ns = p->begin_ns,
            .duration_ns = p->end_ns - p->begin_ns,
            .ref = p->count,
            .bytes = -1,
        };
        record_publish(w);
    }
    p->count = 0;
}
