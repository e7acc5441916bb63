/* Which rows are the largest. */
#ifndef REPORT_RANKING_H
#define REPORT_RANKING_H

#include <stddef.h>
#include <stdint.h>

/* Writes the rows of the `wanted` largest values to out, largest first, equal ones in order of row;
 * returns how many (fewer when there are fewer rows). */
size_t ranking_largest(size_t *out, size_t wanted, const int64_t *values, size_t count);

/* The number as such a value: whole, and the nearest one there is. */
int64_t ranking_value(double number);

#endif
