/* Calls that see operations end: MPI_Wait*, MPI_Test*, and those that give a request up. */
#include <stdlib.h>

#include "collectives/mpi/bytes.h"
#include "collectives/mpi/comms.h"
#include "collectives/mpi/operations.h"
#include "collectives/mpi/record_call.h"

#define BATCH_SMALL 64 /* requests of one call that need no allocation */

/* The requests of one call as they were before it (MPI overwrites the handles of those that ended),
 * and statuses of our own where the program wants none. */
struct batch {
    int count;
    MPI_Request *handles;
    uint32_t *places; /* claimed before the call, where several threads are in MPI; else NULL */
    MPI_Status *statuses;
    struct record_writer *writer; /* where completions go; NULL nowhere */
    void *allocated;
    MPI_Request small_handles[BATCH_SMALL];
    uint32_t small_places[BATCH_SMALL];
    MPI_Status small_statuses[BATCH_SMALL];
};

/* Memory for more than BATCH_SMALL requests; without it the batch is empty, and the call is
 * recorded without ends. */
static void batch_allocate(struct batch *b, int count)
{
    size_t each = sizeof(MPI_Request) + sizeof(uint32_t) + sizeof(MPI_Status);
    b->allocated = malloc((size_t)count * each);
    if (b->allocated == NULL) {
        scaleprof_fault("mpi requests", "out of memory");
        b->count = 0;
        return;
    }
    b->handles = b->allocated;
    b->statuses = (MPI_Status *)(b->handles + count);
    b->places = (uint32_t *)(b->statuses + count);
}

static void batch_open(struct batch *b, int count, const MPI_Request *requests)
{
    b->count = count > 0 && requests != NULL ? count : 0;
    b->writer = NULL;
    b->allocated = NULL;
    b->handles = b->small_handles;
    b->places = b->small_places;
    b->statuses = b->small_statuses;
    if (b->count > BATCH_SMALL)
        batch_allocate(b, count);
    for (int i = 0; i < b->count; i++)
        b->handles[i] = requests[i];
    if (!probe_multiple)
        b->places = NULL;
    for (int i = 0; b->places != NULL && i < b->count; i++)
        b->places[i] = operations_claim(requests[i]);
}

static void batch_close(struct batch *b)
{
    for (int i = 0; b->places != NULL && i < b->count; i++)
        if (b->places[i] != 0)
            operations_unclaim(b->handles[i], b->places[i]);
    free(b->allocated);
}

/* The statuses that MPI shall fill: the program's, or ours where we have room and it has none. */
static MPI_Status *batch_statuses(struct batch *b, MPI_Status *given)
{
    if (given != MPI_STATUSES_IGNORE || b->count == 0)
        return given;
    return b->statuses;
}

static bool batch_take(struct batch *b, int i, struct operation *op)
{
    if (b->places == NULL)
        return operations_take(b->handles[i], op);
    uint32_t place = b->places[i];
    b->places[i] = 0;
    if (place != 0)
        operations_take_claimed(b->handles[i], place, op);
    return place != 0;
}

/* A cancelled receive was counted as if it took a message, so later ones cannot be counted. */
static bool was_cancelled(const struct operation *op, const MPI_Status *status)
{
    int cancelled = 0;
    if (!(op->flags & MESSAGE_CANCELLED) || own.Test_cancelled(status, &cancelled) != MPI_SUCCESS ||
        !cancelled)
        return false;
    if (op->kind == OPERATION_RECEIVE && op->comm != NULL && op->comm->number == op->communicator)
        atomic_store_explicit(&op->comm->uncounted, true, memory_order_relaxed);
    return true;
}

