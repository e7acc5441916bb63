#include "peers/mpi_comm.h"

#include <stdlib.h>

#include "unit/check.h"

/* Stands before the library's: fails on demand, after all have taken part. */
static int allreduce_fails;

int MPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm comm)
{
    int code = PMPI_Allreduce(mine, all, count, type, operation, comm);
    return allreduce_fails ? MPI_ERR_OTHER : code;
}

/* What every group must do, whatever its size. */
static void test_group(struct peers *p)
{
    int rank = peers_rank(p), size = peers_size(p);
    CHECK_EQUAL(peers_sum_all(p, rank + 1), size * (size + 1) / 2);
    CHECK_EQUAL(peers_max_all(p, rank * 10), (size - 1) * 10);
    CHECK_EQUAL(peers_before_all(p, rank + 1), rank * (rank + 1) / 2);
    CHECK_EQUAL(peers_agree_all(p, ERR_OK), ERR_OK);
    CHECK_EQUAL(peers_agree_all(p, rank == size - 1 ? ERR_IO : ERR_OK),
                rank == size - 1 ? ERR_IO : ERR_PEER);
    int number = rank == size - 1 ? 4711 : 0;
    CHECK_EQUAL(peers_broadcast_all(p, &number, sizeof number, size - 1), ERR_OK);
    CHECK_EQUAL(number, 4711);
}

/* Process r brings r bytes of value r. */
static void test_gather(struct peers *p)
{
    int rank = peers_rank(p), size = peers_size(p);
    char mine[64], *all;
    size_t bytes, ends[64];
    memset(mine, rank, sizeof mine);
    CHECK_EQUAL(peers_gather_all(p, mine, (size_t)rank, (void **)&all, &bytes, ends), ERR_OK);
    CHECK_EQUAL(bytes, size * (size - 1) / 2);
    for (int r = 0, at = 0; r < size; r++) {
        for (int i = 0; i < r; i++)
            CHECK_EQUAL(all[at++], r);
        CHECK_EQUAL(ends[r], at);
    }
    free(all);
}

/* Process a sends a + b bytes of value 16 a + b to process b. */
static void test_exchange(struct peers *p)
{
    int rank = peers_rank(p), size = peers_size(p);
    char send[1024], *received;
    size_t send_bytes[64], received_bytes[64];
    int at = 0;
    for (int b = 0; b < size; b++) {
        send_bytes[b] = (size_t)rank + (size_t)b;
        memset(send + at, 16 * rank + b, send_bytes[b]);
        at += rank + b;
    }
    CHECK_EQUAL(peers_exchange_all(p, send, send_bytes, (void **)&received, received_bytes),
                ERR_OK);
    at = 0;
    for (int a = 0; a < size; a++) {
        CHECK_EQUAL(received_bytes[a], a + rank);
        for (size_t i = 0; i < received_bytes[a]; i++)
            CHECK_EQUAL((unsigned char)received[at++], 16 * a + rank);
    }
    free(received);
}

/* Nobody brings anything, and sizes that only one process knows. */
static void test_empty(struct peers *p)
{
    void *all = NULL;
    size_t bytes = 1, send_bytes[64] = {0}, received_bytes[64];
    CHECK_EQUAL(peers_gather_all(p, NULL, 0, &all, &bytes, NULL), ERR_OK);
    CHECK_EQUAL(bytes, 0);
    free(all);
    CHECK_EQUAL(peers_exchange_all(p, NULL, send_bytes, &all, received_bytes), ERR_OK);
    for (int i = 0; i < peers_size(p); i++)
        CHECK_EQUAL(received_bytes[i], 0);
    free(all);
    CHECK_EQUAL(peers_broadcast_all(p, NULL, 0, 0), ERR_OK);
    CHECK_EQUAL(peers_agree_all(p, ERR_OK), ERR_OK);
}

/* A failure inside a sum, which has no place for it, is not taken for agreement. */
static void test_failure_is_kept(struct peers *p)
{
    int last = peers_rank(p) == peers_size(p) - 1;
    if (peers_communicator(p) == MPI_COMM_NULL)
        return;
    allreduce_fails = last;
    peers_sum_all(p, 1);
    allreduce_fails = 0;
    CHECK_EQUAL(peers_agree_all(p, ERR_OK), last ? ERR_MPI : ERR_PEER);
    CHECK_EQUAL(peers_agree_all(p, ERR_OK), last ? ERR_MPI : ERR_PEER);
}

/* Nor is a failure of the agreement itself. */
static void test_failed_agreement(void)
{
    struct peers *p;
    CHECK_EQUAL(peers_open_mpi_all(&p), ERR_OK);
    int last = peers_rank(p) == peers_size(p) - 1;
    allreduce_fails = last;
    CHECK_EQUAL(peers_agree_all(p, ERR_OK), last ? ERR_MPI : ERR_OK);
    allreduce_fails = 0;
    CHECK_EQUAL(peers_agree_all(p, ERR_OK), last ? ERR_MPI : ERR_PEER);
    peers_close(p);
}

/* By default alone or as launched; "mpi" makes it one of the ranks of a job in any case. */
int main(int argc, char **argv)
{
    struct peers *p;
    int by_mpi = argc > 1 && strcmp(argv[1], "mpi") == 0;
    CHECK_EQUAL(by_mpi ? peers_open_mpi_all(&p) : peers_open_launched_all(&p), ERR_OK);
    if (argc > 2)
        CHECK_EQUAL(peers_size(p), atoi(argv[2]));
    CHECK((peers_communicator(p) != MPI_COMM_NULL) == (by_mpi || peers_size(p) > 1));
    test_group(p);
    test_gather(p);
    test_exchange(p);
    test_empty(p);
    test_failure_is_kept(p);
    if (by_mpi)
        test_failed_agreement();
    peers_close(p);
    return check_result();
}
