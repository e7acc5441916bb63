#include "gather/order.h"

#include <stdlib.h>

#include "unit/check.h"

static uint64_t random_state = 88172645463325252u;
static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static struct events_rows make_rows(size_t count)
{
    struct events_rows e = {0};
    CHECK_EQUAL(rows_append(&e, table_events, count, NULL), ERR_OK);
    return e;
}

/* Every row once, by begin, then longest first, then as they stood. */
static long faults_in(const struct events_rows *e, const size_t *order)
{
    long faults = 0;
    unsigned char *seen = calloc(e->count + 1, 1);
    for (size_t k = 0; k < e->count; k++) {
        size_t b = order[k], a = k > 0 ? order[k - 1] : b;
        faults += b >= e->count || seen[b]++;
        int64_t later = e->begin_ns[b] - e->begin_ns[a];
        int64_t shorter = e->duration_ns[a] - e->duration_ns[b];
        faults += k > 0 && (later < 0 || (later == 0 && (shorter < 0 || (shorter == 0 && a > b))));
    }
    free(seen);
    return faults;
}

static void check_order(struct events_rows *e, const size_t *ends, size_t runs)
{
    size_t *order = malloc((e->count + 1) * sizeof *order);
    CHECK_EQUAL(order_events(e, ends, runs, order), ERR_OK);
    CHECK_EQUAL(faults_in(e, order), 0);
    free(order);
    rows_free(e, table_events);
}

/* Lanes as they are recorded: an interval after those it encloses, lanes at the same times. */
static void test_nested_lanes(size_t lanes)
{
    enum { EACH = 1000 };
    struct events_rows e = make_rows(lanes * EACH);
    size_t *ends = calloc(lanes, sizeof *ends);
    for (size_t lane = 0; lane < lanes; lane++) {
        ends[lane] = (lane + 1) * EACH;
        for (size_t i = 0; i < EACH; i++) {
            size_t row = lane * EACH + i;
            int outer = i % 10 == 9;
            e.begin_ns[row] = (int64_t)(outer ? i - 9 : i) * 100;
            e.duration_ns[row] = outer ? 990 : (int64_t)(i % 3) * 30;
        }
    }
    check_order(&e, ends, lanes);
    free(ends);
}

static void test_a_known_order(void)
{
    static const int64_t begins[] = {10, 20, 10, 5, 10}, durations[] = {1, 1, 30, 1, 1};
    static const size_t wanted[] = {3, 2, 0, 4, 1}, ends[] = {3, 5};
    struct events_rows e = make_rows(5);
    size_t order[6];
    for (int i = 0; i < 5; i++) {
        e.begin_ns[i] = begins[i];
        e.duration_ns[i] = durations[i];
    }
    CHECK_EQUAL(order_events(&e, ends, 2, order), ERR_OK);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(order[i], wanted[i]);
    rows_free(&e, table_events);
}

/* Rows in no order, and from last to first: no quadratic time (400,000 rows would take minutes). */
static void test_unordered_lanes(int backwards)
{
    enum { COUNT = 400000 };
    struct events_rows e = make_rows(COUNT);
    const size_t ends[] = {7, COUNT - 3, COUNT};
    for (size_t i = 0; i < COUNT; i++) {
        e.begin_ns[i] = backwards ? (int64_t)(COUNT - i) : (int64_t)(random_next() % 100000);
        e.duration_ns[i] = (int64_t)(random_next() % 5);
    }
    check_order(&e, ends, 3);
}

int main(void)
{
    test_a_known_order();
    for (size_t lanes = 1; lanes < 9; lanes++)
        test_nested_lanes(lanes);
    test_unordered_lanes(0);
    test_unordered_lanes(1);
    return check_result();
}
