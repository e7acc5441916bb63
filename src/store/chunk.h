/* Whole chunks of a column, filtered here instead of in HDF5's pipeline: the same bytes on disk
 * (shuffle, then zlib's format), two to three times as fast. For one process; parallel HDF5 filters
 * for itself. */
#ifndef STORE_CHUNK_H
#define STORE_CHUNK_H

#include <hdf5.h>

#include "base/err.h"

struct chunk_filter; /* buffers and codecs, kept from chunk to chunk */

enum err chunk_filter_open(struct chunk_filter **out);
void chunk_filter_close(struct chunk_filter *f);

/* Rows of a chunk when the dataset has exactly our filters, else 0: then HDF5 must do it. */
hsize_t chunk_filter_rows(hid_t set, size_t value_bytes);

/* Writes the chunk of `chunk_rows` that begins at row `first`: `rows` values, then 0. The dataset
 * must reach so far. */
enum err chunk_filter_write(struct chunk_filter *f, hid_t set, hsize_t first, const void *values,
                            size_t rows, size_t chunk_rows, size_t value_bytes);

/* Reads the chunk of `rows` that begins at row `first` into `values`. ERR_FORMAT when its bytes are
 * not what they should be, ERR_NOT_FOUND when HDF5 must do it: never written, or a filter left out.
 */
enum err chunk_filter_read(struct chunk_filter *f, hid_t set, hsize_t first, void *values,
                           size_t rows, size_t value_bytes);

#endif
