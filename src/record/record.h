/* The recorder inside a job's process, as the probes use it. librecord holds the only state; what
 * crosses to the probes' libraries is named scaleprof_*. No function here blocks, allocates by
 * malloc or makes a system call on the way of an event (a thread's first event, a first sight of a
 * name and the start of a segment do), none fails visibly: what could not be stored is counted in
 * the lane. All are safe in any thread, after fork, and while the process exits; none may be called
 * from a signal handler.
 *
 *   struct record_writer *w = scaleprof_writer();
 *   if (w == NULL)
 *       return real_call();                         not recorded
 *   record_open(w, EVENT_mpi_call, name, site, -1);
 *   result = real_call();
 *   union slot *s = record_close(w, bytes, 1);      the event, and room for one detail
 *   if (s != NULL) { s[1].collective = ...; record_publish(w); }
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stdint.h>

#include "base/clock.h"
#include "scaleprof.h"
#include "trace/segment.h"

/* A thread's place to write: its lane and the chunk it fills. Owned by librecord; only the
 * functions below look inside. */
struct record_writer;

/* The calling thread's writer; NULL when this process is not recorded, recording is paused, or the
 * thread is inside one of our own functions already. The first call in a process makes its segment,
 * the first in a thread its lane. Cheap: one thread-local load on the way of an event. */
SCALEPROF_API struct record_writer *scaleprof_writer(void);

/* Opens an interval that begins now, nested in the thread's open ones; shows in the lane's header
 * until it is closed. Returns its begin. */
static inline int64_t record_open(struct record_writer *w, uint8_t kind, uint32_t name,
                                  uint32_t site, int64_t ref);

/* Closes the innermost open interval, which ends now: reserves 1 + `details` slots that lie one
 * after another and fills the first as its event (flags 0). The caller may change the event, fills
 * all details, and then calls record_publish. NULL when no memory is left: the drop has been
 * counted, nothing is to be published. Between close (or reserve) and publish no other function of
 * this file may be called: get names, sites and communicators before. What is never published is
 * given up by the next reservation. */
static inline union slot *record_close(struct record_writer *w, int64_t bytes, unsigned details);

/* Drops the innermost open interval without an event (a call that is not worth one). */
static inline void record_cancel(struct record_writer *w);

/* Reserves 1 + `details` slots for an event whose begin and end the caller knows itself; it fills
 * all of them. NULL likewise. */
static inline union slot *record_reserve_event(struct record_writer *w, unsigned details);

/* Reserves `count` slots (1 to SEGMENT_CHUNK_SLOTS) without an event, NULL likewise; for
 * definitions, counters, clock bursts, further details of the event just published. */
static inline union slot *record_reserve(struct record_writer *w, unsigned count);

/* Makes what the last close or reserve reserved visible to readers. */
static inline void record_publish(struct record_writer *w);

/* Local time of the clock that this process is recorded with. */
static inline int64_t record_now_ns(const struct record_writer *w);

/* Numbers of texts, call sites and communicators of this process, defined in its segment at first
 * sight; 0 when the definition could not be stored (it is tried again the next time). A text longer
 * than 1,000 bytes is cut. `return_address` is __builtin_return_address(0) of the wrapper. `key` to
 * `remote_size` as in slot_communicator. */
SCALEPROF_API uint32_t scaleprof_string(const char *text);
SCALEPROF_API uint32_t scaleprof_site(const void *return_address);
SCALEPROF_API uint32_t scaleprof_communicator_define(const struct slot_communicator *definition);

/* A text that is named again and again: its number is asked for once per process, also after a
 * fork. */
struct record_name {
    _Atomic uint64_t cached; /* generation << 32 | number */
    const char *text;
};
static inline uint32_t record_name_number(struct record_name *name);

/* Grows by one each time a process (a forked child too) makes its segment: numbers got before are
 * void. */
SCALEPROF_API extern uint32_t scaleprof_generation;

/* Opens a range as scaleprof_range_begin does, by the number of its name. scaleprof_range_end ends
 * it. */
SCALEPROF_API void scaleprof_range_open(uint32_t name);

/* Gives communicator `number` a (new) name. */
SCALEPROF_API void scaleprof_communicator_rename(uint32_t number, const char *name);

/* A fresh number for an operation whose completion another call will see; never 0. */
SCALEPROF_API uint64_t scaleprof_operation(void);

/* Facts that probes learn about the process; kept in the segment's header. */
SCALEPROF_API void scaleprof_set_rank(int rank, int size);
SCALEPROF_API void scaleprof_set_mpi(enum mpi_phase phase, int thread_level);
SCALEPROF_API uint64_t scaleprof_clock_domain(void);

/* The clock that this process is recorded with. Each of our libraries has its own copy of base: a
 * probe calls clock_use with it when it is loaded. */
SCALEPROF_API clockid_t scaleprof_clock(void);

/* Number of the step that is open on the calling thread's process; -1 none. */
SCALEPROF_API int64_t scaleprof_current_step(void);

/* Pauses and resumes recording in the whole process (MPI_Pcontrol); steps and sequence numbers go
 * on. */
SCALEPROF_API void scaleprof_pause(int paused);

/* A fault of our own: counted and, the first time per `where`, logged. The caller switches its
 * probe off. */
SCALEPROF_API void scaleprof_fault(const char *where, const char *what);

#include "record/writer.h"

#endif
