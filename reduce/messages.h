/* Messages matched between their two sides: late senders and late receivers. */
#ifndef REDUCE_MESSAGES_H
#define REDUCE_MESSAGES_H

#include "state.h"

/* Pairs sends with receives by communicator, ranks, tag and order, and fills the waits of both
 * sides. */
enum err messages_match(struct state *s);

/* /analysis/messages from the matched ones. */
enum err messages_pairs(struct state *s);

#endif
