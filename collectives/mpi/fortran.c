#include "collectives/mpi/fortran.h"

#include <stdatomic.h>
#include <stdint.h>

#include "collectives/mpi/calls.h"

_Thread_local const void *fortran_caller;

void *fortran_find(struct fortran_place *place)
{
    void *real = call_function(place->name);
    __atomic_store_n(&place->real, real, __ATOMIC_RELEASE);
    return real;
}

/* A function of MPI that returns early has left its note: then the C call is not from MPI. */
const void *fortran_site(const void *address)
{
    const void *caller = fortran_caller;
    fortran_caller = NULL;
    return call_is_from_mpi(address) ? caller : address;
}
