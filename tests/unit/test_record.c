/* What marks and names leave in the segment. */
#include "record/record.h"

#include "unit/scenario.h"

/* What a lane holds. */
struct tally {
    int kinds[256];
    int out_of_order;
    struct slot_event events[64];
    int event_count;
    union slot details[64]; /* all slots that are no events */
    int detail_count;
};

static void count(const union slot *slot, void *context)
{
    struct tally *t = context;
    t->kinds[slot->kind]++;
    if (slot->kind >= SLOT_FIRST_DETAIL) {
        if (t->detail_count < 64)
            t->details[t->detail_count++] = *slot;
        return;
    }
    if (t->event_count > 0) {
        const struct slot_event *last = &t->events[t->event_count - 1];
        t->out_of_order +=
            slot->event.begin_ns + slot->event.duration_ns < last->begin_ns + last->duration_ns;
    }
    if (t->event_count < 64)
        t->events[t->event_count++] = slot->event;
}

static struct segment_lane *look(struct segment_header *h, uint32_t lane, struct tally *t)
{
    memset(t, 0, sizeof *t);
    if (h == NULL)
        return NULL;
    dump_lane(h, lane, count, t);
    return segment_lane_at(h, lane);
}

/* The n-th detail of a kind; one of kind 0 when there is none. */
static union slot detail(const struct tally *t, uint8_t kind, int n)
{
    for (int i = 0; i < t->detail_count; i++)
        if (t->details[i].kind == kind && n-- == 0)
            return t->details[i];
    return (union slot){.kind = 0};
}

/* Number of the text in the lane (those of up to 32 bytes); 0 none. */
static uint32_t number_of(const struct tally *t, const char *text)
{
    for (int i = 0; i < t->detail_count; i++) {
        const struct slot_string *s = &t->details[i].string;
        if (s->kind == SLOT_string && s->length == strlen(text) &&
            memcmp(s->text, text, s->length) == 0)
            return s->number;
    }
    return 0;
}

/* ---- ranges and steps ---- */

static void ranges(void)
{
    scaleprof_range_begin("outer");
    scaleprof_range_begin("inner");
    scaleprof_range_end();
    scaleprof_range_begin(NULL);
    scaleprof_range_end();
    scaleprof_range_end();
    scaleprof_range_end();
    CHECK_EQUAL(scaleprof_recording(), 1);
}

static void test_ranges_nest(void)
{
    struct tally t;
    struct segment_lane *lane = look(scenario_run("ranges", NULL), 0, &t);
    CHECK_EQUAL(t.kinds[EVENT_range], 3);
    CHECK_EQUAL(t.events[0].name, number_of(&t, "inner"));
    CHECK_EQUAL(t.events[1].name, 0);
    CHECK_EQUAL(t.events[2].name, number_of(&t, "outer"));
    CHECK(t.events[0].begin_ns > t.events[2].begin_ns);
    CHECK(t.events[1].begin_ns >= t.events[0].begin_ns + t.events[0].duration_ns);
    CHECK_EQUAL(t.events[0].ref, -1);
    CHECK_EQUAL(t.events[0].bytes, -1);
    CHECK_EQUAL(t.out_of_order, 0);
    CHECK_EQUAL(lane->unbalanced, 1);
    CHECK_EQUAL(lane->open_count, 0);
}

static void steps(void)
{
    CHECK_EQUAL(scaleprof_current_step(), -1);
    scaleprof_step_begin(7);
    CHECK_EQUAL(scaleprof_current_step(), 7);
    scaleprof_step_begin(8);
    scaleprof_step_end();
    CHECK_EQUAL(scaleprof_current_step(), -1);
    scaleprof_step_end();
    scaleprof_step_begin(9);
    scaleprof_step_end();
}

static void test_steps_end_one_another(void)
{
    struct tally t;
    struct segment_lane *lane = look(scenario_run("steps", NULL), 0, &t);
    CHECK_EQUAL(t.kinds[EVENT_step], 3);
    CHECK_EQUAL(t.events[0].ref, 7);
    CHECK_EQUAL(t.events[1].ref, 8);
    CHECK_EQUAL(t.events[2].ref, 9);
    CHECK(t.events[1].begin_ns >= t.events[0].begin_ns + t.events[0].duration_ns);
    CHECK_EQUAL(lane->unbalanced, 1);
    CHECK_EQUAL(lane->open_count, 0);
    const int64_t steps_of_samples[] = {-1, 7, 8, -1, 9};
    CHECK_EQUAL(t.kinds[SLOT_usage], 5);
    for (int i = 0; i < 5; i++) {
        struct slot_usage u = detail(&t, SLOT_usage, i).usage;
        CHECK_EQUAL(u.step, steps_of_samples[i]);
        CHECK(u.cpu_ns > (i > 0 ? detail(&t, SLOT_usage, i - 1).usage.cpu_ns : 0));
        CHECK(u.voluntary_switches >= 0 && u.involuntary_switches >= 0);
    }
    CHECK_EQUAL(detail(&t, SLOT_usage, 1).usage.time_ns,
                t.events[0].begin_ns + t.events[0].duration_ns);
}

