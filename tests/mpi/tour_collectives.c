/* Every collective, blocking and not, with the bytes of each rank. */
#include <mpi.h>
#include <stdlib.h>

#include "mpi/tour.h"

#define UNPACK(...) __VA_ARGS__

/* The rows of one collective of MPI_COMM_WORLD. */
static void said(struct tour *t, const char *name, const char *kind, int root, long bytes,
                 long sent, long received)
{
    expect("MPI_%s bytes=%ld", name, bytes);
    expect("  collective %s comm=world root=%d seq=%ld sent=%ld received=%ld", kind, root,
           t->world_sequence++, sent, received);
}

static void said_started(struct tour *t, const char *name, const char *kind, int root, long bytes,
                         long sent, long received)
{
    expect("MPI_%s bytes=%ld", name, bytes);
    expect("  collective %s comm=world root=%d seq=%ld sent=%ld received=%ld op=%ld", kind, root,
           t->world_sequence++, sent, received, ++t->operations);
    expect("MPI_Wait bytes=-1");
    expect("  end op=%ld peer=-1 tag=-1 bytes=-1 flags=0", t->operations);
}

/* The call, then its non-blocking twin and a wait for it. */
#define BOTH(name, iname, kind, root, bytes, sent, received, args)                                 \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        MPI_##name(UNPACK args);                                                                   \
        said(t, #name, kind, root, bytes, sent, received);                                         \
        MPI_##iname(UNPACK args, &request);                                                        \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                     \
        said_started(t, #iname, kind, root, bytes, sent, received);                                \
    } while (0)

enum { MOST = 8 };

static void rooted(struct tour *t)
{
    int n = t->size, root = n - 1, is_root = t->rank == root, mine[2] = {t->rank, t->rank},
        all[2 * MOST] = {0};
    int counts[MOST], starts[MOST];
    long total = 0;
    for (int i = 0; i < n; i++) {
        counts[i] = i % 2; /* ranks with nothing to give */
        starts[i] = (int)total;
        total += counts[i];
    }
    BOTH(Bcast, Ibcast, "broadcast", root, 8, is_root ? 8 : 0, is_root ? 0 : 8,
         (mine, 2, MPI_INT, root, MPI_COMM_WORLD));
    MUST(mine[0] == root);
    mine[0] = t->rank;
    BOTH(Reduce, Ireduce, "reduce", root, 4, 4, is_root ? 4 : 0,
         (mine, all, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    MUST(!is_root || all[0] == n * (n - 1) / 2);
    BOTH(Gather, Igather, "gather", root, is_root ? 8 * n : 8, 8, is_root ? 8 * n : 0,
         (mine, 2, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD));
    MUST(!is_root || all[2 * root] == root);
    BOTH(Gather, Igather, "gather", root, is_root ? 8 * n : 8, 8, is_root ? 8 * n : 0,
         (is_root ? MPI_IN_PLACE : mine, 2, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD));
    BOTH(Scatter, Iscatter, "scatter", root, is_root ? 8 * n : 8, is_root ? 8 * n : 0, 8,
         (all, 2, MPI_INT, is_root ? MPI_IN_PLACE : mine, 2, MPI_INT, root, MPI_COMM_WORLD));
    BOTH(Gatherv, Igatherv, "gatherv", root,
         is_root ? 4 * total > 4 * counts[t->rank] ? 4 * total : 4 * counts[t->rank]
                 : 4 * counts[t->rank],
         4 * counts[t->rank], is_root ? 4 * total : 0,
         (mine, counts[t->rank], MPI_INT, all, counts, starts, MPI_INT, root, MPI_COMM_WORLD));
    BOTH(Scatterv, Iscatterv, "scatterv", root, is_root ? 4 * total : 4 * counts[t->rank],
         is_root ? 4 * total : 0, 4 * counts[t->rank],
         (all, counts, starts, MPI_INT, mine, counts[t->rank], MPI_INT, root, MPI_COMM_WORLD));
}

static void everyone(struct tour *t)
{
    int n = t->size, mine[2 * MOST] = {t->rank, 1}, all[2 * MOST] = {0}, counts[MOST], starts[MOST];
    long total = 0;
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1;
        starts[i] = (int)total;
        total += counts[i];
    }
    BOTH(Barrier, Ibarrier, "barrier", -1, 0, 0, 0, (MPI_COMM_WORLD));
    BOTH(Allreduce, Iallreduce, "allreduce", -1, 4, 4, 4,
         (mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    MUST(all[0] == n * (n - 1) / 2);
    BOTH(Allreduce, Iallreduce, "allreduce", -1, 8, 8, 8,
         (MPI_IN_PLACE, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    BOTH(Allreduce, Iallreduce, "allreduce", -1, 0, 0, 0,
         (mine, all, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    BOTH(Allgather, Iallgather, "allgather", -1, 4 * n, 4, 4 * n,
         (mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    MUST(all[n - 1] == n - 1);
    BOTH(Allgather, Iallgather, "allgather", -1, 4 * n, 4, 4 * n,
         (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    int *vall = calloc((size_t)total, sizeof *vall), *vmine = calloc((size_t)n, sizeof *vmine);
    BOTH(Allgatherv, Iallgatherv, "allgatherv", -1, 4 * total, 4 * counts[t->rank], 4 * total,
         (vmine, counts[t->rank], MPI_INT, vall, counts, starts, MPI_INT, MPI_COMM_WORLD));
    free(vall);
    free(vmine);
    BOTH(Scan, Iscan, "scan", -1, 4, 4, 4, (mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    MUST(all[0] == t->rank * (t->rank + 1) / 2);
    BOTH(Exscan, Iexscan, "exscan", -1, 4, 4, t->rank == 0 ? 0 : 4,
         (mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void exchanges(struct tour *t)
{
    int n = t->size, to[MOST], from[MOST], places[MOST], bytes_at[MOST], mine[2 * MOST] = {0},
        all[2 * MOST] = {0};
    long sent = 0, received = 0;
    MPI_Datatype types[MOST];
    for (int i = 0; i < n; i++) {
        to[i] = i == t->rank ? 0 : 1;
        from[i] = i == t->rank ? 0 : 1;
        places[i] = i;
        bytes_at[i] = 4 * i;
        types[i] = MPI_INT;
        sent += 4 * to[i];
        received += 4 * from[i];
    }
    BOTH(Alltoall, Ialltoall, "alltoall", -1, 8 * n, 8 * n, 8 * n,
         (mine, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD));
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INT, MPI_COMM_WORLD);
    said(t, "Alltoall", "alltoall", -1, 8 * n, 8 * n, 8 * n);
    BOTH(Alltoallv, Ialltoallv, "alltoallv", -1, sent, sent, received,
         (mine, to, places, MPI_INT, all, from, places, MPI_INT, MPI_COMM_WORLD));
    BOTH(Alltoallw, Ialltoallw, "alltoallw", -1, sent, sent, received,
         (mine, to, bytes_at, types, all, from, bytes_at, types, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        to[i] = 1;
    BOTH(Reduce_scatter, Ireduce_scatter, "reduce_scatter", -1, 4 * n, 4 * n, 4,
         (mine, all, to, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    BOTH(Reduce_scatter_block, Ireduce_scatter_block, "reduce_scatter_block", -1, 8 * n, 8 * n, 8,
         (mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

void tour_collectives(struct tour *t)
{
    rooted(t);
    everyone(t);
    exchanges(t);
}
