/* The collectives: blocking and non-blocking twins from the rows COLLECTIVE_CALL of calls.def. */
#include "collectives/collectives.h"
#include "collectives/mpi/bytes.h"
#include "collectives/mpi/comms.h"
#include "collectives/mpi/operations.h"
#include "collectives/mpi/record_call.h"

struct started {
    struct call call;
    struct comm *comm;
    struct comm unknown; /* stands in for a communicator that is not known */
    int64_t sequence;
};

static inline void start(struct started *s, enum call_id id, const void *address, MPI_Comm comm)
{
    s->comm = comms_find(comm);
    s->sequence = comm_next_sequence(s->comm);
    call_open(&s->call, id, address);
}

/* After the end of the interval: the communicator that sizes are taken from. */
static inline const struct comm *known_comm(struct started *s, MPI_Comm comm)
{
    if (__builtin_expect(s->comm != NULL, 1))
        return s->comm;
    comms_describe(comm, &s->unknown);
    return &s->unknown;
}

static inline void fill(union slot *s, const struct started *started, enum collective_kind kind,
                        int root, int64_t sent, int64_t received, uint64_t operation)
{
    s[0].event.bytes = collective_payload(kind, sent, received);
    s[1].collective = (struct slot_collective){
        .kind = SLOT_collective,
        .collective = (uint8_t)kind,
        .scope = SEQUENCE_COMMUNICATOR,
        .blocking = operation == 0,
        .communicator = started->comm != NULL ? started->comm->number : 0,
        .root = root,
        .sequence = started->sequence,
        .bytes_sent = sent,
        .bytes_received = received,
        .operation = operation,
    };
    record_publish(started->call.writer);
}

/* Number of the operation that has been started; 0 when the start failed. */
static uint64_t take_in(MPI_Request request, int result)
{
    if (result != MPI_SUCCESS)
        return 0;
    struct operation op = {.number = scaleprof_operation(), .kind = OPERATION_COLLECTIVE};
    operations_add(request, &op);
    return op.number;
}

#define RECORDED_COLLECTIVE(name, kind, root_of, sent_of, received_of, params, args, number)       \
    RECORDED(name, params)                                                                         \
    {                                                                                              \
        struct started started;                                                                    \
        start(&started, CALL_##name, address, comm);                                               \
        int result = real args;                                                                    \
        union slot *s = call_close(&started.call, result, 1);                                      \
        if (s == NULL)                                                                             \
            return result;                                                                         \
        int64_t sent = -1, received = -1;                                                          \
        if (result == MPI_SUCCESS) {                                                               \
            const struct comm *c = known_comm(&started, comm);                                     \
            (void)c;                                                                               \
            sent = (sent_of);                                                                      \
            received = (received_of);                                                              \
        }                                                                                          \
        fill(s, &started, COLLECTIVE_##kind, root_of, sent, received, number);                     \
        return result;                                                                             \
    }                                                                                              \
    EXPORT_CALL(name, params, args)

#define COLLECTIVE_CALL(name, iname, lower, kind, root, sent, received, params, args)              \
    RECORDED_COLLECTIVE(name, kind, root, sent, received, params, args, 0)                         \
    RECORDED_COLLECTIVE(iname, kind, root, sent, received, (UNPACK params, MPI_Request * request), \
                        (UNPACK args, request), take_in(*request, result))
#include "collectives/mpi/calls.def"
