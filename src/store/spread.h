/* Parts of blocks that several processes hold go to one of them. */
#ifndef STORE_SPREAD_H
#define STORE_SPREAD_H

#include "blocks.h"
#include "peers/peers.h"

/* Every process gives the fragments of its `count` tables and gets those of the blocks that are its
 * own: block b belongs to process b modulo their number. */
enum err spread_all(struct blocks *tables, size_t count, struct peers *p);

#endif
