#include "gather/gather.h"

#include <sys/stat.h>

#include "base/log.h"
#include "collectives/collectives.h"
#include "peers/mpi_comm.h"
#include "store/store.h"
#include "trace/strings.h"
#include "unit/check.h"
#include "unit/segment_file.h"

#define RANKS 5 /* rank 3 has left nothing */

static union slot collective(int64_t sequence, uint64_t operation)
{
    return (union slot){.collective = {.kind = SLOT_collective,
                                       .collective = COLLECTIVE_allreduce,
                                       .blocking = operation == 0,
                                       .communicator = 1,
                                       .root = -1,
                                       .sequence = sequence,
                                       .bytes_sent = 8,
                                       .bytes_received = 8,
                                       .operation = operation}};
}

static union slot completion(uint64_t operation, int32_t peer, int64_t bytes)
{
    return (union slot){.completion = {.kind = SLOT_completion,
                                       .peer = peer,
                                       .tag = 4,
                                       .operation = operation,
                                       .bytes = bytes}};
}

static union slot receive_any(uint64_t operation)
{
    return (union slot){.message = {.kind = SLOT_message,
                                    .direction = MESSAGE_RECEIVE,
                                    .flags = MESSAGE_ANY_SOURCE,
                                    .communicator = 1,
                                    .peer = -1,
                                    .tag = 4,
                                    .order = -1,
                                    .bytes = 100,
                                    .operation = operation}};
}

static union slot world(int rank)
{
    return (union slot){.communicator = {.kind = SLOT_communicator,
                                         .number = 1,
                                         .key = 4242,
                                         .size = RANKS,
                                         .member = rank,
                                         .name = 2}};
}

/* The main thread: definitions, a step around two calls, a non-blocking collective that the second
 * thread sees end, two receives from anyone that end in the other order, and one that never does.
 */
static void fill_first_lane(struct segment_file *f, int rank)
{
    struct segment_chunk *c = segment_file_chunk(f, 0, 0);
    segment_file_put(c, segment_file_text(1, "MPI_Thing"));
    segment_file_put(c, segment_file_text(2, "world"));
    segment_file_put(c, world(rank));
    union slot call = segment_file_event(EVENT_mpi_call, 6000 + rank, 10, -1);
    call.event.name = 1;
    segment_file_put(c, call);
    segment_file_put(c, collective(0, 0));
    segment_file_put(c, segment_file_event(EVENT_mpi_call, 6100, 10, -1));
    segment_file_put(c, collective(1, 900));
    segment_file_put(c, segment_file_event(EVENT_mpi_call, 6200, 10, -1));
    segment_file_put(c, receive_any(901));
    c = segment_file_chunk(f, 0, 1);
    segment_file_put(c, segment_file_event(EVENT_mpi_call, 6300, 10, -1));
    segment_file_put(c, receive_any(902));
    segment_file_put(c, segment_file_event(EVENT_mpi_call, 6400, 10, -1));
    segment_file_put(c, receive_any(903));
    segment_file_put(c, segment_file_event(EVENT_mpi_call, 6500, 10, -1));
    segment_file_put(c, completion(902, 2, 60));
    segment_file_put(c, completion(901, 2, 50));
    segment_file_put(c, segment_file_event(EVENT_step, 5990, 600, 17));
    struct segment_lane *lane = segment_file_lane(f, 0, (uint32_t)f->h->pid);
    lane->dropped = 3;
    lane->open_count = 1;
    lane->opens[0] = (struct segment_open){.kind = EVENT_range, .name = 1, .begin_ns = 6600};
}

static void fill_second_lane(struct segment_file *f)
{
    struct segment_chunk *c = segment_file_chunk(f, 1, 0);
    segment_file_put(c, segment_file_event(EVENT_mpi_call, 6150, 200, -1));
    segment_file_put(c, completion(900, -1, -1));
    segment_file_lane(f, 1, 999)->dropped = 4;
}

/* Each rank in its own way: 0 as a part and a segment that holds one of its chunks again, 1 a plain
 * part, 2 a part with a chunk whose checksum is wrong, 3 nothing, 4 two processes, the second
 * without events. */
static void write_rank(const char *folder, int rank)
{
    struct segment_file f;
    char path[200];
    if (rank == 3)
        return;
    segment_file_open(&f, 100 + rank, rank, RANKS, 4);
    fill_first_lane(&f, rank);
    fill_second_lane(&f);
    segment_file_seal(&f);
    if (rank == 2)
        segment_chunk_at(f.h, 2)->slots[0].event.begin_ns++;
    snprintf(path, sizeof path, "%s/one.%d.part", folder, rank);
    segment_file_write(&f, path);
    if (rank == 0) {
        segment_chunk_at(f.h, 0)->state = CHUNK_FREE;
        segment_chunk_at(f.h, 1)->checksum = 0;
        segment_chunk_at(f.h, 2)->state = CHUNK_FREE;
        snprintf(path, sizeof path, "%s/%d.segment", folder, f.h->pid);
        segment_file_write(&f, path);
    }
    segment_file_close(&f);
    if (rank == 4) {
        segment_file_open(&f, 500, 4, RANKS, 1);
        snprintf(path, sizeof path, "%s/child.part", folder);
        segment_file_write(&f, path);
        segment_file_close(&f);
    }
}

