/* One call of MPI becomes one event: the common part of all wrappers.
 *
 *   struct call call;
 *   call_open(&call, CALL_Send, address);
 *   int result = real(...);
 *   union slot *s = call_close(&call, result, 1);
 *   if (s != NULL) { s[1].message = ...; record_publish(call.writer); } */
#ifndef MPI_RECORD_CALL_H
#define MPI_RECORD_CALL_H

#include "collectives/mpi/calls.h"
#include "collectives/mpi/fortran.h"
#include "collectives/mpi/polls.h"
#include "collectives/mpi/probe.h"
#include "record/record.h"

/* Number of a call site; the thread remembers those it met last. */
#define CALL_SITES 64
struct call_site {
    const void *address;
    uint32_t number, generation;
};
extern _Thread_local struct call_site call_sites[CALL_SITES];
uint32_t call_site_find(struct call_site *place, const void *address);

static inline uint32_t call_site(const void *address)
{
    if (__builtin_expect(fortran_caller != NULL, 0))
        address = fortran_site(address);
    struct call_site *place = &call_sites[(uintptr_t)address / 4 % CALL_SITES];
    if (__builtin_expect(place->address == address && place->generation == scaleprof_generation, 1))
        return place->number;
    return call_site_find(place, address);
}

struct call {
    struct record_writer *writer; /* NULL: not recorded */
};

static inline void call_open(struct call *call, enum call_id id, const void *address)
{
    call->writer = probe_depth == 1 ? scaleprof_writer() : NULL;
    if (call->writer == NULL)
        return;
    polls_flush(call->writer);
    record_open(call->writer, EVENT_mpi_call, call_name(id), call_site(address), -1);
}

/* The event and room for details, as record_close; NULL also when the call is not recorded. */
static inline union slot *call_close(struct call *call, int result, unsigned details)
{
    if (call->writer == NULL)
        return NULL;
    union slot *s = record_close(call->writer, -1, details);
    if (s != NULL && result != MPI_SUCCESS)
        s->event.flags |= EVENT_FLAG_failed;
    return s;
}

/* A call without details. */
static inline void call_close_plain(struct call *call, int result)
{
    if (call_close(call, result, 0) != NULL)
        record_publish(call->writer);
}

/* A call that looks without waiting: when it has found nothing it joins the polls before it. */
struct poll {
    struct record_writer *writer;
    enum call_id id;
    uint32_t site;
    int64_t begin_ns, end_ns;
};

static inline void poll_open(struct poll *poll, enum call_id id, const void *address)
{
    poll->writer = scaleprof_writer();
    if (poll->writer == NULL)
        return;
    poll->id = id;
    poll->site = call_site(address);
    poll->begin_ns = clock_now_ns();
}

static inline void poll_end(struct poll *poll)
{
    if (poll->writer != NULL)
        poll->end_ns = clock_now_ns();
}

/* Records the call, whose interval has ended. True when its event was written: details may follow.
 */
bool poll_close(const struct poll *poll, int result, bool found);

/* The exports of one call: MPI_X and PMPI_X, each in front of the next function of its name. */
#define EXPORT_CALL_AS(layer, symbol, name, passes, params, args)                                  \
    SCALEPROF_API int symbol params                                                                \
    {                                                                                              \
        __typeof__(&symbol) real = (__typeof__(&symbol))call_real(layer, CALL_##name);             \
        if (real == NULL)                                                                          \
            return MPI_ERR_OTHER;                                                                  \
        if (passes())                                                                              \
            return real args;                                                                      \
        probe_depth++;                                                                             \
        int result = recorded_##name(real, __builtin_return_address(0) MORE args);                 \
        probe_depth--;                                                                             \
        return result;                                                                             \
    }
#define EXPORT_CALL(name, params, args)                                                            \
    EXPORT_CALL_AS(CALL_MPI, MPI_##name, name, probe_passes, params, args)                         \
    EXPORT_CALL_AS(CALL_PMPI, PMPI_##name, name, probe_passes, params, args)

/* The same for a call that takes a handle away, which the probe must see also inside other calls: a
 * program may free in a callback of MPI. There it is not recorded. */
#define EXPORT_FREE(name, params, args)                                                            \
    EXPORT_CALL_AS(CALL_MPI, MPI_##name, name, probe_is_off, params, args)                         \
    EXPORT_CALL_AS(CALL_PMPI, PMPI_##name, name, probe_is_off, params, args)

/* Head of the function that records a call. */
#define RECORDED(name, params)                                                                     \
    static inline int recorded_##name(__typeof__(&MPI_##name) real, const void *address,           \
                                      UNPACK params)

#define UNPACK(...) __VA_ARGS__
#define MORE(...)   , ##__VA_ARGS__

#endif
