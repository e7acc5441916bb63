#include "blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

size_t rows_struct_count(const void *rows)
{
    return *(const size_t *)rows;
}

static void *make_rows(const struct table *t)
{
    return calloc(1, t->columns[t->column_count - 1].offset + sizeof(void *));
}

static void free_rows(const struct table *t, void *rows)
{
    if (rows != NULL)
        rows_free(rows, t);
    free(rows);
}

enum err blocks_open(struct blocks *b, const struct table *t, size_t block_rows)
{
    *b = (struct blocks){.table = t, .block_rows = block_rows, .view = make_rows(t)};
    return b->view != NULL ? ERR_OK : ERR_NO_MEMORY;
}

void blocks_clear(struct blocks *b)
{
    for (size_t i = 0; i < b->count; i++)
        free_rows(b->table, b->fragments[i].rows);
    b->count = 0;
}

void blocks_close(struct blocks *b)
{
    blocks_clear(b);
    free_rows(b->table, b->done.rows);
    free(b->fragments);
    free(b->view);
    *b = (struct blocks){0};
}

static enum err make_room(struct blocks *b)
{
    if (b->count < b->room)
        return ERR_OK;
    size_t room = b->room ? 2 * b->room : 4;
    struct fragment *larger = reallocarray(b->fragments, room, sizeof *larger);
    if (larger == NULL)
        return ERR_NO_MEMORY;
    b->fragments = larger;
    b->room = room;
    return ERR_OK;
}

enum err blocks_add(struct blocks *b, int64_t first, size_t count, void **rows)
{
    enum err e = make_room(b);
    void *made = e ? NULL : make_rows(b->table);
    if (made == NULL || rows_append(made, b->table, count, NULL) != ERR_OK) {
        free_rows(b->table, made);
        return ERR_NO_MEMORY;
    }
    b->fragments[b->count++] = (struct fragment){first, made};
    *rows = made;
    return ERR_OK;
}

/* The fragment that row `first` continues, or NULL; a block's end ends its fragment. */
static struct fragment *find_growing(struct blocks *b, int64_t first)
{
    struct fragment *last = b->count ? &b->fragments[b->count - 1] : NULL;
    if (last == NULL || first % (int64_t)b->block_rows == 0 ||
        last->first + (int64_t)rows_struct_count(last->rows) != first)
        return NULL;
    return last;
}

/* Puts rows [at, at + count) of `rows` into a fragment, the growing one if there is one. */
static enum err keep(struct blocks *b, const void *rows, size_t at, size_t count, int64_t first)
{
    struct fragment *f = find_growing(b, first);
    void *fresh;
    if (count == 0)
        return ERR_OK;
    if (f == NULL) {
        enum err e = blocks_add(b, first, 0, &fresh);
        if (e)
            return e;
        f = &b->fragments[b->count - 1];
    }
    rows_slice(b->view, rows, b->table, at, count);
    return rows_append_all(f->rows, b->table, b->view);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The last fragment, taken out when it has become a whole block. */
static int take_whole(struct blocks *b)
{
    struct fragment *last = b->count ? &b->fragments[b->count - 1] : NULL;
    if (last == NULL || rows_struct_count(last->rows) != b->block_rows)
        return 0;
    b->done = *last;
    b->count--;
    return 1;
}

enum err blocks_put(struct blocks *b, const void *rows, int64_t first, struct block_run ready[2])
{
    size_t count = rows_struct_count(rows), past = (size_t)(first % (int64_t)b->block_rows);
    size_t head = past ? smaller(count, b->block_rows - past) : 0;
    size_t whole = (count - head) / b->block_rows * b->block_rows;
    free_rows(b->table, b->done.rows);
    b->done = (struct fragment){0};
    ready[0] = ready[1] = (struct block_run){0};
    enum err e = keep(b, rows, 0, head, first);
    if (!e && head > 0 && take_whole(b))
        ready[0] = (struct block_run){b->done.first, b->block_rows, b->done.rows};
    if (!e)
        e = keep(b, rows, head + whole, count - head - whole, first + (int64_t)(head + whole));
    if (e)
        return e;
    rows_slice(b->view, rows, b->table, head, whole);
    ready[1] = (struct block_run){first + (int64_t)head, whole, b->view};
    return ERR_OK;
}

static int compare_fragments(const void *a, const void *b)
{
    const struct fragment *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Adds rows at the end of `to` up to row `row` of the block, all 0. */
static enum err pad(const struct table *t, void *to, size_t row)
{
    size_t at = rows_struct_count(to);
    enum err e = row > at ? rows_append(to, t, row - at, NULL) : ERR_OK;
    for (size_t i = 0; i < t->column_count && !e && row > at; i++) {
        size_t bytes = column_type_bytes(t->columns[i].type);
        memset((char *)rows_column(to, &t->columns[i]) + at * bytes, 0, (row - at) * bytes);
    }
    return e;
}

/* Fragments [from, to) of one block become one at `place`. */
static enum err join_block(struct blocks *b, size_t from, size_t to, size_t place)
{
    int64_t block = b->fragments[from].first - b->fragments[from].first % (int64_t)b->block_rows;
    void *joined = make_rows(b->table);
    enum err e = joined ? ERR_OK : ERR_NO_MEMORY;
    for (size_t i = from; i < to && !e; i++) {
        e = pad(b->table, joined, (size_t)(b->fragments[i].first - block));
        if (!e)
            e = rows_append_all(joined, b->table, b->fragments[i].rows);
        if (!e && rows_struct_count(joined) > b->block_rows) {
            log_error("rows of %s near row %lld were given twice", b->table->path,
                      (long long)b->fragments[i].first);
            e = ERR_INTERNAL;
        }
    }
    if (e) {
        free_rows(b->table, joined);
        return e;
    }
    for (size_t i = from; i < to; i++) {
        free_rows(b->table, b->fragments[i].rows);
        b->fragments[i].rows = NULL;
    }
    b->fragments[place] = (struct fragment){block, joined};
    return ERR_OK;
}

enum err blocks_join(struct blocks *b)
{
    size_t made = 0, rows = b->block_rows;
    enum err e = ERR_OK;
    if (b->count > 0)
        qsort(b->fragments, b->count, sizeof *b->fragments, compare_fragments);
    for (size_t from = 0, to; from < b->count && !e; from = to) {
        for (to = from + 1; to < b->count; to++)
            if (b->fragments[to].first / (int64_t)rows != b->fragments[from].first / (int64_t)rows)
                break;
        e = join_block(b, from, to, made);
        made += !e;
    }
    if (!e)
        b->count = made;
    return e;
}
