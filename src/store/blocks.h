/* Rows of one table on their way to the file, cut at the borders of its chunks. A whole block goes
 * to the file at once; what covers a block only in part waits here until its other parts are known,
 * so that every chunk is filtered and written once. No HDF5, no other processes. */
#ifndef STORE_BLOCKS_H
#define STORE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/tables.h"

/* Rows [first, first + its count) of the table. */
struct fragment {
    int64_t first;
    void *rows; /* a rows struct of the table, owned */
};

struct blocks {
    const struct table *table;
    size_t block_rows;
    struct fragment *fragments; /* in order of their arrival; the last one may still grow */
    size_t count, room;
    struct fragment done; /* the fragment that became a whole block in the last put */
    void *view;           /* a rows struct for the whole blocks among the caller's rows */
};

/* Whole blocks, ready to be written; rows stay valid until the next put. */
struct block_run {
    int64_t first;
    size_t count; /* rows, a multiple of block_rows; 0: nothing */
    const void *rows;
};

enum err blocks_open(struct blocks *b, const struct table *t, size_t block_rows);
void blocks_close(struct blocks *b);

/* Takes rows that begin at row `first` and tells which whole blocks there are now: `ready[0]` made
 * from earlier rows and these, `ready[1]` from these alone. */
enum err blocks_put(struct blocks *b, const void *rows, int64_t first, struct block_run ready[2]);

/* Makes one fragment of all that lie in one block, each beginning at its block, in order; rows
 * between them that nobody gave are 0. */
enum err blocks_join(struct blocks *b);

/* Adds a fragment of `count` rows with undefined values; *rows is its rows struct. */
enum err blocks_add(struct blocks *b, int64_t first, size_t count, void **rows);

void blocks_clear(struct blocks *b);

size_t rows_struct_count(const void *rows);

#endif
