#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store_file.h"

/* Deflate cannot make data shorter than about a thousandth: a file that claims more rows than this
 * lies. */
#define MOST_EXPANSION 1100

/* Says why a file that is there is not an HDF5 file. */
static enum err not_hdf5(const char *path)
{
    struct stat status;
    static const char signature[8] = "\211HDF\r\n\032\n";
    char start[8] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        enum err e = err_from_errno(errno);
        log_error("%s cannot be read: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return e;
    }
    ssize_t got = read(fd, start, sizeof start);
    close(fd);
    if (S_ISDIR(status.st_mode))
        log_error("%s is a folder, not a run file", path);
    else if (status.st_size == 0)
        log_error("%s is empty", path);
    else if (got == (ssize_t)sizeof start && memcmp(start, signature, sizeof start) == 0) {
        log_error("%s is cut off or damaged", path);
        return ERR_TRUNCATED;
    } else
        log_error("%s is not a run file (it is not HDF5)", path);
    return ERR_FORMAT;
}

static enum err check_version(struct store *s)
{
    char format[16], version[24];
    int major = -1, minor = -1;
    store_read_attribute(s, "format", format, sizeof format);
    store_read_attribute(s, "format_version", version, sizeof version);
    if (strcmp(format, "scaleprof") != 0 || sscanf(version, "%d.%d", &major, &minor) != 2 ||
        major < 1) {
        log_error("%s is HDF5, but not a file of scaleprof", s->path);
        return ERR_FORMAT;
    }
    if (major > STORE_FORMAT_MAJOR) {
        log_error("%s has format %d.%d; this version reads up to %d.x: use a newer scaleprof",
                  s->path, major, minor, STORE_FORMAT_MAJOR);
        return ERR_VERSION;
    }
    return ERR_OK;
}