static void read_run(const char *path, struct run_tables *t)
{
    struct store *s;
    CHECK_EQUAL(store_open(&s, path), ERR_OK);
    CHECK_EQUAL(store_read_tables(s, run_table_list, run_table_count, t, NULL), ERR_OK);
    store_close(s);
}

static void check_ranks(const struct ranks_rows *r)
{
    static const int64_t events[RANKS] = {9, 9, 8, 0, 9};
    CHECK_EQUAL(r->count, RANKS);
    for (int i = 0; i < RANKS; i++) {
        CHECK_EQUAL(r->event_count[i], events[i]);
        CHECK_EQUAL(r->collective_count[i], i == 3 ? 0 : 2);
        CHECK_EQUAL(r->message_count[i], i == 3 ? 0 : 3);
        CHECK_EQUAL(r->status[i], i == 3 ? RANK_MISSING : RANK_OPEN);
        CHECK_EQUAL(r->processes[i], i == 3 ? 0 : i == 4 ? 2 : 1);
        CHECK_EQUAL(r->dropped[i], i == 3 ? 0 : 3 + 4);
        CHECK_EQUAL(r->torn[i], i == 2);
        CHECK_EQUAL(r->unfinished[i], i == 3 ? 0 : i == 2 ? 2 : 1);
    }
}

/* Rank 1's rows, which nothing disturbs. */
static void check_rows(const struct run_tables *t)
{
    static const int64_t begins[] = {990, 1001, 1100, 1150, 1200, 1300, 1400, 1500, 1600};
    int64_t e = t->ranks.event_first[1], c = t->ranks.collective_first[1],
            m = t->ranks.message_first[1];
    for (int i = 0; i < 9; i++)
        CHECK_EQUAL(t->events.begin_ns[e + i], begins[i]);
    CHECK_EQUAL(t->events.kind[e], EVENT_step);
    CHECK_EQUAL(t->events.ref[e], 17);
    CHECK_EQUAL(t->events.ref[e + 1], c);
    CHECK_EQUAL(t->events.flags[e + 1], EVENT_FLAG_starts_collective);
    CHECK_EQUAL(t->events.flags[e + 3], EVENT_FLAG_completes);
    CHECK(t->events.lane[e + 3] != t->events.lane[e + 2]);
    CHECK_EQUAL(t->events.flags[e + 8], EVENT_FLAG_open);
    CHECK_EQUAL(t->events.duration_ns[e + 8], 9000 - 6600);
    CHECK_EQUAL(t->collectives.done_event[c], e + 1);
    CHECK_EQUAL(t->collectives.event[c + 1], e + 2);
    CHECK_EQUAL(t->collectives.done_event[c + 1], e + 3);
    CHECK_EQUAL(t->messages.peer[m], 2);
    CHECK_EQUAL(t->messages.bytes[m], 50);
    CHECK_EQUAL(t->messages.bytes[m + 1], 60);
    CHECK_EQUAL(t->messages.order[m], 0);
    CHECK_EQUAL(t->messages.order[m + 1], 1);
    CHECK_EQUAL(t->messages.done_event[m], e + 7);
    CHECK_EQUAL(t->messages.done_event[m + 2], -1);
    CHECK_EQUAL(t->comms.count, 1);
    CHECK_EQUAL(t->comms.size[0], RANKS);
    CHECK_EQUAL(t->comm_members.count, RANKS - 1);
    CHECK_EQUAL(t->ranks.main_lane[1], t->events.lane[e]);
    CHECK_EQUAL(t->lanes.thread[t->events.lane[e + 3]], 999);
    CHECK_EQUAL(t->lanes.dropped[t->events.lane[e + 3]], 4);
}

static void check_texts(const struct run_tables *t)
{
    struct strings *s;
    strings_open(&s);
    CHECK_EQUAL(strings_load(s, &t->string_bytes, &t->string_ends), ERR_OK);
    CHECK_TEXT(strings_get(s, t->comms.name[0]), "world");
    CHECK_TEXT(strings_get(s, t->events.name[t->ranks.event_first[1] + 1]), "MPI_Thing");
    strings_close(s);
}

