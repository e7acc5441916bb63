/* Room in plain lists of fixed-size entries. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stddef.h>

#include "base/err.h"

/* Room for one more entry of `bytes` (doubling). On failure nothing has changed. */
enum err list_make_room(void **list, size_t count, size_t *room, size_t bytes);

#endif