enum err store_open(struct store **out, const char *path)
{
    store_silence();
    struct store *s = calloc(1, sizeof *s);
    if (s == NULL || (s->path = strdup(path)) == NULL) {
        free(s);
        return ERR_NO_MEMORY;
    }
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    s->file = access(path, R_OK) == 0 ? H5Fopen(path, H5F_ACC_RDONLY, list) : -1;
    H5Pclose(list);
    H5Eclear2(H5E_DEFAULT);
    enum err e = s->file < 0 ? not_hdf5(path) : check_version(s);
    if (e) {
        store_close(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

enum err store_read_attribute(struct store *s, const char *name, char *out, size_t size)
{
    hid_t root = H5Gopen2(s->file, "/", H5P_DEFAULT);
    out[0] = 0;
    if (root < 0)
        return ERR_FORMAT;
    enum err e = attribute_read(root, name, out, size);
    H5Gclose(root);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

/* Whether each step of the path is a hard link: soft and external ones lead out of what the file
 * itself holds. */
static int is_inside(hid_t file, const char *path)
{
    char part[128];
    H5L_info_t info;
    for (const char *end = strchr(path + 1, '/');; end = strchr(end + 1, '/')) {
        size_t length = end ? (size_t)(end - path) : strlen(path);
        if (length >= sizeof part)
            return 0;
        memcpy(part, path, length);
        part[length] = 0;
        if (H5Lexists(file, part, H5P_DEFAULT) <= 0 ||
            H5Lget_info(file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
            return 0;
        if (end == NULL)
            return 1;
    }
}

/* A dataset as we write them: one dimension, chunked inside the file, of the column's class and
 * size. */
static enum err check_dataset(struct store *s, hid_t set, const char *path,
                              const struct table_column *c, int64_t *rows)
{
    struct stat status;
    hsize_t extent = 0;
    hid_t space = H5Dget_space(set), type = H5Dget_type(set), list = H5Dget_create_plist(set);
    int fits = space >= 0 && type >= 0 && list >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
               H5Sget_simple_extent_dims(space, &extent, NULL) == 1 &&
               H5Tget_class(type) == (c->type == COLUMN_F64 ? H5T_FLOAT : H5T_INTEGER) &&
               H5Tget_size(type) == column_type_bytes(c->type) &&
               H5Pget_layout(list) == H5D_CHUNKED && stat(s->path, &status) == 0 &&
               extent <= (uint64_t)status.st_size * MOST_EXPANSION / column_type_bytes(c->type) + 1;
    H5Pclose(list);
    H5Tclose(type);
    H5Sclose(space);
    if (!fits) {
        H5Eclear2(H5E_DEFAULT);
        log_error("%s: %s is not a column as scaleprof writes it", s->path, path);
        return ERR_FORMAT;
    }
    *rows = (int64_t)extent;
    return ERR_OK;
}

/* Opens a column; *set is -1 when the file does not have it. */
static enum err open_column(struct store *s, const struct table *t, const struct table_column *c,
                            hid_t *set, int64_t *rows)
{
    char path[128];
    column_path(t, c, path);
    *set = -1;
    *rows = 0;
    if (!is_inside(s->file, path)) {
        H5Eclear2(H5E_DEFAULT);
        return ERR_OK;
    }
    hid_t opened = H5Dopen2(s->file, path, H5P_DEFAULT);
    if (opened < 0)
        return store_refused(s->path, path);
    enum err e = check_dataset(s, opened, path, c, rows);
    if (e)
        H5Dclose(opened);
    else
        *set = opened;
    return e;
}

enum err store_rows(struct store *s, const struct table *t, int64_t *count)
{
    int64_t found = -1;
    for (size_t i = 0; i < t->column_count; i++) {
        hid_t set;
        int64_t rows;
        enum err e = open_column(s, t, &t->columns[i], &set, &rows);
        if (e)
            return e;
        if (set < 0)
            continue;
        H5Dclose(set);
        if (found >= 0 && rows != found) {
            log_error("%s: the columns of %s differ in length (%lld and %lld rows)", s->path,
                      t->path, (long long)found, (long long)rows);
            return ERR_FORMAT;
        }
        found = rows;
    }
    *count = found < 0 ? 0 : found;
    return ERR_OK;
}

/* What an older file lacks: all bits set is -1 and "none"; texts and small numbers start at 0. */
static void fill_missing(const struct table_column *c, void *values, size_t count)
{
    size_t bytes = column_type_bytes(c->type);
    int zero = c->type == COLUMN_U8 || strncmp(c->unit, "string", 6) == 0 || c->type == COLUMN_U16;
    if (c->type == COLUMN_F64)
        for (size_t i = 0; i < count; i++)
            ((double *)values)[i] = -1;
    else
        memset(values, zero ? 0 : 0xFF, count * bytes);
}

#define MOST_CHUNK_BYTES ((hsize_t)16 << 20)

/* Reads values chunk by chunk past HDF5's filters. ERR_NOT_FOUND when HDF5 must do it: other
 * filters than ours, or a chunk that was never written. */
static enum err read_chunks(struct store *s, hid_t set, size_t value_bytes, int64_t first,
                            int64_t count, char *values)
{
    hsize_t chunk_rows = chunk_filter_rows(set, value_bytes);
    char *spare = NULL;
    enum err e =
        chunk_rows == 0 || chunk_rows > MOST_CHUNK_BYTES / value_bytes ? ERR_NOT_FOUND : ERR_OK;
    if (!e && s->filter == NULL)
        e = chunk_filter_open(&s->filter);
    if (!e && (spare = malloc(chunk_rows * value_bytes)) == NULL)
        e = ERR_NO_MEMORY;
    for (int64_t at = first, end = first + count; at < end && !e;) {
        int64_t begin = at - at % (int64_t)chunk_rows, next = begin + (int64_t)chunk_rows;
        int64_t n = (next < end ? next : end) - at;
        char *to = values + (size_t)(at - first) * value_bytes;
        int whole = at == begin && n == (int64_t)chunk_rows;
        e = chunk_filter_read(s->filter, set, (hsize_t)begin, whole ? to : spare, chunk_rows,
                              value_bytes);
        if (!e && !whole)
            memcpy(to, spare + (size_t)(at - begin) * value_bytes, (size_t)n * value_bytes);
        at += n;
    }
    free(spare);
    return e;
}

static enum err read_column(struct store *s, const struct table *t, const struct table_column *c,
                            int64_t first, int64_t count, void *values)
{
    hid_t set;
    int64_t rows;
    enum err e = open_column(s, t, c, &set, &rows);
    if (e)
        return e;
    if (set < 0) {
        fill_missing(c, values, (size_t)count);
        return ERR_OK;
    }
    e = read_chunks(s, set, column_type_bytes(c->type), first, count, values);
    if (e != ERR_NOT_FOUND) {
        H5Dclose(set);
        if (e == ERR_FORMAT)
            log_error("%s: %s/%s cannot be unpacked: the file is damaged", s->path, t->path,
                      c->name);
        return e;
    }
    e = ERR_OK;
    hsize_t start = (hsize_t)first, n = (hsize_t)count;
    hid_t file = H5Dget_space(set), memory = H5Screate_simple(1, &n, NULL);
    H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &n, NULL);
    if (H5Dread(set, column_native_type(c->type), memory, file, H5P_DEFAULT, values) < 0)
        e = store_refused(s->path, t->path);
    H5Sclose(memory);
    H5Sclose(file);
    H5Dclose(set);
    return e == ERR_HDF5 ? ERR_TRUNCATED : e;
}

static int is_wanted(const struct table_column *c, const char *const *names)
{
    if (names == NULL)
        return 1;
    for (; *names != NULL; names++)
        if (strcmp(c->name, *names) == 0)
            return 1;
    return 0;
}

static enum err check_range(struct store *s, const struct table *t, int64_t first, int64_t count)
{
    int64_t there;
    enum err e = store_rows(s, t, &there);
    if (!e && (first < 0 || count < 0 || first > there || count > there - first)) {
        log_error("%s: rows %lld to %lld of %s are asked for, it has %lld", s->path,
                  (long long)first, (long long)(first + count), t->path, (long long)there);
        e = ERR_LIMIT;
    }
    return e;
}

enum err store_read_columns(struct store *s, const struct table *t, int64_t first, int64_t count,
                            const char *const *names, void *rows)
{
    size_t at, before = *(size_t *)rows;
    enum err e = check_range(s, t, first, count);
    if (e || count == 0)
        return e;
    e = rows_append(rows, t, (size_t)count, &at);
    for (size_t i = 0; i < t->column_count && !e; i++) {
        size_t bytes = column_type_bytes(t->columns[i].type);
        char *values = (char *)rows_column(rows, &t->columns[i]) + at * bytes;
        if (is_wanted(&t->columns[i], names))
            e = read_column(s, t, &t->columns[i], first, count, values);
        else
            memset(values, 0, (size_t)count * bytes);
    }
    if (e)
        *(size_t *)rows = before;
    return e;
}

enum err store_read(struct store *s, const struct table *t, int64_t first, int64_t count,
                    void *rows)
{
    return store_read_columns(s, t, first, count, NULL, rows);
}

static int is_among(const struct table *t, const struct table *const *list)
{
    for (; list != NULL && *list != NULL; list++)
        if (*list == t)
            return 1;
    return 0;
}

enum err store_read_tables(struct store *s, const struct table *list, size_t count, void *tables,
                           const struct table *const *except)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < count && !e; i++) {
        int64_t rows;
        if (is_among(&list[i], except))
            continue;
        e = store_rows(s, &list[i], &rows);
        if (!e)
            e = store_read(s, &list[i], 0, rows, (char *)tables + list[i].rows_offset);
    }
    return e;
}
