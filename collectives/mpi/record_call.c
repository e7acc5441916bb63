#include "collectives/mpi/record_call.h"

_Thread_local struct call_site call_sites[CALL_SITES];

uint32_t call_site_find(struct call_site *place, const void *address)
{
    uint32_t number = scaleprof_site(address);
    if (number != 0)
        *place = (struct call_site){address, number, scaleprof_generation};
    return number;
}

bool poll_close(const struct poll *poll, int result, bool found)
{
    if (poll->writer == NULL)
        return false;
    uint32_t name = call_name(poll->id);
    if (!found && result == MPI_SUCCESS) {
        polls_add(poll->writer, name, poll->site, poll->begin_ns, poll->end_ns);
        return false;
    }
    polls_flush(poll->writer);
    union slot *s = record_reserve_event(poll->writer, 0);
    if (s == NULL)
        return false;
    s->event = (struct slot_event){
        .kind = EVENT_mpi_call,
        .flags = result != MPI_SUCCESS ? EVENT_FLAG_failed : 0,
        .name = name,
        .site = poll->site,
        .begin_ns = poll->begin_ns,
        .duration_ns = poll->end_ns - poll->begin_ns,
        .ref = -1,
        .bytes = -1,
    };
    record_publish(poll->writer);
    return true;
}
