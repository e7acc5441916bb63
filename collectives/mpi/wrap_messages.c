/* Point-to-point messages and probes. */
#include "collectives/mpi/bytes.h"
#include "collectives/mpi/comms.h"
#include "collectives/mpi/operations.h"
#include "collectives/mpi/orders.h"
#include "collectives/mpi/record_call.h"

struct message {
    struct comm *comm;
    int64_t order;
    int32_t peer, tag;
    uint8_t direction, mode, flags;
};

static inline struct message message_send(MPI_Comm comm, int dest, int tag, enum message_mode mode,
                                          unsigned flags)
{
    struct message m = {comms_find(comm), -1, dest, tag, MESSAGE_SEND, (uint8_t)mode,
                        (uint8_t)flags};
    if (dest == MPI_PROC_NULL) {
        m.peer = -1;
        m.flags |= MESSAGE_NULL_PEER;
    }
    return m;
}

static inline struct message message_receive(MPI_Comm comm, int source, int tag, unsigned flags)
{
    struct message m = {comms_find(comm), -1, source, tag, MESSAGE_RECEIVE, MESSAGE_STANDARD,
                        (uint8_t)flags};
    if (tag == MPI_ANY_TAG) {
        m.tag = -1;
        m.flags |= MESSAGE_ANY_TAG;
    }
    if (source == MPI_ANY_SOURCE || source == MPI_PROC_NULL) {
        m.peer = -1;
        m.flags |= source == MPI_PROC_NULL ? MESSAGE_NULL_PEER : MESSAGE_ANY_SOURCE;
    }
    return m;
}

#define MESSAGE_ANY (MESSAGE_ANY_SOURCE | MESSAGE_ANY_TAG)

/* Counts the message in. A receive from any peer or tag cannot be counted yet. One that ends before
 * the thread posts another is counted at its end (message_received); while one that does not, or
 * other threads, may take messages of any peer, no receive of the communicator can be counted: its
 * order is for the gather to find. */
static inline void message_count(struct message *m)
{
    if (m->comm == NULL || (m->flags & MESSAGE_NULL_PEER))
        return;
    if ((m->flags & MESSAGE_ANY) && ((m->flags & MESSAGE_NONBLOCKING) || probe_multiple))
        atomic_store_explicit(&m->comm->uncounted, true, memory_order_relaxed);
    if (m->direction == MESSAGE_RECEIVE &&
        ((m->flags & MESSAGE_ANY) ||
         atomic_load_explicit(&m->comm->uncounted, memory_order_relaxed)))
        return;
    m->order = orders_next(m->comm->number, m->peer, m->tag, m->direction);
}

/* The same for one of any peer or tag whose message is known now. */
static void message_count_known(struct message *m)
{
    if (m->comm != NULL && !atomic_load_explicit(&m->comm->uncounted, memory_order_relaxed))
        m->order = orders_next(m->comm->number, m->peer, m->tag, m->direction);
}

static inline int64_t message_bytes(const struct message *m, int result, int count,
                                    MPI_Datatype type)
{
    if (m->flags & MESSAGE_NULL_PEER)
        return 0;
    return result == MPI_SUCCESS ? bytes_of(count, type) : -1;
}

static inline void message_fill(union slot *s, const struct message *m, int64_t bytes,
                                uint64_t operation)
{
    s->message = (struct slot_message){
        .kind = SLOT_message,
        .direction = m->direction,
        .mode = m->mode,
        .flags = m->flags,
        .communicator = m->comm != NULL ? m->comm->number : 0,
        .peer = m->peer,
        .tag = m->tag,
        .order = m->order,
        .bytes = bytes,
        .operation = operation,
    };
}

/* Number of the operation that a non-blocking call has started; 0 when it failed. */
static uint64_t message_start(const struct message *m, MPI_Request request, int result)
{
    if (result != MPI_SUCCESS)
        return 0;
    struct operation op = {
        .number = scaleprof_operation(),
        .kind = m->direction == MESSAGE_SEND ? OPERATION_SEND : OPERATION_RECEIVE,
        .communicator = m->comm != NULL ? m->comm->number : 0,
        .comm = m->comm,
    };
    operations_add(request, &op);
    return op.number;
}

