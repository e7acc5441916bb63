/* Communicators of every origin: each is made, used once, and freed. */
#include <mpi.h>

#include "mpi/tour.h"

static void said_made(struct tour *t, const char *name)
{
    expect("MPI_%s bytes=-1", name);
    expect("  collective communicator comm=world root=-1 seq=%ld sent=0 received=0",
           t->world_sequence++);
}

/* A barrier as the collective number `sequence` of the communicator, then its end. */
static void use(MPI_Comm *comm, const char *name, int sequence)
{
    if (*comm == MPI_COMM_NULL)
        return;
    MPI_Barrier(*comm);
    expect("MPI_Barrier bytes=0");
    expect("  collective barrier comm=%s root=-1 seq=%d sent=0 received=0", name, sequence);
    MPI_Comm_free(comm);
    MUST(*comm == MPI_COMM_NULL);
    expect("MPI_Comm_free bytes=-1");
}

static void copies(struct tour *t)
{
    MPI_Comm comm, child;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    said_made(t, "Comm_dup");
    MPI_Comm_set_name(comm, "halo");
    expect("MPI_Comm_set_name bytes=-1");
    MPI_Comm_dup(comm, &child);
    expect("MPI_Comm_dup bytes=-1");
    expect("  collective communicator comm=halo root=-1 seq=0 sent=0 received=0");
    use(&child, "world:dup:dup", 0);
    use(&comm, "halo", 1);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    said_made(t, "Comm_dup_with_info");
    use(&comm, "world:dup", 0);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    expect("MPI_Comm_idup bytes=-1");
    expect("  collective communicator comm=world root=-1 seq=%ld sent=0 received=0 op=%ld",
           t->world_sequence++, ++t->operations);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    expect("  end op=%ld peer=-1 tag=-1 bytes=-1 flags=0", t->operations);
    MPI_Barrier(comm);
    expect("MPI_Barrier bytes=0");
    expect("  collective barrier comm=world:dup root=-1 seq=0 sent=0 received=0");
    MPI_Comm_disconnect(&comm);
    expect("MPI_Comm_disconnect bytes=-1");
}

/* A receive that was cancelled took no message: those after it are for the gather to count. */
static void uncounted(struct tour *t)
{
    MPI_Comm comm;
    MPI_Request request;
    int value = t->rank, got;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    expect("MPI_Comm_dup bytes=-1");
    expect("  collective communicator comm=self root=-1 seq=1 sent=0 received=0");
    for (int turn = 0; turn < 2; turn++) {
        MPI_Irecv(&got, 1, MPI_INT, 0, 5, comm, &request);
        expect("MPI_Irecv bytes=-1");
        expect("  receive mode=0 comm=self:dup peer=0 tag=5 order=%d bytes=4 flags=64 op=%ld",
               -turn, ++t->operations);
        if (turn == 0) {
            MPI_Cancel(&request);
            expect("MPI_Cancel bytes=-1");
        } else {
            MPI_Send(&value, 1, MPI_INT, 0, 5, comm);
            expect("MPI_Send bytes=4");
            expect("  send mode=0 comm=self:dup peer=0 tag=5 order=0 bytes=4 flags=0");
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect("MPI_Wait bytes=-1");
        if (turn == 0)
            expect("  end op=%ld peer=-1 tag=-1 bytes=-1 flags=4", t->operations);
        else
            expect("  end op=%ld peer=0 tag=5 bytes=4 flags=0", t->operations);
    }
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free bytes=-1");
}

static MPI_Comm inner;

static int free_inner(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    return MPI_Comm_free(&inner);
}

/* A communicator that ends inside the call which ends another: its handle comes back. */
static void nested(struct tour *t)
{
    MPI_Comm outer, next;
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    said_made(t, "Comm_dup");
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    said_made(t, "Comm_dup");
    MPI_Barrier(inner);
    expect("MPI_Barrier bytes=0");
    expect("  collective barrier comm=world:dup root=-1 seq=0 sent=0 received=0");
    MPI_Comm_set_attr(outer, key, NULL);
    MPI_Comm_free(&outer);
    MUST(inner == MPI_COMM_NULL);
    expect("MPI_Comm_free bytes=-1");
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    said_made(t, "Comm_dup");
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    said_made(t, "Comm_dup");
    use(&next, "world:dup", 0);
    use(&outer, "world:dup", 0);
    MPI_Comm_free_keyval(&key);
}

static void parts(struct tour *t)
{
    MPI_Comm comm;
    MPI_Group world, half;
    int first_half = (t->size + 1) / 2, range[1][3] = {{0, first_half - 1, 1}};
    MPI_Comm_split(MPI_COMM_WORLD, t->rank % 2, -t->rank, &comm);
    said_made(t, "Comm_split");
    use(&comm, "world:split", 0);
    MPI_Comm_split(MPI_COMM_WORLD, t->rank == 0 ? 1 : MPI_UNDEFINED, 0, &comm);
    said_made(t, "Comm_split");
    MUST((comm == MPI_COMM_NULL) == (t->rank != 0));
    use(&comm, "world:split", 0);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    said_made(t, "Comm_split_type");
    use(&comm, "world:split_type", 0);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &half);
    MPI_Comm_create(MPI_COMM_WORLD, half, &comm);
    said_made(t, "Comm_create");
    use(&comm, "world:create", 0);
    if (t->rank < first_half) {
        MPI_Comm_create_group(MPI_COMM_WORLD, half, 3, &comm);
        expect("MPI_Comm_create_group bytes=-1");
        expect("  collective communicator comm=world:create_group root=-1 seq=0 sent=0 received=0");
        use(&comm, "world:create_group", 1);
    }
    MPI_Group_free(&half);
    MPI_Group_free(&world);
}

