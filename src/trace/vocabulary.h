/* Names of kinds and flags as C constants and as text; all from the .def tables beside this file.
 */
#ifndef TRACE_VOCABULARY_H
#define TRACE_VOCABULARY_H

#include <stdint.h>

enum event_kind {
#define EVENT(name, meaning) EVENT_##name,
#include "events.def"
#undef EVENT
    EVENT_KIND_COUNT
};

enum event_flag {
#define EVENT_FLAG(name, bit, meaning) EVENT_FLAG_##name = 1 << bit,
#include "event_flags.def"
#undef EVENT_FLAG
};

#define SLOT_FIRST_DETAIL 128
enum slot_kind {
    SLOT_before_details = SLOT_FIRST_DETAIL - 1,
#define DETAIL(name, meaning) SLOT_##name,
#include "details.def"
#undef DETAIL
    SLOT_KIND_END
};

/* What a lane is. */
enum lane_kind { LANE_THREAD, LANE_STREAM, LANE_DEVICE, LANE_OTHER };

/* State of a rank's record, /ranks/status. */
enum rank_status {
    RANK_OK,     /* its process ended with 0 and its record is whole */
    RANK_FAILED, /* its process ended with an error code */
    RANK_KILLED, /* its process was ended by a signal */
    RANK_OPEN,   /* gathered while its process still ran, or its end is unknown */
    RANK_MISSING /* nothing of it was found */
};

/* What a message row is: mode of the send, direction. */
enum message_direction { MESSAGE_SEND, MESSAGE_RECEIVE };
enum message_mode { MESSAGE_STANDARD, MESSAGE_SYNCHRONOUS, MESSAGE_BUFFERED, MESSAGE_READY };
enum message_flag {
    MESSAGE_ANY_SOURCE = 1,
    MESSAGE_ANY_TAG = 2,
    MESSAGE_CANCELLED = 4,
    MESSAGE_PERSISTENT = 8,
    MESSAGE_MATCHED_PROBE = 16,
    MESSAGE_NULL_PEER = 32,
    MESSAGE_NONBLOCKING = 64
};

/* Over what a collective's sequence number counts. */
enum sequence_scope { SEQUENCE_COMMUNICATOR, SEQUENCE_FUNCTION, SEQUENCE_STREAM };

/* Where a collective's begin_ns and end_ns come from. */
enum time_source { TIME_CALL, TIME_DEVICE, TIME_PLUGIN, TIME_ANNOTATION };

/* What defined a communicator. */
enum communicator_source {
    COMMUNICATOR_MPI,
    COMMUNICATOR_NCCL,
    COMMUNICATOR_OWN,
    COMMUNICATOR_IMPORT
};

/* What is special about a global step, /analysis/steps flags. */
enum step_flag {
    STEP_FIRST = 1,
    STEP_LAST = 2,
    STEP_PARTIAL = 4,  /* not on every rank */
    STEP_OVERLAPS = 8, /* overlaps its neighbour on some rank */
    STEP_KEPT = 16     /* every mean and median over steps is over these */
};

/* When and why a rank is late, /analysis/late_ranks. */
enum late_pattern { LATE_CHRONIC, LATE_FROM_STEP, LATE_ROTATING, LATE_SINGLE };
enum late_cause {
    LATE_UNKNOWN,
    LATE_CPU_WORK,    /* more CPU time than its peers */
    LATE_OFF_CPU,     /* off the CPU by its own choice: sleep, input and output */
    LATE_DESCHEDULED, /* wanted the CPU and did not get it */
    LATE_MORE_DATA,
    LATE_SLOWER /* slower at the same work */
};

const char *event_kind_name(unsigned kind);
const char *event_kind_meaning(unsigned kind);
const char *rank_status_name(unsigned status);

#endif
