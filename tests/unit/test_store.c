#include "store/store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "peers/mpi_comm.h"
#include "unit/check.h"

static char last_message[1000];

static void keep(enum log_level level, const char *message)
{
    (void)level;
    snprintf(last_message, sizeof last_message, "%s", message);
}

/* `count` events that say by their values which they are. */
static struct events_rows make_events(int64_t first, size_t count)
{
    struct events_rows rows = {0};
    rows_append(&rows, table_events, count, NULL);
    for (size_t i = 0; i < count; i++) {
        int64_t n = first + (int64_t)i;
        rows.begin_ns[i] = 1000 * n;
        rows.duration_ns[i] = n % 977;
        rows.lane[i] = (uint32_t)(n % 5);
        rows.kind[i] = (uint8_t)(n % 7);
        rows.flags[i] = 0;
        rows.name[i] = (uint32_t)(n % 11);
        rows.cause[i] = -1;
        rows.site[i] = TABLE_NONE;
        rows.ref[i] = n;
        rows.bytes[i] = -n;
    }
    return rows;
}

static void check_events(const struct events_rows *rows, int64_t first, size_t count)
{
    CHECK_EQUAL(rows->count, count);
    for (size_t i = 0; i < rows->count; i++) {
        int64_t n = first + (int64_t)i;
        if (rows->begin_ns[i] != 1000 * n || rows->lane[i] != n % 5 || rows->kind[i] != n % 7 ||
            rows->ref[i] != n || rows->bytes[i] != -n || rows->site[i] != TABLE_NONE) {
            CHECK_EQUAL(rows->ref[i], n);
            return;
        }
    }
}

/* Process p of the group writes 1000 p rows in the first call and one row in the second. */
static enum err write_run(const char *path, int force, struct peers *p)
{
    struct store *s;
    int rank = peers_rank(p);
    enum err e = store_create_all(&s, path, force, run_table_list, run_table_count, p);
    if (e)
        return e;
    size_t mine = 1000 * (size_t)rank;
    struct events_rows rows = make_events(peers_before_all(p, (int64_t)mine), mine);
    CHECK_EQUAL(store_append_all(s, table_events, &rows), ERR_OK);
    rows_free(&rows, table_events);
    rows = make_events(peers_sum_all(p, (int64_t)mine) + rank, 1);
    CHECK_EQUAL(store_append_all(s, table_events, &rows), ERR_OK);
    rows_free(&rows, table_events);
    struct counters_rows none = {0};
    CHECK_EQUAL(store_append_all(s, table_counters, &none), ERR_OK);
    CHECK_EQUAL(store_attribute_all(s, "source", "recorded"), ERR_OK);
    return store_commit_all(s);
}

/* What was reserved for writing has gone back: the file takes what it is long. */
static void check_disk(const char *path)
{
    struct stat status;
    CHECK_EQUAL(stat(path, &status), 0);
    CHECK(status.st_blocks * 512 <= status.st_size + 65536);
}

static void read_run(const char *path, size_t expected)
{
    struct store *s;
    char source[32];
    int64_t count;
    struct events_rows rows = {0};
    check_disk(path);
    CHECK_EQUAL(store_open(&s, path), ERR_OK);
    CHECK_EQUAL(store_rows(s, table_events, &count), ERR_OK);
    CHECK_EQUAL(count, expected);
    CHECK_EQUAL(store_read(s, table_events, 0, count, &rows), ERR_OK);
    check_events(&rows, 0, expected);
    rows_free(&rows, table_events);
    if (count > 10) {
        CHECK_EQUAL(store_read(s, table_events, 7, 3, &rows), ERR_OK);
        check_events(&rows, 7, 3);
    }
    CHECK_EQUAL(store_read(s, table_events, 0, count + 1, &rows), ERR_LIMIT);
    rows_free(&rows, table_events);
    store_read_attribute(s, "source", source, sizeof source);
    CHECK_TEXT(source, "recorded");
    CHECK_EQUAL(store_rows(s, table_counters, &count), ERR_OK);
    CHECK_EQUAL(count, 0);
    store_close(s);
}

/* Rows that nobody gave are 0. */
static void test_gaps(struct peers *p)
{
    struct store *s;
    struct events_rows rows = make_events(7, 10);
    CHECK_EQUAL(store_create_all(&s, "gap.h5", 0, run_table_list, run_table_count, p), ERR_OK);
    CHECK_EQUAL(store_write_all(s, table_events, &rows, 70000), ERR_OK);
    CHECK_EQUAL(store_write_all(s, table_events, &rows, 100), ERR_OK);
    rows_free(&rows, table_events);
    CHECK_EQUAL(store_commit_all(s), ERR_OK);
    CHECK_EQUAL(store_open(&s, "gap.h5"), ERR_OK);
    CHECK_EQUAL(store_read(s, table_events, 0, 70010, &rows), ERR_OK);
    CHECK_EQUAL(rows.ref[99], 0);
    CHECK_EQUAL(rows.ref[100], 7);
    CHECK_EQUAL(rows.ref[109], 16);
    CHECK_EQUAL(rows.ref[110], 0);
    CHECK_EQUAL(rows.ref[69999], 0);
    CHECK_EQUAL(rows.ref[70009], 16);
    rows_free(&rows, table_events);
    store_close(s);
    unlink("gap.h5");
}

