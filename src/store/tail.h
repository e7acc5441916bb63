/* The end of a column that one process writes row after row: values wait here until they fill a
 * chunk. */
#ifndef STORE_TAIL_H
#define STORE_TAIL_H

#include "chunk.h"
#include "store/store.h"

struct tail {
    hid_t set;          /* -1 until the first value */
    hsize_t chunk_rows; /* 0: HDF5 must filter this column itself */
    int64_t end;        /* rows taken so far */
    size_t waiting;     /* values that wait, the last ones before `end` */
    char *values;
};

/* Takes `count` values that follow those taken before. */
enum err tail_write(struct tail *t, struct chunk_filter *f, const void *values, size_t count,
                    size_t value_bytes);

/* Writes what waits. */
enum err tail_flush(struct tail *t, struct chunk_filter *f, size_t value_bytes);
void tail_close(struct tail *t);

#endif
