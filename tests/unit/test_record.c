#include "record/record.h"

#include <pthread.h>
#include <sys/wait.h>

#include "unit/check.h"
#include "unit/segment_dump.h"

static char folder[] = "/tmp/test_record.XXXXXX";

struct tally {
    int kinds[256];
    int64_t last_end_ns, last_ref, out_of_order;
    struct slot_event last_event, step;
    struct slot_collective collective;
    struct slot_counter counter;
    char text[64];
};

static void count(const union slot *slot, void *context)
{
    struct tally *t = context;
    t->kinds[slot->kind]++;
    if (slot->kind == SLOT_string)
        snprintf(t->text, sizeof t->text, "%.*s", (int)slot->string.length, slot->string.text);
    if (slot->kind == SLOT_collective)
        t->collective = slot->collective;
    if (slot->kind == SLOT_counter)
        t->counter = slot->counter;
    if (slot->kind >= SLOT_FIRST_DETAIL)
        return;
    int64_t end_ns = slot->event.begin_ns + slot->event.duration_ns;
    t->out_of_order += end_ns < t->last_end_ns;
    t->last_end_ns = end_ns;
    t->last_event = slot->event;
    if (slot->kind == EVENT_step)
        t->step = slot->event;
}

static void in_child(void (*body)(void), struct tally *t, struct segment_header **segment)
{
    pid_t pid = fork();
    if (pid == 0) {
        body();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    *segment = dump_open(folder, pid);
    memset(t, 0, sizeof *t);
    CHECK(*segment != NULL);
    if (*segment != NULL)
        dump_lane(*segment, 0, count, t);
}

static void mark_everything(void)
{
    scaleprof_step_begin(7);
    scaleprof_range_begin("outer");
    scaleprof_range_begin("inner");
    scaleprof_range_end();
    scaleprof_counter("loss", 0.25);
    uint32_t group = scaleprof_communicator("pair", 1, 2);
    uint64_t first = scaleprof_collective_begin("allreduce", group, -1, 4096);
    uint64_t second = scaleprof_collective_begin("allreduce", group, -1, 8);
    scaleprof_collective_end(second);
    scaleprof_collective_end(first);
    scaleprof_collective_end(first);
    scaleprof_collective_end(12345678);
    scaleprof_range_end();
    scaleprof_range_end();
    scaleprof_step_end();
    scaleprof_step_end();
}

static void test_marks(void)
{
    struct tally t;
    struct segment_header *h;
    in_child(mark_everything, &t, &h);
    CHECK_EQUAL(t.kinds[EVENT_step], 1);
    CHECK_EQUAL(t.step.ref, 7);
    CHECK(t.step.duration_ns > 0);
    CHECK_EQUAL(t.kinds[EVENT_range], 2);
    CHECK_EQUAL(t.kinds[EVENT_own_collective], 2);
    CHECK_EQUAL(t.collective.sequence, 0);
    CHECK_EQUAL(t.collective.bytes_sent, 4096);
    CHECK_EQUAL(t.kinds[SLOT_communicator], 1);
    CHECK_EQUAL(t.kinds[SLOT_usage], 2);
    CHECK(t.counter.value == 0.25);
    CHECK_EQUAL(t.out_of_order, 0);
    CHECK_EQUAL(segment_lane_at(h, 0)->unbalanced, 4);
    CHECK_EQUAL(segment_lane_at(h, 0)->open_count, 0);
}

static void hang_in_a_range(void)
{
    scaleprof_step_begin(3);
    scaleprof_range_begin("stuck");
}

static void test_open_intervals_are_seen(void)
{
    struct tally t;
    struct segment_header *h;
    in_child(hang_in_a_range, &t, &h);
    struct segment_lane *lane = segment_lane_at(h, 0);
    CHECK_EQUAL(lane->open_count, 2);
    CHECK_EQUAL(lane->opens[0].kind, EVENT_step);
    CHECK_EQUAL(lane->opens[0].ref, 3);
    CHECK_EQUAL(lane->opens[1].kind, EVENT_range);
    CHECK_TEXT(t.text, "stuck");
}

#define THREADS 8
#define EVENTS  20000

static void *write_events(void *argument)
{
    (void)argument;
    struct record_writer *w = scaleprof_writer();
    for (int i = 0; i < EVENTS; i++) {
        record_open(w, EVENT_mark, 0, 0, i);
        if (record_close(w, i, 0) != NULL)
            record_publish(w);
    }
    return NULL;
}

static void write_from_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_events, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* The budget holds fewer slots than are written: what is not there has been counted. */
static void test_every_event_is_stored_or_counted(void)
{
    struct tally t;
    struct segment_header *h;
    in_child(write_from_threads, &t, &h);
    uint64_t stored = 0, dropped = 0;
    uint32_t lanes = h->lanes_used;
    for (uint32_t i = 0; i < lanes; i++) {
        stored += dump_lane(h, i, NULL, NULL);
        dropped += segment_lane_at(h, i)->dropped;
        CHECK_EQUAL(segment_lane_at(h, i)->state, LANE_ENDED);
    }
    CHECK_EQUAL(stored + dropped, THREADS * EVENTS);
    CHECK(dropped > 0);
    CHECK(stored >= 64 * SEGMENT_CHUNK_SLOTS / 2);
    CHECK_EQUAL(t.out_of_order, 0);
}

static void pause_and_resume(void)
{
    scaleprof_step_begin(1);
    scaleprof_pause(1);
    CHECK(scaleprof_writer() == NULL);
    scaleprof_range_begin("unseen");
    scaleprof_pause(0);
    scaleprof_range_begin("seen");
    scaleprof_range_end();
    scaleprof_range_end();
    scaleprof_step_end();
}

static void test_pause_keeps_steps_and_nesting(void)
{
    struct tally t;
    struct segment_header *h;
    in_child(pause_and_resume, &t, &h);
    CHECK_EQUAL(t.kinds[EVENT_step], 1);
    CHECK_EQUAL(t.kinds[EVENT_range], 1);
    CHECK_EQUAL(segment_lane_at(h, 0)->unbalanced, 0);
}

static void define_twice(void)
{
    uint32_t a = scaleprof_string(
        "a name that is longer than what fits into the first slot of its definition");
    CHECK(a != 0);
    CHECK_EQUAL(scaleprof_string(
                    "a name that is longer than what fits into the first slot of its definition"),
                a);
    uint32_t site = scaleprof_site((const void *)define_twice);
    CHECK_EQUAL(scaleprof_site((const void *)define_twice), site);
    CHECK(scaleprof_site((const void *)pause_and_resume) != site);
    if (fork() == 0) {
        CHECK_EQUAL(scaleprof_string("only the child's"), 1);
        _exit(0);
    }
    wait(NULL);
}

static void test_definitions(void)
{
    struct tally t;
    struct segment_header *h;
    in_child(define_twice, &t, &h);
    CHECK_EQUAL(t.kinds[SLOT_site], 2);
    CHECK(h->next_string >= 2);
}

/* The library reads its settings when it is loaded: the first life of this program chooses a
 * folder, the second one records into it. */
int main(int argc, char **argv)
{
    if (argc < 2) {
        CHECK_EQUAL(scaleprof_recording(), 0);
        if (checks_failed || mkdtemp(folder) == NULL)
            return 1;
        setenv("SCALEPROF_RUN_DIR", folder, 1);
        execl("/proc/self/exe", argv[0], folder, (char *)NULL);
        return 1;
    }
    snprintf(folder, sizeof folder, "%s", argv[1]);
    test_marks();
    test_open_intervals_are_seen();
    test_every_event_is_stored_or_counted();
    test_pause_keeps_steps_and_nesting();
    test_definitions();
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || check_result();
}
