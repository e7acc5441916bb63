#include "collectives/mpi/exchange.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "align/align.h"
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

/* What the launcher says by the environment; -1 nothing. */
static long environment_number(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    long number = text != NULL ? strtol(text, &end, 10) : -1;
    return end != NULL && end != text ? number : -1;
}

/* Only where a launcher says so: with all ranks on one host nothing has to be measured. */
static bool on_several_hosts(int size)
{
    static const char *const local_sizes[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                              "MV2_COMM_WORLD_LOCAL_SIZE"};
    for (size_t i = 0; i < sizeof local_sizes / sizeof local_sizes[0]; i++) {
        long local = environment_number(local_sizes[i]);
        if (local >= 0)
            return local < size;
    }
    return environment_number("SLURM_STEP_NUM_NODES") > 1;
}

/* Name and parent of a process; false when it is not to be seen. */
static bool process_look(int pid, char name[16], int *parent)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return false;
    bool seen = fscanf(f, "%*d (%15[^)]) %*c %d", name, parent) == 2;
    fclose(f);
    return seen;
}

/* The launcher itself has started the command, or the agent that has started it: then all ranks run
 * the same. A script between may have chosen some ranks to record. */
static bool started_by_launcher(void)
{
    static const char *const launchers[] = {"orted",      "mpirun",         "mpiexec",
                                            "orterun",    "prted",          "prterun",
                                            "slurmstepd", "hydra_pmi_prox", "pmi_proxy"};
    char name[16];
    int pid = getppid();
    if (!process_look(pid, name, &pid))
        return false;
    if (strcmp(name, "scaleprof") == 0 && !process_look(pid, name, &pid))
        return false;
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
        if (strncmp(name, launchers[i], strlen(launchers[i])) == 0)
            return true;
    return false;
}

/* Every rank must decide alike, without asking the others. */
static bool decide(int size)
{
    char variable[SETTINGS_VARIABLE_BYTES];
    const char *setting = getenv(settings_variable(SETTING_exchange, variable));
    if (size == 1 || (setting != NULL && strcmp(setting, "never") == 0))
        return false;
    if (setting != NULL && strcmp(setting, "always") == 0)
        return true;
    return on_several_hosts(size) && environment_number("OMPI_NUM_APP_CTX") <= 1 &&
           started_by_launcher();
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
