/* Rows of a job whose calls, collectives and messages lie anywhere in time, as no real job's would
 * all, and what each nanosecond of each rank then is. Nothing here uses the reducer's rules. */
#ifndef UNIT_RANDOM_JOB_H
#define UNIT_RANDOM_JOB_H

#include "reduce/reduce.h"

#define JOB_RANKS      4
#define JOB_LENGTH_NS  400
#define JOB_STEPS      3
#define JOB_CALLS      40
#define JOB_OPERATIONS 40

/* One member of a collective, or one side of a message. */
struct job_operation {
    int rank, member; /* in the job, in its communicator */
    int instance;     /* collective or message it belongs to; collectives first */
    int is_message, sends, takes_part;
    int64_t begin_ns, end_ns, bytes;
};

/* One collective or message as a whole. */
struct job_instance {
    int is_message, communicator, kind, root; /* root: member */
    int64_t sequence, transfer_ns, wait_ns;
    int present, missing_rank;
};

struct job_cell {
    char in_call, waits, moves;
};

struct job {
    int ranks;
    int plain; /* all ranks take part in all, and no messages */
    struct run_tables tables;
    struct strings *strings;
    struct reduce_rank_rows rows[JOB_RANKS];
    struct reduce_source source;
    int64_t step_ends_ns[JOB_RANKS][JOB_STEPS];
    struct job_instance instances[JOB_OPERATIONS];
    struct job_operation operations[JOB_OPERATIONS * JOB_RANKS];
    int instance_count, operation_count;
    int unmatched[JOB_RANKS], unmatched_messages[JOB_RANKS];
    struct job_cell cells[JOB_RANKS][JOB_LENGTH_NS];
};

void random_job_open(struct job *j, uint64_t seed);
void random_job_close(struct job *j);

#endif
