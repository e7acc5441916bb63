/* Calls that found nothing (MPI_Test, MPI_Iprobe in a loop): those of one call site that follow
 * each other at once are one merged event, written when the thread does anything else. */
#ifndef MPI_POLLS_H
#define MPI_POLLS_H

#include <stdint.h>

#include "record/record.h"

/* Time outside MPI between two polls that still counts as one loop of polls; more is the program's
 * own work. */
#define POLLS_GAP_NS 1000

struct polls {
    int64_t count, begin_ns, end_ns;
    uint32_t name, site;
};
extern _Thread_local struct polls polls_pending;

/* Writes the pending event. */
void polls_write(struct record_writer *w);

static inline void polls_flush(struct record_writer *w)
{
    if (__builtin_expect(polls_pending.count != 0, 0))
        polls_write(w);
}

/* One more poll that found nothing. */
static inline void polls_add(struct record_writer *w, uint32_t name, uint32_t site,
                             int64_t begin_ns, int64_t end_ns)
{
    struct polls *p = &polls_pending;
    if (p->count == 0 || p->name != name || p->site != site ||
        begin_ns - p->end_ns > POLLS_GAP_NS) {
        polls_flush(w);
        *p = (struct polls){.begin_ns = begin_ns, .name = name, .site = site};
    }
    p->count++;
    p->end_ns = end_ns;
}

#endif
