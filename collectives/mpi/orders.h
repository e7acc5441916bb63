/* Post order of messages: the k-th send of a rank to a peer with a tag meets the k-th receive
 * there, as MPI does not let messages overtake each other. */
#ifndef MPI_ORDERS_H
#define MPI_ORDERS_H

#include <stdint.h>

/* Counts one message of communicator `number` with `peer` and `tag` in a direction (enum
 * message_direction) and returns how many were before it. -1 when ORDERS_MAX different ones are
 * counted already. Lock-free. */
#define ORDERS_MAX (1u << 18)
int64_t orders_next(uint32_t number, int peer, int tag, unsigned direction);

#endif
