/* Names of kinds and flags as C constants and as text; all from the .def tables beside this file.
 */
#ifndef TRACE_VOCABULARY_H
#define TRACE_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

enum event_kind {
#define EVENT(name, meaning) EVENT_##name,
#include "events.def"
#undef EVENT
    EVENT_KIND_COUNT
};

enum event_flag {
#define EVENT_FLAG(name, bit, meaning) EVENT_FLAG_##name = 1 << bit,
#include "event_flags.def"
#undef EVENT_FLAG
};

#define SLOT_FIRST_DETAIL 128
enum slot_kind {
    SLOT_before_details = SLOT_FIRST_DETAIL - 1,
#define DETAIL(name, meaning) SLOT_##name,
#include "details.def"
#undef DETAIL
    SLOT_KIND_END
};

/* enum lane_kind, rank_status, mpi_phase, ... and their constants. */
#define VALUES(unit, form)                     enum unit {
#define VALUE(constant, number, name, meaning) constant = number,
#define VALUES_END                                                                                 \
    }                                                                                              \
    ;
#include "values.def"
#undef VALUES
#undef VALUE
#undef VALUES_END

const char *rank_status_name(unsigned status);

/* A set of values: what the numbers of every column mean whose unit is its name. */
struct value {
    unsigned number;
    const char *name, *meaning;
};

enum value_form { VALUE_NUMBERS, VALUE_FLAGS };

struct value_set {
    const char *unit;
    enum value_form form;
    size_t count;
    const struct value *values;
};

extern const struct value_set value_set_list[];
extern const size_t value_set_count;

/* The set of this unit; NULL when it is none of kinds or flags. */
const struct value_set *value_set_find(const char *unit);

/* Writes "0 none, 1 step, ..." to `out`, which holds VALUES_TEXT_BYTES. */
#define VALUES_TEXT_BYTES 1024
void value_set_describe(const struct value_set *set, char out[VALUES_TEXT_BYTES]);

#endif
