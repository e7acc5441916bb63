/* Rows of the run file in memory: one struct of columns per table, made from tables.def and
 * analysis.def.
 *
 *   struct events_rows e = {0};            no rows; all columns NULL
 *   rows_reserve(&e, table_events, n)      room for n rows in every column
 *   e.begin_ns[i] = ...; e.count = n;
 *   rows_free(&e, table_events)
 *
 * A struct owns its columns unless it is a view made by rows_slice. */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TABLE_NONE UINT32_MAX /* no row, in a U32 column */

#define COLUMN_TYPES(X)                                                                            \
    X(I64, int64_t)                                                                                \
    X(I32, int32_t) X(U64, uint64_t) X(U32, uint32_t) X(U16, uint16_t) X(U8, uint8_t) X(F64, double)

enum column_type {
#define X(name, ctype) COLUMN_##name,
    COLUMN_TYPES(X)
#undef X
};

#define X(name, ctype) typedef ctype column_##name;
COLUMN_TYPES(X)
#undef X

#define TABLE(name, path, meaning)                                                                 \
    struct name##_rows {                                                                           \
        size_t count, room;
#define COLUMN(table, name, type, unit, meaning) column_##type *name;
#define TABLE_END(name)                                                                            \
    }                                                                                              \
    ;
#include "tables.def"
#include "analysis.def"
#undef TABLE
#undef COLUMN
#undef TABLE_END

/* All tables of the recording, and of the analysis, each as one struct. */
#define TABLE(name, path, meaning) struct name##_rows name;
#define COLUMN(table, name, type, unit, meaning)
#define TABLE_END(name)
struct run_tables {
#include "tables.def"
};
struct analysis_tables {
#include "analysis.def"
};
#undef TABLE
#undef COLUMN
#undef TABLE_END

struct table_column {
    const char *name;
    enum column_type type;
    size_t offset; /* of the column's pointer in the rows struct */
    const char *unit, *meaning;
};

struct table {
    const char *name, *path, *meaning;
    size_t rows_offset; /* of the rows struct in run_tables or analysis_tables */
    size_t column_count;
    const struct table_column *columns;
};

/* Descriptions: table_events, ... and both lists in the order of the .def files. */
#define TABLE(name, path, meaning) extern const struct table *const table_##name;
#define COLUMN(table, name, type, unit, meaning)
#define TABLE_END(name)
#include "tables.def"
#include "analysis.def"
#undef TABLE
#undef COLUMN
#undef TABLE_END

extern const struct table run_table_list[], analysis_table_list[];
extern const size_t run_table_count, analysis_table_count;

size_t column_type_bytes(enum column_type type);
const char *column_type_name(enum column_type type);

/* Makes room for `rows` rows in all (doubling); keeps contents. On failure nothing has changed. */
enum err rows_reserve(void *rows, const struct table *t, size_t room);

/* Adds `n` uninitialised rows at the end; *first is the index of the first. */
enum err rows_append(void *rows, const struct table *t, size_t n, size_t *first);

/* Appends copies of all rows of `from`. */
enum err rows_append_all(void *rows, const struct table *t, const void *from);

/* Makes `view` show rows [first, first + count) of `rows`; never free a view. */
void rows_slice(void *view, const void *rows, const struct table *t, size_t first, size_t count);

/* Puts the rows into the order order[0], order[1], ... (a permutation of 0..count-1). */
enum err rows_permute(void *rows, const struct table *t, const size_t *order);

/* The pointer to the values of one column. */
void *rows_column(const void *rows, const struct table_column *c);

/* Frees the columns and makes it an empty struct. */
void rows_free(void *rows, const struct table *t);

/* Frees all tables of the struct. */
void run_tables_free(struct run_tables *tables);
void analysis_tables_free(struct analysis_tables *tables);

#endif
