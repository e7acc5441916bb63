/* Numbers as a person reads them, in UTF-8. All write at most UNITS_BYTES with the ending 0 and
 * return `out`. */
#ifndef REPORT_UNITS_H
#define REPORT_UNITS_H

#include <stdint.h>

#define UNITS_BYTES 40

/* Three digits and a unit: "0 ns", "123 ns", "1.23 ms", "45.6 s", "1,234 s"; "?" when not finite.
 */
const char *units_time(char out[UNITS_BYTES], double ns);

/* "5 B", "45.6 MB" (decimal units); "?" for a negative number. */
const char *units_size(char out[UNITS_BYTES], double bytes);

/* "12.3 GB/s". */
const char *units_rate(char out[UNITS_BYTES], double bytes_per_second);

/* "1,234". */
const char *units_count(char out[UNITS_BYTES], int64_t number);

/* "41 %", "0.4 %", "<0.1 %", "0 %". */
const char *units_share(char out[UNITS_BYTES], double share);

/* A length of time a person waits for: "12.3 s", "4 min 05 s", "3 h 02 min". */
const char *units_length(char out[UNITS_BYTES], double ns);

/* One unit for all cells of a column whose largest value is `largest_ns`: divide by it, print so
 * many decimals. */
struct units_column {
    const char *unit;
    double divisor;
    int decimals;
};
struct units_column units_column_for(double largest_ns);
const char *units_cell(char out[UNITS_BYTES], const struct units_column *column, double ns);

#endif
