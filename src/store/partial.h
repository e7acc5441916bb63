/* The file under its name until it is whole: PATH.partial, locked by who writes it, renamed to PATH
 * at the end. One process has it. */
#ifndef STORE_PARTIAL_H
#define STORE_PARTIAL_H

#include "base/err.h"

/* Makes `partial` (readable by its owner only), or takes over one that a killed process has left;
 * *lock keeps others away until it is closed. Says what is wrong: ERR_EXISTS when `path` is there
 * and not `force`, or when another process is writing it. */
enum err partial_open(const char *path, const char *partial, int force, int *lock);

/* Makes it lasting and renames it to `path`; a file that has appeared there meanwhile stays unless
 * `force`. */
enum err partial_publish(const char *path, const char *partial, int force);

#endif
