/* Numbers for texts, call sites and communicators. Tables of fixed size in memory of our own,
 * lock-free: a thread that finds an entry which is not defined in the segment yet defines it once
 * more, which is harmless. */
#ifndef RECORD_INTERN_H
#define RECORD_INTERN_H

#include "base/err.h"
#include "record/record.h"

struct intern;

enum err intern_open(struct intern **out);
void intern_close(struct intern *t);

/* The number, defined through `w` at first sight; 0 when the table is full or the definition was
 * dropped. */
uint32_t intern_string(struct intern *t, struct record_writer *w, const char *text);
uint32_t intern_site(struct intern *t, struct record_writer *w, const void *address);
uint32_t intern_communicator(struct intern *t, struct record_writer *w,
                             const struct slot_communicator *definition);
void intern_rename(struct intern *t, struct record_writer *w, uint32_t number, uint32_t name);

#endif
