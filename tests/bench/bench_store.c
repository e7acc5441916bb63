/* How fast rows go to the run file and come back, and how small they lie there. Rows as a training
 * gives them: short calls in a repeating pattern with noise in their times.
 *
 *   bench_store [ROWS] [alone|mpi] [ROWS_OF_A_CALL]
 *
 * Under mpirun with "mpi" every process writes ROWS rows of its own. --check makes one short run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "peers/mpi_comm.h"
#include "store/store.h"
#include "trace/vocabulary.h"

static void say(enum log_level level, const char *message)
{
    (void)level;
    fprintf(stderr, "%s\n", message);
}

static uint64_t random_state = 88172645463325252u;

static int64_t random_below(int64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state % (uint64_t)limit);
}

/* Twenty calls a step on two lanes; every fifth is a collective. */
static enum err fill(struct events_rows *rows, size_t count, int64_t first_row)
{
    static const int64_t usual_ns[] = {900, 45000, 1200, 2300, 380000};
    enum err e = rows_append(rows, table_events, count, NULL);
    int64_t now_ns = 1000000;
    for (size_t i = 0; i < count && !e; i++) {
        int call = (int)(i % 20), which = call % 5;
        int64_t duration_ns = usual_ns[which] + random_below(usual_ns[which] / 4);
        rows->begin_ns[i] = now_ns;
        rows->duration_ns[i] = duration_ns;
        rows->lane[i] = (uint32_t)(call / 17);
        rows->kind[i] = (uint8_t)(which == 4 ? EVENT_own_collective : EVENT_mpi_call);
        rows->flags[i] = 0;
        rows->name[i] = (uint32_t)(3 + which);
        rows->cause[i] = -1;
        rows->site[i] = (uint32_t)(call * 7 % 11);
        rows->ref[i] = which == 4 ? first_row / 5 + (int64_t)i / 5 : -1;
        rows->bytes[i] = which == 1 ? 4096 << (call % 3) : -1;
        now_ns += duration_ns + 200 + random_below(300);
    }
    return e;
}

static enum err write_rows(struct store *s, struct events_rows *rows, int64_t first, size_t piece)
{
    enum err e = ERR_OK;
    for (size_t at = 0; at < rows->count && !e; at += piece) {
        struct events_rows view;
        rows_slice(&view, rows, table_events, at,
                   at + piece < rows->count ? piece : rows->count - at);
        e = store_write_all(s, table_events, &view, first + (int64_t)at);
    }
    return e;
}

static enum err bench_write(const char *path, struct events_rows *rows, size_t piece,
                            struct peers *p)
{
    struct store *s;
    int64_t first = (int64_t)rows->count * peers_rank(p), start_ns = clock_now_ns();
    enum err e = store_create_all(&s, path, 1, run_table_list, run_table_count, p);
    int64_t created_ns = clock_now_ns();
    if (e)
        return e;
    e = write_rows(s, rows, first, piece);
    int64_t written_ns = clock_now_ns();
    if (!e)
        e = store_commit_all(s);
    else
        store_abandon_all(s);
    int64_t end_ns = clock_now_ns();
    if (e || peers_rank(p) > 0)
        return e;
    double seconds = (double)(end_ns - created_ns) / 1e9;
    struct stat status;
    stat(path, &status);
    double all = (double)rows->count * peers_size(p);
    printf("create %8.1f ms\n", (double)(created_ns - start_ns) / 1e6);
    printf("write  %8.2f million rows/s a process  (%.1f + commit %.1f ms)\n",
           (double)rows->count / seconds / 1e6, (double)(written_ns - created_ns) / 1e6,
           (double)(end_ns - written_ns) / 1e6);
    printf("size   %8.2f bytes/row  (%lld bytes in all)\n", (double)status.st_size / all,
           (long long)status.st_size);
    return ERR_OK;
}

static enum err bench_read(const char *path, int64_t count, size_t piece)
{
    struct store *s;
    enum err e = store_open(&s, path);
    if (e)
        return e;
    int64_t start_ns = clock_now_ns();
    for (int64_t at = 0; at < count && !e; at += (int64_t)piece) {
        struct events_rows rows = {0};
        e = store_read(s, table_events, at,
                       at + (int64_t)piece < count ? (int64_t)piece : count - at, &rows);
        rows_free(&rows, table_events);
    }
    double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
    store_close(s);
    if (!e)
        printf("read   %8.2f million rows/s\n", (double)count / seconds / 1e6);
    return e;
}

int main(int argc, char **argv)
{
    int check = argc > 1 && strcmp(argv[1], "--check") == 0;
    size_t count = check ? 200000 : argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000;
    int by_mpi = argc > 2 && strcmp(argv[2], "mpi") == 0;
    size_t piece = argc > 3 ? strtoull(argv[3], NULL, 10) : count;
    char path[] = "bench_store.h5";
    struct events_rows rows = {0};
    struct peers *p;
    log_open(say, LOG_WARNING);
    enum err e = by_mpi ? peers_open_mpi_all(&p) : peers_open_alone(&p);
    if (e)
        return 1;
    random_state += (uint64_t)peers_rank(p);
    e = fill(&rows, count, (int64_t)count * peers_rank(p));
    if (!e)
        e = bench_write(path, &rows, piece, p);
    rows_free(&rows, table_events);
    if (!e && peers_rank(p) == 0)
        e = bench_read(path, (int64_t)count * peers_size(p), piece);
    if (peers_rank(p) == 0)
        unlink(path);
    peers_close(p);
    return e ? 1 : 0;
}
