/* record.h: numbers of texts, call sites and communicators. */
#include "lane.h"
#include "process.h"

uint32_t scaleprof_string(const char *text)
{
    struct record_writer *w = lane_writer();
    return w != NULL && text != NULL ? texts_number(&process->texts, w, text) : 0;
}

uint32_t scaleprof_site(const void *return_address)
{
    struct lane_guard guard;
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return 0;
    uint32_t number = sites_find(&process->sites, return_address);
    if (number != 0 || !lane_enter(&guard))
        return number;
    number = sites_number(&process->sites, w, return_address);
    lane_leave(&guard);
    return number;
}

uint32_t scaleprof_communicator_define(const struct slot_communicator *definition)
{
    struct record_writer *w = lane_writer();
    return w != NULL ? communicators_define(&process->communicators, w, definition) : 0;
}

void scaleprof_communicator_rename(uint32_t number, const char *name)
{
    struct record_writer *w = lane_writer();
    if (w != NULL)
        communicators_rename(&process->communicators, w, number,
                             name != NULL ? texts_number(&process->texts, w, name) : 0);
}
