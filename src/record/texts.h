/* Numbers of texts. A table of fixed size, lock-free: a thread that finds a text which the segment
 * does not define yet defines it (once more), which is harmless. */
#ifndef RECORD_TEXTS_H
#define RECORD_TEXTS_H

#include "record/record.h"

#define TEXTS_MAX         (1u << 16)
#define TEXTS_ARENA_BYTES (16u << 20)

struct text;

struct texts {
    _Atomic(struct text *) places[TEXTS_MAX];
    _Atomic uint32_t count;
    _Atomic uint32_t arena_used;
    _Alignas(16) char arena[TEXTS_ARENA_BYTES];
};

/* The number of the text (its first 1,000 bytes), defined through `w` at first sight. 0 for "", and
 * when the table is full or the definition was dropped: counted. */
uint32_t texts_number(struct texts *t, struct record_writer *w, const char *bytes);

#endif