/* Content must not depend on who gathers: a digest of all rows. */
static uint64_t digest_of(const struct run_tables *tables)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < run_table_count; i++) {
        const struct table *t = &run_table_list[i];
        const char *rows = (const char *)tables + t->rows_offset;
        for (size_t c = 0; c < t->column_count; c++) {
            const unsigned char *values = rows_column(rows, &t->columns[c]);
            size_t bytes = *(const size_t *)rows * column_type_bytes(t->columns[c].type);
            for (size_t b = 0; b < bytes; b++)
                h = (h ^ values[b]) * 0x100000001B3u;
        }
    }
    return h;
}

static uint64_t gather_and_read(const char *folder, const char *output, struct peers *p, int check)
{
    struct gather_options options = {.output = output, .force = 1, .tool_version = "test"};
    struct gather_summary summary = {0};
    struct run_tables t = {0};
    CHECK_EQUAL(gather_run_all(&folder, 1, &options, p, &summary), ERR_OK);
    CHECK_EQUAL(summary.ranks, RANKS);
    CHECK_EQUAL(summary.ranks_missing, 1);
    CHECK_EQUAL(summary.torn, 1);
    read_run(output, &t);
    if (check) {
        check_ranks(&t.ranks);
        check_rows(&t);
        check_texts(&t);
    }
    uint64_t digest = digest_of(&t);
    run_tables_free(&t);
    return digest;
}

static void test_an_empty_folder(const char *folder, struct peers *p)
{
    struct gather_options options = {.output = "never.h5", .tool_version = "test"};
    struct gather_summary summary;
    CHECK_EQUAL(gather_run_all(&folder, 1, &options, p, &summary), ERR_EMPTY);
    CHECK(access("never.h5", F_OK) != 0);
}

/* Files with bytes changed at random must neither crash a reader nor make it read outside them;
 * what it says is free. */
static void test_damaged_files(const char *folder, struct peers *p)
{
    struct segment_file f;
    uint64_t random = 12345;
    struct gather_options options = {.output = "damaged.h5", .force = 1, .tool_version = "test"};
    struct gather_summary summary;
    char path[200];
    snprintf(path, sizeof path, "%s/damaged.part", folder);
    for (int round = 0; round < 60; round++) {
        segment_file_open(&f, 7, 0, 1, 4);
        fill_first_lane(&f, 0);
        fill_second_lane(&f);
        unsigned char *bytes = (unsigned char *)f.h;
        for (int i = 0; i < 1 + round % 12; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t place = round % 3 == 0 ? sizeof f.h->magic + (random >> 33) % 400
                           : round % 3 == 1
                               ? SEGMENT_HEADER_BYTES + (random >> 33) % 1400
                               : segment_bytes(SEGMENT_LANES_MAX, 0) + (random >> 33) % 1000;
            bytes[place] = (unsigned char)(random >> 20);
        }
        segment_file_write(&f, path);
        if (round % 7 == 0)
            CHECK_EQUAL(
                truncate(path, (off_t)((random >> 30) % segment_bytes(SEGMENT_LANES_MAX, 4))), 0);
        enum err e = gather_run_all(&folder, 1, &options, p, &summary);
        CHECK(e == ERR_OK || e == ERR_EMPTY || e == ERR_FORMAT || e == ERR_NO_MEMORY);
        segment_file_close(&f);
    }
}

static uint64_t digest_alone(const char *folder)
{
    struct peers *alone;
    peers_open_alone(&alone);
    uint64_t digest = gather_and_read(folder, "alone.h5", alone, 0);
    peers_close(alone);
    return digest;
}

/* Alone by default; "mpi" makes it one of the ranks of a job. */
int main(int argc, char **argv)
{
    struct peers *p;
    char folder[] = "/tmp/test_gather.XXXXXX", command[100];
    int by_mpi = argc > 1 && strcmp(argv[1], "mpi") == 0;
    log_open(NULL, LOG_ERROR);
    CHECK_EQUAL(by_mpi ? peers_open_mpi_all(&p) : peers_open_alone(&p), ERR_OK);
    int first = peers_rank(p) == 0;
    if (first && (mkdtemp(folder) == NULL || chdir(folder) != 0 || mkdir("run", 0700) != 0 ||
                  mkdir("damaged", 0700) != 0))
        return 1;
    for (int rank = 0; first && rank < RANKS; rank++)
        write_rank("run", rank);
    peers_broadcast_all(p, folder, sizeof folder, 0);
    if (chdir(folder) != 0)
        return 1;
    uint64_t digest = gather_and_read("run", "run.h5", p, 1);
    if (first)
        CHECK(digest == digest_alone("run"));
    if (!by_mpi) {
        test_an_empty_folder("damaged", p);
        test_damaged_files("damaged", p);
    }
    peers_agree_all(p, ERR_OK);
    peers_close(p);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return (first && system(command) != 0) || check_result();
}
