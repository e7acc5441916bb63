/* Writes segment and part files slot by slot, for tests of what reads them. */
#ifndef UNIT_SEGMENT_FILE_H
#define UNIT_SEGMENT_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/segment.h"

struct segment_file {
    struct segment_header *h; /* the whole file in memory, room for `chunks` */
    uint32_t chunks;
};

static inline void segment_file_open(struct segment_file *f, int pid, int rank, int size,
                                     uint32_t chunks)
{
    f->chunks = chunks;
    f->h = calloc(1, segment_bytes(SEGMENT_LANES_MAX, chunks));
    memcpy(f->h->magic, SEGMENT_MAGIC, sizeof f->h->magic);
    f->h->version = SEGMENT_VERSION;
    f->h->slot_bytes = SEGMENT_SLOT_BYTES;
    f->h->lanes_max = SEGMENT_LANES_MAX;
    f->h->chunks_max = chunks;
    f->h->pid = pid;
    f->h->process_start = 1000 + pid;
    f->h->rank = rank;
    f->h->size = size;
    f->h->clock_domain = 77;
    f->h->opened_ns = 5000;
    f->h->opened_utc_ns = 1700000000000000000;
    f->h->state = SEGMENT_CLOSED;
    f->h->last_ns = 9000;
    strcpy(f->h->host, "one");
    strcpy(f->h->boot_id, "boot");
}

/* The lane's thread. */
static inline struct segment_lane *segment_file_lane(struct segment_file *f, uint32_t lane,
                                                     uint32_t thread)
{
    struct segment_lane *l = segment_lane_at(f->h, lane);
    l->state = LANE_LIVE;
    l->thread_id = thread;
    snprintf(l->name, sizeof l->name, "thread %u", thread);
    if (f->h->lanes_used <= lane)
        f->h->lanes_used = lane + 1;
    return l;
}

/* A new chunk of the lane. */
static inline struct segment_chunk *segment_file_chunk(struct segment_file *f, uint32_t lane,
                                                       uint32_t sequence)
{
    struct segment_chunk *c = segment_chunk_at(f->h, f->h->chunks_present++);
    c->state = CHUNK_SEALED;
    c->lane = lane;
    c->sequence = sequence;
    return c;
}

static inline void segment_file_put(struct segment_chunk *c, union slot slot)
{
    c->slots[c->count++] = slot;
}

static inline union slot segment_file_event(uint8_t kind, int64_t begin_ns, int64_t duration_ns,
                                            int64_t ref)
{
    return (union slot){.event = {.kind = kind,
                                  .begin_ns = begin_ns,
                                  .duration_ns = duration_ns,
                                  .ref = ref,
                                  .bytes = -1}};
}

static inline union slot segment_file_text(uint32_t number, const char *text)
{
    union slot s = {
        .string = {.kind = SLOT_string, .number = number, .length = (uint32_t)strlen(text)}};
    memcpy(s.string.text, text, strlen(text));
    return s;
}

/* Chunks of a part carry checksums. */
static inline void segment_file_seal(struct segment_file *f)
{
    for (uint32_t i = 0; i < f->h->chunks_present; i++) {
        struct segment_chunk *c = segment_chunk_at(f->h, i);
        c->checksum = segment_checksum(c, c->count);
    }
}

static inline void segment_file_write(const struct segment_file *f, const char *path)
{
    size_t bytes = segment_bytes(SEGMENT_LANES_MAX, f->chunks);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, f->h, bytes) != (ssize_t)bytes)
        perror(path);
    close(fd);
}

static inline void segment_file_close(struct segment_file *f)
{
    free(f->h);
}

#endif
