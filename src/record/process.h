/* This process's record: its segment and what its threads share. The only mutable state of the
 * recorder, in memory that a fork wipes: a child finds it as it was before the first event. */
#ifndef RECORD_PROCESS_H
#define RECORD_PROCESS_H

#include "record/communicators.h"
#include "record/own.h"
#include "record/record.h"
#include "record/sites.h"
#include "record/steps.h"
#include "record/texts.h"

enum process_state { PROCESS_UNOPENED, PROCESS_OPENING, PROCESS_OPEN, PROCESS_FAILED };

struct process {
    _Atomic uint32_t state;       /* enum process_state */
    _Atomic uint32_t ended_lanes; /* about how many wait for another thread */
    _Atomic uint64_t missed;      /* events that could not wait for the segment */
    struct segment_header *segment;
    /* One per lane. Away from the beginning of a page, where chunks have their counts: hot lines at
     * equal places of their pages push each other out of the cache. */
    _Alignas(1024) struct record_writer writers[SEGMENT_LANES_MAX];
    struct steps steps;
    struct texts texts;
    struct sites sites;
    struct communicators communicators;
    struct own own;
};

/* NULL in a process that is not to be recorded. */
extern struct process *process;

/* Makes the segment if that has not been tried yet; a thread that comes while another one makes it
 * waits for that. 1 when this process is recorded. */
int process_open(void);

static inline int process_is_open(void)
{
    return process != NULL &&
           atomic_load_explicit(&process->state, memory_order_acquire) == PROCESS_OPEN;
}

/* Brings what was missed while the segment was being made into its counts. */
void process_count_missed(void);

/* Rank and number of ranks that MPI has told; forked children know them too. */
void process_set_rank(int rank, int size);

#endif
