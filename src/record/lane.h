/* Lanes: the threads' places in the segment. */
#ifndef RECORD_LANE_H
#define RECORD_LANE_H

#include "record/record.h"

/* As scaleprof_writer, but also while recording is paused: for what goes on then. */
struct record_writer *lane_writer(void);

/* Whether what this thread does now is to be recorded; the answer of the last lane_writer or
 * scaleprof_writer. */
static inline int lane_admits(const struct record_writer *w)
{
    return atomic_load_explicit(&w->admits, memory_order_relaxed) != 0;
}

/* Counts in the writer's lane: definitions and details that could not be stored, ends without a
 * begin. */
void lane_count_lost(struct record_writer *w, unsigned details);
void lane_count_unbalanced(struct record_writer *w);

/* While a thread is inside, nothing that it calls is recorded, it cannot be cancelled, and errno
 * will be as it was. 0 when it is inside already: then there is nothing to leave. */
struct lane_guard {
    int error, cancel_state;
};
int lane_enter(struct lane_guard *guard);
void lane_leave(const struct lane_guard *guard);

/* When the library is loaded; 0 when the process cannot be recorded. */
int lane_prepare(void);

/* In a forked child: its thread is not the parent's. */
void lane_forget(void);

/* Seals what the calling thread has written. Its next event takes another lane. */
void lane_end_own(void);

#endif
