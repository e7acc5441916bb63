/* Order statistics of numbers. */
#ifndef REDUCE_LISTS_H
#define REDUCE_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

/* The element at place `k` (from 0) of the sorted values; reorders them. Linear on average. */
int64_t lists_select(int64_t *values, size_t count, size_t k);

/* The lower median: of two middle values the smaller. 0 for none. Reorders. */
int64_t lists_median(int64_t *values, size_t count);

#endif