static void crossing(void)
{
    scaleprof_range_begin("before and into");
    scaleprof_step_begin(0);
    scaleprof_range_end();
    scaleprof_range_begin("in and beyond");
    scaleprof_step_end();
    scaleprof_range_end();
}

static void test_ranges_may_cross_the_borders_of_steps(void)
{
    struct tally t;
    struct segment_lane *lane = look(scenario_run("crossing", NULL), 0, &t);
    CHECK_EQUAL(t.event_count, 3);
    CHECK_EQUAL(t.events[0].name, number_of(&t, "before and into"));
    CHECK_EQUAL(t.events[1].kind, EVENT_step);
    CHECK_EQUAL(t.events[2].name, number_of(&t, "in and beyond"));
    CHECK(t.events[0].begin_ns < t.events[1].begin_ns);
    CHECK(t.events[2].begin_ns < t.events[1].begin_ns + t.events[1].duration_ns);
    CHECK_EQUAL(t.out_of_order, 0);
    CHECK_EQUAL(lane->unbalanced, 1);
}

#define DEPTH 300

static void deep(void)
{
    for (int i = 0; i < DEPTH; i++)
        scaleprof_range_begin("deep");
    for (int i = 0; i < DEPTH; i++)
        scaleprof_range_end();
}

static void test_deep_nesting_is_kept_or_counted(void)
{
    struct tally t;
    struct segment_lane *lane = look(scenario_run("deep", NULL), 0, &t);
    CHECK_EQUAL(t.kinds[EVENT_range], RECORD_OPEN_MAX);
    CHECK_EQUAL(lane->dropped, DEPTH - RECORD_OPEN_MAX);
    CHECK_EQUAL(lane->unbalanced, 0);
    CHECK_EQUAL(lane->open_count, 0);
}

static void stuck(void)
{
    scaleprof_step_begin(3);
    scaleprof_range_begin("stuck");
    _exit(0);
}

static void test_open_intervals_are_seen(void)
{
    struct tally t;
    struct segment_header *h = scenario_run("stuck", NULL);
    struct segment_lane *lane = look(h, 0, &t);
    CHECK_EQUAL(h->state, SEGMENT_RECORDING);
    CHECK_EQUAL(lane->open_count, 2);
    CHECK_EQUAL(lane->opens[0].kind, EVENT_step);
    CHECK_EQUAL(lane->opens[0].ref, 3);
    CHECK_EQUAL(lane->opens[1].kind, EVENT_range);
    CHECK_EQUAL(lane->opens[1].name, number_of(&t, "stuck"));
    CHECK(lane->opens[1].begin_ns >= lane->opens[0].begin_ns);
}

/* ---- collectives and counters ---- */

static void collectives(void)
{
    uint32_t pair = scaleprof_communicator("pair", 1, 2);
    CHECK_EQUAL(scaleprof_communicator("pair", 1, 2), pair);
    CHECK(scaleprof_communicator("pair", 1, 3) != pair);
    uint64_t first = scaleprof_collective_begin("allreduce", pair, -1, 4096);
    uint64_t second = scaleprof_collective_begin("broadcast", pair, 1, 8);
    scaleprof_collective_end(second);
    scaleprof_collective_end(first);
    scaleprof_collective_end(first);
    scaleprof_collective_end(12345678);
    scaleprof_collective_end(0);
    scaleprof_collective_end(scaleprof_collective_begin(NULL, 0, -1, -1));
    scaleprof_collective_end(scaleprof_collective_begin("allreduce", 4000000000u, -1, 1));
    scaleprof_counter("loss", 0.25);
}

