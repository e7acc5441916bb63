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
