#include "tables.h"

#include <stdlib.h>
#include <string.h>

#define TABLE(name, path, meaning) static const struct table_column columns_of_##name[] = {
#define COLUMN(table, name, type, unit, meaning)                                                   \
    {#name, COLUMN_##type, offsetof(struct table##_rows, name), unit, meaning},
#define TABLE_END(name)                                                                            \
    }                                                                                              \
    ;
#include "tables.def"
#include "analysis.def"
#undef TABLE
#undef COLUMN
#undef TABLE_END

#define COLUMN(table, name, type, unit, meaning)
#define TABLE_END(name)
#define TABLE(name, path, meaning)                                                                 \
    {#name,                                                                                        \
     path,                                                                                         \
     meaning,                                                                                      \
     offsetof(struct run_tables, name),                                                            \
     sizeof columns_of_##name / sizeof *columns_of_##name,                                         \
     columns_of_##name},
const struct table run_table_list[] = {
#include "tables.def"
};
#undef TABLE
#define TABLE(name, path, meaning)                                                                 \
    {#name,                                                                                        \
     path,                                                                                         \
     meaning,                                                                                      \
     offsetof(struct analysis_tables, name),                                                       \
     sizeof columns_of_##name / sizeof *columns_of_##name,                                         \
     columns_of_##name},
const struct table analysis_table_list[] = {
#include "analysis.def"
};
#undef TABLE

#define TABLE(name, path, meaning) RUN_TABLE_##name,
enum {
#include "tables.def"
    RUN_TABLE_COUNT
};
#undef TABLE
#define TABLE(name, path, meaning) ANALYSIS_TABLE_##name,
enum {
#include "analysis.def"
    ANALYSIS_TABLE_COUNT
};
#undef TABLE

#define TABLE(name, path, meaning)                                                                 \
    const struct table *const table_##name = &run_table_list[RUN_TABLE_##name];
#include "tables.def"
#undef TABLE
#define TABLE(name, path, meaning)                                                                 \
    const struct table *const table_##name = &analysis_table_list[ANALYSIS_TABLE_##name];
#include "analysis.def"
#undef TABLE

const size_t run_table_count = RUN_TABLE_COUNT, analysis_table_count = ANALYSIS_TABLE_COUNT;

/* What every rows struct begins with. */
struct rows_head {
    size_t count, room;
};

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
#define X(name, ctype) {#name, sizeof(ctype)},
    COLUMN_TYPES(X)
#undef X
};

size_t column_type_bytes(enum column_type type)
{
    return types[type].bytes;
}

const char *column_type_name(enum column_type type)
{
    return types[type].name;
}

static void **column_pointer(void *rows, const struct table_column *c)
{
    return (void **)((char *)rows + c->offset);
}

void *rows_column(const void *rows, const struct table_column *c)
{
    return *(void *const *)((const char *)rows + c->offset);
}

enum err rows_reserve(void *rows, const struct table *t, size_t room)
{
    struct rows_head *head = rows;
    if (room <= head->room)
        return ERR_OK;
    size_t wanted = head->room * 2 > room ? head->room * 2 : room;
    for (size_t i = 0; i < t->column_count; i++) {
        void **column = column_pointer(rows, &t->columns[i]);
        void *larger = reallocarray(*column, wanted, column_type_bytes(t->columns[i].type));
        if (larger == NULL)
            return ERR_NO_MEMORY;
        *column = larger;
    }
    head->room = wanted;
    return ERR_OK;
}

enum err rows_append(void *rows, const struct table *t, size_t n, size_t *first)
{
    struct rows_head *head = rows;
    enum err e = rows_reserve(rows, t, head->count + n);
    if (e)
        return e;
    if (first != NULL)
        *first = head->count;
    head->count += n;
    return ERR_OK;
}

enum err rows_append_all(void *rows, const struct table *t, const void *from)
{
    size_t n = ((const struct rows_head *)from)->count, first;
    enum err e = rows_append(rows, t, n, &first);
    if (e || n == 0)
        return e;
    for (size_t i = 0; i < t->column_count; i++) {
        size_t bytes = column_type_bytes(t->columns[i].type);
        memcpy((char *)rows_column(rows, &t->columns[i]) + first * bytes,
               rows_column(from, &t->columns[i]), n * bytes);
    }
    return ERR_OK;
}

void rows_slice(void *view, const void *rows, const struct table *t, size_t first, size_t count)
{
    struct rows_head *head = view;
    head->count = count;
    head->room = 0;
    for (size_t i = 0; i < t->column_count; i++) {
        char *values = rows_column(rows, &t->columns[i]);
        size_t bytes = column_type_bytes(t->columns[i].type);
        *column_pointer(view, &t->columns[i]) = values ? values + first * bytes : NULL;
    }
}

static void gather_column(char *to, const char *from, size_t bytes, const size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * bytes, from + order[i] * bytes, bytes);
}

enum err rows_permute(void *rows, const struct table *t, const size_t *order)
{
    struct rows_head *head = rows;
    if (head->count == 0)
        return ERR_OK;
    char *spare = malloc(head->count * sizeof(int64_t));
    if (spare == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < t->column_count; i++) {
        size_t bytes = column_type_bytes(t->columns[i].type);
        char *values = rows_column(rows, &t->columns[i]);
        gather_column(spare, values, bytes, order, head->count);
        memcpy(values, spare, head->count * bytes);
    }
    free(spare);
    return ERR_OK;
}

void rows_free(void *rows, const struct table *t)
{
    struct rows_head *head = rows;
    for (size_t i = 0; i < t->column_count; i++) {
        void **column = column_pointer(rows, &t->columns[i]);
        free(*column);
        *column = NULL;
    }
    head->count = head->room = 0;
}

void run_tables_free(struct run_tables *tables)
{
    for (size_t i = 0; i < run_table_count; i++)
        rows_free((char *)tables + run_table_list[i].rows_offset, &run_table_list[i]);
}

void analysis_tables_free(struct analysis_tables *tables)
{
    for (size_t i = 0; i < analysis_table_count; i++)
        rows_free((char *)tables + analysis_table_list[i].rows_offset, &analysis_table_list[i]);
}
