/* The file under its name until it is whole: PATH.partial, locked by who writes it, renamed to PATH
 * at the end. One process has it. */
#ifndef STORE_PARTIAL_H
#define STORE_PARTIAL_H

#include <stdint.h>

#include "base/err.h"

/* Makes `partial` (readable by its owner only), or takes over one that a killed process has left;
 * *lock keeps others away until it is closed. Says what is wrong: ERR_EXISTS when `path` is there
 * and not `force`, or when another process is writing it. */
enum err partial_open(const char *path, const char *partial, int force, int *lock);

/* Writes a mark into the empty file, and tells whether `partial`, as this process sees it, is the
 * file with that mark: processes on other hosts may have another disk under the same path. */
enum err partial_mark(int lock, const char *partial, int64_t mark);
int partial_has_mark(const char *partial, int64_t mark);

/* Makes sure that `bytes` more can be written behind the file's end, or says ERR_NO_SPACE. *end is
 * how far that was made sure of before (0 at first), and then. What is not used goes back to the
 * disk in partial_publish. */
enum err partial_reserve(int lock, const char *partial, int64_t bytes, int64_t *end);

/* Makes it lasting and renames it to `path`; a file that has appeared there meanwhile stays unless
 * `force`. */
enum err partial_publish(const char *path, const char *partial, int force);

#endif
