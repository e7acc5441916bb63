/* Module and offset -> function, file, line; offline, from the module's own debug information
 * (libdw). */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdint.h>

#include "base/err.h"

struct symbols; /* caches the modules it has opened */

struct symbol {
    const char *function, *file; /* "" unknown; live as long as the struct symbols */
    int line;                    /* -1 unknown */
};

enum err symbols_open(struct symbols **out);
void symbols_close(struct symbols *s);

/* Finds the source of a return address (the call is the instruction before it). A module that is
 * gone, or whose build id is not `build_id` (hex; "" any), is not guessed from: all unknown. Never
 * fails. */
struct symbol symbols_find(struct symbols *s, const char *module, const char *build_id,
                           int64_t offset);

#endif
