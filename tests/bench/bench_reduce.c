/* How fast rows of a run become its analysis, and in how much memory. Each rank's rows are made
 * when they are asked for, as a file would give them; the time of making them is not counted.
 * Time is that of the CPU: other work on the machine does not enter.
 *
 *   bench_reduce [EVENTS_OF_A_RANK]
 *
 * Prints a line for 1, 2, 4 and 8 ranks. --check makes one short run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "reduce/reduce.h"
#include "trace/vocabulary.h"
#include "unit/zero_rows.h"

/* Of a step: its mark, calls on the main lane of which every fifth starts an allreduce that the
 * next call ends, and three samples. */
#define CALLS       20
#define COLLECTIVES 4
#define EVENTS      (CALLS + 1)
#define CALL_NS     1000
#define STEP_NS     (2 * CALLS * CALL_NS)

struct bench_run {
    struct run_tables tables;
    struct strings *strings;
    int64_t steps, making_ns;
    uint32_t names[3];
};

static const char *const sample_names[3] = {"thread_cpu_ns", "involuntary_switches",
                                            "voluntary_switches"};

static int64_t cpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_run(struct bench_run *b, int ranks, int64_t events)
{
    *b = (struct bench_run){.steps = events / EVENTS};
    strings_open(&b->strings);
    for (int i = 0; i < 3; i++)
        b->names[i] = strings_put_text(b->strings, sample_names[i]);
    zero_rows(&b->tables.ranks, table_ranks, (size_t)ranks);
    zero_rows(&b->tables.comms, table_comms, 1);
    zero_rows(&b->tables.comm_members, table_comm_members, (size_t)ranks);
    b->tables.comms.size[0] = ranks;
    for (int i = 0; i < ranks; i++) {
        b->tables.ranks.rank[i] = b->tables.comm_members.rank[i] = i;
        b->tables.comm_members.comm_rank[i] = i;
        b->tables.ranks.main_lane[i] = (uint32_t)i;
        b->tables.ranks.event_first[i] = i * b->steps * EVENTS;
    }
}

static void close_run(struct bench_run *b)
{
    run_tables_free(&b->tables);
    strings_close(b->strings);
}

/* Ranks differ by some hundred nanoseconds, another in each step. */
static int64_t call_begin(size_t rank, int64_t step, int call)
{
    return step * STEP_NS + call * 2 * CALL_NS + (int64_t)((rank * 7 + (size_t)step * 13) % 500);
}

static void fill_step(struct events_rows *e, size_t rank, int64_t step)
{
    size_t at = (size_t)step * EVENTS;
    e->kind[at] = EVENT_step;
    e->begin_ns[at] = step * STEP_NS;
    e->duration_ns[at] = STEP_NS;
    e->lane[at] = (uint32_t)rank;
    e->ref[at] = step;
    for (int call = 0; call < CALLS; call++) {
        at++;
        e->kind[at] = EVENT_mpi_call;
        e->begin_ns[at] = call_begin(rank, step, call);
        e->duration_ns[at] = CALL_NS;
        e->lane[at] = (uint32_t)rank;
        e->site[at] = (uint32_t)call;
    }
}

static void fill_collectives(struct collectives_rows *c, size_t rank, int64_t step,
                             int64_t first_event)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        size_t at = (size_t)step * COLLECTIVES + (size_t)i;
        c->rank[at] = (int32_t)rank;
        c->kind[at] = COLLECTIVE_allreduce;
        c->sequence[at] = (int64_t)at;
        c->root[at] = -1;
        c->bytes_sent[at] = c->bytes_received[at] = 4096 << i;
        c->event[at] = first_event + step * EVENTS + 1 + i * (CALLS / COLLECTIVES);
        c->done_event[at] = c->event[at] + 1;
        c->begin_ns[at] = c->end_ns[at] = -1;
    }
}

static void fill_samples(const struct bench_run *b, struct counters_rows *c, size_t rank,
                         int64_t step)
{
    for (int i = 0; i < 3; i++) {
        size_t at = (size_t)step * 3 + (size_t)i;
        c->rank[at] = (int32_t)rank;
        c->lane[at] = (uint32_t)rank;
        c->name[at] = b->names[i];
        c->time_ns[at] = step * STEP_NS;
        c->value[at] = (double)(step * (i == 0 ? STEP_NS : i));
    }
}

static enum err make_rows(void *context, size_t row, enum reduce_want want,
                          struct reduce_rank_rows *out)
{
    struct bench_run *b = context;
    int64_t start_ns = cpu_now_ns(), first_event = b->tables.ranks.event_first[row];
    zero_rows(&out->events, table_events, (size_t)b->steps * EVENTS);
    if (want == REDUCE_OPERATIONS)
        zero_rows(&out->collectives, table_collectives, (size_t)b->steps * COLLECTIVES);
    else
        zero_rows(&out->counters, table_counters, (size_t)b->steps * 3);
    for (int64_t step = 0; step < b->steps; step++) {
        fill_step(&out->events, row, step);
        if (want == REDUCE_OPERATIONS)
            fill_collectives(&out->collectives, row, step, first_event);
        else
            fill_samples(b, &out->counters, row, step);
    }
    b->making_ns += cpu_now_ns() - start_ns;
    return ERR_OK;
}

static void drop_rows(void *context, struct reduce_rank_rows *rows)
{
    struct bench_run *b = context;
    int64_t start_ns = cpu_now_ns();
    rows_free(&rows->events, table_events);
    rows_free(&rows->collectives, table_collectives);
    rows_free(&rows->counters, table_counters);
    b->making_ns += cpu_now_ns() - start_ns;
}

static int bench(int ranks, int64_t events)
{
    struct bench_run b;
    struct analysis_tables out = {0};
    struct strings *added;
    struct rusage used;
    strings_open(&added);
    open_run(&b, ranks, events);
    struct reduce_source source = {.tables = &b.tables,
                                   .strings = b.strings,
                                   .read = make_rows,
                                   .release = drop_rows,
                                   .context = &b};
    struct reduce_options options = {.step_patterns = "", .tool_version = "bench"};
    int64_t start_ns = cpu_now_ns();
    enum err e = reduce_run(&source, &options, &out, added);
    double seconds = (double)(cpu_now_ns() - start_ns - b.making_ns) / 1e9;
    getrusage(RUSAGE_SELF, &used);
    double all = (double)(ranks * b.steps * EVENTS);
    if (!e)
        printf("%5d ranks  %6.2f million events/s  %7.1f MB at most  %6.1f bytes/event\n", ranks,
               all / seconds / 1e6, (double)used.ru_maxrss / 1024,
               (double)used.ru_maxrss * 1024 / all);
    analysis_tables_free(&out);
    close_run(&b);
    strings_close(added);
    return e ? 1 : 0;
}

/* Each line by a process of its own, whose memory is not what another one left. */
static int bench_apart(int ranks, int64_t events)
{
    int status = 1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int failed = bench(ranks, events);
        fflush(stdout);
        _exit(failed);
    }
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc > 1 && strcmp(argv[1], "--check") == 0)
        return bench(2, 20000);
    for (int ranks = 1; ranks <= 8; ranks *= 2)
        failed |= bench_apart(ranks, argc > 1 ? strtoll(argv[1], NULL, 10) : 1000000);
    return failed;
}