/* The detail of an operation's end; `status` NULL when MPI gave none. */
static struct slot_completion describe_end(const struct operation *op, const MPI_Status *status)
{
    struct slot_completion c = {
        .kind = SLOT_completion, .peer = -1, .tag = -1, .operation = op->number, .bytes = -1};
    if (status != NULL && was_cancelled(op, status)) {
        c.flags = MESSAGE_CANCELLED;
    } else if (status != NULL && op->kind == OPERATION_RECEIVE) {
        c.bytes = bytes_received(status);
        if (status->MPI_SOURCE != MPI_PROC_NULL) {
            c.peer = status->MPI_SOURCE;
            c.tag = status->MPI_TAG;
        }
    }
    return c;
}

/* Request i of the batch has ended. */
static void batch_end(struct batch *b, int i, const MPI_Status *status)
{
    struct operation op;
    if (i < 0 || i >= b->count || !batch_take(b, i, &op))
        return;
    if (op.kind == OPERATION_CREATE)
        comms_define_as(*op.created, op.comm, "dup", op.ordinal);
    if (op.number == 0)
        return;
    union slot *s = b->writer != NULL ? record_reserve(b->writer, 1) : NULL;
    if (s == NULL)
        return;
    s->completion = describe_end(&op, status);
    record_publish(b->writer);
}

/* After a call that failed: those whose handle is gone have ended. */
static void batch_end_gone(struct batch *b, const MPI_Request *requests)
{
    for (int i = 0; i < b->count; i++)
        if (b->handles[i] != own_handle.request_null && requests[i] == own_handle.request_null)
            batch_end(b, i, NULL);
}

/* Requests indices[0 .. count) have ended; the k-th status is that of the k-th index. */
static void batch_end_some(struct batch *b, int count, const int *indices,
                           const MPI_Status *statuses)
{
    for (int k = 0; k < count; k++)
        batch_end(b, indices[k], statuses != MPI_STATUSES_IGNORE ? &statuses[k] : NULL);
}

static void batch_end_all(struct batch *b, const MPI_Status *statuses)
{
    for (int i = 0; i < b->count; i++)
        batch_end(b, i, statuses != MPI_STATUSES_IGNORE ? &statuses[i] : NULL);
}

/* ---- waiting ---- */

/* The event is written; the ends are details behind it. */
static void wait_close(struct call *call, struct batch *b, int result)
{
    if (call_close(call, result, 0) == NULL)
        return;
    record_publish(call->writer);
    b->writer = call->writer;
}

RECORDED(Wait, (MPI_Request * request, MPI_Status *status))
{
    struct batch b;
    struct call call;
    batch_open(&b, 1, request);
    status = batch_statuses(&b, status);
    call_open(&call, CALL_Wait, address);
    int result = real(request, status);
    wait_close(&call, &b, result);
    if (result == MPI_SUCCESS)
        batch_end(&b, 0, status);
    else
        batch_end_gone(&b, request);
    batch_close(&b);
    return result;
}

RECORDED(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]))
{
    struct batch b;
    struct call call;
    batch_open(&b, count, requests);
    statuses = batch_statuses(&b, statuses);
    call_open(&call, CALL_Waitall, address);
    int result = real(count, requests, statuses);
    wait_close(&call, &b, result);
    if (result == MPI_SUCCESS)
        batch_end_all(&b, statuses);
    else
        batch_end_gone(&b, requests);
    batch_close(&b);
    return result;
}

RECORDED(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status))
{
    struct batch b;
    struct call call;
    batch_open(&b, count, requests);
    status = batch_statuses(&b, status);
    call_open(&call, CALL_Waitany, address);
    int result = real(count, requests, index, status);
    wait_close(&call, &b, result);
    if (result == MPI_SUCCESS)
        batch_end(&b, *index, status);
    else
        batch_end_gone(&b, requests);
    batch_close(&b);
    return result;
}

RECORDED(Waitsome,
         (int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]))
{
    struct batch b;
    struct call call;
    batch_open(&b, incount, requests);
    statuses = batch_statuses(&b, statuses);
    call_open(&call, CALL_Waitsome, address);
    int result = real(incount, requests, outcount, indices, statuses);
    wait_close(&call, &b, result);
    if (result == MPI_SUCCESS)
        batch_end_some(&b, *outcount, indices, statuses);
    else
        batch_end_gone(&b, requests);
    batch_close(&b);
    return result;
}

