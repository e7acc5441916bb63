/* Reading UTF-8 that may be anything. */
#ifndef REPORT_UTF8_H
#define REPORT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/* The code point at *text, which moves past it; a byte that begins none is UTF8_INVALID and one
 * byte long (overlong forms, surrogates and numbers beyond 10FFFF are invalid). 0 at the end. */
uint32_t utf8_next(const char **text);

/* Columns of the code point on a terminal: 1 or 2; 0 when a terminal must not get it (control,
 * combining, joining, direction-changing, invisible). */
int utf8_columns(uint32_t code);

/* Writes the name for a person to out[0..size): what must not be shown becomes \xNN (bytes) or
 * \u{N} (code points), and a name of more than `columns` columns loses its middle to "…". `size` >=
 * 4 * columns + 8. Returns its columns. */
size_t utf8_clean(char *out, size_t size, const char *name, size_t columns);

#endif
