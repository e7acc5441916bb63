/* Many threads, little memory, and death at full speed: every event is whole, in order, and stored
 * or counted. */
#include "record/record.h"

#include <pthread.h>
#include <sched.h>

#include "unit/scenario.h"

#define THREADS 8

static int events_each;

/* An event whose fields all follow from one number: a torn one does not. */
static int write_numbered(struct record_writer *w, int64_t number, unsigned details)
{
    union slot *s = record_reserve_event(w, details);
    if (s == NULL)
        return 0;
    s[0].event = (struct slot_event){.kind = EVENT_mark,
                                     .extra = (uint16_t)number,
                                     .name = (uint32_t)number,
                                     .site = (uint32_t)~number,
                                     .begin_ns = number,
                                     .duration_ns = number * 3,
                                     .ref = number,
                                     .bytes = -number};
    for (unsigned i = 1; i <= details; i++)
        s[i].completion = (struct slot_completion){
            .kind = SLOT_completion, .operation = (uint64_t)number, .bytes = i};
    record_publish(w);
    return 1;
}

struct numbers {
    int64_t events, details, last, broken;
};

static void check_numbered(const union slot *slot, void *context)
{
    struct numbers *n = context;
    int64_t number = slot->event.ref;
    if (slot->kind == SLOT_completion) {
        n->details++;
        n->broken += (int64_t)slot->completion.operation != n->last;
        return;
    }
    n->events++;
    n->broken += slot->kind != EVENT_mark || slot->event.extra != (uint16_t)number ||
                 slot->event.name != (uint32_t)number || slot->event.site != (uint32_t)~number ||
                 slot->event.begin_ns != number || slot->event.duration_ns != number * 3 ||
                 slot->event.bytes != -number || number <= n->last;
    n->last = number;
}

static void *write_many(void *argument)
{
    unsigned details = argument != NULL;
    for (int i = 1; i <= events_each; i++) {
        struct record_writer *w = scaleprof_writer();
        if (w != NULL)
            write_numbered(w, i, details);
    }
    return NULL;
}

static void run_threads(int count, void *argument)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, write_many, argument);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- all found ---- */

static void roomy(void)
{
    events_each = 9000;
    run_threads(THREADS, NULL);
}

static void test_all_events_of_all_threads_are_found(void)
{
    struct segment_header *h = scenario_run("roomy", NULL);
    CHECK_EQUAL(h->lanes_used, THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct numbers n = {0};
        struct segment_lane *lane = segment_lane_at(h, i);
        dump_lane(h, i, check_numbered, &n);
        CHECK_EQUAL(n.events, 9000);
        CHECK_EQUAL(n.broken, 0);
        CHECK_EQUAL(lane->dropped, 0);
        CHECK_EQUAL(lane->state, LANE_ENDED);
        CHECK_EQUAL(lane->chunk, SEGMENT_NO_CHUNK);
        CHECK(lane->thread_id != (uint32_t)h->pid && lane->thread_id != 0);
        CHECK_TEXT(lane->name, "exe");
    }
}

/* ---- what does not fit is counted ---- */

static void tight(void)
{
    events_each = 3000;
    run_threads(THREADS, (void *)1);
}

static void test_what_does_not_fit_is_counted(void)
{
    struct segment_header *h = scenario_run("tight", "SCALEPROF_MEMORY=192K");
    int64_t events = 0, details = 0, dropped = 0, dropped_details = 0, broken = 0;
    CHECK_EQUAL(h->chunks_max, 3);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct numbers n = {0};
        struct segment_lane *lane = segment_lane_at(h, i);
        dump_lane(h, i, check_numbered, &n);
        CHECK_EQUAL(n.events + (int64_t)lane->dropped, 3000);
        CHECK_EQUAL(n.details + (int64_t)lane->dropped_details, 3000);
        events += n.events;
        details += n.details;
        dropped += (int64_t)lane->dropped;
        dropped_details += (int64_t)lane->dropped_details;
        broken += n.broken;
    }
    CHECK_EQUAL(events, 3 * (SEGMENT_CHUNK_SLOTS / 2));
    CHECK_EQUAL(details, events);
    CHECK_EQUAL(dropped, THREADS * 3000 - events);
    CHECK_EQUAL(dropped_details, dropped);
    CHECK_EQUAL(broken, 0);
}

/* A chunk with room for one slot keeps it for one slot when there is no other chunk. */
static void last_slot(void)
{
    struct record_writer *w = scaleprof_writer();
    for (unsigned i = 1; i < SEGMENT_CHUNK_SLOTS; i++) {
        CHECK(record_reserve(w, 1 + i % 2) != NULL); /* given up */
        CHECK(write_numbered(w, i, 0));
    }
    CHECK(!write_numbered(w, 5000, 1));
    CHECK(write_numbered(w, 5001, 0));
    CHECK(!write_numbered(w, 5002, 0));
    CHECK_EQUAL(scaleprof_string("no room"), 0);
}

