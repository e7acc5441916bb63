#include "tail.h"

#include <stdlib.h>
#include <string.h>

static enum err write_chunk(struct tail *t, struct chunk_filter *f, int64_t first,
                            const void *values, size_t value_bytes)
{
    return chunk_filter_write(f, t->set, (hsize_t)first, values, t->chunk_rows, value_bytes);
}

/* The dataset reaches to the end of the values before their chunk is written. */
static enum err extend(struct tail *t, size_t count)
{
    hsize_t rows = (hsize_t)t->end + count;
    return H5Dset_extent(t->set, &rows) < 0 ? ERR_HDF5 : ERR_OK;
}

enum err tail_write(struct tail *t, struct chunk_filter *f, const void *values, size_t count,
                    size_t value_bytes)
{
    const char *from = values;
    if (t->values == NULL)
        t->values = calloc(t->chunk_rows, value_bytes);
    enum err e = t->values ? extend(t, count) : ERR_NO_MEMORY;
    while (count > 0 && !e) {
        size_t room = t->chunk_rows - t->waiting, n = count < room ? count : room;
        if (n == t->chunk_rows) {
            e = write_chunk(t, f, t->end, from, value_bytes);
        } else {
            memcpy(t->values + t->waiting * value_bytes, from, n * value_bytes);
            t->waiting += n;
            if (t->waiting == t->chunk_rows) {
                e = write_chunk(t, f, t->end + (int64_t)n - (int64_t)t->chunk_rows, t->values,
                                value_bytes);
                t->waiting = 0;
            }
        }
        t->end += (int64_t)n;
        from += n * value_bytes;
        count -= n;
    }
    return e;
}

/* A chunk is whole on disk, whatever the dataset's end: the rest of it is 0. */
enum err tail_flush(struct tail *t, struct chunk_filter *f, size_t value_bytes)
{
    if (t->waiting == 0)
        return ERR_OK;
    memset(t->values + t->waiting * value_bytes, 0, (t->chunk_rows - t->waiting) * value_bytes);
    return write_chunk(t, f, t->end - (int64_t)t->waiting, t->values, value_bytes);
}

void tail_close(struct tail *t)
{
    if (t->set >= 0)
        H5Dclose(t->set);
    free(t->values);
    *t = (struct tail){.set = -1};
}
