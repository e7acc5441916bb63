/* Operations that were started and whose end a later call will see, by their MPI_Request.
 *
 * MPI gives one handle to many operations that were over at once, so a handle may stand here
 * several times; a search prefers those of its own thread, then the oldest. And it hands out a
 * handle again as soon as its request has ended, possibly in another thread before the call that
 * saw the end has returned to us: where several threads are in MPI, a call claims its operations
 * before, and takes or unclaims them after, MPI's own call. Any thread may call all of these. */
#ifndef MPI_OPERATIONS_H
#define MPI_OPERATIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectives/mpi/comms.h"

#define OPERATIONS_MAX                                                                             \
    (1u << 22) /* open at a time; beyond it their ends are not recorded, and a fault is counted */

enum operation_kind {
    OPERATION_SEND,
    OPERATION_RECEIVE,
    OPERATION_COLLECTIVE,
    OPERATION_CREATE,  /* of a communicator */
    OPERATION_MATCHED, /* a message that a probe has matched, by its MPI_Message */
};

struct operation {
    uint64_t number;       /* that its completion names; 0: nothing to complete (not recorded, or
                              persistent and not started) */
    uint8_t kind;          /* enum operation_kind */
    uint8_t mode;          /* enum message_mode */
    uint8_t flags;         /* enum message_flag */
    bool persistent;       /* stays when it has ended */
    uint32_t communicator; /* its number when the operation was made */
    struct comm *comm;
    int32_t peer, tag; /* of a persistent or matched message */
    union {
        int64_t bytes;     /* of a persistent message */
        int64_t order;     /* of a matched one */
        MPI_Comm *created; /* where MPI will have put the new communicator */
    };
    uint32_t ordinal; /* of the new communicator */
    uint32_t thread;  /* that has added it */
};

/* Adds an operation under a handle. */
void operations_add(MPI_Request handle, const struct operation *op);

/* Claims an unclaimed operation under a handle and returns its place; 0 none.
 * MPI_REQUEST_NULL has none. */
uint32_t operations_claim(MPI_Request handle);
void operations_unclaim(MPI_Request handle, uint32_t place);

/* Copies the operation at a claimed place to *out and takes it away; a persistent one stays,
 * unclaimed, and gets number 0. */
void operations_take_claimed(MPI_Request handle, uint32_t place, struct operation *out);

/* Claims and takes in one. False when there is none. */
bool operations_take(MPI_Request handle, struct operation *out);

/* Takes it away, persistent or not, and copies it to *out. False when there is none. */
bool operations_remove(MPI_Request handle, struct operation *out);

/* Marks the operation as one that the program tries to cancel. */
void operations_cancel(MPI_Request handle);

/* Gives a persistent operation the number of its new start and copies it to *out. False when there
 * is none. */
bool operations_restart(MPI_Request handle, uint64_t number, struct operation *out);

#endif