/* ---- testing ---- */

static void test_close(const struct poll *poll, struct batch *b, int result, bool found)
{
    if (poll_close(poll, result, found))
        b->writer = poll->writer;
}

RECORDED(Test, (MPI_Request * request, int *flag, MPI_Status *status))
{
    struct batch b;
    struct poll poll;
    batch_open(&b, 1, request);
    status = batch_statuses(&b, status);
    poll_open(&poll, CALL_Test, address);
    int result = real(request, flag, status);
    poll_end(&poll);
    test_close(&poll, &b, result, result == MPI_SUCCESS && *flag);
    if (result != MPI_SUCCESS)
        batch_end_gone(&b, request);
    else if (*flag)
        batch_end(&b, 0, status);
    batch_close(&b);
    return result;
}

RECORDED(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]))
{
    struct batch b;
    struct poll poll;
    batch_open(&b, count, requests);
    statuses = batch_statuses(&b, statuses);
    poll_open(&poll, CALL_Testall, address);
    int result = real(count, requests, flag, statuses);
    poll_end(&poll);
    test_close(&poll, &b, result, result == MPI_SUCCESS && *flag);
    if (result != MPI_SUCCESS)
        batch_end_gone(&b, requests);
    else if (*flag)
        batch_end_all(&b, statuses);
    batch_close(&b);
    return result;
}

RECORDED(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status))
{
    struct batch b;
    struct poll poll;
    batch_open(&b, count, requests);
    status = batch_statuses(&b, status);
    poll_open(&poll, CALL_Testany, address);
    int result = real(count, requests, index, flag, status);
    poll_end(&poll);
    test_close(&poll, &b, result, result == MPI_SUCCESS && *flag);
    if (result != MPI_SUCCESS)
        batch_end_gone(&b, requests);
    else if (*flag)
        batch_end(&b, *index, status);
    batch_close(&b);
    return result;
}

RECORDED(Testsome,
         (int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]))
{
    struct batch b;
    struct poll poll;
    batch_open(&b, incount, requests);
    statuses = batch_statuses(&b, statuses);
    poll_open(&poll, CALL_Testsome, address);
    int result = real(incount, requests, outcount, indices, statuses);
    poll_end(&poll);
    test_close(&poll, &b, result, result == MPI_SUCCESS && *outcount != 0);
    if (result == MPI_SUCCESS)
        batch_end_some(&b, *outcount, indices, statuses);
    else
        batch_end_gone(&b, requests);
    batch_close(&b);
    return result;
}

/* The request stays, and so does its operation. */
RECORDED(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))
{
    struct poll poll;
    poll_open(&poll, CALL_Request_get_status, address);
    int result = real(request, flag, status);
    poll_end(&poll);
    poll_close(&poll, result, result == MPI_SUCCESS && *flag);
    return result;
}

/* ---- giving up ---- */

RECORDED(Request_free, (MPI_Request * request))
{
    MPI_Request handle = request != NULL ? *request : own_handle.request_null;
    struct operation op;
    struct call call;
    bool known = operations_remove(handle, &op);
    call_open(&call, CALL_Request_free, address);
    int result = real(request);
    call_close_plain(&call, result);
    if (known && result != MPI_SUCCESS)
        operations_add(handle, &op);
    return result;
}

RECORDED(Cancel, (MPI_Request * request))
{
    struct call call;
    if (request != NULL)
        operations_cancel(*request);
    call_open(&call, CALL_Cancel, address);
    int result = real(request);
    call_close_plain(&call, result);
    return result;
}

#define COMPLETION_CALL(name, lower, params, args) EXPORT_CALL(name, params, args)
#include "collectives/mpi/calls.def"
