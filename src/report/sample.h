/* Order statistics of a sample. Pure functions; every result is finite for finite input, and 0 for
 * an empty one. */
#ifndef REPORT_SAMPLE_H
#define REPORT_SAMPLE_H

#include <stddef.h>

/* Sorts upwards; what is not a number goes to the end. */
void sample_sort(double *values, size_t count);

/* Of sorted values: linear between neighbours (Hyndman and Fan's type 7, as numpy and R do by
 * default). */
double sample_quantile(const double *sorted, size_t count, double p);
double sample_median(const double *sorted, size_t count);

double sample_mean(const double *values, size_t count);

/* Standard deviation (n - 1) over mean; 0 for fewer than two values or a mean of 0. */
double sample_variation(const double *values, size_t count);

/* Median of the last third over the median of the first third, minus 1, of values in order of time:
 * how much slower the end is. 0 for fewer than SAMPLE_TREND_LEAST values, or without memory. */
#define SAMPLE_TREND_LEAST 9
double sample_trend(const double *values, size_t count);

#endif