static void test_collectives_end_in_any_order(void)
{
    struct tally t;
    struct segment_lane *lane = look(scenario_run("collectives", "OMPI_COMM_WORLD_RANK=3"), 0, &t);
    struct slot_collective c[4];
    for (int i = 0; i < 4; i++)
        c[i] = detail(&t, SLOT_collective, i).collective;
    struct slot_communicator pair = detail(&t, SLOT_communicator, 0).communicator;
    struct slot_communicator world = detail(&t, SLOT_communicator, 1).communicator;
    CHECK_EQUAL(t.kinds[EVENT_own_collective], 4);
    CHECK_EQUAL(t.kinds[SLOT_communicator], 2);
    CHECK_EQUAL(c[0].sequence, 1);
    CHECK_EQUAL(c[1].sequence, 0);
    CHECK_EQUAL(c[1].bytes_sent, 4096);
    CHECK_EQUAL(c[0].root, 1);
    CHECK_EQUAL(c[0].kind_name, number_of(&t, "broadcast"));
    CHECK_EQUAL(c[0].communicator, pair.number);
    CHECK_EQUAL(c[1].communicator, pair.number);
    CHECK_EQUAL(pair.source, COMMUNICATOR_OWN);
    CHECK_EQUAL(pair.size, 2);
    CHECK_EQUAL(pair.member, 1);
    CHECK_EQUAL(pair.name, number_of(&t, "pair"));
    CHECK_EQUAL(c[2].communicator, world.number);
    CHECK_EQUAL(world.member, 3);
    CHECK(world.key != pair.key && world.key != 0);
    CHECK_EQUAL(c[3].communicator, 0);
    CHECK_EQUAL(c[3].sequence, -1);
    CHECK_EQUAL(t.events[0].name, c[0].kind_name);
    CHECK(detail(&t, SLOT_counter, 0).counter.value == 0.25);
    CHECK_EQUAL(detail(&t, SLOT_counter, 0).counter.name, number_of(&t, "loss"));
    CHECK_EQUAL(lane->unbalanced, 2);
}

static void too_many(void)
{
    uint64_t last = 1;
    for (int i = 0; i < 4096 && last != 0; i++)
        last = scaleprof_collective_begin("barrier", 0, -1, 0);
    CHECK(last != 0);
    CHECK_EQUAL(scaleprof_collective_begin("barrier", 0, -1, 0), 0);
    scaleprof_collective_end(last);
    CHECK(scaleprof_collective_begin("barrier", 0, -1, 0) != 0);
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "group %d", i);
        scaleprof_communicator(name, 0, 1);
    }
}

static void test_tables_that_are_full_are_faults(void)
{
    struct tally t;
    struct segment_header *h = scenario_run("too_many", NULL);
    look(h, 0, &t);
    CHECK_EQUAL(h->faults, 1 + 300 - 255);
    CHECK_EQUAL(detail(&t, SLOT_collective, 0).collective.sequence, 4095);
}

/* ---- pause ---- */

static void pausing(void)
{
    uint64_t before = scaleprof_collective_begin("barrier", 0, -1, 0);
    scaleprof_step_begin(1);
    scaleprof_range_begin("begun before");
    scaleprof_pause(1);
    CHECK(scaleprof_writer() == NULL);
    CHECK_EQUAL(scaleprof_recording(), 1);
    CHECK_EQUAL(scaleprof_collective_begin("barrier", 0, -1, 0), 0);
    scaleprof_counter("unseen", 1);
    scaleprof_range_begin("unseen");
    scaleprof_range_begin("unseen");
    scaleprof_range_end();
    scaleprof_step_begin(2);
    scaleprof_pause(0);
    scaleprof_range_begin("seen");
    scaleprof_range_end();
    scaleprof_range_end();
    scaleprof_range_end();
    scaleprof_step_end();
    scaleprof_collective_end(before);
    scaleprof_collective_end(scaleprof_collective_begin("barrier", 0, -1, 0));
}

static void test_pause_keeps_steps_nesting_and_sequence(void)
{
    struct tally t;
    struct segment_lane *lane = look(scenario_run("pausing", NULL), 0, &t);
    CHECK_EQUAL(t.kinds[EVENT_step], 2);
    CHECK_EQUAL(t.kinds[EVENT_range], 2);
    CHECK_EQUAL(t.kinds[EVENT_gap], 1);
    CHECK_EQUAL(t.kinds[SLOT_counter], 0);
    CHECK_EQUAL(number_of(&t, "unseen"), 0);
    CHECK_EQUAL(detail(&t, SLOT_collective, 0).collective.sequence, 0);
    CHECK_EQUAL(detail(&t, SLOT_collective, 1).collective.sequence, 2);
    CHECK_EQUAL(lane->open_count, 0);
    int64_t seen_ns = 0, gap_end_ns = 0;
    for (int i = 0; i < t.event_count; i++) {
        if (t.events[i].kind == EVENT_gap)
            gap_end_ns = t.events[i].begin_ns + t.events[i].duration_ns;
        if (t.events[i].kind == EVENT_range && t.events[i].name == number_of(&t, "seen"))
            seen_ns = t.events[i].begin_ns;
    }
    CHECK(gap_end_ns > 0 && gap_end_ns <= seen_ns);
}