/* Whole chunks of one value, changing from chunk to chunk, among others. */
static void test_constant_chunks(struct peers *p)
{
    enum { CHUNK = 65536, CHUNKS = 12 };
    struct store *s;
    struct events_rows rows = make_events(0, CHUNK * CHUNKS);
    for (size_t i = 0; i < rows.count; i++) {
        size_t chunk = i / CHUNK;
        rows.cause[i] = chunk == 5 ? (int64_t)i : (int64_t)(chunk % 6) - 1;
        rows.lane[i] = (uint32_t)(chunk / 2);
        rows.flags[i] = (uint8_t)(chunk * 20 + (i == 3 * CHUNK + 7));
    }
    CHECK_EQUAL(store_create_all(&s, "same.h5", 0, run_table_list, run_table_count, p), ERR_OK);
    CHECK_EQUAL(store_append_all(s, table_events, &rows), ERR_OK);
    rows_free(&rows, table_events);
    CHECK_EQUAL(store_commit_all(s), ERR_OK);
    CHECK_EQUAL(store_open(&s, "same.h5"), ERR_OK);
    CHECK_EQUAL(store_read(s, table_events, 0, CHUNK * CHUNKS, &rows), ERR_OK);
    int wrong = 0;
    for (size_t i = 0; i < rows.count; i++) {
        size_t chunk = i / CHUNK;
        wrong += rows.cause[i] != (chunk == 5 ? (int64_t)i : (int64_t)(chunk % 6) - 1) ||
                 rows.lane[i] != chunk / 2 || rows.flags[i] != chunk * 20 + (i == 3 * CHUNK + 7) ||
                 rows.ref[i] != (int64_t)i;
    }
    CHECK_EQUAL(wrong, 0);
    rows_free(&rows, table_events);
    store_close(s);
    unlink("same.h5");
}

/* Two processes' worth of rows for one place cannot both stand there. */
static void test_rows_given_twice(struct peers *p)
{
    struct store *s;
    struct events_rows rows = make_events(0, 40000);
    CHECK_EQUAL(store_create_all(&s, "twice.h5", 0, run_table_list, run_table_count, p), ERR_OK);
    CHECK_EQUAL(store_write_all(s, table_events, &rows, 0), ERR_OK);
    CHECK_EQUAL(store_write_all(s, table_events, &rows, 0), ERR_OK);
    rows_free(&rows, table_events);
    CHECK_EQUAL(store_commit_all(s), ERR_INTERNAL);
    CHECK(access("twice.h5", F_OK) != 0 && access("twice.h5.partial", F_OK) != 0);
}

static void write_bytes(const char *path, const void *bytes, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_EQUAL(write(fd, bytes, count), count);
    close(fd);
}

static void test_wrong_files_are_refused(const char *good)
{
    struct store *s;
    char half[] = "wrong.h5", bytes[20000];
    write_bytes(half, "not HDF5 at all", 15);
    CHECK_EQUAL(store_open(&s, half), ERR_FORMAT);
    CHECK_TEXT(last_message, "wrong.h5 is not a run file (it is not HDF5)");
    write_bytes(half, "", 0);
    CHECK_EQUAL(store_open(&s, half), ERR_FORMAT);
    int fd = open(good, O_RDONLY);
    ssize_t got = read(fd, bytes, sizeof bytes);
    close(fd);
    write_bytes(half, bytes, (size_t)got);
    CHECK_EQUAL(store_open(&s, half), ERR_TRUNCATED);
    CHECK_EQUAL(store_open(&s, "absent.h5"), ERR_NOT_FOUND);
    CHECK_EQUAL(store_open(&s, "."), ERR_FORMAT);
    unlink(half);
}

static void test_outputs(struct peers *p)
{
    struct stat status;
    CHECK_EQUAL(write_run("again.h5", 0, p), ERR_OK);
    CHECK_EQUAL(stat("again.h5", &status), 0);
    CHECK_EQUAL(status.st_mode & 0777, 0600);
    CHECK_EQUAL(write_run("again.h5", 0, p), ERR_EXISTS);
    CHECK_TEXT(last_message, "again.h5 exists; --force replaces it");
    CHECK_EQUAL(write_run("again.h5", 1, p), ERR_OK);
    CHECK(access("again.h5.partial", F_OK) != 0);
    CHECK_EQUAL(write_run("absent/again.h5", 0, p), ERR_NOT_FOUND);
    unlink("again.h5");
    char *analysis = store_analysis_path("a.h5/run.h5");
    CHECK_TEXT(analysis, "a.h5/run.analysis.h5");
    free(analysis);
}

/* Alone by default; "mpi" makes it one of the ranks of a job, of which the first reads what all
 * wrote. */
int main(int argc, char **argv)
{
    struct peers *p;
    char folder[] = "/tmp/test_store.XXXXXX";
    log_open(keep, LOG_ERROR);
    int by_mpi = argc > 1 && strcmp(argv[1], "mpi") == 0;
    CHECK_EQUAL(by_mpi ? peers_open_mpi_all(&p) : peers_open_alone(&p), ERR_OK);
    if (peers_rank(p) == 0 && mkdtemp(folder) == NULL)
        return 1;
    peers_broadcast_all(p, folder, sizeof folder, 0);
    size_t size = (size_t)peers_size(p);
    if (chdir(folder) != 0)
        return 1;
    CHECK_EQUAL(write_run("run.h5", 0, p), ERR_OK);
    if (peers_rank(p) == 0)
        read_run("run.h5", 1000 * size * (size - 1) / 2 + size);
    if (!by_mpi) {
        test_outputs(p);
        test_gaps(p);
        test_constant_chunks(p);
        test_rows_given_twice(p);
        test_wrong_files_are_refused("run.h5");
    }
    int mpi_started;
    MPI_Initialized(&mpi_started);
    CHECK_EQUAL(mpi_started, by_mpi);
    peers_agree_all(p, ERR_OK);
    if (peers_rank(p) == 0) {
        unlink("run.h5");
        rmdir(folder);
    }
    peers_close(p);
    return check_result();
}
