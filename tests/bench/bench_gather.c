/* How fast recordings become a run file, in how much memory, and how small it is. Each rank has a
 * main thread whose steps hold twenty calls (blocking and non-blocking collectives, messages, plain
 * calls) and a second thread with calls of its own.
 *
 *   bench_gather [RANKS] [EVENTS_OF_A_RANK] [alone|mpi]
 *
 * The first rank has four times the events: memory follows the largest rank. Under mpirun with
 * "mpi" all processes gather together. --check makes one short run. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "collectives/collectives.h"
#include "gather/gather.h"
#include "peers/mpi_comm.h"
#include "unit/segment_file.h"

#define CALLS 20 /* of a step */
#define LARGE 4  /* how many times the events of the others the first rank has */

static uint64_t random_state = 88172645463325252u;

static int64_t random_below(int64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state % (uint64_t)limit);
}

/* One lane being written: a chunk is closed when the next record might not fit. */
struct lane {
    struct segment_file *f;
    struct segment_chunk *chunk;
    uint32_t number, sequence;
    int64_t now_ns, events;
};

static void put(struct lane *l, union slot slot)
{
    if (l->chunk == NULL || l->chunk->count + 4 > SEGMENT_CHUNK_SLOTS)
        l->chunk = segment_file_chunk(l->f, l->number, l->sequence++);
    segment_file_put(l->chunk, slot);
}

static void put_call(struct lane *l, uint32_t name, int64_t bytes)
{
    static const int64_t usual_ns[] = {900, 45000, 1200, 2300, 380000};
    int64_t duration_ns = usual_ns[name % 5] + random_below(usual_ns[name % 5] / 4);
    union slot s = segment_file_event(EVENT_mpi_call, l->now_ns, duration_ns, -1);
    s.event.name = name;
    s.event.site = name;
    s.event.bytes = bytes;
    put(l, s);
    l->now_ns += duration_ns + 200 + random_below(300);
    l->events++;
}

static void put_collective(struct lane *l, int64_t sequence, uint64_t operation)
{
    put(l, (union slot){.collective = {.kind = SLOT_collective,
                                       .collective = COLLECTIVE_allreduce,
                                       .blocking = operation == 0,
                                       .communicator = 1,
                                       .root = -1,
                                       .sequence = sequence,
                                       .bytes_sent = 4096,
                                       .bytes_received = 4096,
                                       .operation = operation}});
}

static void put_message(struct lane *l, int64_t order, uint64_t operation)
{
    put(l, (union slot){.message = {.kind = SLOT_message,
                                    .direction = MESSAGE_SEND,
                                    .communicator = 1,
                                    .tag = 3,
                                    .order = order,
                                    .bytes = 800,
                                    .operation = operation}});
}

static void put_end(struct lane *l, uint64_t operation)
{
    put(l, (union slot){.completion = {.kind = SLOT_completion,
                                       .peer = -1,
                                       .tag = -1,
                                       .operation = operation,
                                       .bytes = -1}});
}

/* Of every five calls: a plain one, the start of a collective, a message, the collective's end, a
 * blocking collective. */
static void put_step(struct lane *l, int64_t step)
{
    int64_t begin_ns = l->now_ns;
    for (int call = 0; call < CALLS; call++) {
        int64_t serial = step * CALLS + call;
        put_call(l, 3 + (uint32_t)call % 5, call % 5 == 0 ? -1 : 4096);
        if (call % 5 == 1)
            put_collective(l, serial, (uint64_t)serial + 1);
        else if (call % 5 == 2)
            put_message(l, serial, 0);
        else if (call % 5 == 3)
            put_end(l, (uint64_t)serial - 1);
        else if (call % 5 == 4)
            put_collective(l, serial, 0);
    }
    put(l, segment_file_event(EVENT_step, begin_ns - 100, l->now_ns - begin_ns + 100, step));
    put(l, (union slot){.usage = {.kind = SLOT_usage,
                                  .time_ns = l->now_ns,
                                  .cpu_ns = l->now_ns / 2,
                                  .involuntary_switches = step / 100,
                                  .step = step}});
    l->now_ns += 1000;
    l->events++;
}

