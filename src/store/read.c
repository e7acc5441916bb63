/* Columns out of a file. It may be anybody's: every length and type is looked at before it is
 * believed, and only what lies in the file itself is read. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "store_file.h"

/* Deflate cannot make data shorter than about a thousandth: a column that claims more rows than
 * this for its bytes lies. */
#define MOST_EXPANSION 1100

#define MOST_CHUNK_BYTES ((hsize_t)16 << 20)

/* An open column, with the last chunk that was unpacked for a part of it: ranks lie side by side,
 * and several share a chunk. */
struct input_column {
    hid_t set;          /* -1 when the file has no such column */
    size_t chunk_rows;  /* 0 when HDF5 must unpack */
    int64_t kept_first; /* first row of the chunk in `kept`; -1 none */
    char *kept;
};

static void close_table(struct input_table *in)
{
    for (size_t i = 0; in->columns != NULL && i < in->table->column_count; i++) {
        if (in->columns[i].set >= 0)
            H5Dclose(in->columns[i].set);
        free(in->columns[i].kept);
    }
    free(in->columns);
}

void inputs_close(struct store *s)
{
    for (size_t i = 0; i < s->input_count; i++)
        close_table(&s->inputs[i]);
    free(s->inputs);
    s->inputs = NULL;
    s->input_count = 0;
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

static int is_integer_or_float(hid_t type, const struct table_column *c)
{
    return type >= 0 && H5Tget_class(type) == (c->type == COLUMN_F64 ? H5T_FLOAT : H5T_INTEGER) &&
           H5Tget_size(type) == column_type_bytes(c->type);
}

/* HDF5 may have other filters than those we use, but not fewer. */
static int has_filters(hid_t list)
{
    int count = H5Pget_nfilters(list);
    for (int i = 0; i < count; i++) {
        unsigned flags, values[8];
        size_t n = 8;
        char name[1];
        H5Z_filter_t filter =
            H5Pget_filter2(list, (unsigned)i, &flags, &n, values, sizeof name, name, NULL);
        if (filter < 0 || H5Zfilter_avail(filter) <= 0)
            return 0;
    }
    return count >= 0;
}

/* NULL when the dataset is as we write them: one dimension, chunked inside the file, of the
 * column's class and size, no longer than its bytes can be. */
static const char *find_fault(hid_t set, hid_t space, hid_t type, hid_t list,
                              const struct table_column *c, uint64_t file_bytes, hsize_t *extent)
{
    hsize_t chunk = 0, bytes = H5Dget_storage_size(set);
    if (space < 0 || H5Sget_simple_extent_ndims(space) != 1 ||
        H5Sget_simple_extent_dims(space, extent, NULL) != 1)
        return "it does not have one dimension";
    if (!is_integer_or_float(type, c))
        return "its values are of another type";
    if (list < 0 || H5Pget_layout(list) != H5D_CHUNKED || H5Pget_chunk(list, 1, &chunk) != 1)
        return "it does not lie in chunks of the file";
    if (chunk > MOST_CHUNK_BYTES / column_type_bytes(c->type))
        return "its chunks are too large";
    if (!has_filters(list))
        return "it needs a filter that is not there";
    if (*extent > (bytes < file_bytes ? bytes : file_bytes) * MOST_EXPANSION)
        return "it claims more rows than its bytes can hold";
    return NULL;
}

static enum err check_column(struct store *s, struct input_column *in, const char *path,
                             const struct table_column *c, int64_t *rows)
{
    struct stat status;
    hsize_t extent = 0;
    hid_t space = H5Dget_space(in->set), type = H5Dget_type(in->set);
    hid_t list = H5Dget_create_plist(in->set);
    uint64_t file_bytes = stat(s->path, &status) == 0 ? (uint64_t)status.st_size : 0;
    const char *fault = find_fault(in->set, space, type, list, c, file_bytes, &extent);
    if (fault == NULL && H5Tequal(type, column_file_type(c->type)) > 0)
        in->chunk_rows = (size_t)chunk_filter_rows(in->set, column_type_bytes(c->type));
    H5Pclose(list);
    H5Tclose(type);
    H5Sclose(space);
    H5Eclear2(H5E_DEFAULT);
    *rows = (int64_t)extent;
    if (fault == NULL)
        return ERR_OK;
    log_error("%s: %s is not a column as scaleprof writes it: %s", s->path, path, fault);
    return ERR_FORMAT;
}

/* A column that the file lacks stays closed: *rows is then -1. */
static enum err open_column(struct store *s, const struct table *t, const struct table_column *c,
                            struct input_column *in, int64_t *rows)
{
    char path[128];
    column_path(t, c, path);
    *rows = -1;
    if (!is_inside(s->file, path)) {
        H5Eclear2(H5E_DEFAULT);
        return ERR_OK;
    }
    in->set = H5Dopen2(s->file, path, H5P_DEFAULT);
    if (in->set >= 0)
        return check_column(s, in, path, c, rows);
    store_refused(s, path);
    return ERR_FORMAT;
}

static enum err open_columns(struct store *s, struct input_table *in)
{
    const struct table *t = in->table;
    enum err e = ERR_OK;
    in->rows = -1;
    for (size_t i = 0; i < t->column_count && !e; i++) {
        int64_t rows;
        e = open_column(s, t, &t->columns[i], &in->columns[i], &rows);
        if (!e && rows >= 0 && in->rows >= 0 && rows != in->rows) {
            log_error("%s: the columns of %s differ in length (%lld and %lld rows)", s->path,
                      t->path, (long long)in->rows, (long long)rows);
            e = ERR_FORMAT;
        }
        if (rows >= 0)
            in->rows = rows;
    }
    if (in->rows < 0)
        in->rows = 0;
    return e;
}

/* The table's open columns, kept until the file is closed. */
static enum err find_table(struct store *s, const struct table *t, struct input_table **out)
{
    for (size_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].table == t) {
            *out = &s->inputs[i];
            return ERR_OK;
        }
    struct input_table *larger = reallocarray(s->inputs, s->input_count + 1, sizeof *larger);
    if (larger == NULL)
        return ERR_NO_MEMORY;
    s->inputs = larger;
    struct input_table in = {.table = t, .columns = calloc(t->column_count, sizeof *in.columns)};
    if (in.columns == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < t->column_count; i++)
        in.columns[i] = (struct input_column){.set = -1, .kept_first = -1};
    enum err e = open_columns(s, &in);
    if (e) {
        close_table(&in);
        return e;
    }
    s->inputs[s->input_count] = in;
    *out = &s->inputs[s->input_count++];
    return ERR_OK;
}

