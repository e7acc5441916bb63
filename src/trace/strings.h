/* A set of texts with dense numbers; number 0 is "". Text of any bytes without 0. */
#ifndef TRACE_STRINGS_H
#define TRACE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/tables.h"

struct strings; /* grows; owned by who made it */

enum err strings_open(struct strings **out);
void strings_close(struct strings *s);

/* The number of the text, adding it when new. TABLE_NONE when memory is out. */
uint32_t strings_put(struct strings *s, const char *text, size_t length);
uint32_t strings_put_text(struct strings *s, const char *text);

/* The number of the text; TABLE_NONE when it is not there. */
uint32_t strings_find_text(const struct strings *s, const char *text);

/* The text of a number ("" when there is none), 0-terminated; lives until the next put. */
const char *strings_get(const struct strings *s, uint32_t number);
size_t strings_count(const struct strings *s);

/* Sorts the texts by their bytes, "" first. map[old number] = new number; map has strings_count
 * entries. */
enum err strings_sort(struct strings *s, uint32_t *map);

/* To and from the two tables of the file. load checks every end against the bytes (ERR_FORMAT). */
enum err strings_store(const struct strings *s, struct string_bytes_rows *bytes,
                       struct string_ends_rows *ends);
enum err strings_load(struct strings *s, const struct string_bytes_rows *bytes,
                      const struct string_ends_rows *ends);

#endif
