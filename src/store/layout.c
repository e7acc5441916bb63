/* Names, types and attributes of the datasets, from the tables' descriptions. */
#include <stdio.h>
#include <string.h>

#include "store_file.h"
#include "trace/vocabulary.h"

#define LARGE_CHUNK_ROWS 65536
#define SMALL_CHUNK_ROWS 512

hid_t column_native_type(enum column_type type)
{
    switch (type) {
    case COLUMN_I64:
        return H5T_NATIVE_INT64;
    case COLUMN_I32:
        return H5T_NATIVE_INT32;
    case COLUMN_U64:
        return H5T_NATIVE_UINT64;
    case COLUMN_U32:
        return H5T_NATIVE_UINT32;
    case COLUMN_U16:
        return H5T_NATIVE_UINT16;
    case COLUMN_U8:
        return H5T_NATIVE_UINT8;
    case COLUMN_F64:
        return H5T_NATIVE_DOUBLE;
    }
    return H5I_INVALID_HID;
}

hid_t column_file_type(enum column_type type)
{
    switch (type) {
    case COLUMN_I64:
        return H5T_STD_I64LE;
    case COLUMN_I32:
        return H5T_STD_I32LE;
    case COLUMN_U64:
        return H5T_STD_U64LE;
    case COLUMN_U32:
        return H5T_STD_U32LE;
    case COLUMN_U16:
        return H5T_STD_U16LE;
    case COLUMN_U8:
        return H5T_STD_U8LE;
    case COLUMN_F64:
        return H5T_IEEE_F64LE;
    }
    return H5I_INVALID_HID;
}

void column_path(const struct table *t, const struct table_column *c, char out[128])
{
    snprintf(out, 128, "%s/%s", t->path, c->name);
}

enum err attribute_write(struct store *s, hid_t object, const char *name, const char *value)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    size_t length = strlen(value);
    H5Tset_size(type, length ? length : 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    enum err e = ERR_OK;
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, type, value) < 0)
        e = store_refused(s, name);
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return e;
}

/* Only fixed-length texts are read: what we write, and nothing a stranger's file could make large.
 */
enum err attribute_read(hid_t object, const char *name, char *out, size_t size)
{
    char text[4096] = {0};
    out[0] = 0;
    if (H5Aexists(object, name) <= 0)
        return ERR_NOT_FOUND;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    enum err e = ERR_FORMAT;
    if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
        H5Tis_variable_str(type) == 0 && H5Tget_size(type) < sizeof text &&
        H5Sget_simple_extent_npoints(space) == 1 && H5Aread(attribute, type, text) >= 0) {
        snprintf(out, size, "%s", text);
        e = ERR_OK;
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Eclear2(H5E_DEFAULT);
    return e;
}

/* Tables that grow with events get chunks that compress well, the others chunks that cost little.
 */
size_t table_chunk_rows(const struct table *t)
{
    static const char *const large[] = {"events",   "collectives", "messages",
                                        "counters", "syncs",       "string_bytes"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        if (strcmp(t->name, large[i]) == 0)
            return LARGE_CHUNK_ROWS;
    return SMALL_CHUNK_ROWS;
}

static hid_t creation_list(const struct table *t, const struct table_column *c)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t rows = table_chunk_rows(t);
    H5Pset_chunk(list, 1, &rows);
    if (column_type_bytes(c->type) > 1)
        H5Pset_shuffle(list);
    H5Pset_deflate(list, STORE_DEFLATE_LEVEL);
    H5Pset_obj_track_times(list, 0);
    return list;
}

static enum err describe_column(struct store *s, hid_t set, const struct table_column *c)
{
    char values[VALUES_TEXT_BYTES];
    const struct value_set *kinds = value_set_find(c->unit);
    enum err e = attribute_write(s, set, "unit", c->unit);
    if (!e)
        e = attribute_write(s, set, "meaning", c->meaning);
    if (e || kinds == NULL)
        return e;
    value_set_describe(kinds, values);
    return attribute_write(s, set, "values", values);
}

static enum err create_column(struct store *s, const struct table *t, const struct table_column *c,
                              hid_t *out)
{
    char path[128];
    const hsize_t none = 0, unlimited = H5S_UNLIMITED;
    column_path(t, c, path);
    hid_t space = H5Screate_simple(1, &none, &unlimited);
    hid_t links = H5Pcreate(H5P_LINK_CREATE), list = creation_list(t, c);
    H5Pset_create_intermediate_group(links, 1);
    *out = H5Dcreate2(s->file, path, column_file_type(c->type), space, links, list, H5P_DEFAULT);
    enum err e = *out < 0 ? store_refused(s, path) : describe_column(s, *out, c);
    H5Pclose(list);
    H5Pclose(links);
    H5Sclose(space);
    return e;
}

static enum err create_table(struct store *s, const struct table *t, hid_t *sets)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < t->column_count && !e; i++)
        e = create_column(s, t, &t->columns[i], &sets[i]);
    if (e)
        return e;
    hid_t group = H5Gopen2(s->file, t->path, H5P_DEFAULT);
    if (group < 0)
        return store_refused(s, t->path);
    if (H5Aexists(group, "meaning") == 0)
        e = attribute_write(s, group, "meaning", t->meaning);
    H5Gclose(group);
    return e;
}

enum err layout_create(struct store *s)
{
    char version[24];
    enum err e = ERR_OK;
    for (size_t i = 0; i < s->table_count && !e; i++)
        e = create_table(s, &s->tables[i], s->outputs[i].sets);
    if (e)
        return e;
    snprintf(version, sizeof version, "%d.%d", STORE_FORMAT_MAJOR, STORE_FORMAT_MINOR);
    e = store_attribute_all(s, "format", "scaleprof");
    return e ? e : store_attribute_all(s, "format_version", version);
}
