/* Windows of one-sided communication: what all their members do together. */
#include "collectives/collectives.h"
#include "collectives/mpi/comms.h"
#include "collectives/mpi/record_call.h"

static void close_fence(struct call *call, int result, const struct comm *c, int64_t sequence)
{
    union slot *s = call_close(call, result, 1);
    if (s == NULL)
        return;
    s[1].collective = (struct slot_collective){
        .kind = SLOT_collective,
        .collective = COLLECTIVE_fence,
        .scope = SEQUENCE_COMMUNICATOR,
        .blocking = 1,
        .communicator = c != NULL ? c->number : 0,
        .root = -1,
        .sequence = sequence,
    };
    record_publish(call->writer);
}

#define WINDOW_CALL(name, lower, params, args)                                                     \
    RECORDED(name, params)                                                                         \
    {                                                                                              \
        struct comm *c = comms_find(comm);                                                         \
        int64_t sequence = comm_next_sequence(c);                                                  \
        struct call call;                                                                          \
        call_open(&call, CALL_##name, address);                                                    \
        int result = real args;                                                                    \
        close_fence(&call, result, c, sequence);                                                   \
        if (result == MPI_SUCCESS)                                                                 \
            comms_define_window(*win, c);                                                          \
        return result;                                                                             \
    }                                                                                              \
    EXPORT_CALL(name, params, args)

RECORDED(Win_fence, (int assertion, MPI_Win win))
{
    struct comm *c = comms_find_window(win);
    int64_t sequence = comm_next_sequence(c);
    struct call call;
    call_open(&call, CALL_Win_fence, address);
    int result = real(assertion, win);
    close_fence(&call, result, c, sequence);
    return result;
}

/* The handle is forgotten before MPI can give it to another window. */
RECORDED(Win_free, (MPI_Win * win))
{
    MPI_Win handle = win != NULL ? *win : (MPI_Win)0;
    struct comm *c = comms_forget_window(handle);
    int64_t sequence = comm_next_sequence(c);
    struct call call;
    call_open(&call, CALL_Win_free, address);
    int result = real(win);
    close_fence(&call, result, c, sequence);
    if (result == MPI_SUCCESS)
        comms_release(c);
    else
        comms_restore_window(handle, c);
    return result;
}

RECORDED(Win_test, (MPI_Win win, int *flag))
{
    struct poll poll;
    poll_open(&poll, CALL_Win_test, address);
    int result = real(win, flag);
    poll_end(&poll);
    poll_close(&poll, result, result == MPI_SUCCESS && *flag);
    return result;
}

RECORDED(Win_set_name, (MPI_Win win, const char *win_name))
{
    struct call call;
    call_open(&call, CALL_Win_set_name, address);
    int result = real(win, win_name);
    call_close_plain(&call, result);
    struct comm *c = comms_find_window(win);
    if (result == MPI_SUCCESS && c != NULL)
        scaleprof_communicator_rename(c->number, win_name);
    return result;
}

#define WINDOW_USE_CALL(name, lower, params, args)  EXPORT_CALL(name, params, args)
#define WINDOW_FREE_CALL(name, lower, params, args) EXPORT_FREE(name, params, args)
#include "collectives/mpi/calls.def"