/* ---- sends ---- */

#define RECORDED_SEND(name, mode, nonblocking, started, params, args)                              \
    RECORDED(name, params)                                                                         \
    {                                                                                              \
        struct message m = message_send(comm, dest, tag, MESSAGE_##mode, nonblocking);             \
        message_count(&m);                                                                         \
        struct call call;                                                                          \
        call_open(&call, CALL_##name, address);                                                    \
        int result = real args;                                                                    \
        union slot *s = call_close(&call, result, 1);                                              \
        if (s != NULL) {                                                                           \
            s[0].event.bytes = message_bytes(&m, result, count, datatype);                         \
            message_fill(&s[1], &m, s[0].event.bytes, started);                                    \
            record_publish(call.writer);                                                           \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    EXPORT_CALL(name, params, args)

#define SEND_CALL(name, lower, mode) RECORDED_SEND(name, mode, 0, 0, SEND_PARAMS, SEND_ARGS)
#define ISEND_CALL(name, lower, mode)                                                              \
    RECORDED_SEND(name, mode, MESSAGE_NONBLOCKING, message_start(&m, *request, result),            \
                  ISEND_PARAMS, ISEND_ARGS)

/* ---- persistent ---- */

/* Keeps what each start of the request will need. */
static void persist(const struct message *m, MPI_Request request, int count, MPI_Datatype type)
{
    struct operation op = {
        .kind = m->direction == MESSAGE_SEND ? OPERATION_SEND : OPERATION_RECEIVE,
        .mode = m->mode,
        .flags = m->flags,
        .persistent = true,
        .communicator = m->comm != NULL ? m->comm->number : 0,
        .comm = m->comm,
        .peer = m->peer,
        .tag = m->tag,
        .bytes = message_bytes(m, MPI_SUCCESS, count, type),
    };
    operations_add(request, &op);
}

#define RECORDED_INIT(name, given, params, args)                                                   \
    RECORDED(name, params)                                                                         \
    {                                                                                              \
        struct call call;                                                                          \
        call_open(&call, CALL_##name, address);                                                    \
        int result = real args;                                                                    \
        call_close_plain(&call, result);                                                           \
        struct message m = given;                                                                  \
        if (result == MPI_SUCCESS)                                                                 \
            persist(&m, *request, count, datatype);                                                \
        return result;                                                                             \
    }                                                                                              \
    EXPORT_CALL(name, params, args)

#define PERSISTENT (MESSAGE_NONBLOCKING | MESSAGE_PERSISTENT)
#define SEND_INIT_CALL(name, lower, mode)                                                          \
    RECORDED_INIT(name, message_send(comm, dest, tag, MESSAGE_##mode, PERSISTENT), ISEND_PARAMS,   \
                  ISEND_ARGS)
#define RECV_INIT_CALL(name, lower, params, args)                                                  \
    RECORDED_INIT(name, message_receive(comm, source, tag, PERSISTENT), params, args)

/* The start of a persistent request as a message. False when the request is not a message that is
 * known. */
static bool restart(MPI_Request request, struct message *m, struct operation *op)
{
    if (!operations_restart(request, scaleprof_operation(), op) || op->kind > OPERATION_RECEIVE)
        return false;
    *m = (struct message){
        .comm = op->comm != NULL && op->comm->number == op->communicator ? op->comm : NULL,
        .order = -1,
        .peer = op->peer,
        .tag = op->tag,
        .direction = op->kind == OPERATION_SEND ? MESSAGE_SEND : MESSAGE_RECEIVE,
        .mode = op->mode,
        .flags = op->flags & (uint8_t)~MESSAGE_CANCELLED,
    };
    message_count(m);
    return true;
}

/* Each message is a detail of its own behind the event: how many there will be is not known before.
 */
static void restart_all(struct call *call, int result, int count, const MPI_Request *requests)
{
    bool recorded = call->writer != NULL && call_close(call, result, 0) != NULL;
    if (recorded)
        record_publish(call->writer);
    if (result != MPI_SUCCESS)
        return;
    for (int i = 0; i < count; i++) {
        struct message m;
        struct operation op;
        if (!restart(requests[i], &m, &op))
            continue;
        union slot *s = recorded ? record_reserve(call->writer, 1) : NULL;
        if (s == NULL)
            continue;
        message_fill(s, &m, op.bytes, op.number);
        s->message.communicator = op.communicator;
        record_publish(call->writer);
    }
}

RECORDED(Start, (MPI_Request * request))
{
    struct call call;
    call_open(&call, CALL_Start, address);
    int result = real(request);
    restart_all(&call, result, 1, request);
    return result;
}

RECORDED(Startall, (int count, MPI_Request requests[]))
{
    struct call call;
    call_open(&call, CALL_Startall, address);
    int result = real(count, requests);
    restart_all(&call, result, count, requests);
    return result;
}

/* ---- receives ---- */

/* What the status of a received message says. */
static void message_received(struct message *m, const MPI_Status *status, int64_t *bytes)
{
    *bytes = bytes_received(status);
    if (m->flags & MESSAGE_NULL_PEER)
        return;
    m->peer = status->MPI_SOURCE;
    m->tag = status->MPI_TAG;
    if (m->flags & MESSAGE_ANY)
        message_count_known(m);
}

/* A receive that has ended. */
static void close_received(struct call *call, int result, struct message *m,
                           const MPI_Status *status)
{
    int64_t bytes = -1;
    union slot *s = call_close(call, result, 1);
    if (result == MPI_SUCCESS)
        message_received(m, status, &bytes);
    if (s == NULL)
        return;
    s[0].event.bytes = bytes;
    message_fill(&s[1], m, bytes, 0);
    record_publish(call->writer);
}

/* A receive that has begun. */
static void close_posted(struct call *call, int result, const struct message *m, int count,
                         MPI_Datatype type, const MPI_Request *request)
{
    union slot *s = call_close(call, result, 1);
    if (s == NULL)
        return;
    message_fill(&s[1], m, message_bytes(m, result, count, type),
                 message_start(m, *request, result));
    record_publish(call->writer);
}

RECORDED(Recv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Status *status))
{
    MPI_Status own_status;
    MPI_Status *known = status != MPI_STATUS_IGNORE ? status : &own_status;
    struct message m = message_receive(comm, source, tag, 0);
    message_count(&m);
    struct call call;
    call_open(&call, CALL_Recv, address);
    int result = real(buf, count, datatype, source, tag, comm, known);
    close_received(&call, result, &m, known);
    return result;
}

RECORDED(Irecv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request *request))
{
    struct message m = message_receive(comm, source, tag, MESSAGE_NONBLOCKING);
    message_count(&m);
    struct call call;
    call_open(&call, CALL_Irecv, address);
    int result = real(buf, count, datatype, source, tag, comm, request);
    close_posted(&call, result, &m, count, datatype, request);
    return result;
}

/* The two messages of a call that sends and receives. */
static void fill_both(struct call *call, int result, const struct message *out, int count,
                      MPI_Datatype type, struct message *in, const MPI_Status *status)
{
    int64_t received = -1;
    union slot *s = call_close(call, result, 2);
    if (result == MPI_SUCCESS)
        message_received(in, status, &received);
    if (s == NULL)
        return;
    s[0].event.bytes = message_bytes(out, result, count, type);
    message_fill(&s[1], out, s[0].event.bytes, 0);
    message_fill(&s[2], in, received, 0);
    record_publish(call->writer);
}

RECORDED(Sendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source,
                    int recvtag, MPI_Comm comm, MPI_Status *status))
{
    MPI_Status own_status;
    MPI_Status *known = status != MPI_STATUS_IGNORE ? status : &own_status;
    struct message out = message_send(comm, dest, sendtag, MESSAGE_STANDARD, 0);
    struct message in = message_receive(comm, source, recvtag, 0);
    message_count(&out);
    message_count(&in);
    struct call call;
    call_open(&call, CALL_Sendrecv, address);
    int result = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                      source, recvtag, comm, known);
    fill_both(&call, result, &out, sendcount, sendtype, &in, known);
    return result;
}

RECORDED(Sendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                            int source, int recvtag, MPI_Comm comm, MPI_Status *status))
{
    MPI_Status own_status;
    MPI_Status *known = status != MPI_STATUS_IGNORE ? status : &own_status;
    struct message out = message_send(comm, dest, sendtag, MESSAGE_STANDARD, 0);
    struct message in = message_receive(comm, source, recvtag, 0);
    message_count(&out);
    message_count(&in);
    struct call call;
    call_open(&call, CALL_Sendrecv_replace, address);
    int result = real(buf, count, datatype, dest, sendtag, source, recvtag, comm, known);
    fill_both(&call, result, &out, count, datatype, &in, known);
    return result;
}

/* ---- probes ---- */

RECORDED(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
{
    struct call call;
    call_open(&call, CALL_Probe, address);
    int result = real(source, tag, comm, status);
    call_close_plain(&call, result);
    return result;
}

RECORDED(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
{
    struct poll poll;
    poll_open(&poll, CALL_Iprobe, address);
    int result = real(source, tag, comm, flag, status);
    poll_end(&poll);
    poll_close(&poll, result, result == MPI_SUCCESS && *flag);
    return result;
}

/* ---- matched probes ---- */

/* A message that a probe has taken out, by its MPI_Message: it is matched now, so it is counted
 * now. */
static void match(MPI_Comm comm, MPI_Message message, const MPI_Status *status)
{
    struct message m = {.comm = comms_find(comm), .order = -1, .direction = MESSAGE_RECEIVE};
    m.peer = status->MPI_SOURCE;
    m.tag = status->MPI_TAG;
    if (m.peer == MPI_PROC_NULL)
        return;
    message_count_known(&m);
    struct operation op = {
        .kind = OPERATION_MATCHED,
        .communicator = m.comm != NULL ? m.comm->number : 0,
        .comm = m.comm,
        .peer = m.peer,
        .tag = m.tag,
        .order = m.order,
    };
    operations_add((MPI_Request)message, &op);
}

RECORDED(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
{
    MPI_Status own_status;
    MPI_Status *known = status != MPI_STATUS_IGNORE ? status : &own_status;
    struct call call;
    call_open(&call, CALL_Mprobe, address);
    int result = real(source, tag, comm, message, known);
    call_close_plain(&call, result);
    if (result == MPI_SUCCESS)
        match(comm, *message, known);
    return result;
}

RECORDED(Improbe,
         (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
{
    MPI_Status own_status;
    MPI_Status *known = status != MPI_STATUS_IGNORE ? status : &own_status;
    struct poll poll;
    poll_open(&poll, CALL_Improbe, address);
    int result = real(source, tag, comm, flag, message, known);
    poll_end(&poll);
    poll_close(&poll, result, result == MPI_SUCCESS && *flag);
    if (result == MPI_SUCCESS && *flag)
        match(comm, *message, known);
    return result;
}

/* The receive of a matched message; of MPI_PROC_NULL when it is not known. */
static struct message message_matched(const MPI_Message *message, unsigned flags)
{
    struct operation op;
    struct message m = {.order = -1, .peer = -1, .tag = -1, .direction = MESSAGE_RECEIVE};
    m.flags = (uint8_t)(flags | MESSAGE_MATCHED_PROBE);
    if (message == NULL || !operations_take((MPI_Request)*message, &op)) {
        m.flags |= MESSAGE_NULL_PEER;
        return m;
    }
    m.comm = op.comm != NULL && op.comm->number == op.communicator ? op.comm : NULL;
    m.peer = op.peer;
    m.tag = op.tag;
    m.order = op.order;
    return m;
}

RECORDED(Mrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status))
{
    MPI_Status own_status;
    MPI_Status *known = status != MPI_STATUS_IGNORE ? status : &own_status;
    struct message m = message_matched(message, 0);
    struct call call;
    call_open(&call, CALL_Mrecv, address);
    int result = real(buf, count, type, message, known);
    close_received(&call, result, &m, known);
    return result;
}

RECORDED(Imrecv,
         (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request))
{
    struct message m = message_matched(message, MESSAGE_NONBLOCKING);
    struct call call;
    call_open(&call, CALL_Imrecv, address);
    int result = real(buf, count, type, message, request);
    close_posted(&call, result, &m, count, type, request);
    return result;
}

#define MESSAGE_CALL(name, lower, params, args) EXPORT_CALL(name, params, args)
#include "collectives/mpi/calls.def"