enum err store_rows(struct store *s, const struct table *t, int64_t *count)
{
    struct input_table *in;
    enum err e = find_table(s, t, &in);
    if (!e)
        *count = in->rows;
    return e;
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

/* The chunk that begins at row `begin`, unpacked, in in->kept. */
static enum err keep_chunk(struct store *s, struct input_column *in, int64_t begin, size_t bytes)
{
    if (in->kept_first == begin)
        return ERR_OK;
    if (in->kept == NULL && (in->kept = malloc(in->chunk_rows * bytes)) == NULL)
        return ERR_NO_MEMORY;
    in->kept_first = -1;
    enum err e =
        chunk_filter_read(s->filter, in->set, (hsize_t)begin, in->kept, in->chunk_rows, bytes);
    if (!e)
        in->kept_first = begin;
    return e;
}

/* Reads values chunk by chunk past HDF5's filters. ERR_NOT_FOUND when HDF5 must do it. */
static enum err read_chunks(struct store *s, struct input_column *in, size_t bytes, int64_t first,
                            int64_t count, char *values)
{
    int64_t chunk_rows = (int64_t)in->chunk_rows, end = first + count;
    enum err e = in->chunk_rows == 0 ? ERR_NOT_FOUND : ERR_OK;
    if (!e && s->filter == NULL)
        e = chunk_filter_open(&s->filter);
    for (int64_t at = first; at < end && !e;) {
        int64_t begin = at - at % chunk_rows, next = begin + chunk_rows;
        int64_t n = (next < end ? next : end) - at;
        char *to = values + (size_t)(at - first) * bytes;
        if (n == chunk_rows) {
            e = chunk_filter_read(s->filter, in->set, (hsize_t)begin, to, in->chunk_rows, bytes);
        } else {
            e = keep_chunk(s, in, begin, bytes);
            if (!e)
                memcpy(to, in->kept + (size_t)(at - begin) * bytes, (size_t)n * bytes);
        }
        at += n;
    }
    return e;
}

static enum err read_by_hdf5(struct store *s, hid_t set, const struct table *t,
                             const struct table_column *c, int64_t first, int64_t count,
                             void *values)
{
    hsize_t start = (hsize_t)first, n = (hsize_t)count;
    hid_t file = H5Dget_space(set), memory = H5Screate_simple(1, &n, NULL);
    enum err e = ERR_OK;
    H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &n, NULL);
    if (H5Dread(set, column_native_type(c->type), memory, file, H5P_DEFAULT, values) < 0)
        e = store_refused(s, t->path);
    H5Sclose(memory);
    H5Sclose(file);
    return e == ERR_HDF5 ? ERR_FORMAT : e;
}

