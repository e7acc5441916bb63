#include "collectives/collectives.h"

#include <stdlib.h>

#include "trace/vocabulary.h"
#include "unit/check.h"

static void test_names_and_waits(void)
{
    for (unsigned kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++)
        CHECK_EQUAL(collective_find(collective_name(kind)), kind);
    CHECK_EQUAL(collective_find("allreduce"), COLLECTIVE_allreduce);
    CHECK_EQUAL(collective_find("gossip"), COLLECTIVE_unknown);
    CHECK_TEXT(collective_name(COLLECTIVE_KIND_COUNT), "unknown");
    CHECK_TEXT(collective_name(4000000000u), "unknown");
    CHECK_EQUAL(collective_waits(COLLECTIVE_barrier), COLLECTIVE_WAITS_ALL);
    CHECK_EQUAL(collective_waits(COLLECTIVE_scatterv), COLLECTIVE_WAITS_ROOT_TO_ALL);
    CHECK_EQUAL(collective_waits(COLLECTIVE_reduce), COLLECTIVE_WAITS_ALL_TO_ROOT);
    CHECK_EQUAL(collective_waits(COLLECTIVE_exscan), COLLECTIVE_WAITS_PREFIX);
    CHECK_EQUAL(collective_waits(99), COLLECTIVE_WAITS_NONE);
}

static void test_payload(void)
{
    CHECK_EQUAL(collective_payload(COLLECTIVE_allreduce, 100, 7), 100);
    CHECK_EQUAL(collective_payload(COLLECTIVE_allgather, 10, 80), 80);
    CHECK_EQUAL(collective_payload(COLLECTIVE_reduce_scatter, 80, 10), 80);
    CHECK_EQUAL(collective_payload(COLLECTIVE_alltoall, 80, 81), 81);
    CHECK_EQUAL(collective_payload(COLLECTIVE_broadcast, -1, 5), 5);
    CHECK_EQUAL(collective_payload(COLLECTIVE_allreduce, -1, 5), -1);
}

/* Bandwidths in bytes a second, all exact in binary: 8e9 bytes in 2 s are 4e9 of algorithm
 * bandwidth. */
static void test_bandwidth(void)
{
    const int64_t bytes = 8000000000, ns = 2000000000;
    CHECK(collective_algbw(bytes, ns) == 4e9);
    CHECK(collective_busbw(COLLECTIVE_allreduce, 8, bytes, ns) == 7e9);
    CHECK(collective_busbw(COLLECTIVE_allgather, 8, bytes, ns) == 3.5e9);
    CHECK(collective_busbw(COLLECTIVE_reduce_scatter, 4, bytes, ns) == 3e9);
    CHECK(collective_busbw(COLLECTIVE_alltoall, 2, bytes, ns) == 2e9);
    CHECK(collective_busbw(COLLECTIVE_gather, 2, bytes, ns) == 2e9);
    CHECK(collective_busbw(COLLECTIVE_broadcast, 8, bytes, ns) == 4e9);
    CHECK(collective_busbw(COLLECTIVE_reduce, 8, bytes, ns) == 4e9);
    CHECK(collective_busbw(COLLECTIVE_allreduce, 1, bytes, ns) == 0);
    CHECK(collective_busbw(COLLECTIVE_allreduce, 0, bytes, ns) == 0);
    CHECK(collective_algbw(-1, ns) == 0);
    CHECK(collective_algbw(bytes, 0) == 0);
}

static struct collective_member member(uint64_t communicator, int64_t sequence, int rank, int kind,
                                       int scope, uint64_t row)
{
    return (struct collective_member){communicator,  sequence,       rank,
                                      (uint8_t)kind, (uint8_t)scope, row};
}

static void test_match_by_hand(void)
{
    enum { AR = COLLECTIVE_allreduce, BC = COLLECTIVE_broadcast };
    struct collective_member m[] = {
        member(9, 1, 1, AR, SEQUENCE_COMMUNICATOR, 0),
        member(9, 0, 1, AR, SEQUENCE_COMMUNICATOR, 1),
        member(UINT64_MAX, 0, 0, BC, SEQUENCE_FUNCTION, 2),
        member(UINT64_MAX, 0, 0, AR, SEQUENCE_FUNCTION, 3),
        member(9, 0, 0, BC, SEQUENCE_COMMUNICATOR, 4),
        member(UINT64_MAX, 0, 1, BC, SEQUENCE_FUNCTION, 5),
        member(9, -1, 7, AR, SEQUENCE_COMMUNICATOR, 6),
    };
    const uint64_t rows[] = {6, 4, 1, 0, 2, 5, 3};
    const size_t ends[] = {1, 3, 4, 6, 7};
    size_t count = sizeof m / sizeof *m, first = 0;
    CHECK_EQUAL(collective_match(m, count), ERR_OK);
    for (size_t i = 0; i < count; i++)
        CHECK_EQUAL(m[i].row, rows[i]);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        first = collective_instance_end(m, count, first);
        CHECK_EQUAL(first, ends[i]);
    }
}

static uint64_t random_state = 88172645463325252u;
static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Every instance of `ranks` members comes together again whatever order they come in. */
static void test_match_of_shuffled(void)
{
    enum { RANKS = 7, INSTANCES = 3000, COUNT = RANKS * INSTANCES };
    struct collective_member *m = malloc(COUNT * sizeof *m);
    for (int i = 0; i < COUNT; i++)
        m[i] = member(0x1234567890abcdefu * (uint64_t)(1 + i / RANKS % 3), i / RANKS, i % RANKS,
                      COLLECTIVE_barrier, SEQUENCE_COMMUNICATOR, (uint64_t)i);
    for (int i = COUNT - 1; i > 0; i--) {
        int j = (int)(random_next() % (uint64_t)(i + 1));
        struct collective_member other = m[i];
        m[i] = m[j];
        m[j] = other;
    }
    CHECK_EQUAL(collective_match(m, COUNT), ERR_OK);
    int wrong = 0;
    for (size_t first = 0; first < COUNT;) {
        size_t end = collective_instance_end(m, COUNT, first);
        wrong += end - first != RANKS;
        for (size_t i = first; i < end; i++)
            wrong += m[i].rank != (int32_t)(i - first) || m[i].row / RANKS != m[first].row / RANKS;
        first = end;
    }
    CHECK_EQUAL(wrong, 0);
    free(m);
}

int main(void)
{
    test_names_and_waits();
    test_payload();
    test_bandwidth();
    test_match_by_hand();
    test_match_of_shuffled();
    CHECK_EQUAL(collective_match(NULL, 0), ERR_OK);
    return check_result();
}
