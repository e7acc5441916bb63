/* Calls that are an event and nothing else. */
#include "collectives/mpi/bytes.h"
#include "collectives/mpi/record_call.h"

#define PLAIN_CALL(name, lower, bytes_of_call, params, args)                                       \
    RECORDED(name, params)                                                                         \
    {                                                                                              \
        struct call call;                                                                          \
        call_open(&call, CALL_##name, address);                                                    \
        int result = real args;                                                                    \
        union slot *s = call_close(&call, result, 0);                                              \
        if (s != NULL) {                                                                           \
            s->event.bytes = result == MPI_SUCCESS ? (bytes_of_call) : -1;                         \
            record_publish(call.writer);                                                           \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    EXPORT_CALL(name, params, args)
#include "collectives/mpi/calls.def"
