/* A thread's open intervals where they do not end in the order in which they began. Places count
 * from 0, the outermost. */
#ifndef RECORD_OPENS_H
#define RECORD_OPENS_H

#include "record/record.h"

/* Place of the innermost open interval of a kind (of either of two); -1 none. */
int opens_find(struct record_writer *w, uint8_t kind, uint8_t or_kind);

/* Takes the interval out of the middle; those inside it stay. */
void opens_remove(struct record_writer *w, int place);

#endif
