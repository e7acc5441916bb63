/* Writes a run file whose every value follows from its place, in ways that a program may choose,
 * and reads one back; for the tests in Python.
 *
 *   store_tool write PATH WAY [force]   WAY: blocks last pieces append analysis killed waiting
 * apart store_tool read PATH                every table: path, rows, and the sum of each column */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "peers/peers.h"
#include "store/store.h"

#define PIECE_ROWS 777

static void say(enum log_level level, const char *message)
{
    (void)level;
    fprintf(stderr, "%s\n", message);
}

static uint64_t digest(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* Long enough for three chunks where there is much, short and empty ones elsewhere. */
static int64_t rows_of(const struct table *t)
{
    if (t == table_events)
        return 150001;
    if (t == table_counters)
        return 65536;
    return (int64_t)(digest(t->name) % 1500) - 200 > 0 ? (int64_t)(digest(t->name) % 1500) - 200
                                                       : 0;
}

static void put_value(void *values, enum column_type type, size_t at, uint64_t value)
{
    if (type == COLUMN_F64) {
        ((double *)values)[at] = (double)(value % 1000003) / 8;
        return;
    }
    value %= (uint64_t)1 << (8 * column_type_bytes(type) - 1);
    memcpy((char *)values + at * column_type_bytes(type), &value, column_type_bytes(type));
}

/* Rows [first, first + count) of the table; the caller frees them. */
static void fill(void *rows, const struct table *t, int64_t first, int64_t count)
{
    memset(rows, 0, t->columns[t->column_count - 1].offset + sizeof(void *));
    if (rows_append(rows, t, (size_t)count, NULL) != ERR_OK)
        abort();
    for (size_t c = 0; c < t->column_count; c++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", t->path, t->columns[c].name);
        for (int64_t i = 0; i < count; i++)
            put_value(rows_column(rows, &t->columns[c]), t->columns[c].type, (size_t)i,
                      digest(path) + (uint64_t)(first + i) * 2654435761u);
    }
}

static union {
    struct run_tables run;
    struct analysis_tables analysis;
} memory;

static enum err write_range(struct store *s, const struct table *t, int64_t first, int64_t count)
{
    fill(&memory, t, first, count);
    enum err e = store_write_all(s, t, &memory, first);
    rows_free(&memory, t);
    return e;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Each process a block of its own, in three calls. */
static enum err write_blocks(struct store *s, const struct table *t, int rank, int size)
{
    int64_t rows = rows_of(t), begin = rows * rank / size, end = rows * (rank + 1) / size;
    enum err e = ERR_OK;
    for (int i = 0; i < 3 && !e; i++) {
        int64_t from = begin + (end - begin) * i / 3, to = begin + (end - begin) * (i + 1) / 3;
        e = write_range(s, t, from, to - from);
    }
    return e;
}

/* Short pieces, dealt to the processes in turn, the last ones first. */
static enum err write_pieces(struct store *s, const struct table *t, int rank, int size)
{
    int64_t rows = rows_of(t), rounds = rows / (PIECE_ROWS * size) + 1;
    enum err e = ERR_OK;
    for (int64_t i = rounds - 1; i >= 0 && !e; i--) {
        int64_t from = smaller((i * size + rank) * PIECE_ROWS, rows);
        e = write_range(s, t, from, smaller(PIECE_ROWS, rows - from));
    }
    return e;
}

static enum err append(struct store *s, const struct table *t, int rank, int size)
{
    int64_t rows = rows_of(t), done = 0;
    enum err e = ERR_OK;
    for (int i = 0; i < 2 && !e; i++) {
        int64_t all = i ? rows - done : rows / 3, begin = all * rank / size;
        fill(&memory, t, done + begin, all * (rank + 1) / size - begin);
        e = store_append_all(s, t, &memory);
        rows_free(&memory, t);
        done += all;
    }
    return e;
}

static enum err write_table(struct store *s, const struct table *t, const char *way,
                            struct peers *p)
{
    int rank = peers_rank(p), size = peers_size(p);
    if (strcmp(way, "pieces") == 0)
        return write_pieces(s, t, rank, size);
    if (strcmp(way, "append") == 0)
        return append(s, t, rank, size);
    if (strcmp(way, "last") == 0)
        return write_range(s, t, 0, rank == size - 1 ? rows_of(t) : 0);
    return write_blocks(s, t, rank, size);
}

static enum err write_file(const char *path, const char *way, int force, struct peers *p)
{
    struct store *s;
    int analysis = strcmp(way, "analysis") == 0;
    const struct table *tables = analysis ? analysis_table_list : run_table_list;
    size_t count = analysis ? analysis_table_count : run_table_count;
    enum err e = store_create_all(&s, path, force, tables, count, p);
    if (e)
        return e;
    for (size_t i = 0; i < count && !e; i++)
        e = write_table(s, &tables[i], way, p);
    if (!e)
        e = store_attribute_all(s, "tool_version", "1.2.3");
    if (strcmp(way, "killed") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(way, "waiting") == 0) {
        puts("ready");
        fflush(stdout);
        getchar();
    }
    if (!e)
        return store_commit_all(s);
    store_abandon_all(s);
    return e;
}

static double sum_of(const void *values, enum column_type type, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t value = 0;
        const char *at = (const char *)values + i * column_type_bytes(type);
        if (type == COLUMN_F64) {
            sum += ((const double *)values)[i];
            continue;
        }
        memcpy(&value, at, column_type_bytes(type));
        sum += type == COLUMN_I32 ? (double)(int32_t)value : (double)value;
    }
    return sum;
}

static enum err print_table(struct store *s, const struct table *t)
{
    int64_t count;
    memset(&memory, 0, sizeof memory);
    enum err e = store_rows(s, t, &count);
    if (!e)
        e = store_read(s, t, 0, count / 3, &memory);
    if (!e)
        e = store_read(s, t, count / 3, count - count / 3, &memory);
    if (!e) {
        printf("%s %s %lld", t->path, t->name, (long long)count);
        for (size_t c = 0; c < t->column_count; c++)
            printf(" %s=%.17g", t->columns[c].name,
                   sum_of(rows_column(&memory, &t->columns[c]), t->columns[c].type, (size_t)count));
        putchar('\n');
    }
    rows_free(&memory, t);
    return e;
}

static enum err read_file(const char *path)
{
    struct store *s;
    char content[16];
    enum err e = store_open(&s, path);
    if (e)
        return e;
    store_read_attribute(s, "content", content, sizeof content);
    int analysis = strcmp(content, "analysis") == 0;
    size_t count = analysis ? analysis_table_count : run_table_count;
    for (size_t i = 0; i < count && !e; i++)
        e = print_table(s, analysis ? &analysis_table_list[i] : &run_table_list[i]);
    store_close(s);
    return e;
}

int main(int argc, char **argv)
{
    struct peers *p;
    log_open(say, LOG_ERROR);
    if (argc == 3 && strcmp(argv[1], "read") == 0)
        return err_exit_code(read_file(argv[2]));
    if (argc < 4 || peers_open_launched_all(&p) != ERR_OK)
        return 1;
    if (strcmp(argv[3], "apart") == 0 && peers_rank(p) > 0 && chdir("apart") != 0)
        return 1;
    enum err e = write_file(argv[2], argv[3], argc > 4, p);
    peers_close(p);
    return err_exit_code(e);
}
