/* Rows into datasets: whole blocks as they come, the rest at the end. */
#include "spread.h"
#include "store_file.h"

/* A collective write takes at most this many blocks of a process: HDF5 holds them all, filtered,
 * and the disk must have room for all of them as they are. */
#define MOST_BLOCKS 8

/* `count` values at row `first`, by all processes together; those with count 0 take part. */
static enum err write_together(struct store *s, hid_t set, const struct table_column *c,
                               const void *values, int64_t first, size_t count)
{
    static const char nothing[8];
    hsize_t start = (hsize_t)first, n = count;
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    hid_t file = H5Dget_space(set), memory = H5Screate_simple(1, &n, NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    if (count > 0) {
        H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &n, NULL);
    } else {
        H5Sselect_none(file);
        H5Sselect_none(memory);
    }
    enum err e = ERR_OK;
    if (H5Dwrite(set, column_native_type(c->type), memory, file, transfer,
                 count > 0 ? values : nothing) < 0)
        e = store_refused(s, c->name);
    H5Sclose(memory);
    H5Sclose(file);
    H5Pclose(transfer);
    return e;
}

/* Alone: chunk after chunk, filtered here. */
static enum err write_chunks(struct store *s, hid_t set, const char *values, size_t value_bytes,
                             int64_t first, size_t count, size_t chunk_rows)
{
    enum err e = ERR_OK;
    for (size_t at = 0; at < count && !e; at += chunk_rows) {
        size_t n = count - at < chunk_rows ? count - at : chunk_rows;
        e = chunk_filter_write(s->filter, set, (hsize_t)first + at, values + at * value_bytes, n,
                               chunk_rows, value_bytes);
    }
    return e == ERR_HDF5 ? store_refused(s, "a chunk of rows") : e;
}

/* What a chunk takes beyond its values: its place in the index, what filtering adds at worst, and
 * the chunk of zeros that parallel HDF5 puts first in its place. */
#define CHUNK_EXTRA_BYTES 8192

/* The most that a table of `rows` rows takes on disk. */
static int64_t most_bytes(const struct blocks *b, size_t rows)
{
    const struct table *t = b->table;
    size_t blocks = (rows + b->block_rows - 1) / b->block_rows, bytes = 0;
    for (size_t i = 0; i < t->column_count; i++)
        bytes += blocks * (b->block_rows * column_type_bytes(t->columns[i].type));
    return (int64_t)(bytes + blocks * t->column_count * CHUNK_EXTRA_BYTES);
}

/* Room for `count` rows of this process and whatever the others write, and for the chunks that the
 * datasets' new length makes. */
static enum err reserve_rows_all(struct store *s, size_t index, size_t count)
{
    struct output_table *o = &s->outputs[index];
    const struct blocks *b = &s->blocks[index];
    if (!s->by_mpi)
        return ERR_OK;
    size_t longer = (size_t)(o->rows - o->extent) / b->block_rows + 1;
    int64_t bytes = peers_sum_all(s->peers, most_bytes(b, count));
    bytes += (int64_t)(longer * b->table->column_count * CHUNK_EXTRA_BYTES);
    enum err e = reserve_all(s, bytes);
    if (!e)
        o->extent = o->rows;
    return e;
}

/* Rows [at, at + count) of `rows`, which begin a block of table `index` at row `first`. */
static enum err write_rows_all(struct store *s, size_t index, const void *rows, size_t at,
                               size_t count, int64_t first)
{
    const struct table *t = &s->tables[index];
    const hsize_t extent = (hsize_t)s->outputs[index].rows;
    enum err e = reserve_rows_all(s, index, count);
    for (size_t i = 0; i < t->column_count && !e; i++) {
        hid_t set = s->outputs[index].sets[i];
        size_t bytes = column_type_bytes(t->columns[i].type);
        const char *values =
            count > 0 ? (const char *)rows_column(rows, &t->columns[i]) + at * bytes : NULL;
        if (H5Dset_extent(set, &extent) < 0)
            e = store_refused(s, t->path);
        else if (s->by_mpi)
            e = write_together(s, set, &t->columns[i], values, first, count);
        else
            e = write_chunks(s, set, values, bytes, first, count, s->blocks[index].block_rows);
        e = peers_agree_all(s->peers, e);
    }
    return e;
}

