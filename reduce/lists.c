#include "lists.h"

static void swap(int64_t *a, int64_t *b)
{
    int64_t t = *a;
    *a = *b;
    *b = t;
}

int64_t lists_select(int64_t *values, size_t count, size_t k)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        int64_t pivot = values[low + (high - low) / 2];
        size_t less = low, more = high;
        for (size_t i = low; i < more;) {
            if (values[i] < pivot)
                swap(&values[i++], &values[less++]);
            else if (values[i] > pivot)
                swap(&values[i], &values[--more]);
            else
                i++;
        }
        if (k < less)
            high = less;
        else if (k >= more)
            low = more;
        else
            return pivot;
    }
    return values[low];
}

int64_t lists_median(int64_t *values, size_t count)
{
    return count > 0 ? lists_select(values, count, (count - 1) / 2) : 0;
}
