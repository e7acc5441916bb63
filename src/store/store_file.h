/* Inside of the store: what its files share. */
#ifndef STORE_STORE_FILE_H
#define STORE_STORE_FILE_H

#include <hdf5.h>
#include <signal.h>

#include "blocks.h"
#include "chunk.h"
#include "store/store.h"

#define STORE_DEFLATE_LEVEL 1

/* A table that is being written. */
struct output_table {
    int64_t rows;   /* end of the last row, as far as this process knows */
    int64_t extent; /* rows that its datasets have room for */
    hid_t *sets;    /* per column; closed with the file */
};

/* A table that is being read. */
struct input_table {
    const struct table *table;
    int64_t rows;
    struct input_column *columns;
};

struct store {
    hid_t file;
    char *path, *partial;
    enum err failed; /* the first refusal; it has been said, the ones after it are not */

    /* writing */
    struct peers *peers;
    int by_mpi; /* HDF5 writes collectively; else this process is alone */
    int force;
    int lock;         /* the partial file, locked, on process 0; else -1 */
    int ignores_size; /* SIGXFSZ is ignored, and had this action before */
    struct sigaction size_action;
    int64_t reserved; /* bytes of it that the disk has room for, there */
    const struct table *tables;
    size_t table_count;
    struct output_table *outputs; /* per table */
    struct blocks *blocks;        /* per table */

    /* reading */
    struct input_table *inputs;
    size_t input_count;

    struct chunk_filter *filter;
};

/* HDF5's own type of a column in memory and in the file. */
hid_t column_native_type(enum column_type type);
hid_t column_file_type(enum column_type type);

/* "<path>/<column>" to `out`. */
void column_path(const struct table *t, const struct table_column *c, char out[128]);

/* Rows of a chunk of the table's columns. */
size_t table_chunk_rows(const struct table *t);

/* Turns off HDF5's own printing, and what it does at exit. Before any other call of it. */
void store_silence(void);

/* Says that HDF5 refused `what`, with the deepest message of its error stack, which the next call
 * of HDF5 clears; only the first time for a store. Returns the first refusal: ERR_NO_SPACE when the
 * cause was a full disk, else ERR_HDF5. */
enum err store_refused(struct store *s, const char *what);

/* A text attribute of an object. A failed write is said. */
enum err attribute_write(struct store *s, hid_t object, const char *name, const char *value);
enum err attribute_read(hid_t object, const char *name, char *out, size_t size);

/* A collective write that fails on one process never ends on the others, so the disk must have room
 * before it: for `bytes` of all processes together, and metadata. */
enum err reserve_all(struct store *s, int64_t bytes);

/* Makes the groups, datasets and attributes of the tables. Collective when the file is open by MPI.
 */
enum err layout_create(struct store *s);

/* Writes what store_write_all has kept back, and gives every dataset its length. */
enum err write_rest_all(struct store *s);

/* Frees what reading holds. */
void inputs_close(struct store *s);

void store_free(struct store *s);

#endif
