/* What the probe itself calls of MPI: always the functions behind our exports, always by pointer,
 * so that the library names no symbol of MPI and can be preloaded into anything. Predefined handles
 * likewise: in Open MPI they are the addresses of data. */
#ifndef MPI_OWN_H
#define MPI_OWN_H

#include <mpi.h>

#include "base/err.h"

#define OWN_CALLS(X)                                                                               \
    X(Allgather)                                                                                   \
    X(Barrier)                                                                                     \
    X(Cancel)                                                                                      \
    X(Cartdim_get)                                                                                 \
    X(Comm_dup)                                                                                    \
    X(Comm_free)                                                                                   \
    X(Comm_group)                                                                                  \
    X(Comm_rank)                                                                                   \
    X(Comm_remote_group)                                                                           \
    X(Comm_remote_size)                                                                            \
    X(Comm_set_errhandler)                                                                         \
    X(Comm_size)                                                                                   \
    X(Comm_test_inter)                                                                             \
    X(Dist_graph_neighbors_count)                                                                  \
    X(Get_elements_x)                                                                              \
    X(Graph_neighbors_count)                                                                       \
    X(Group_free)                                                                                  \
    X(Group_size)                                                                                  \
    X(Group_translate_ranks)                                                                       \
    X(Initialized)                                                                                 \
    X(Irecv)                                                                                       \
    X(Query_thread)                                                                                \
    X(Request_free)                                                                                \
    X(Send)                                                                                        \
    X(Test)                                                                                        \
    X(Test_cancelled)                                                                              \
    X(Topo_test)                                                                                   \
    X(Type_size_x)

struct own_calls {
#define X(name) __typeof__(&PMPI_##name) name;
    OWN_CALLS(X)
#undef X
};

/* HANDLE(field, type, symbol of Open MPI, constant of the standard) */
#define OWN_HANDLES(HANDLE)                                                                        \
    HANDLE(comm_world, MPI_Comm, "ompi_mpi_comm_world", MPI_COMM_WORLD)                            \
    HANDLE(comm_self, MPI_Comm, "ompi_mpi_comm_self", MPI_COMM_SELF)                               \
    HANDLE(comm_null, MPI_Comm, "ompi_mpi_comm_null", MPI_COMM_NULL)                               \
    HANDLE(request_null, MPI_Request, "ompi_request_null", MPI_REQUEST_NULL)                       \
    HANDLE(byte, MPI_Datatype, "ompi_mpi_byte", MPI_BYTE)                                          \
    HANDLE(errors_return, MPI_Errhandler, "ompi_mpi_errors_return", MPI_ERRORS_RETURN)

struct own_handles {
#define HANDLE(field, type, symbol, constant) type field;
    OWN_HANDLES(HANDLE)
#undef HANDLE
};

/* Valid after own_open has succeeded. */
extern struct own_calls own;
extern struct own_handles own_handle;

/* Finds all of them. ERR_MPI when one is missing. */
enum err own_open(void);

#endif
