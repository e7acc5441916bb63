#include "trace/segment.h"

#include <pthread.h>
#include <stdlib.h>

#include "unit/check.h"

#define CHUNKS  8
#define THREADS 4
#define ROUNDS  20000

static struct segment_header *make_segment(void)
{
    struct segment_header *h = calloc(1, segment_bytes(1, CHUNKS));
    h->lanes_max = 1;
    h->chunks_max = CHUNKS;
    h->free_chunks = SEGMENT_NO_CHUNK;
    for (uint32_t i = 0; i < CHUNKS; i++)
        segment_give_free(h, i);
    return h;
}

static void *take_and_give(void *argument)
{
    struct segment_header *h = argument;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t index = segment_take_free(h);
        if (index == SEGMENT_NO_CHUNK)
            continue;
        struct segment_chunk *chunk = segment_chunk_at(h, index);
        uint32_t was = atomic_exchange(&chunk->state, CHUNK_OWNED);
        if (was != CHUNK_FREE)
            return (void *)1;
        segment_give_free(h, index);
    }
    return NULL;
}

static void test_no_chunk_is_given_twice(void)
{
    struct segment_header *h = make_segment();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_and_give, h);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        CHECK(result == NULL);
    }
    int left = 0;
    while (segment_take_free(h) != SEGMENT_NO_CHUNK)
        left++;
    CHECK_EQUAL(left, CHUNKS);
    free(h);
}

static void test_checksum_sees_every_byte(void)
{
    struct segment_header *h = make_segment();
    struct segment_chunk *chunk = segment_chunk_at(h, 0);
    uint64_t before = segment_checksum(chunk, 3);
    CHECK(segment_checksum(chunk, 2) != before);
    for (size_t i = 0; i < 3 * SEGMENT_SLOT_BYTES; i++) {
        char *byte = (char *)chunk->slots + i;
        *byte ^= 1;
        CHECK(segment_checksum(chunk, 3) != before);
        *byte ^= 1;
    }
    free(h);
}

int main(void)
{
    test_no_chunk_is_given_twice();
    test_checksum_sees_every_byte();
    return check_result();
}
