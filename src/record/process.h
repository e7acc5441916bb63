/* This process's record: its segment and what its threads share. The only mutable state of the
 * recorder. */
#ifndef RECORD_PROCESS_H
#define RECORD_PROCESS_H

#include "record/intern.h"
#include "record/record.h"

enum process_state { PROCESS_UNOPENED, PROCESS_OPEN, PROCESS_OFF };

struct process {
    _Atomic uint32_t state; /* enum process_state */
    _Atomic uint32_t paused;
    struct segment_header *segment;
    int64_t bytes; /* of the mapping */
    struct intern *intern;
    struct record_writer *writers; /* one per lane */
    _Atomic int64_t current_step;
};

extern struct process process;

/* Makes the segment if that has not been tried yet. 1 when this process is recorded. */
int process_open(void);

/* The segment is whole: nothing more will be recorded. */
void process_close(void);

#endif
