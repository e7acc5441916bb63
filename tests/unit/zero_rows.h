/* Rows for tests that fill in only what they look at. */
#ifndef UNIT_ZERO_ROWS_H
#define UNIT_ZERO_ROWS_H

#include <string.h>

#include "trace/tables.h"

/* Appends `n` rows of zeroes; the index of the first. */
static inline size_t zero_rows(void *rows, const struct table *t, size_t n)
{
    size_t first = 0;
    rows_append(rows, t, n, &first);
    for (size_t c = 0; c < t->column_count; c++) {
        size_t bytes = column_type_bytes(t->columns[c].type);
        memset((char *)rows_column(rows, &t->columns[c]) + first * bytes, 0, n * bytes);
    }
    return first;
}

#endif
