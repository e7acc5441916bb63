/* What an event costs in the job, beyond the two clock reads that every interval needs. Prints a
 * table of medians; judges nothing. `--check` runs it briefly, to see that it runs. */
#include <stdio.h>
#include <stdlib.h>

#include "record/record.h"
#include "unit/segment_dump.h"

#define BATCH      1300 /* events; a little less than a chunk */
#define MOST_BATCH 2001

static int batches = MOST_BATCH;
static char folder[64] = "/dev/shm/bench_record.XXXXXX";

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over batches of the nanoseconds that one turn of `batch` takes; `before` prepares each. */
static double measure(void (*batch)(void), void (*before)(void), int count)
{
    static double ns[MOST_BATCH];
    for (int i = 0; i < count; i++) {
        if (before != NULL)
            before();
        int64_t begin_ns = clock_now_ns();
        batch();
        ns[i] = (double)(clock_now_ns() - begin_ns) / BATCH;
    }
    qsort(ns, (size_t)count, sizeof *ns, compare);
    return ns[count / 2];
}

static void read_clock_twice(void)
{
    for (int i = 0; i < BATCH; i++) {
        volatile int64_t begin_ns = clock_now_ns();
        volatile int64_t end_ns = clock_now_ns();
        (void)begin_ns;
        (void)end_ns;
    }
}

static void write_events(void)
{
    for (int i = 0; i < BATCH; i++) {
        struct record_writer *w = scaleprof_writer();
        record_open(w, EVENT_mark, 1, 0, -1);
        if (record_close(w, i, 0) != NULL)
            record_publish(w);
    }
}

static void write_collectives(void)
{
    static struct record_name name = {.text = "allreduce"};
    for (int i = 0; i < BATCH / 2; i++) {
        struct record_writer *w = scaleprof_writer();
        record_open(w, EVENT_mpi_call, record_name_number(&name),
                    scaleprof_site(__builtin_return_address(0)), -1);
        union slot *s = record_close(w, i, 1);
        if (s == NULL)
            continue;
        s[1].collective = (struct slot_collective){.kind = SLOT_collective, .sequence = i};
        record_publish(w);
    }
}

static void mark_ranges(void)
{
    for (int i = 0; i < BATCH; i++) {
        scaleprof_range_begin("forward pass");
        scaleprof_range_end();
    }
}

static void mark_counters(void)
{
    for (int i = 0; i < BATCH; i++)
        scaleprof_counter("loss", i);
}

static struct segment_header *segment;

/* What the agent does with chunks that are full. */
static void recycle(void)
{
    for (uint32_t i = 0; i < segment->chunks_present; i++)
        if (segment_chunk_at(segment, i)->state == CHUNK_SEALED)
            segment_give_free(segment, i);
}

static void say(const char *what, double ns)
{
    printf("  %-58s %8.1f ns\n", what, ns);
}

static int in_recorded_process(const char *run_dir)
{
    scaleprof_range_begin("start");
    scaleprof_range_end();
    segment = dump_open(run_dir, getpid());
    if (segment == NULL)
        return 1;
    int fresh = (int)segment->free_count - 2;
    double clock_ns = measure(read_clock_twice, NULL, batches);
    double touched_ns = measure(write_events, NULL, fresh);
    double recycled_ns = measure(write_events, recycle, batches);
    say("two clock reads", clock_ns);
    say("event beyond them, in a recycled chunk", recycled_ns - clock_ns);
    say("event beyond them, in a fresh touched chunk", touched_ns - clock_ns);
    while (segment_take_free(segment) != SEGMENT_NO_CHUNK)
        ;
    int fd = dump_open_file(run_dir, getpid());
    fresh = (int)(segment->chunks_max - segment->chunks_present) - 1;
    if (fd < 0 || segment_grow(segment, fd, (uint32_t)fresh + 1) != ERR_OK)
        return 1;
    say("event beyond them, in a fresh untouched chunk",
        measure(write_events, NULL, fresh) - clock_ns);
    say("collective by name and call site, beyond them",
        2 * measure(write_collectives, recycle, batches) - clock_ns);
    say("range beyond them, by its text", measure(mark_ranges, recycle, batches) - clock_ns);
    say("counter, its clock read included", measure(mark_counters, recycle, batches));
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < segment->lanes_used; i++)
        dropped += segment_lane_at(segment, i)->dropped;
    printf("  dropped: %llu\n", (unsigned long long)dropped);
    return dropped > 0;
}

int main(int argc, char **argv)
{
    const char *run_dir = getenv("SCALEPROF_RUN_DIR");
    if (argc > 1 && strcmp(argv[1], "--check") == 0)
        batches = 21;
    if (run_dir != NULL) {
        int failed = in_recorded_process(run_dir);
        char command[100];
        snprintf(command, sizeof command, "rm -rf '%s'", run_dir);
        return system(command) != 0 || failed;
    }
    printf("nanoseconds each, median of %d batches of %d\n", batches, BATCH);
    say("range, not recorded", measure(mark_ranges, NULL, batches));
    fflush(stdout);
    if (mkdtemp(folder) == NULL)
        return 1;
    setenv("SCALEPROF_RUN_DIR", folder, 1);
    setenv("SCALEPROF_MEMORY", "16M", 1);
    execv("/proc/self/exe", argv);
    return 1;
}
