#include "ranking.h"

size_t ranking_largest(size_t *out, size_t wanted, const int64_t *values, size_t count)
{
    size_t n = 0;
    for (size_t row = 0; row < count && wanted > 0; row++) {
        if (n == wanted && values[row] <= values[out[n - 1]])
            continue;
        size_t place = n < wanted ? n++ : n - 1;
        for (; place > 0 && values[row] > values[out[place - 1]]; place--)
            out[place] = out[place - 1];
        out[place] = row;
    }
    return n;
}

int64_t ranking_value(double number)
{
    if (number >= 9.2e18)
        return INT64_MAX;
    return number > -9.2e18 ? (int64_t)number : INT64_MIN; /* also what is not a number */
}
