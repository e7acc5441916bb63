/* What the processes of one of our commands say to each other. Every function whose name ends in
 * _all is collective: all processes call it, in the same order. One implementation has no MPI (a
 * command started alone), one has (peers/mpi_comm.h); users of this face see neither. */
#ifndef PEERS_PEERS_H
#define PEERS_PEERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct peers;

/* A group of one, without MPI. */
enum err peers_open_alone(struct peers **out);

/* The group that this process was launched with: alone where the launcher started one process or
 * says nothing of MPI, else all ranks by MPI. ERR_MPI (said) when MPI does not find the others: a
 * launcher of another MPI. */
enum err peers_open_launched_all(struct peers **out);
void peers_close(struct peers *p);

int peers_rank(const struct peers *p);
int peers_size(const struct peers *p);

/* ERR_OK on all when every process brings ERR_OK; a process that brings an error gets that one, the
 * others ERR_PEER. After it all go on or all undo. Once MPI has failed it is never ERR_OK again on
 * the process that saw it. */
enum err peers_agree_all(struct peers *p, enum err mine);

/* Sum and maximum over processes, and the sum over the processes before this one. When MPI fails
 * the value means nothing, and the next peers_agree_all says so. */
int64_t peers_sum_all(struct peers *p, int64_t mine);
int64_t peers_max_all(struct peers *p, int64_t mine);
int64_t peers_before_all(struct peers *p, int64_t mine);

/* Everyone's bytes to everyone, in order of process: *all (malloc'd, caller frees) of *all_bytes;
 * ends[i] is where process i's end. `ends` has peers_size entries or is NULL. */
enum err peers_gather_all(struct peers *p, const void *mine, size_t bytes, void **all,
                          size_t *all_bytes, size_t *ends);

/* Bytes of process `root` to everyone; the size must be known to all. */
enum err peers_broadcast_all(struct peers *p, void *data, size_t bytes, int root);

/* Piece i of `send` (send_bytes[i] long, one after another) to process i; *received (malloc'd)
 * holds what came, in order of sender, and received_bytes[i] how much from each. */
enum err peers_exchange_all(struct peers *p, const void *send, const size_t *send_bytes,
                            void **received, size_t *received_bytes);

#endif
