#include "vocabulary.h"

#include <stdio.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const struct value kinds[] = {
#define EVENT(name, meaning) {EVENT_##name, #name, meaning},
#include "events.def"
#undef EVENT
};

static const struct value flags[] = {
#define EVENT_FLAG(name, bit, meaning) {1u << bit, #name, meaning},
#include "event_flags.def"
#undef EVENT_FLAG
};

enum {
#define COLLECTIVE(name, waits, payload, factor, meaning) KIND_##name,
#include "collectives.def"
#undef COLLECTIVE
};

static const struct value collectives[] = {
#define COLLECTIVE(name, waits, payload, factor, meaning) {KIND_##name, #name, meaning},
#include "collectives.def"
#undef COLLECTIVE
};

#define VALUES(unit, form)                     static const struct value values_of_##unit[] = {
#define VALUE(constant, number, name, meaning) {number, #name, meaning},
#define VALUES_END                                                                                 \
    }                                                                                              \
    ;
#include "values.def"
#undef VALUES
#undef VALUE
#undef VALUES_END

const struct value_set value_set_list[] = {
    {"event_kind", VALUE_NUMBERS, COUNT(kinds), kinds},
    {"event_flag", VALUE_FLAGS, COUNT(flags), flags},
    {"collective_kind", VALUE_NUMBERS, COUNT(collectives), collectives},
#define VALUES(unit, form) {#unit, VALUE_##form, COUNT(values_of_##unit), values_of_##unit},
#define VALUE(constant, number, name, meaning)
#define VALUES_END
#include "values.def"
#undef VALUES
#undef VALUE
#undef VALUES_END
};
const size_t value_set_count = COUNT(value_set_list);

const char *rank_status_name(unsigned status)
{
    return status < COUNT(values_of_rank_status) ? values_of_rank_status[status].name : "unknown";
}

const struct value_set *value_set_find(const char *unit)
{
    for (size_t i = 0; i < value_set_count; i++)
        if (strcmp(value_set_list[i].unit, unit) == 0)
            return &value_set_list[i];
    return NULL;
}

void value_set_describe(const struct value_set *set, char out[VALUES_TEXT_BYTES])
{
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < set->count && at < VALUES_TEXT_BYTES; i++)
        at += (size_t)snprintf(out + at, VALUES_TEXT_BYTES - at, "%s%u %s", i ? ", " : "",
                               set->values[i].number, set->values[i].name);
}
