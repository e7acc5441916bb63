/* Module and offset -> function, file, line; offline, from the module's own debug information
 * (libdw). Without libdw, or without debug information, what cannot be known is "" and -1. */
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

/* Finds the source of a return address (the call is the instruction before it). `offset` is the
 * return address minus the module's load address (dlpi_addr). Function, file and line are those of
 * the innermost function, also where the compiler has inlined it. The module at `path`, when it is
 * gone, or its build id is not `build_id` (hex; "" any), is not guessed from: all unknown. Never
 * fails. */
struct symbol symbols_find(struct symbols *s, const char *path, const char *build_id,
                           int64_t offset);

#endif
