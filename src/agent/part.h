/* One recorded process as its agent sees it: the segment it writes, and the part file that takes
 * what is drained. */
#ifndef AGENT_PART_H
#define AGENT_PART_H

#include <stdint.h>

#include "base/err.h"
#include "trace/segment.h"

struct part {
    struct segment_header *segment;
    uint64_t segment_bytes;
    int segment_fd, part_fd;
    uint32_t chunks_written;
    char *segment_path, *part_path;
    int failed; /* the part could not be written: the segment is left where it is */
};

/* Maps a segment and makes its part, PARTS/<host>.<pid>.<start>.part. ERR_FORMAT (not said) while
 * the segment is not complete yet, or is none. */
enum err part_open(struct part *out, const char *segment_path, const char *parts);
void part_close(struct part *p);

/* Copies sealed chunks to the part and gives them back; gives the process more chunks when it runs
 * low. Returns how many chunks were copied. */
uint32_t part_drain(struct part *p);

/* 1 while the process lives. */
int part_is_live(const struct part *p);

/* The process has ended, or will not be waited for: takes what is left, makes the part lasting, and
 * removes the segment. */
enum err part_finish(struct part *p);

#endif