/* How many rounds write_runs needs for the runs of this process. */
static int64_t rounds_of(const struct blocks *b, const struct block_run *runs, size_t run_count)
{
    size_t most = MOST_BLOCKS * b->block_rows, rounds = 0;
    for (size_t i = 0; i < run_count; i++)
        rounds += (runs[i].count + most - 1) / most;
    return (int64_t)rounds;
}

/* Runs of whole blocks, each process its own, in as many rounds as the one with most needs. */
static enum err write_runs_all(struct store *s, size_t index, const struct block_run *runs,
                               size_t run_count, int64_t rounds)
{
    size_t most = MOST_BLOCKS * s->blocks[index].block_rows, run = 0, at = 0;
    enum err e = ERR_OK;
    for (int64_t round = 0; round < rounds && !e; round++) {
        while (run < run_count && at == runs[run].count) {
            run++;
            at = 0;
        }
        size_t left = run < run_count ? runs[run].count - at : 0, n = left < most ? left : most;
        if (n > 0)
            e = write_rows_all(s, index, runs[run].rows, at, n, runs[run].first + (int64_t)at);
        else
            e = write_rows_all(s, index, NULL, 0, 0, 0);
        at += n;
    }
    return e;
}

/* Most calls only put rows aside, at the cost of one word with the others. */
enum err store_write_all(struct store *s, const struct table *t, const void *rows, int64_t first)
{
    size_t index = (size_t)(t - s->tables);
    struct output_table *o = &s->outputs[index];
    struct block_run ready[2];
    int64_t count = (int64_t)rows_struct_count(rows);
    if (count > 0 && first + count > o->rows)
        o->rows = first + count;
    enum err e = blocks_put(&s->blocks[index], rows, first, ready);
    int64_t mine = e ? INT64_MAX : rounds_of(&s->blocks[index], ready, 2);
    int64_t rounds = peers_max_all(s->peers, mine);
    if (rounds == 0)
        return ERR_OK;
    e = peers_agree_all(s->peers, e);
    if (e)
        return e;
    o->rows = peers_max_all(s->peers, o->rows);
    return write_runs_all(s, index, ready, 2, rounds);
}

enum err store_append_all(struct store *s, const struct table *t, const void *rows)
{
    struct output_table *o = &s->outputs[t - s->tables];
    int64_t count = (int64_t)rows_struct_count(rows);
    o->rows = peers_max_all(s->peers, o->rows);
    return store_write_all(s, t, rows, o->rows + peers_before_all(s->peers, count));
}

/* One block a round, each process its own. */
static enum err write_fragments_all(struct store *s, size_t index)
{
    const struct blocks *b = &s->blocks[index];
    int64_t rounds = peers_max_all(s->peers, (int64_t)b->count);
    enum err e = ERR_OK;
    for (size_t i = 0; i < (size_t)rounds && !e; i++) {
        const struct fragment *f = i < b->count ? &b->fragments[i] : NULL;
        if (f != NULL)
            e = write_rows_all(s, index, f->rows, 0, rows_struct_count(f->rows), f->first);
        else
            e = write_rows_all(s, index, NULL, 0, 0, 0);
    }
    return e;
}

enum err write_rest_all(struct store *s)
{
    enum err e = spread_all(s->blocks, s->table_count, s->peers);
    for (size_t i = 0; i < s->table_count && !e; i++) {
        e = peers_agree_all(s->peers, blocks_join(&s->blocks[i]));
        s->outputs[i].rows = peers_max_all(s->peers, s->outputs[i].rows);
        if (!e)
            e = write_fragments_all(s, i);
    }
    return e;
}
