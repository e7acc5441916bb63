/* Outputs that cannot be written: what is said, that it is said once, and that nothing is left. */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "peers/mpi_comm.h"
#include "store/store.h"
#include "unit/check.h"

static char last_message[1000];
static int messages;

static void keep(enum log_level level, const char *message)
{
    (void)level;
    messages++;
    snprintf(last_message, sizeof last_message, "%s", message);
}

/* Values that do not compress. */
static struct events_rows make_noise(size_t count)
{
    struct events_rows rows = {0};
    uint64_t state = 88172645463325252u;
    rows_append(&rows, table_events, count, NULL);
    for (size_t c = 0; c < table_events->column_count; c++) {
        unsigned char *bytes = rows_column(&rows, &table_events->columns[c]);
        size_t width = column_type_bytes(table_events->columns[c].type);
        for (size_t i = 0; i < count * width; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes[i] = (unsigned char)state;
        }
    }
    return rows;
}

static enum err write_noise(const char *path, int force, size_t count, struct peers *p)
{
    struct store *s;
    struct events_rows rows = make_noise(count);
    enum err e = store_create_all(&s, path, force, run_table_list, run_table_count, p);
    if (!e) {
        e = store_append_all(s, table_events, &rows);
        if (e)
            store_abandon_all(s);
        else
            e = store_commit_all(s);
    }
    rows_free(&rows, table_events);
    return e;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The disk is full at every possible moment: while creating, appending, flushing, closing. */
static void test_full_disk(struct peers *p)
{
    int refused = 0;
    for (rlim_t bytes = 0; bytes < 900000; bytes += bytes < 5000 ? 1000 : 29000) {
        messages = 0;
        limit_files(bytes);
        enum err e = write_noise("full.h5", 0, 10000, p);
        limit_files(RLIM_INFINITY);
        refused += e != ERR_OK;
        if (e != ERR_OK && e != ERR_NO_SPACE)
            fprintf(stderr, "%ld %d %s\n", (long)bytes, e, last_message);
        CHECK(e == ERR_OK || e == ERR_NO_SPACE || e == ERR_PEER);
        CHECK(messages <= 1);
        CHECK(access("full.h5.partial", F_OK) != 0);
        CHECK_EQUAL(access("full.h5", F_OK) == 0, e == ERR_OK);
        peers_agree_all(p, ERR_OK);
        unlink("full.h5");
        peers_agree_all(p, ERR_OK);
    }
    CHECK(refused > 10);
}

int main(int argc, char **argv)
{
    struct peers *p;
    char folder[] = "/tmp/test_store_faults.XXXXXX";
    log_open(keep, LOG_ERROR);
    int by_mpi = argc > 1 && strcmp(argv[1], "mpi") == 0;
    CHECK_EQUAL(by_mpi ? peers_open_mpi_all(&p) : peers_open_alone(&p), ERR_OK);
    if (peers_rank(p) == 0 && mkdtemp(folder) == NULL)
        return 1;
    peers_broadcast_all(p, folder, sizeof folder, 0);
    if (chdir(folder) != 0)
        return 1;
    test_full_disk(p);
    peers_agree_all(p, ERR_OK);
    if (peers_rank(p) == 0)
        rmdir(folder);
    peers_close(p);
    return check_result();
}
