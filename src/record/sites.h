/* Numbers of call sites; a table like that of texts. */
#ifndef RECORD_SITES_H
#define RECORD_SITES_H

#include "record/record.h"

#define SITES_MAX (1u << 15)

struct site {
    _Atomic uintptr_t address;
    _Atomic uint32_t number;
    _Atomic uint32_t defined;
};

struct sites {
    struct site places[SITES_MAX];
    _Atomic uint32_t count;
};

/* The number of the address when the segment defines it already, else 0. */
uint32_t sites_find(const struct sites *t, const void *address);

/* The number, defined through `w` at first sight. An address in no module (code made at run time)
 * is its own offset in a module without a name. 0 for NULL, and when the table is full or the
 * definition was dropped: counted. Asks the loader. */
uint32_t sites_number(struct sites *t, struct record_writer *w, const void *address);

#endif
