#include "vocabulary.h"

#include <stddef.h>

static const struct {
    const char *name, *meaning;
} kinds[] = {
#define EVENT(name, meaning) {#name, meaning},
#include "events.def"
#undef EVENT
};

static const char *const statuses[] = {"ok", "failed", "killed", "open", "missing"};

const char *event_kind_name(unsigned kind)
{
    return kind < EVENT_KIND_COUNT ? kinds[kind].name : "unknown";
}

const char *event_kind_meaning(unsigned kind)
{
    return kind < EVENT_KIND_COUNT ? kinds[kind].meaning : "written by a newer version";
}

const char *rank_status_name(unsigned status)
{
    return status < sizeof statuses / sizeof *statuses ? statuses[status] : "unknown";
}
