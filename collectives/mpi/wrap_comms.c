/* Creation, naming and end of communicators. */
#include "collectives/collectives.h"
#include "collectives/mpi/comms.h"
#include "collectives/mpi/operations.h"
#include "collectives/mpi/own.h"
#include "collectives/mpi/record_call.h"

/* The creation as a collective of `c`. */
static struct slot_collective describe_creation(const struct comm *c, int64_t sequence,
                                                uint64_t operation)
{
    return (struct slot_collective){
        .kind = SLOT_collective,
        .collective = COLLECTIVE_communicator,
        .scope = SEQUENCE_COMMUNICATOR,
        .blocking = operation == 0,
        .communicator = c != NULL ? c->number : 0,
        .root = -1,
        .sequence = sequence,
        .operation = operation,
    };
}

static bool was_made(int result, const MPI_Comm *made)
{
    return result == MPI_SUCCESS && *made != own_handle.comm_null;
}

/* Records a creation that all members of the parent took part in. */
static void close_creation(struct call *call, int result, struct comm *parent, int64_t sequence)
{
    union slot *s = call_close(call, result, 1);
    if (s == NULL)
        return;
    s[1].collective = describe_creation(parent, sequence, 0);
    record_publish(call->writer);
}

#define CREATE_CALL(name, lower, parent, made, how, params, args)                                  \
    RECORDED(name, params)                                                                         \
    {                                                                                              \
        struct comm *c = comms_find(parent);                                                       \
        int64_t sequence = comm_next_sequence(c);                                                  \
        struct call call;                                                                          \
        call_open(&call, CALL_##name, address);                                                    \
        int result = real args;                                                                    \
        close_creation(&call, result, c, sequence);                                                \
        if (was_made(result, made))                                                                \
            comms_define(*made, c, how);                                                           \
        return result;                                                                             \
    }                                                                                              \
    EXPORT_CALL(name, params, args)

RECORDED(Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request))
{
    struct comm *c = comms_find(comm);
    int64_t sequence = comm_next_sequence(c);
    struct operation op = {.kind = OPERATION_CREATE, .comm = c, .created = newcomm};
    if (c != NULL)
        op.ordinal = comms_ordinal(c, c->members);
    struct call call;
    call_open(&call, CALL_Comm_idup, address);
    int result = real(comm, newcomm, request);
    union slot *s = call_close(&call, result, 1);
    if (s != NULL && result == MPI_SUCCESS)
        op.number = scaleprof_operation();
    if (s != NULL) {
        s[1].collective = describe_creation(c, sequence, op.number);
        record_publish(call.writer);
    }
    if (result == MPI_SUCCESS && c != NULL)
        operations_add(*request, &op);
    return result;
}

/* Only the new members call this, so it has no place among the collectives of the parent: it is the
 * first one of the new communicator. */
RECORDED(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm))
{
    struct call call;
    call_open(&call, CALL_Comm_create_group, address);
    int result = real(comm, group, tag, newcomm);
    bool recorded = call_close(&call, result, 0) != NULL;
    if (recorded)
        record_publish(call.writer);
    struct comm *c =
        was_made(result, newcomm) ? comms_define(*newcomm, comms_find(comm), "create_group") : NULL;
    int64_t sequence = comm_next_sequence(c);
    union slot *s = recorded && c != NULL ? record_reserve(call.writer, 1) : NULL;
    if (s != NULL) {
        s->collective = describe_creation(c, sequence, 0);
        record_publish(call.writer);
    }
    return result;
}

RECORDED(Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                            int remote_leader, int tag, MPI_Comm *newcomm))
{
    struct call call;
    call_open(&call, CALL_Intercomm_create, address);
    int result = real(local_comm, local_leader, peer_comm, remote_leader, tag, newcomm);
    call_close_plain(&call, result);
    if (was_made(result, newcomm))
        comms_define(*newcomm, NULL, "intercommunicator");
    return result;
}

/* The other side was not in this job's MPI_COMM_WORLD: its members are not told apart, so the two
 * sides find different keys. */
#define MEET_CALL(name, lower, parent, made, params, args)                                         \
    RECORDED(name, params)                                                                         \
    {                                                                                              \
        struct call call;                                                                          \
        call_open(&call, CALL_##name, address);                                                    \
        int result = real args;                                                                    \
        call_close_plain(&call, result);                                                           \
        if (was_made(result, made))                                                                \
            comms_define(*made, parent, "others");                                                 \
        return result;                                                                             \
    }                                                                                              \
    EXPORT_CALL(name, params, args)

/* The handle is forgotten before MPI can give it to another communicator. */
#define COMM_FREE_CALL(name, lower, params, args)                                                  \
    RECORDED(name, params)                                                                         \
    {                                                                                              \
        MPI_Comm handle = comm != NULL ? *comm : own_handle.comm_null;                             \
        struct comm *c = comms_forget(handle);                                                     \
        struct call call;                                                                          \
        call_open(&call, CALL_##name, address);                                                    \
        int result = real args;                                                                    \
        call_close_plain(&call, result);                                                           \
        if (result == MPI_SUCCESS)                                                                 \
            comms_release(c);                                                                      \
        else                                                                                       \
            comms_restore(handle, c);                                                              \
        return result;                                                                             \
    }                                                                                              \
    EXPORT_FREE(name, params, args)

RECORDED(Comm_set_name, (MPI_Comm comm, const char *comm_name))
{
    struct call call;
    call_open(&call, CALL_Comm_set_name, address);
    int result = real(comm, comm_name);
    call_close_plain(&call, result);
    struct comm *c = comms_find(comm);
    if (result == MPI_SUCCESS && c != NULL)
        scaleprof_communicator_rename(c->number, comm_name);
    return result;
}

#define COMM_CALL(name, lower, params, args) EXPORT_CALL(name, params, args)
#include "collectives/mpi/calls.def"
