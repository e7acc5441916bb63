/* Segments and parts of a run -> one run file: aligned to reference time, numbered over all ranks,
 * merged per rank. Each process of `peers` takes a contiguous block of ranks and holds one rank in
 * memory at a time. The content of the file does not depend on how many processes there are. */
#ifndef GATHER_GATHER_H
#define GATHER_GATHER_H

#include "base/err.h"
#include "base/settings.h"
#include "peers/peers.h"

struct gather_options {
    const char *output; /* path of the run file */
    int force;
    const char *tool_version;
    const struct settings *settings; /* stored in /run */
};

/* What was found, for the closing message. */
struct gather_summary {
    int64_t ranks, ranks_missing, processes, events, dropped, torn, bytes;
};

/* Reads every *.part and *.segment of the folders (a run's OUT.parts, which also names the run
 * folder of each host where undrained segments may still lie) and writes the output. Segments that
 * are torn or not segments are counted and said. ERR_EMPTY when nothing was recorded at all. The
 * parts are left; the caller removes them after success. */
enum err gather_run_all(const char *const *folders, size_t folder_count,
                        const struct gather_options *options, struct peers *p,
                        struct gather_summary *summary);

#endif