static void test_the_last_slot_is_used(void)
{
    struct numbers n = {0};
    struct segment_header *h = scenario_run("last_slot", "SCALEPROF_MEMORY=1");
    dump_lane(h, 0, check_numbered, &n);
    CHECK_EQUAL(h->chunks_max, 1);
    CHECK_EQUAL(n.events, SEGMENT_CHUNK_SLOTS);
    CHECK_EQUAL(n.last, 5001);
    CHECK_EQUAL(n.broken, 0);
    CHECK_EQUAL(segment_lane_at(h, 0)->dropped, 2);
    CHECK_EQUAL(segment_lane_at(h, 0)->dropped_details, 2);
}

/* ---- more threads than lanes ---- */

#define CROWD 300
static pthread_barrier_t all_there, all_done;

/* The segment is there before the crowd comes: what is tried here are the lanes. */
static void *write_one_in_a_crowd(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&all_there);
    struct record_writer *w = scaleprof_writer();
    if (w != NULL)
        write_numbered(w, 1, 0);
    pthread_barrier_wait(&all_done);
    return NULL;
}

static void crowd(void)
{
    pthread_t threads[CROWD];
    pthread_attr_t small;
    scaleprof_set_rank(0, 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    pthread_barrier_init(&all_there, NULL, CROWD);
    pthread_barrier_init(&all_done, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        CHECK_EQUAL(pthread_create(&threads[i], &small, write_one_in_a_crowd, NULL), 0);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    events_each = 10;
    for (int i = 0; i < 3; i++)
        run_threads(1, NULL);
}

static void test_lanes_run_out_and_are_used_again(void)
{
    struct segment_header *h = scenario_run("crowd", NULL);
    uint64_t stored = 0, dropped = 0;
    CHECK_EQUAL(h->lanes_used, SEGMENT_LANES_MAX);
    CHECK_EQUAL(h->dropped_no_lane, CROWD - SEGMENT_LANES_MAX);
    for (uint32_t i = 0; i < SEGMENT_LANES_MAX; i++) {
        stored += dump_lane(h, i, NULL, NULL);
        dropped += segment_lane_at(h, i)->dropped;
        CHECK_EQUAL(segment_lane_at(h, i)->state, LANE_ENDED);
    }
    CHECK_EQUAL(stored + dropped, SEGMENT_LANES_MAX + 3 * 10);
}

/* ---- names from many threads ---- */

static void *name_and_use(void *argument)
{
    char text[16];
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "name %d", i);
        uint32_t number = scaleprof_string(text);
        uint32_t site = scaleprof_site((const char *)name_and_use + i);
        ((uint32_t *)argument)[i] = number != 0 && site != 0 ? number : 0;
        scaleprof_range_begin(text);
        scaleprof_range_end();
    }
    return NULL;
}

static void naming(void)
{
    static uint32_t numbers[THREADS][200];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, name_and_use, numbers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 200; i++)
        for (int k = 0; k < THREADS; k++)
            CHECK(numbers[k][i] != 0 && numbers[k][i] == numbers[0][i]);
}

static uint8_t defined[4096];
static uint32_t undefined_uses;

static void note_definitions(const union slot *slot, void *context)
{
    (void)context;
    if (slot->kind == SLOT_string)
        defined[slot->string.number % 4096] = 1;
}

static void note_uses(const union slot *slot, void *context)
{
    (void)context;
    if (slot->kind == EVENT_range)
        undefined_uses += slot->event.name == 0 || !defined[slot->event.name % 4096];
}

static void test_threads_agree_on_numbers(void)
{
    struct segment_header *h = scenario_run("naming", NULL);
    for (uint32_t i = 0; i < THREADS; i++)
        dump_lane(h, i, note_definitions, NULL);
    for (uint32_t i = 0; i < THREADS; i++)
        dump_lane(h, i, note_uses, NULL);
    CHECK_EQUAL(undefined_uses, 0);
}

/* ---- marks from many threads ---- */

#define COLLECTIVES 300
static _Atomic uint64_t handed_over;

/* Each collective is ended by whichever thread comes next. */
static void *begin_and_end(void *argument)
{
    uint32_t group = scaleprof_communicator("all threads", 0, 1);
    (void)argument;
    for (int i = 0; i < COLLECTIVES; i++) {
        uint64_t mine = scaleprof_collective_begin("allreduce", group, -1, i);
        scaleprof_collective_end(atomic_exchange(&handed_over, mine));
        scaleprof_step_begin(i);
        scaleprof_counter("i", i);
        scaleprof_step_end();
    }
    return NULL;
}

static void marking(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, begin_and_end, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    scaleprof_collective_end(atomic_load(&handed_over));
}

static void note_sequence(const union slot *slot, void *context)
{
    uint8_t *seen = context;
    if (slot->kind == SLOT_collective && slot->collective.sequence < THREADS * COLLECTIVES)
        seen[slot->collective.sequence]++;
}

