/* Making the file of this process's segment. */
#ifndef RECORD_SEGMENT_FILE_H
#define RECORD_SEGMENT_FILE_H

#include "trace/segment.h"

struct segment_facts {
    int rank, size; /* -1 unknown */
};

/* Makes <run_dir>/<pid>.<start of the process>.segment (a further number before the last dot when
 * the process has had another program before), maps it and gives it chunks: memory for up to
 * `budget_bytes` of them later, a first part of it now, less when the file system is nearly full.
 * What fails is said. */
enum err segment_file_create(struct segment_header **out, const char *run_dir, int64_t budget_bytes,
                             const struct segment_facts *facts);

#endif