static enum err read_column(struct store *s, const struct table *t, size_t column,
                            struct input_column *in, int64_t first, int64_t count, void *values)
{
    const struct table_column *c = &t->columns[column];
    if (in->set < 0) {
        fill_missing(c, values, (size_t)count);
        return ERR_OK;
    }
    enum err e = read_chunks(s, in, column_type_bytes(c->type), first, count, values);
    if (e == ERR_NOT_FOUND)
        return read_by_hdf5(s, in->set, t, c, first, count, values);
    H5Eclear2(H5E_DEFAULT);
    if (e == ERR_FORMAT)
        log_error("%s: %s/%s cannot be unpacked: the file is damaged", s->path, t->path, c->name);
    return e;
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

static enum err find_range(struct store *s, const struct table *t, int64_t first, int64_t count,
                           struct input_table **out)
{
    enum err e = find_table(s, t, out);
    if (e)
        return e;
    int64_t there = (*out)->rows;
    if (first >= 0 && count >= 0 && first <= there && count <= there - first)
        return ERR_OK;
    log_error("%s: %lld rows from row %lld of %s are asked for, it has %lld", s->path,
              (long long)count, (long long)first, t->path, (long long)there);
    return ERR_LIMIT;
}

enum err store_read_columns(struct store *s, const struct table *t, int64_t first, int64_t count,
                            const char *const *names, void *rows)
{
    struct input_table *in;
    size_t at, before = rows_struct_count(rows);
    enum err e = find_range(s, t, first, count, &in);
    if (e || count == 0)
        return e;
    e = rows_append(rows, t, (size_t)count, &at);
    for (size_t i = 0; i < t->column_count && !e; i++) {
        size_t bytes = column_type_bytes(t->columns[i].type);
        char *values = (char *)rows_column(rows, &t->columns[i]) + at * bytes;
        if (is_wanted(&t->columns[i], names))
            e = read_column(s, t, i, &in->columns[i], first, count, values);
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

/* Every table of the one would be empty in the other, which says nothing to a person. */
static enum err check_content(struct store *s, const struct table *list)
{
    char content[16];
    const char *wanted = list == run_table_list ? "recording" : "analysis";
    enum err e = store_read_attribute(s, "content", content, sizeof content);
    if (e || content[0] == 0 || strcmp(content, wanted) == 0)
        return e;
    log_error("%s holds %s, where %s is needed", s->path,
              list == run_table_list ? "an analysis" : "a recording",
              list == run_table_list ? "the run file that it was made from" : "an analysis");
    return ERR_FORMAT;
}

enum err store_read_tables(struct store *s, const struct table *list, size_t count, void *tables,
                           const struct table *const *except)
{
    enum err e = check_content(s, list);
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