static void test_collectives_pass_from_thread_to_thread(void)
{
    struct segment_header *h = scenario_run("marking", NULL);
    uint8_t seen[THREADS * COLLECTIVES] = {0};
    int once = 0;
    for (uint32_t i = 0; i < h->lanes_used; i++)
        dump_lane(h, i, note_sequence, seen);
    for (int i = 0; i < THREADS * COLLECTIVES; i++)
        once += seen[i] == 1;
    CHECK_EQUAL(once, THREADS * COLLECTIVES);
    CHECK_EQUAL(h->faults, 0);
}

/* ---- pauses while others write ---- */

static void toggling(void)
{
    pthread_t threads[THREADS];
    events_each = 5000;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_many, NULL);
    for (int i = 0; i < 200; i++)
        scaleprof_pause(i % 2 == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(scaleprof_writer() != NULL);
}

static void check_between_gaps(const union slot *slot, void *context)
{
    if (slot->kind != EVENT_gap)
        check_numbered(slot, context);
}

static void test_a_pause_tears_nothing(void)
{
    struct segment_header *h = scenario_run("toggling", NULL);
    struct numbers n = {0};
    for (uint32_t i = 0; i < h->lanes_used; i++) {
        n.last = 0;
        dump_lane(h, i, check_between_gaps, &n);
    }
    CHECK(n.events <= THREADS * 5000);
    CHECK_EQUAL(n.broken, 0);
}

/* ---- killed at full speed ---- */

#define KILLED_THREADS 3

static void *write_for_ever(void *argument)
{
    (void)argument;
    struct record_writer *w = scaleprof_writer();
    for (int64_t number = 1;; number++)
        write_numbered(w, number, number % 3 == 0);
    return NULL;
}

static void endless(void)
{
    pthread_t threads[KILLED_THREADS];
    for (int i = 0; i < KILLED_THREADS; i++)
        pthread_create(&threads[i], NULL, write_for_ever, NULL);
    pthread_join(threads[0], NULL);
}

/* Drains sealed chunks as the agent does, until `wanted` have come. */
static void drain(struct segment_header *h, struct numbers *lanes, int wanted)
{
    while (wanted > 0) {
        for (uint32_t i = 0; i < h->chunks_max; i++) {
            struct segment_chunk *c = segment_chunk_at(h, i);
            if (atomic_load_explicit(&c->state, memory_order_acquire) != CHUNK_SEALED)
                continue;
            CHECK(c->lane < KILLED_THREADS);
            struct numbers one = {0};
            for (uint32_t k = 0; k < c->count; k++)
                check_numbered(&c->slots[k], &one);
            CHECK_EQUAL(one.broken, 0);
            if (c->lane < KILLED_THREADS) {
                lanes[c->lane].events += one.events;
                lanes[c->lane].last = one.last;
            }
            segment_give_free(h, i);
            wanted--;
        }
        sched_yield();
    }
}

static void test_a_kill_at_full_speed_tears_nothing(void)
{
    for (int round = 0; round < 4; round++) {
        struct segment_header *h = NULL;
        struct numbers lanes[KILLED_THREADS] = {{0}};
        pid_t pid = scenario_start("endless", "SCALEPROF_MEMORY=1M");
        while (h == NULL || memcmp(h->magic, SEGMENT_MAGIC, sizeof h->magic) != 0) {
            h = h != NULL ? h : dump_open(scenario_folder, pid);
            sched_yield();
        }
        drain(h, lanes, 40);
        kill(pid, SIGKILL);
        CHECK_EQUAL(scenario_wait(pid), 128 + SIGKILL);
        uint32_t usable = 0;
        for (uint32_t i = 0; i < h->chunks_max; i++) {
            struct segment_chunk *c = segment_chunk_at(h, i);
            struct numbers rest = {0};
            CHECK(c->count <= SEGMENT_CHUNK_SLOTS);
            for (uint32_t k = 0; k < c->count; k++)
                check_numbered(&c->slots[k], &rest);
            CHECK_EQUAL(rest.broken, 0);
            usable += c->state == CHUNK_SEALED || c->state == CHUNK_OWNED;
        }
        while (segment_take_free(h) != SEGMENT_NO_CHUNK)
            usable++;
        CHECK(usable + KILLED_THREADS >= h->chunks_max);
    }
}

const struct scenario scenarios[] = {
    {"roomy", roomy},         {"tight", tight},       {"crowd", crowd},
    {"last_slot", last_slot}, {"naming", naming},     {"endless", endless},
    {"marking", marking},     {"toggling", toggling}, {NULL, NULL}};

static void tests(void)
{
    test_all_events_of_all_threads_are_found();
    test_what_does_not_fit_is_counted();
    test_the_last_slot_is_used();
    test_lanes_run_out_and_are_used_again();
    test_threads_agree_on_numbers();
    test_collectives_pass_from_thread_to_thread();
    test_a_pause_tears_nothing();
    test_a_kill_at_full_speed_tears_nothing();
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, tests);
}
