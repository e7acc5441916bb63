/* Numbers of the wrapped calls, and the functions that stand behind them. */
#ifndef MPI_CALLS_H
#define MPI_CALLS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

enum call_id {
#define CALL(name, lower, params, args) CALL_##name,
#include "collectives/mpi/calls.def"
    CALL_Pcontrol,
    CALL_COUNT
};

/* Number of the call's name ("MPI_Send") in this process's segment; 0 when it could not be stored.
 */
extern struct record_name call_names[CALL_COUNT];
static inline uint32_t call_name(enum call_id id)
{
    return record_name_number(&call_names[id]);
}

/* The next function of this name after our export: another tool's or MPI's own. NULL when no MPI is
 * mapped. Cheap after the first use. */
enum call_layer { CALL_MPI, CALL_PMPI, CALL_LAYERS };
extern _Atomic(void *) call_reals[CALL_LAYERS][CALL_COUNT];
void *call_resolve(enum call_layer layer, enum call_id id);

static inline void *call_real(enum call_layer layer, enum call_id id)
{
    void *real = atomic_load_explicit(&call_reals[layer][id], memory_order_acquire);
    return __builtin_expect(real != NULL, 1) ? real : call_resolve(layer, id);
}

/* A function of MPI behind our exports, and data of MPI as the program sees it (a copy relocation
 * puts it into the executable). NULL when there is none. */
void *call_function(const char *name);
void *call_data(const char *name);

/* The address lies in a library whose file is called libmpi*. */
bool call_is_from_mpi(const void *address);

#endif
