#include "mpi_comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/log.h"
#include "transport.h"

/* MPI counts with int: what is longer goes in pieces of this size. Tests make it small. */
#ifndef PIECE_BYTES
#define PIECE_BYTES ((size_t)1 << 30)
#endif

struct mpi_peers {
    struct peers peers;
    MPI_Comm comm;
    int started_mpi;
};

static struct mpi_peers *of(struct peers *p)
{
    return (struct mpi_peers *)p;
}

static enum err check(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return ERR_OK;
    MPI_Error_string(code, text, &length);
    log_error("%s: %.*s", what, length, text);
    return ERR_MPI;
}

static enum err combine(struct peers *p, enum peers_operation operation, int64_t *value)
{
    int64_t mine = *value;
    if (operation != PEERS_BEFORE)
        return check(MPI_Allreduce(&mine, value, 1, MPI_INT64_T,
                                   operation == PEERS_SUM ? MPI_SUM : MPI_MAX, of(p)->comm),
                     "MPI_Allreduce");
    enum err e =
        check(MPI_Exscan(&mine, value, 1, MPI_INT64_T, MPI_SUM, of(p)->comm), "MPI_Exscan");
    if (p->rank == 0)
        *value = 0;
    return e;
}

static enum err broadcast(struct peers *p, void *data, size_t bytes, int root)
{
    enum err e = ERR_OK;
    for (size_t at = 0; at < bytes && !e; at += PIECE_BYTES) {
        size_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        e = check(MPI_Bcast((char *)data + at, (int)piece, MPI_BYTE, root, of(p)->comm),
                  "MPI_Bcast");
    }
    return e;
}

/* One call while all of it fits into int, else a broadcast from each. */
static enum err gather(struct peers *p, const void *mine, size_t bytes, void *all,
                       const size_t *sizes)
{
    int *counts = calloc(2 * (size_t)p->size, sizeof *counts);
    size_t total = 0;
    enum err e = peers_agree_all(p, counts != NULL ? ERR_OK : ERR_NO_MEMORY);
    if (e)
        goto counts;
    int *starts = counts + p->size;
    for (int i = 0; i < p->size; i++) {
        starts[i] = (int)(total & INT32_MAX);
        counts[i] = (int)(sizes[i] & INT32_MAX);
        total += sizes[i];
    }
    if (total <= PIECE_BYTES) {
        e = check(
            MPI_Allgatherv(mine, (int)bytes, MPI_BYTE, all, counts, starts, MPI_BYTE, of(p)->comm),
            "MPI_Allgatherv");
        goto counts;
    }
    for (size_t i = 0, at = 0; i < (size_t)p->size && !e; at += sizes[i++]) {
        if ((int)i == p->rank && bytes > 0)
            memcpy((char *)all + at, mine, bytes);
        e = broadcast(p, (char *)all + at, sizes[i], (int)i);
    }
counts:
    free(counts);
    return e;
}

static enum err receive_pieces(struct mpi_peers *p, char *to, size_t bytes, int peer,
                               MPI_Request *requests, int *count)
{
    enum err e = ERR_OK;
    for (size_t at = 0; at < bytes && !e; at += PIECE_BYTES) {
        size_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        e = check(MPI_Irecv(to + at, (int)piece, MPI_BYTE, peer, 0, p->comm, &requests[(*count)++]),
                  "MPI_Irecv");
    }
    return e;
}

static enum err send_pieces(struct mpi_peers *p, const char *from, size_t bytes, int peer,
                            MPI_Request *requests, int *count)
{
    enum err e = ERR_OK;
    for (size_t at = 0; at < bytes && !e; at += PIECE_BYTES) {
        size_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        e = check(
            MPI_Isend(from + at, (int)piece, MPI_BYTE, peer, 0, p->comm, &requests[(*count)++]),
            "MPI_Isend");
    }
    return e;
}

static size_t pieces_of(const size_t *sizes, int count)
{
    size_t pieces = 0;
    for (int i = 0; i < count; i++)
        pieces += (sizes[i] + PIECE_BYTES - 1) / PIECE_BYTES;
    return pieces;
}

static enum err exchange(struct peers *p, const void *send, const size_t *send_bytes,
                         void *received, const size_t *received_bytes)
{
    size_t most = pieces_of(send_bytes, p->size) + pieces_of(received_bytes, p->size);
    MPI_Request *requests = malloc((most + 1) * sizeof *requests);
    int count = 0;
    enum err e = peers_agree_all(p, requests != NULL ? ERR_OK : ERR_NO_MEMORY);
    char *to = received;
    const char *from = send;
    for (int i = 0; i < p->size && !e; i++) {
        e = receive_pieces(of(p), to, received_bytes[i], i, requests, &count);
        to += received_bytes[i];
    }
    for (int i = 0; i < p->size && !e; i++) {
        e = send_pieces(of(p), from, send_bytes[i], i, requests, &count);
        from += send_bytes[i];
    }
    if (!e)
        e = check(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
    free(requests);
    return e;
}

static void close_mpi(struct peers *p)
{
    struct mpi_peers *m = of(p);
    MPI_Comm_free(&m->comm);
    if (m->started_mpi)
        MPI_Finalize();
    free(m);
}

static enum err start_mpi(int *started_here)
{
    int started = 0, finalized = 0;
    *started_here = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&finalized);
    if (finalized) {
        log_error("MPI has ended in this process and cannot start again");
        return ERR_MPI;
    }
    if (started)
        return ERR_OK;
    enum err e = check(MPI_Init(NULL, NULL), "MPI_Init");
    *started_here = !e;
    return e;
}

enum err peers_open_mpi_all(struct peers **out)
{
    static const struct peers_transport transport = {combine, gather, broadcast, exchange,
                                                     close_mpi};
    struct mpi_peers *m = calloc(1, sizeof *m);
    if (m == NULL)
        return ERR_NO_MEMORY;
    enum err e = start_mpi(&m->started_mpi);
    if (!e)
        e = check(MPI_Comm_dup(MPI_COMM_WORLD, &m->comm), "MPI_Comm_dup");
    if (e) {
        free(m);
        return e;
    }
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    m->peers.transport = &transport;
    MPI_Comm_rank(m->comm, &m->peers.rank);
    MPI_Comm_size(m->comm, &m->peers.size);
    *out = &m->peers;
    return ERR_OK;
}

enum err peers_open_launched_all(struct peers **out)
{
    struct peers *p;
    int launched = host_mpi_processes();
    if (launched == 1)
        return peers_open_alone(out);
    enum err e = peers_open_mpi_all(&p);
    if (e)
        return e;
    if (p->size == 1) {
        log_error("%d processes were started, but MPI finds only this one: the launcher and the "
                  "MPI library that scaleprof was built with are not of one kind",
                  launched);
        peers_close(p);
        return ERR_MPI;
    }
    *out = p;
    return ERR_OK;
}

MPI_Comm peers_communicator(const struct peers *p)
{
    return p->transport->combine == combine ? ((const struct mpi_peers *)p)->comm : MPI_COMM_NULL;
}
