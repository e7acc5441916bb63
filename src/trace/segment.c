#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

uint32_t segment_take_free(struct segment_header *h)
{
    uint64_t head = atomic_load_explicit(&h->free_chunks, memory_order_acquire);
    for (;;) {
        uint32_t index = (uint32_t)head;
        if (index >= h->chunks_max)
            return SEGMENT_NO_CHUNK;
        struct segment_chunk *chunk = segment_chunk_at(h, index);
        uint32_t next = atomic_load_explicit(&chunk->next, memory_order_relaxed);
        uint64_t tag = (head >> 32) + 1;
        if (atomic_compare_exchange_weak_explicit(&h->free_chunks, &head, tag << 32 | next,
                                                  memory_order_acq_rel, memory_order_acquire)) {
            atomic_fetch_sub_explicit(&h->free_count, 1, memory_order_relaxed);
            return index;
        }
    }
}

void segment_give_free(struct segment_header *h, uint32_t index)
{
    struct segment_chunk *chunk = segment_chunk_at(h, index);
    atomic_store_explicit(&chunk->count, 0, memory_order_relaxed);
    atomic_store_explicit(&chunk->state, CHUNK_FREE, memory_order_release);
    uint64_t head = atomic_load_explicit(&h->free_chunks, memory_order_acquire);
    uint64_t wanted;
    do {
        atomic_store_explicit(&chunk->next, (uint32_t)head, memory_order_relaxed);
        wanted = ((head >> 32) + 1) << 32 | index;
    } while (!atomic_compare_exchange_weak_explicit(&h->free_chunks, &head, wanted,
                                                    memory_order_acq_rel, memory_order_acquire));
    atomic_fetch_add_explicit(&h->free_count, 1, memory_order_relaxed);
}

/* Of two that gave the same chunk memory, one puts it on the list. */
static void add_present(struct segment_header *h, uint32_t index)
{
    uint32_t expected = index;
    if (atomic_compare_exchange_strong(&h->chunks_present, &expected, index + 1))
        segment_give_free(h, index);
}

enum err segment_grow(struct segment_header *h, int fd, uint32_t chunks)
{
    for (uint32_t i = 0; i < chunks; i++) {
        uint32_t index = atomic_load_explicit(&h->chunks_present, memory_order_relaxed);
        if (index >= h->chunks_max)
            return ERR_OK;
        off_t at = (off_t)segment_bytes(h->lanes_max, index);
        int failure = posix_fallocate(fd, at, SEGMENT_CHUNK_BYTES);
        if (failure != 0)
            return err_from_errno(failure);
        add_present(h, index);
    }
    return ERR_OK;
}

enum err segment_grow_mapped(struct segment_header *h)
{
    uint32_t index = atomic_load_explicit(&h->chunks_present, memory_order_relaxed);
    if (index >= h->chunks_max)
        return ERR_LIMIT;
    int before = errno;
    int done = madvise(segment_chunk_at(h, index), SEGMENT_CHUNK_BYTES, MADV_POPULATE_WRITE);
    errno = before;
    if (done != 0)
        return ERR_NO_SPACE;
    add_present(h, index);
    return ERR_OK;
}

/* Four independent multiply-rotate lanes keep the multiplier busy; the constants are odd 64-bit
 * primes. */
uint64_t segment_checksum(const struct segment_chunk *chunk, uint32_t count)
{
    const uint64_t p = 0x9E3779B185EBCA87u, q = 0xC2B2AE3D27D4EB4Fu;
    uint64_t sum[3] = {p ^ count, q + count, p + q};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word[SEGMENT_SLOT_BYTES / 8];
        memcpy(word, &chunk->slots[i], sizeof word);
        for (int k = 0; k < 3; k++) {
            uint64_t x = sum[k] ^ (word[2 * k] * q);
            x = (x << 31 | x >> 33) * p;
            sum[k] = x ^ (word[2 * k + 1] * p);
        }
    }
    uint64_t all = (sum[0] ^ (sum[1] << 21 | sum[1] >> 43)) * q ^ (sum[2] << 42 | sum[2] >> 22);
    return all ^ all >> 29;
}
