#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

void sample_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, compare);
}

double sample_quantile(const double *sorted, size_t count, double p)
{
    if (count == 0)
        return 0;
    if (!(p > 0))
        return sorted[0];
    if (p >= 1)
        return sorted[count - 1];
    double place = p * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

double sample_median(const double *sorted, size_t count)
{
    return sample_quantile(sorted, count, 0.5);
}

double sample_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count > 0 ? sum / (double)count : 0;
}

double sample_variation(const double *values, size_t count)
{
    double mean = sample_mean(values, count), squares = 0;
    if (count < 2 || mean == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(count - 1)) / mean;
}

static double median_of_part(const double *values, size_t count, double *scratch)
{
    memcpy(scratch, values, count * sizeof *values);
    sample_sort(scratch, count);
    return sample_median(scratch, count);
}

double sample_trend(const double *values, size_t count)
{
    size_t third = count / 3;
    if (count < SAMPLE_TREND_LEAST)
        return 0;
    double *scratch = malloc(third * sizeof *scratch);
    if (scratch == NULL)
        return 0;
    double first = median_of_part(values, third, scratch);
    double last = median_of_part(values + count - third, third, scratch);
    free(scratch);
    return first > 0 ? last / first - 1 : 0;
}
