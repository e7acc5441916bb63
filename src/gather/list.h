/* Plain lists of fixed-size entries that every process fills and then joins. */
#ifndef GATHER_LIST_H
#define GATHER_LIST_H

#include <stddef.h>

#include "base/err.h"
#include "base/list.h"
#include "peers/peers.h"

/* Replaces the list by everybody's, in order of process. Collective. */
enum err list_join_all(void **list, size_t *count, size_t *room, size_t bytes, struct peers *p);

#endif
