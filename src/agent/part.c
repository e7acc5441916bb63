#include "part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"
#include "base/log.h"

#define GROW_CHUNKS 64u

static int shape_fits(const struct segment_header *h, uint64_t bytes)
{
    return memcmp(h->magic, SEGMENT_MAGIC, sizeof h->magic) == 0 && h->version == SEGMENT_VERSION &&
           h->slot_bytes == SEGMENT_SLOT_BYTES && h->lanes_max == SEGMENT_LANES_MAX &&
           segment_bytes(h->lanes_max, h->chunks_max) == bytes;
}

static enum err map_segment(struct part *p)
{
    struct stat status;
    p->segment_fd = open(p->segment_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (p->segment_fd < 0)
        return err_from_errno(errno);
    if (fstat(p->segment_fd, &status) != 0 ||
        (uint64_t)status.st_size < segment_bytes(SEGMENT_LANES_MAX, 0))
        return ERR_FORMAT;
    p->segment_bytes = (uint64_t)status.st_size;
    void *memory =
        mmap(NULL, p->segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->segment_fd, 0);
    if (memory == MAP_FAILED)
        return err_from_errno(errno);
    p->segment = memory;
    return shape_fits(p->segment, p->segment_bytes) ? ERR_OK : ERR_FORMAT;
}

static enum err make_part(struct part *p, const char *parts)
{
    const struct segment_header *h = p->segment;
    if (asprintf(&p->part_path, "%s/%.64s.%d.%lld.part", parts, h->host, h->pid,
                 (long long)h->process_start) < 0)
        return ERR_NO_MEMORY;
    p->part_fd = open(p->part_path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (p->part_fd >= 0)
        return ERR_OK;
    log_error("%s cannot be made: %s", p->part_path, strerror(errno));
    return err_from_errno(errno);
}

enum err part_open(struct part *out, const char *segment_path, const char *parts)
{
    struct part p = {.segment_fd = -1, .part_fd = -1, .segment_path = strdup(segment_path)};
    enum err e = p.segment_path ? map_segment(&p) : ERR_NO_MEMORY;
    if (!e)
        e = make_part(&p, parts);
    if (e) {
        part_close(&p);
        return e;
    }
    *out = p;
    return ERR_OK;
}

void part_close(struct part *p)
{
    if (p->segment != NULL)
        munmap(p->segment, p->segment_bytes);
    if (p->segment_fd >= 0)
        close(p->segment_fd);
    if (p->part_fd >= 0)
        close(p->part_fd);
    free(p->segment_path);
    free(p->part_path);
    *p = (struct part){.segment_fd = -1, .part_fd = -1};
}

static enum err write_at(struct part *p, const void *data, size_t bytes, uint64_t at)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t n = pwrite(p->part_fd, from, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            log_error("%s cannot be written: %s; its process's data stays in %s", p->part_path,
                      n < 0 ? strerror(errno) : "no progress", p->segment_path);
            p->failed = 1;
            return n < 0 ? err_from_errno(errno) : ERR_IO;
        }
        from += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return ERR_OK;
}

/* The header says how many chunks the part has; lanes that were never used stay a hole in the file.
 */
static enum err write_head(struct part *p)
{
    struct segment_header head;
    memcpy(&head, p->segment, sizeof head);
    head.chunks_max = p->chunks_written;
    head.chunks_present = p->chunks_written;
    uint32_t lanes =
        p->segment->lanes_used < SEGMENT_LANES_MAX ? p->segment->lanes_used : SEGMENT_LANES_MAX;
    enum err e = write_at(p, segment_lane_at(p->segment, 0), (size_t)lanes * SEGMENT_LANE_BYTES,
                          SEGMENT_HEADER_BYTES);
    if (!e)
        e = write_at(p, &head, sizeof head, 0);
    if (!e &&
        ftruncate(p->part_fd, (off_t)segment_bytes(SEGMENT_LANES_MAX, p->chunks_written)) != 0)
        e = err_from_errno(errno);
    return e;
}

/* Copies what is published of one chunk; its header in the part says so, with a checksum. */
static enum err copy_chunk(struct part *p, const struct segment_chunk *chunk)
{
    uint32_t count = atomic_load_explicit(&chunk->count, memory_order_acquire);
    if (count > SEGMENT_CHUNK_SLOTS)
        count = SEGMENT_CHUNK_SLOTS;
    struct segment_chunk *copy = malloc(SEGMENT_CHUNK_BYTES);
    if (copy == NULL)
        return ERR_NO_MEMORY;
    memset(copy, 0, SEGMENT_CHUNK_HEADER);
    memcpy(copy->slots, chunk->slots, (size_t)count * SEGMENT_SLOT_BYTES);
    copy->state = CHUNK_SEALED;
    copy->lane = chunk->lane;
    copy->sequence = chunk->sequence;
    copy->count = count;
    copy->checksum = segment_checksum(copy, count);
    enum err e = write_at(p, copy, SEGMENT_CHUNK_HEADER + (size_t)count * SEGMENT_SLOT_BYTES,
                          segment_bytes(SEGMENT_LANES_MAX, p->chunks_written));
    free(copy);
    if (!e)
        p->chunks_written++;
    return e;
}

static void top_up(struct part *p)
{
    struct segment_header *h = p->segment;
    uint32_t present = atomic_load(&h->chunks_present), free_now = atomic_load(&h->free_count);
    if (present >= h->chunks_max || free_now >= present / 2 || free_now >= GROW_CHUNKS)
        return;
    segment_grow(h, p->segment_fd, present < GROW_CHUNKS ? present + 1 : GROW_CHUNKS);
}

/* The head is written before the chunks are given back: a chunk is then either still in the segment
 * or found through the part's head. At the last time nothing is given back: the process may live on
 * and write into what it owns. */
static uint32_t drain_state(struct part *p, uint32_t least_state)
{
    struct segment_header *h = p->segment;
    uint32_t present = atomic_load(&h->chunks_present), copied = 0;
    uint32_t *taken = malloc((present + 1) * sizeof *taken);
    if (taken == NULL)
        return 0;
    if (present > h->chunks_max)
        present = h->chunks_max;
    for (uint32_t i = 0; i < present && !p->failed; i++) {
        struct segment_chunk *chunk = segment_chunk_at(h, i);
        if (atomic_load_explicit(&chunk->state, memory_order_acquire) >= least_state &&
            copy_chunk(p, chunk) == ERR_OK)
            taken[copied++] = i;
    }
    int last = least_state == CHUNK_OWNED;
    if ((copied > 0 || last) && !p->failed && write_head(p) == ERR_OK && !last)
        for (uint32_t i = 0; i < copied; i++)
            segment_give_free(h, taken[i]);
    free(taken);
    return copied;
}

uint32_t part_drain(struct part *p)
{
    uint32_t copied = p->failed ? 0 : drain_state(p, CHUNK_SEALED);
    top_up(p);
    return copied;
}

int part_is_live(const struct part *p)
{
    return host_process_start(p->segment->pid) == p->segment->process_start &&
           !host_process_is_zombie(p->segment->pid);
}

enum err part_finish(struct part *p)
{
    if (!p->failed)
        drain_state(p, CHUNK_OWNED);
    if (p->failed)
        return ERR_IO;
    if (fsync(p->part_fd) != 0 && errno != EINVAL) {
        log_error("%s cannot be made lasting: %s", p->part_path, strerror(errno));
        return err_from_errno(errno);
    }
    unlink(p->segment_path);
    return ERR_OK;
}