/* A ring in three forms, and an exchange with its two neighbours. */
static void neighbours(const char *name, MPI_Comm comm, struct tour *t)
{
    int mine[4] = {t->rank, t->rank}, all[4] = {0}, counts[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint bytes_at[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request request;
    MPI_Neighbor_allgather(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    expect("MPI_Neighbor_allgather bytes=8");
    expect("  collective neighbor_allgather comm=%s root=-1 seq=0 sent=4 received=8", name);
    MPI_Neighbor_allgatherv(mine, 1, MPI_INT, all, counts, places, MPI_INT, comm);
    expect("MPI_Neighbor_allgatherv bytes=8");
    expect("  collective neighbor_allgatherv comm=%s root=-1 seq=1 sent=4 received=8", name);
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    expect("MPI_Neighbor_alltoall bytes=8");
    expect("  collective neighbor_alltoall comm=%s root=-1 seq=2 sent=8 received=8", name);
    MPI_Neighbor_alltoallv(mine, counts, places, MPI_INT, all, counts, places, MPI_INT, comm);
    expect("MPI_Neighbor_alltoallv bytes=8");
    expect("  collective neighbor_alltoallv comm=%s root=-1 seq=3 sent=8 received=8", name);
    MPI_Neighbor_alltoallw(mine, counts, bytes_at, types, all, counts, bytes_at, types, comm);
    expect("MPI_Neighbor_alltoallw bytes=8");
    expect("  collective neighbor_alltoallw comm=%s root=-1 seq=4 sent=8 received=8", name);
    MPI_Ineighbor_alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    expect("MPI_Ineighbor_alltoall bytes=8");
    expect("  collective neighbor_alltoall comm=%s root=-1 seq=5 sent=8 received=8 op=%ld", name,
           ++t->operations);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    expect("  end op=%ld peer=-1 tag=-1 bytes=-1 flags=0", t->operations);
}

static void topologies(struct tour *t)
{
    MPI_Comm comm, row;
    int n = t->size, periodic = 1, keep = 1, sides[2] = {(t->rank + n - 1) % n, (t->rank + 1) % n};
    int ends[8], edges[16], two = 2, weights[2] = {1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &comm);
    said_made(t, "Cart_create");
    neighbours("world:cart", comm, t);
    MPI_Cart_sub(comm, &keep, &row);
    expect("MPI_Cart_sub bytes=-1");
    expect("  collective communicator comm=world:cart root=-1 seq=6 sent=0 received=0");
    use(&row, "world:cart:cart_sub", 0);
    use(&comm, "world:cart", 7);
    for (int i = 0; i < n; i++) {
        ends[i] = 2 * (i + 1);
        edges[2 * i] = (i + n - 1) % n;
        edges[2 * i + 1] = (i + 1) % n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, n, ends, edges, 0, &comm);
    said_made(t, "Graph_create");
    neighbours("world:graph", comm, t);
    use(&comm, "world:graph", 6);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sides, weights, 2, sides, weights,
                                   MPI_INFO_NULL, 0, &comm);
    said_made(t, "Dist_graph_create_adjacent");
    neighbours("world:dist_graph", comm, t);
    use(&comm, "world:dist_graph", 6);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &t->rank, &two, sides, weights, MPI_INFO_NULL, 0,
                          &comm);
    said_made(t, "Dist_graph_create");
    use(&comm, "world:dist_graph", 0);
}

/* Even and odd ranks as two groups. */
static void between(struct tour *t)
{
    MPI_Comm half, inter, both;
    int value = t->rank, sum = 0, odd = t->rank % 2, even_ranks = (t->size + 1) / 2;
    if (t->size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &half);
    said_made(t, "Comm_split");
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, odd ? 0 : 1, 9, &inter);
    expect("MPI_Intercomm_create bytes=-1");
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    MUST(t->size > 2 || sum == 1 - t->rank);
    expect("MPI_Allreduce bytes=4");
    expect("  collective allreduce comm=intercommunicator root=-1 seq=0 sent=4 received=4");
    int root = odd ? 0 : t->rank == 0 ? MPI_ROOT : MPI_PROC_NULL, all[8];
    MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, inter);
    long sent = odd ? 4 : 0, received = t->rank == 0 ? 4 * (t->size - even_ranks) : 0;
    expect("MPI_Gather bytes=%ld", sent > received ? sent : received);
    expect("  collective gather comm=intercommunicator root=%d seq=1 sent=%ld received=%ld", root,
           sent, received);
    MPI_Intercomm_merge(inter, odd, &both);
    expect("MPI_Intercomm_merge bytes=-1");
    expect("  collective communicator comm=intercommunicator root=-1 seq=2 sent=0 received=0");
    use(&both, "intercommunicator:merge", 0);
    MPI_Comm_free(&inter);
    expect("MPI_Comm_free bytes=-1");
    use(&half, "world:split", 0);
}

void tour_communicators(struct tour *t)
{
    copies(t);
    uncounted(t);
    nested(t);
    parts(t);
    topologies(t);
    between(t);
}
