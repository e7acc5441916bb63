#include "collectives/mpi/exchange.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "align/align.h"
#include "base/host.h"
#include "base/settings.h"
#include "collectives/mpi/own.h"
#include "record/record.h"

#define EXCHANGES    64
#define PATIENCE_NS  10000000000 /* for one message of the other side */
#define TAG_QUESTION 1
#define TAG_ANSWER   2

static struct {
    bool wanted;
    MPI_Comm comm;
    int rank, size;
    uint64_t *domains; /* of every rank */
} exchange;

/* Every rank must decide alike, without asking the others. */
static bool decide(int size)
{
    static struct settings settings;
    char setting[SETTINGS_WORD_BYTES];
    settings_load(&settings);
    settings_choice(&settings, SETTING_exchange, setting);
    if (size == 1 || strcmp(setting, "never") == 0)
        return false;
    return strcmp(setting, "always") == 0 ||
           (host_launcher_spans_hosts(size) && host_launcher_is_parent());
}

static int failed(const char *what)
{
    scaleprof_fault("mpi clock exchange", what);
    exchange.wanted = false;
    return 1;
}

/* Receives within PATIENCE_NS; `received_ns` is taken right after. */
static int receive(int64_t *words, int count, int peer, int tag, int64_t *received_ns)
{
    MPI_Request request;
    MPI_Status status;
    int done = 0;
    if (own.Irecv(words, count * (int)sizeof *words, own_handle.byte, peer, tag, exchange.comm,
                  &request) != MPI_SUCCESS)
        return failed("MPI refused to receive");
    int64_t until_ns = clock_now_ns() + PATIENCE_NS;
    for (unsigned tries = 1; !done; tries++) {
        if (own.Test(&request, &done, &status) != MPI_SUCCESS)
            return failed("MPI failed to receive");
        *received_ns = clock_now_ns();
        if (!done && *received_ns > until_ns) {
            own.Cancel(&request);
            own.Request_free(&request);
            return failed("the other side did not answer");
        }
        if (tries % 256 == 0)
            sched_yield();
    }
    return 0;
}

static int reply(const int64_t *words, int count, int peer, int tag)
{
    if (own.Send(words, count * (int)sizeof *words, own_handle.byte, peer, tag, exchange.comm) !=
        MPI_SUCCESS)
        return failed("MPI refused to send");
    return 0;
}

/* Child's side of one ping-pong. */
static int ask(void *context, struct align_exchange *out)
{
    int64_t answer[2] = {0};
    (void)context;
    out->child_send_ns = clock_now_ns();
    if (reply(answer, 1, 0, TAG_QUESTION) != 0 ||
        receive(answer, 2, 0, TAG_ANSWER, &out->child_receive_ns) != 0)
        return 1;
    out->parent_receive_ns = answer[0];
    out->parent_send_ns = answer[1];
    return 0;
}

/* Rank 0's side of a burst with `peer`. */
static int serve(int peer)
{
    for (int i = 0; i < EXCHANGES; i++) {
        int64_t question, answer[2];
        if (receive(&question, 1, peer, TAG_QUESTION, &answer[0]) != 0)
            return 1;
        answer[1] = clock_now_ns();
        if (reply(answer, 2, peer, TAG_ANSWER) != 0)
            return 1;
    }
    return 0;
}

static void record_burst(const struct align_burst *burst)
{
    struct record_writer *w = scaleprof_writer();
    union slot *s = w != NULL ? record_reserve(w, 1) : NULL;
    if (s == NULL)
        return;
    s->clock = (struct slot_clock){
        .kind = SLOT_clock,
        .exchanges = burst->exchanges,
        .peer_domain = exchange.domains[0],
        .time_ns = burst->time_ns,
        .low_ns = burst->low_ns,
        .high_ns = burst->high_ns,
        .round_trip_ns = burst->round_trip_ns,
    };
    record_publish(w);
}

static void measure(void)
{
    const struct align_link link = {.exchange = ask};
    struct align_burst burst;
    if (align_burst_run(&link, EXCHANGES, &burst) == ERR_OK)
        record_burst(&burst);
    else if (exchange.wanted)
        failed("the clocks have no common offset");
}

/* The rank speaks for its domain: no lower one has the same. */
static bool leads(int rank)
{
    for (int i = 0; i < rank; i++)
        if (exchange.domains[i] == exchange.domains[rank])
            return false;
    return true;
}

/* One burst of every leader, in order of rank. */
static void run_bursts(void)
{
    if (exchange.rank == 0) {
        for (int r = 1; r < exchange.size; r++)
            if (leads(r) && serve(r) != 0)
                return;
    } else if (leads(exchange.rank)) {
        measure();
    }
}

static enum err open_communicator(void)
{
    uint64_t domain = scaleprof_clock_domain();
    if (own.Comm_dup(own_handle.comm_world, &exchange.comm) != MPI_SUCCESS)
        return ERR_MPI;
    own.Comm_set_errhandler(exchange.comm, own_handle.errors_return);
    int result = own.Allgather(&domain, sizeof domain, own_handle.byte, exchange.domains,
                               sizeof domain, own_handle.byte, exchange.comm);
    if (result == MPI_SUCCESS)
        return ERR_OK;
    own.Comm_free(&exchange.comm);
    return ERR_MPI;
}

void exchange_start(int rank, int size)
{
    exchange.rank = rank;
    exchange.size = size;
    exchange.wanted = decide(size);
    if (!exchange.wanted)
        return;
    exchange.domains = calloc((size_t)size, sizeof *exchange.domains);
    if (exchange.domains == NULL || open_communicator() != ERR_OK) {
        failed("it could not begin");
        return;
    }
    run_bursts();
}

void exchange_finish(void)
{
    if (!exchange.wanted)
        return;
    if (own.Barrier(exchange.comm) == MPI_SUCCESS)
        run_bursts();
    own.Comm_free(&exchange.comm);
    exchange.wanted = false;
}
