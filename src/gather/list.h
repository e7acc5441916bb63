/* Plain lists of fixed-size entries that every process fills and then joins. */
#ifndef GATHER_LIST_H
#define GATHER_LIST_H

#include <stddef.h>

#include "base/err.h"
#include "peers/peers.h"

/* Room for one more entry of `bytes`. */
enum err list_make_room(void **list, size_t count, size_t *room, size_t bytes);

/* Replaces the list by everybody's, in order of process. Collective. */
enum err list_join_all(void **list, size_t *count, size_t *room, size_t bytes, struct peers *p);

#endif
