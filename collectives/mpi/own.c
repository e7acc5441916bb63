#include "collectives/mpi/own.h"

#include <stdint.h>

#include "collectives/mpi/calls.h"
#include "record/record.h"

struct own_calls own;
struct own_handles own_handle;

static void *check(void *found, const char *name, enum err *e)
{
    if (found == NULL) {
        scaleprof_fault("mpi symbol", name);
        *e = ERR_MPI;
    }
    return found;
}

#ifdef OPEN_MPI
#define HANDLE_VALUE(type, symbol, constant, e) ((type)check(call_data(symbol), symbol, e))
#else
#define HANDLE_VALUE(type, symbol, constant, e) (constant)
#endif

enum err own_open(void)
{
    enum err e = ERR_OK;
#define X(name)                                                                                    \
    own.name = (__typeof__(own.name))check(call_function("PMPI_" #name), "PMPI_" #name, &e);
    OWN_CALLS(X)
#undef X
#define HANDLE(field, type, symbol, constant)                                                      \
    own_handle.field = HANDLE_VALUE(type, symbol, constant, &e);
    OWN_HANDLES(HANDLE)
#undef HANDLE
    return e;
}
