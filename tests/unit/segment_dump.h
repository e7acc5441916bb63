/* A small reader of a segment for the recorder's own tests. */
#ifndef UNIT_SEGMENT_DUMP_H
#define UNIT_SEGMENT_DUMP_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/segment.h"

/* Opens the segment file of process `pid` in `folder`; -1 when there is none. */
static inline int dump_open_file(const char *folder, int pid)
{
    char path[600], prefix[20];
    int fd = -1;
    snprintf(prefix, sizeof prefix, "%d.", pid);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; fd < 0 && dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        fd = open(path, O_RDWR | O_CLOEXEC);
    }
    if (dir != NULL)
        closedir(dir);
    return fd;
}

/* Maps the segment of process `pid` in `folder`; NULL when there is none. */
static inline struct segment_header *dump_open(const char *folder, int pid)
{
    struct stat status;
    int fd = dump_open_file(folder, pid);
    void *memory = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0)
        memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return memory != MAP_FAILED ? memory : NULL;
}

/* Calls `visit` for each published slot of a lane in order, but for the further slots of a text.
 * Returns how many slots there were. */
static inline uint64_t dump_lane(struct segment_header *h, uint32_t lane,
                                 void (*visit)(const union slot *slot, void *context),
                                 void *context)
{
    uint64_t slots = 0;
    for (uint32_t sequence = 0;; sequence++) {
        struct segment_chunk *found = NULL;
        for (uint32_t i = 0; i < h->chunks_present && found == NULL; i++) {
            struct segment_chunk *c = segment_chunk_at(h, i);
            if (c->state >= CHUNK_OWNED && c->lane == lane && c->sequence == sequence)
                found = c;
        }
        if (found == NULL)
            return slots;
        slots += found->count;
        for (uint32_t i = 0; visit != NULL && i < found->count; i++) {
            const union slot *slot = &found->slots[i];
            visit(slot, context);
            i += slot->kind == SLOT_string ? slot->string.more : 0;
        }
    }
}

#endif
