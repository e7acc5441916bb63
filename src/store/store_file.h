/* Inside of the store: what reading and writing share. */
#ifndef STORE_STORE_FILE_H
#define STORE_STORE_FILE_H

#include <hdf5.h>

#include "chunk.h"
#include "store/store.h"
#include "tail.h"

#define STORE_DEFLATE_LEVEL 1

struct store {
    hid_t file;
    int writing;
    char *path, *partial;
    struct peers *peers;
    int by_mpi;
    int force;
    const struct table *tables; /* of a file being written */
    size_t table_count;
    int64_t *rows;       /* written so far, per table */
    struct tail **tails; /* per table and column; only one process alone has them */
    struct chunk_filter *filter;
};

/* HDF5's own type of a column in memory and in the file. */
hid_t column_native_type(enum column_type type);
hid_t column_file_type(enum column_type type);

/* "<path>/<column>" to `out`. */
void column_path(const struct table *t, const struct table_column *c, char out[128]);

/* Turns off HDF5's own printing. */
void store_silence(void);

/* Says that HDF5 refused `what` in `path`, with the deepest message of its error stack, and clears
 * that. ERR_NO_SPACE when the cause was a full disk, else ERR_HDF5. */
enum err store_refused(const char *path, const char *what);

/* A text attribute of an object. */
enum err attribute_write(hid_t object, const char *name, const char *value);
enum err attribute_read(hid_t object, const char *name, char *out, size_t size);

/* Makes the groups, datasets and attributes of the tables. Collective when the file is open by MPI.
 */
enum err layout_create(struct store *s);

#endif
