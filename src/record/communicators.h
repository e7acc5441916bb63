/* Communicators of this process: what was defined, so that a name can be given later. */
#ifndef RECORD_COMMUNICATORS_H
#define RECORD_COMMUNICATORS_H

#include "record/record.h"

#define COMMUNICATORS_MAX (1u << 16)

struct communicators {
    struct {
        _Atomic uint32_t known;
        struct slot_communicator definition;
    } places[COMMUNICATORS_MAX]; /* by number */
};

/* Defines another communicator through `w`. Returns its number; 0 when it was dropped: counted. */
uint32_t communicators_define(struct communicators *t, struct record_writer *w,
                              const struct slot_communicator *definition);

/* Defines communicator `number` once more, with the name. One that is not known (any more) keeps
 * the name it has. */
void communicators_rename(struct communicators *t, struct record_writer *w, uint32_t number,
                          uint32_t name);

#endif
