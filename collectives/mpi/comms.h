/* The communicators of this process: number, key, size and the sequence of their collectives.
 *
 * A key is the digest of the parent's key, the members' ranks in MPI_COMM_WORLD and the ordinal
 * among communicators that are equal in both. All members were members of the parent and made its
 * communicators in one order, so they find the same key without a message. */
#ifndef MPI_COMMS_H
#define MPI_COMMS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "collectives/mpi/probe.h"

struct comm {
    uint64_t key;
    uint64_t members; /* digest of the members, both groups of an intercommunicator */
    uint32_t number;  /* in the segment; 0 unknown */
    int32_t size, rank;
    int32_t remote_size;           /* 0 unless an intercommunicator */
    int32_t in_degree, out_degree; /* neighbours in its topology */
    _Atomic int64_t next_sequence; /* -1: its collectives are not counted */
    _Atomic bool uncounted; /* its receives are not counted any more, as some may take any message,
                               or none */
    struct comm *next;      /* unused ones */
    char name[48];
};

/* Takes in MPI_COMM_WORLD and MPI_COMM_SELF. */
enum err comms_open(void);

/* The communicator of a handle; NULL when it is not known. Lock-free. */
struct comm *comms_find(MPI_Comm handle);

/* Size and rank of a communicator that is not known, as far as MPI says; number 0. For a handle
 * that MPI has accepted. */
void comms_describe(MPI_Comm handle, struct comm *out);

/* Ordinal of the next communicator that `parent` gives to `members`. */
uint32_t comms_ordinal(const struct comm *parent, uint64_t members);

/* Takes in a communicator that MPI has just made, and defines it in the segment. NULL when MPI
 * refused to describe it or memory is short; the fault has been counted. _as gives the ordinal that
 * was taken when its making began. */
struct comm *comms_define(MPI_Comm handle, const struct comm *parent, const char *how);
struct comm *comms_define_as(MPI_Comm handle, const struct comm *parent, const char *how,
                             uint32_t ordinal);

/* A window is a communicator of its own, with the members of the one it was made from. */
struct comm *comms_find_window(MPI_Win handle);
struct comm *comms_define_window(MPI_Win handle, const struct comm *parent);
struct comm *comms_forget_window(MPI_Win handle);
void comms_restore_window(MPI_Win handle, struct comm *c);

/* The handle is about to be freed. forget gives what comms_restore takes when the free has failed.
 */
struct comm *comms_forget(MPI_Comm handle);
void comms_restore(MPI_Comm handle, struct comm *c);
void comms_release(struct comm *c);

/* Place in the order of the collectives of `c`, whether recorded or not; -1 when `c` is NULL. */
static inline int64_t comm_next_sequence(struct comm *c)
{
    if (c == NULL)
        return -1;
    return probe_count(&c->next_sequence);
}

/* Ranks on the other side: of the communicator, or of the remote group of an intercommunicator. */
static inline int comm_peers(const struct comm *c)
{
    return c->remote_size > 0 ? c->remote_size : c->size;
}

/* This rank is the root. */
static inline bool comm_is_root(const struct comm *c, int root)
{
    return c->remote_size > 0 ? root == MPI_ROOT : root == c->rank;
}

/* This rank gets what the root gives. */
static inline bool comm_takes(const struct comm *c, int root)
{
    return c->remote_size > 0 ? root >= 0 : root != c->rank;
}

/* This rank has a part in what the root collects or deals out. */
static inline bool comm_feeds(const struct comm *c, int root)
{
    return c->remote_size == 0 || root >= 0;
}

#endif
