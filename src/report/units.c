#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    double size;
};

static const struct unit times[] = {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
static const struct unit sizes[] = {{"B", 1},     {"kB", 1e3},  {"MB", 1e6}, {"GB", 1e9},
                                    {"TB", 1e12}, {"PB", 1e15}, {"EB", 1e18}};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Puts commas between groups of three digits of the integer part. */
static void group_digits(char out[UNITS_BYTES], const char *number)
{
    size_t sign = *number == '-', digits = strspn(number + sign, "0123456789"), used = 0;
    for (size_t i = 0; number[i] != 0 && used + 2 < UNITS_BYTES; i++) {
        if (i > sign && i < sign + digits && (sign + digits - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = number[i];
    }
    out[used] = 0;
}

/* How many decimals show three digits of a value. */
static int decimals_of(double value)
{
    double size = fabs(value);
    return size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

static const char *scale(char out[UNITS_BYTES], double value, const struct unit *units,
                         size_t count)
{
    char number[UNITS_BYTES], grouped[UNITS_BYTES];
    size_t u = 0;
    if (!isfinite(value) || fabs(value) > 1e30)
        return strcpy(out, "?");
    while (u + 1 < count && fabs(value) >= 0.9995 * units[u + 1].size)
        u++;
    double scaled = value / units[u].size;
    snprintf(number, sizeof number, "%.*f", u == 0 ? 0 : decimals_of(scaled), scaled);
    group_digits(grouped, number);
    snprintf(out, UNITS_BYTES, "%.31s %s", strcmp(grouped, "-0") == 0 ? "0" : grouped,
             units[u].name);
    return out;
}

const char *units_time(char out[UNITS_BYTES], double ns)
{
    return scale(out, ns, times, COUNT(times));
}

const char *units_size(char out[UNITS_BYTES], double bytes)
{
    return scale(out, bytes < 0 ? NAN : bytes, sizes, COUNT(sizes));
}

const char *units_rate(char out[UNITS_BYTES], double bytes_per_second)
{
    units_size(out, bytes_per_second);
    if (*out != '?')
        strcat(out, "/s");
    return out;
}

const char *units_count(char out[UNITS_BYTES], int64_t number)
{
    char digits[UNITS_BYTES];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    group_digits(out, digits);
    return out;
}

const char *units_share(char out[UNITS_BYTES], double share)
{
    double percent = 100 * share;
    if (!isfinite(percent) || fabs(percent) > 1e9)
        return strcpy(out, "?");
    if (percent == 0)
        return strcpy(out, "0 %");
    if (fabs(percent) < 0.05)
        return strcpy(out, "<0.1 %");
    snprintf(out, UNITS_BYTES, "%.*f %%", fabs(percent) < 9.95 ? 1 : 0, percent);
    return out;
}

const char *units_length(char out[UNITS_BYTES], double ns)
{
    if (!(ns >= 100e9) || ns > 1e18)
        return units_time(out, ns);
    int64_t seconds = (int64_t)(ns / 1e9 + 0.5);
    if (seconds < 3600)
        snprintf(out, UNITS_BYTES, "%" PRId64 " min %02" PRId64 " s", seconds / 60, seconds % 60);
    else
        snprintf(out, UNITS_BYTES, "%" PRId64 " h %02" PRId64 " min", seconds / 3600,
                 seconds / 60 % 60);
    return out;
}

struct units_column units_column_for(double largest_ns)
{
    size_t u = 0;
    while (u + 1 < COUNT(times) && fabs(largest_ns) >= 0.9995 * times[u + 1].size)
        u++;
    return (struct units_column){times[u].name, times[u].size,
                                 u == 0 ? 0 : decimals_of(largest_ns / times[u].size)};
}

const char *units_cell(char out[UNITS_BYTES], const struct units_column *column, double ns)
{
    char number[UNITS_BYTES];
    double scaled = ns / column->divisor;
    if (!isfinite(scaled) || fabs(scaled) > 1e15)
        return strcpy(out, "?");
    snprintf(number, sizeof number, "%.*f", column->decimals, scaled);
    group_digits(out, number);
    return out;
}
