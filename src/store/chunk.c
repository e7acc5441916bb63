#include "chunk.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "store_file.h"

struct chunk_filter {
    struct libdeflate_compressor *compressor;
    struct libdeflate_decompressor *decompressor;
    unsigned char *plain, *packed;
    size_t plain_room, packed_room;
};

enum err chunk_filter_open(struct chunk_filter **out)
{
    struct chunk_filter *f = calloc(1, sizeof *f);
    if (f == NULL)
        return ERR_NO_MEMORY;
    f->compressor = libdeflate_alloc_compressor(STORE_DEFLATE_LEVEL);
    f->decompressor = libdeflate_alloc_decompressor();
    if (f->compressor == NULL || f->decompressor == NULL) {
        chunk_filter_close(f);
        return ERR_NO_MEMORY;
    }
    *out = f;
    return ERR_OK;
}

void chunk_filter_close(struct chunk_filter *f)
{
    if (f == NULL)
        return;
    if (f->compressor != NULL)
        libdeflate_free_compressor(f->compressor);
    if (f->decompressor != NULL)
        libdeflate_free_decompressor(f->decompressor);
    free(f->plain);
    free(f->packed);
    free(f);
}

static enum err make_room(unsigned char **buffer, size_t *room, size_t bytes)
{
    if (bytes <= *room)
        return ERR_OK;
    unsigned char *larger = realloc(*buffer, bytes);
    if (larger == NULL)
        return ERR_NO_MEMORY;
    *buffer = larger;
    *room = bytes;
    return ERR_OK;
}

hsize_t chunk_filter_rows(hid_t set, size_t value_bytes)
{
    static const H5Z_filter_t expected[] = {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
    hid_t list = H5Dget_create_plist(set);
    hsize_t rows = 0;
    int first = value_bytes > 1 ? 0 : 1, count = list >= 0 ? H5Pget_nfilters(list) : -1;
    int fits = count == 2 - first;
    for (int i = 0; fits && i < count; i++) {
        unsigned flags, values[8];
        size_t n = 8;
        char name[1];
        fits = H5Pget_filter2(list, (unsigned)i, &flags, &n, values, sizeof name, name, NULL) ==
               expected[first + i];
    }
    if (fits && H5Pget_chunk(list, 1, &rows) != 1)
        rows = 0;
    if (list >= 0)
        H5Pclose(list);
    return fits ? rows : 0;
}

/* HDF5's shuffle: byte k of every value together. A width known at compile time lets the loop
 * become vectors. */
static inline void spread(unsigned char *to, const unsigned char *from, size_t rows, size_t width)
{
    for (size_t k = 0; k < width; k++)
        for (size_t i = 0; i < rows; i++)
            to[k * rows + i] = from[i * width + k];
}

static inline void collect(unsigned char *to, const unsigned char *from, size_t rows, size_t width)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < width; k++)
            to[i * width + k] = from[k * rows + i];
}

static void shuffle(unsigned char *to, const unsigned char *from, size_t rows, size_t width)
{
    if (width == 8)
        spread(to, from, rows, 8);
    else if (width == 4)
        spread(to, from, rows, 4);
    else
        spread(to, from, rows, width);
}

static void unshuffle(unsigned char *to, const unsigned char *from, size_t rows, size_t width)
{
    if (width == 8)
        collect(to, from, rows, 8);
    else if (width == 4)
        collect(to, from, rows, 4);
    else
        collect(to, from, rows, width);
}

/* The bytes to compress, in f->plain unless they are the values as they are. */
static const void *prepare(struct chunk_filter *f, const void *values, size_t rows,
                           size_t chunk_rows, size_t width)
{
    if (width == 1 && rows == chunk_rows)
        return values;
    if (rows == chunk_rows) {
        shuffle(f->plain, values, rows, width);
        return f->plain;
    }
    memset(f->plain, 0, chunk_rows * width);
    for (size_t k = 0; k < width; k++)
        for (size_t i = 0; i < rows; i++)
            f->plain[k * chunk_rows + i] = ((const unsigned char *)values)[i * width + k];
    return f->plain;
}

enum err chunk_filter_write(struct chunk_filter *f, hid_t set, hsize_t first, const void *values,
                            size_t rows, size_t chunk_rows, size_t value_bytes)
{
    size_t bytes = chunk_rows * value_bytes;
    size_t most = libdeflate_zlib_compress_bound(f->compressor, bytes);
    enum err e = make_room(&f->plain, &f->plain_room, bytes);
    if (!e)
        e = make_room(&f->packed, &f->packed_room, most);
    if (e)
        return e;
    const void *plain = prepare(f, values, rows, chunk_rows, value_bytes);
    size_t packed = libdeflate_zlib_compress(f->compressor, plain, bytes, f->packed, most);
    if (packed == 0)
        return ERR_INTERNAL;
    return H5Dwrite_chunk(set, H5P_DEFAULT, 0, &first, packed, f->packed) < 0 ? ERR_HDF5 : ERR_OK;
}

enum err chunk_filter_read(struct chunk_filter *f, hid_t set, hsize_t first, void *values,
                           size_t rows, size_t value_bytes)
{
    size_t bytes = rows * value_bytes;
    hsize_t packed;
    uint32_t mask = 0;
    if (H5Dget_chunk_storage_size(set, &first, &packed) < 0 || packed == 0)
        return ERR_NOT_FOUND;
    if (packed > 2 * bytes + 4096)
        return ERR_FORMAT;
    enum err e = make_room(&f->packed, &f->packed_room, packed);
    if (!e)
        e = make_room(&f->plain, &f->plain_room, bytes);
    if (e)
        return e;
    if (H5Dread_chunk(set, H5P_DEFAULT, &first, &mask, f->packed) < 0)
        return ERR_FORMAT;
    if (mask != 0)
        return ERR_NOT_FOUND;
    void *plain = value_bytes > 1 ? f->plain : values;
    if (libdeflate_zlib_decompress(f->decompressor, f->packed, packed, plain, bytes, NULL) !=
        LIBDEFLATE_SUCCESS)
        return ERR_FORMAT;
    if (value_bytes > 1)
        unshuffle(values, f->plain, rows, value_bytes);
    return ERR_OK;
}