static void put_definitions(struct lane *l, int rank, int ranks)
{
    static const char *const names[] = {"train",     "world",    "MPI_Comm_size", "MPI_Iallreduce",
                                        "MPI_Isend", "MPI_Wait", "MPI_Allreduce"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        put(l, segment_file_text(i + 1, names[i]));
    for (uint32_t i = 1; i < 8; i++)
        put(l, (union slot){
                   .site = {.kind = SLOT_site, .number = i, .module = 1, .offset = 4096 + 16 * i}});
    put(l, (union slot){.communicator = {.kind = SLOT_communicator,
                                         .number = 1,
                                         .key = 4242,
                                         .size = ranks,
                                         .member = rank,
                                         .name = 2}});
}

static void write_rank(const char *folder, int rank, int ranks, int64_t events)
{
    struct segment_file f;
    char path[300];
    uint32_t chunks = (uint32_t)(events * 2 / SEGMENT_CHUNK_SLOTS + 8);
    random_state += (uint64_t)rank * 7919;
    segment_file_open(&f, 100 + rank, rank, ranks, chunks);
    struct lane main_lane = {.f = &f, .now_ns = 6000},
                other = {.f = &f, .number = 1, .now_ns = 6000};
    put_definitions(&main_lane, rank, ranks);
    for (int64_t step = 0; main_lane.events + other.events + CALLS + 3 < events; step++) {
        put_step(&main_lane, step);
        put_call(&other, 3, -1);
    }
    segment_file_lane(&f, 0, 100 + (uint32_t)rank);
    segment_file_lane(&f, 1, 9);
    f.h->last_ns = main_lane.now_ns;
    segment_file_seal(&f);
    snprintf(path, sizeof path, "%s/%d.part", folder, rank);
    segment_file_write(&f, path);
    segment_file_close(&f);
}

/* In processes of their own, so that this one's memory is the gathering's. */
static void write_ranks(const char *folder, int ranks, int64_t events)
{
    for (int rank = 0; rank < ranks; rank++) {
        pid_t pid = fork();
        if (pid == 0) {
            write_rank(folder, rank, ranks, rank == 0 ? LARGE * events : events);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    rmdir(folder);
}

static int64_t memory_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* CPU time of this process, which other work on the machine changes least. */
static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void say(enum log_level level, const char *message)
{
    (void)level;
    fprintf(stderr, "%s\n", message);
}

static enum err bench(const char *folder, int64_t events_of_a_rank, struct peers *p)
{
    const char *const folders[] = {folder};
    char output[200];
    snprintf(output, sizeof output, "%s.h5", folder);
    struct gather_options options = {.output = output, .force = 1, .tool_version = "bench"};
    struct gather_summary s = {0};
    int64_t before_kib = memory_kib(), start_ns = clock_now_ns();
    double before_cpu = cpu_seconds();
    enum err e = gather_run_all(folders, 1, &options, p, &s);
    double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
    double cpu = cpu_seconds() - before_cpu;
    int64_t used_kib = peers_max_all(p, memory_kib() - before_kib);
    if (!e && peers_rank(p) == 0) {
        printf("%lld ranks, %lld events, %d processes\n", (long long)s.ranks, (long long)s.events,
               peers_size(p));
        printf("speed  %8.2f million events/s a process (%.2f s)\n",
               (double)s.events / seconds / peers_size(p) / 1e6, seconds);
        printf("       %8.2f million events/s of the first process's CPU time (%.2f s)\n",
               (double)s.events / cpu / peers_size(p) / 1e6, cpu);
        printf("memory %8.1f bytes per event of the largest rank (%lld MiB)\n",
               (double)used_kib * 1024 / (double)(LARGE * events_of_a_rank),
               (long long)used_kib / 1024);
        printf("size   %8.2f bytes per event\n", (double)s.bytes / (double)s.events);
    }
    if (peers_rank(p) == 0)
        unlink(output);
    return e;
}

int main(int argc, char **argv)
{
    int check = argc > 1 && strcmp(argv[1], "--check") == 0;
    int ranks = check ? 2 : argc > 1 ? atoi(argv[1]) : 4;
    int64_t events = check ? 20000 : argc > 2 ? strtoll(argv[2], NULL, 10) : 1000000;
    int by_mpi = argc > 3 && strcmp(argv[3], "mpi") == 0;
    char folder[] = "/tmp/bench_gather.XXXXXX";
    struct peers *p;
    log_open(say, LOG_WARNING);
    if (by_mpi ? peers_open_mpi_all(&p) : peers_open_alone(&p))
        return 1;
    if (peers_rank(p) == 0 && mkdtemp(folder) != NULL)
        write_ranks(folder, ranks, events);
    peers_broadcast_all(p, folder, sizeof folder, 0);
    enum err e = bench(folder, events, p);
    if (peers_rank(p) == 0)
        remove_folder(folder);
    peers_close(p);
    return e ? 1 : 0;
}