/* ---- names ---- */

#define LONG_TEXT                                                                                  \
    "a name that is longer than what fits into the first slot of its definition and the next one "

static void names(void)
{
    static struct record_name name = {.text = "a name"};
    char text[2000];
    CHECK(scaleprof_writer() != NULL);
    uint32_t number = record_name_number(&name);
    CHECK_EQUAL(record_name_number(&name), number);
    CHECK_EQUAL(scaleprof_string("a name"), number);
    CHECK_EQUAL(scaleprof_string(""), 0);
    CHECK_EQUAL(scaleprof_string(NULL), 0);
    CHECK(scaleprof_string(LONG_TEXT) != 0);
    CHECK_EQUAL(scaleprof_string(LONG_TEXT), scaleprof_string(LONG_TEXT));
    memset(text, 'x', sizeof text);
    text[1999] = 0;
    uint32_t cut = scaleprof_string(text);
    text[1000] = 0;
    CHECK_EQUAL(scaleprof_string(text), cut);
    text[999] = 0;
    CHECK(scaleprof_string(text) != cut);
    CHECK(scaleprof_operation() != scaleprof_operation());
}

static void test_a_text_is_defined_once_and_whole(void)
{
    struct tally t;
    look(scenario_run("names", NULL), 0, &t);
    CHECK_EQUAL(t.kinds[SLOT_string], 4);
    CHECK_EQUAL(number_of(&t, "a name"), 1);
    struct slot_string s = detail(&t, SLOT_string, 1).string;
    CHECK_EQUAL(s.length, strlen(LONG_TEXT));
    CHECK_EQUAL(s.more, (strlen(LONG_TEXT) - 32 + 47) / 48);
    CHECK(memcmp(s.text, LONG_TEXT, 32) == 0);
    CHECK_EQUAL(detail(&t, SLOT_string, 2).string.length, 1000);
}

static void sites(void)
{
    void *generated = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t site = scaleprof_site((const void *)sites);
    CHECK(site != 0);
    CHECK_EQUAL(scaleprof_site((const void *)sites), site);
    CHECK(scaleprof_site((const char *)sites + 1) != site);
    CHECK(scaleprof_site((const void *)scaleprof_site) != site);
    CHECK(scaleprof_site(generated) != 0);
    CHECK_EQUAL(scaleprof_site(NULL), 0);
}

static void test_sites_name_module_and_build(void)
{
    struct tally t;
    struct segment_header *h = scenario_run("sites", NULL);
    look(h, 0, &t);
    CHECK_EQUAL(t.kinds[SLOT_site], 4);
    struct slot_site first = detail(&t, SLOT_site, 0).site, next = detail(&t, SLOT_site, 1).site;
    struct slot_site library = detail(&t, SLOT_site, 2).site;
    struct slot_site generated = detail(&t, SLOT_site, 3).site;
    CHECK(first.offset > 0 && next.offset == first.offset + 1);
    CHECK_EQUAL(next.module, first.module);
    CHECK(library.module != first.module && library.module != 0);
    CHECK_EQUAL(generated.module, 0);
    CHECK(generated.offset != 0);
    struct slot_string path = detail(&t, SLOT_string, 0).string;
    CHECK_EQUAL(path.number, first.module);
    CHECK_EQUAL(path.length, strlen(h->program));
    CHECK(memcmp(path.text, h->program, path.length < 32 ? path.length : 32) == 0);
}

#define MANY 40000

static void many_names(void)
{
    char text[16];
    void *generated = mmap(NULL, MANY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int named = 0, sited = 0;
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%d", i);
        named += scaleprof_string(text) != 0;
        sited += i % 2 == 0 && scaleprof_site((const char *)generated + i) != 0;
    }
    CHECK_EQUAL(named, 32768);
    CHECK_EQUAL(sited, 16384);
    CHECK_EQUAL(scaleprof_string("32767"), 32768);
    CHECK_EQUAL(scaleprof_string("32768"), 0);
}

static void test_names_beyond_the_tables_are_counted(void)
{
    struct tally t;
    struct segment_lane *lane = look(scenario_run("many_names", NULL), 0, &t);
    CHECK_EQUAL(t.kinds[SLOT_string], 32768);
    CHECK_EQUAL(t.kinds[SLOT_site], 16384);
    CHECK_EQUAL(lane->dropped_details, MANY - 32768 + MANY / 2 - 16384 + 1);
}

