#include "reduce/intervals.h"

#include <stdlib.h>

#include "reduce/lists.h"
#include "reduce/repeats.h"
#include "unit/check.h"
#include "unit/simulate.h"

#define LENGTH 300

/* A set painted nanosecond by nanosecond. */
static void paint(const struct intervals *s, char *cells)
{
    memset(cells, 0, LENGTH);
    for (size_t i = 0; i < s->count; i++)
        for (int64_t t = s->list[i].begin_ns; t < s->list[i].end_ns; t++)
            cells[t] = 1;
}

static void make_set(struct intervals *s, uint64_t *random, char *cells)
{
    int count = (int)simulation_random(random, 20);
    for (int i = 0; i < count; i++) {
        int64_t begin = simulation_random(random, LENGTH);
        intervals_add(s, begin, begin + simulation_random(random, LENGTH - begin) / 4);
    }
    paint(s, cells);
    intervals_normalise(s);
}

static void check_set(const struct intervals *s, const char *wanted)
{
    char cells[LENGTH];
    paint(s, cells);
    CHECK(memcmp(cells, wanted, LENGTH) == 0);
    for (size_t i = 0; i < s->count; i++)
        CHECK(s->list[i].begin_ns < s->list[i].end_ns &&
              (i == 0 || s->list[i - 1].end_ns < s->list[i].begin_ns));
}

static void test_sets_against_a_painter(void)
{
    uint64_t random = 7;
    for (int round = 0; round < 2000; round++) {
        struct intervals a = {0}, b = {0}, both = {0}, without = {0};
        char in_a[LENGTH], in_b[LENGTH], in_both[LENGTH], in_without[LENGTH];
        int64_t total = 0;
        make_set(&a, &random, in_a);
        make_set(&b, &random, in_b);
        for (int t = 0; t < LENGTH; t++) {
            in_both[t] = in_a[t] && in_b[t];
            in_without[t] = in_a[t] && !in_b[t];
            total += in_a[t];
        }
        check_set(&a, in_a);
        CHECK_EQUAL(intervals_intersect(&both, &a, &b), ERR_OK);
        CHECK_EQUAL(intervals_subtract(&without, &a, &b), ERR_OK);
        check_set(&both, in_both);
        check_set(&without, in_without);
        CHECK_EQUAL(intervals_total(&a), total);
        int64_t *sums = intervals_sums(&a);
        size_t cursor = 0, long_cursor = 0;
        for (int64_t from = 0, sum = 0; from < LENGTH; from += 37) {
            for (int64_t t = from; t < from + 60 && t < LENGTH; t++)
                sum += in_a[t];
            CHECK_EQUAL(intervals_measure(&a, from, from + 60, &cursor), sum);
            CHECK_EQUAL(intervals_measure_long(&a, sums, from, from + 60, &long_cursor), sum);
            sum = 0;
        }
        free(sums);
        intervals_free(&a);
        intervals_free(&b);
        intervals_free(&both);
        intervals_free(&without);
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void test_select_against_sorting(void)
{
    uint64_t random = 9;
    for (int round = 0; round < 500; round++) {
        int64_t values[60], sorted[60];
        size_t count = 1 + (size_t)simulation_random(&random, 60);
        for (size_t i = 0; i < count; i++)
            values[i] = sorted[i] = simulation_random(&random, 20) - 10;
        qsort(sorted, count, sizeof *sorted, compare);
        size_t k = (size_t)simulation_random(&random, (int64_t)count);
        CHECK_EQUAL(lists_select(values, count, k), sorted[k]);
        CHECK_EQUAL(lists_median(values, count), sorted[(count - 1) / 2]);
    }
}

static void test_repeats(void)
{
    uint64_t s[100];
    struct repeats r;
    for (int i = 0; i < 100; i++)
        s[i] = i < 7 ? (uint64_t)(1000 + i) : (uint64_t)((i - 7) % 3);
    CHECK(repeats_find(s, 100, &r));
    CHECK_EQUAL(r.period, 3);
    CHECK_EQUAL(r.first, 7);
    CHECK_EQUAL(r.times, 31);
    for (int i = 0; i < 100; i++)
        s[i] = (uint64_t)i;
    CHECK(!repeats_find(s, 100, &r));
    CHECK(!repeats_find(s, 0, &r));
}

int main(void)
{
    test_sets_against_a_painter();
    test_select_against_sorting();
    test_repeats();
    return check_result();
}
