/* What a program gives NVTX once and names later by a handle: registered strings and domains.
 * Handles are addresses inside one fixed arena, so a handle that is not ours is recognised and
 * never followed. */
#ifndef NVTX_REGISTRY_H
#define NVTX_REGISTRY_H

#include "record/record.h"

/* A handle for the text, which is copied (cut at 1,000 bytes); NULL text is "". When the arena is
 * full the same handle of "" is returned for every further text, and the fault is counted once.
 * Thread-safe, no lock. */
const void *registry_put(const char *text);

/* The number of the handle's text in this process's segment; 0 for a handle that is not ours. */
uint32_t registry_name(const void *handle);

/* Copies a wide text as UTF-8 into `out`, cut to `size`. */
void registry_narrow(const wchar_t *wide, char *out, size_t size);

#endif