static void communicators(void)
{
    struct slot_communicator c = {.source = COMMUNICATOR_MPI, .key = 77, .size = 4, .member = 2};
    uint32_t a = scaleprof_communicator_define(&c);
    uint32_t b = scaleprof_communicator_define(&c);
    CHECK(a != 0 && b != 0 && a != b);
    scaleprof_communicator_rename(a, "rows");
    scaleprof_communicator_rename(0, "nobody");
    scaleprof_communicator_rename(100000000, "nobody");
}

static void test_a_communicator_can_be_named_later(void)
{
    struct tally t;
    struct segment_lane *lane = look(scenario_run("communicators", NULL), 0, &t);
    CHECK_EQUAL(t.kinds[SLOT_communicator], 3);
    struct slot_communicator c = detail(&t, SLOT_communicator, 2).communicator;
    CHECK_EQUAL(c.number, detail(&t, SLOT_communicator, 0).communicator.number);
    CHECK_EQUAL(c.name, number_of(&t, "rows"));
    CHECK_EQUAL(c.key, 77);
    CHECK_EQUAL(c.member, 2);
    CHECK_EQUAL(lane->dropped_details, 1);
}

/* ---- facts and the writer's own ways ---- */

static void facts(void)
{
    struct record_writer *w = scaleprof_writer();
    CHECK(w != NULL);
    CHECK(scaleprof_clock_domain() != 0);
    CHECK_EQUAL(scaleprof_clock(), CLOCK_MONOTONIC_RAW);
    scaleprof_set_rank(5, 6);
    scaleprof_set_mpi(MPI_PHASE_INITIALISED, 3);
    scaleprof_set_mpi(MPI_PHASE_FINALISED, -1);
    scaleprof_fault("here", "this");
    record_open(w, EVENT_mark, 0, 0, 1);
    record_cancel(w);
    record_cancel(w);
    CHECK(record_close(w, 0, 0) == NULL);
    CHECK(record_reserve(w, SEGMENT_CHUNK_SLOTS + 1) == NULL);
    CHECK(record_reserve(w, 1) != NULL); /* given up: its chunk goes back unused */
    union slot *s = record_reserve(w, SEGMENT_CHUNK_SLOTS);
    CHECK(s != NULL);
    if (s != NULL)
        for (unsigned i = 0; i < SEGMENT_CHUNK_SLOTS; i++)
            s[i].counter = (struct slot_counter){.kind = SLOT_counter, .value = i};
    record_publish(w);
}

static void test_facts_reach_the_header(void)
{
    struct tally t;
    struct segment_header *h = scenario_run("facts", "SCALEPROF_CLOCK=raw");
    struct segment_lane *lane = look(h, 0, &t);
    CHECK_EQUAL(h->rank, 5);
    CHECK_EQUAL(h->size, 6);
    CHECK_EQUAL(h->mpi_phase, MPI_PHASE_FINALISED);
    CHECK_EQUAL(h->mpi_thread_level, 3);
    CHECK_EQUAL(h->clock_id, CLOCK_MONOTONIC_RAW);
    CHECK(h->clock_domain != 0);
    CHECK_EQUAL(h->faults, 1);
    CHECK_EQUAL(h->state, SEGMENT_CLOSED);
    CHECK(h->last_ns > h->opened_ns);
    CHECK_EQUAL(lane->unbalanced, 2);
    CHECK_EQUAL(lane->dropped_details, SEGMENT_CHUNK_SLOTS + 1);
    CHECK_EQUAL(t.kinds[SLOT_counter], SEGMENT_CHUNK_SLOTS);
    CHECK(strstr(h->program, "test_record") != NULL);
}

const struct scenario scenarios[] = {{"ranges", ranges},
                                     {"steps", steps},
                                     {"crossing", crossing},
                                     {"deep", deep},
                                     {"stuck", stuck},
                                     {"names", names},
                                     {"sites", sites},
                                     {"facts", facts},
                                     {"collectives", collectives},
                                     {"pausing", pausing},
                                     {"too_many", too_many},
                                     {"communicators", communicators},
                                     {"many_names", many_names},
                                     {NULL, NULL}};

static void tests(void)
{
    test_ranges_nest();
    test_steps_end_one_another();
    test_ranges_may_cross_the_borders_of_steps();
    test_deep_nesting_is_kept_or_counted();
    test_open_intervals_are_seen();
    test_collectives_end_in_any_order();
    test_tables_that_are_full_are_faults();
    test_pause_keeps_steps_nesting_and_sequence();
    test_a_text_is_defined_once_and_whole();
    test_sites_name_module_and_build();
    test_names_beyond_the_tables_are_counted();
    test_a_communicator_can_be_named_later();
    test_facts_reach_the_header();
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, tests);
}
