/* Where a run's data lies: the run folder of this agent (segments, in memory) and OUT.parts (what
 * was drained). */
#ifndef AGENT_FOLDERS_H
#define AGENT_FOLDERS_H

#include <limits.h>

#include "base/err.h"
#include "base/settings.h"

struct folders {
    char id[128];         /* of the run: equal for all its agents, different from any other run's */
    char host[PATH_MAX];  /* of this host's agents together */
    char run[PATH_MAX];   /* of this agent: its job's segments and links to our libraries */
    char parts[PATH_MAX]; /* OUT.parts */
    int lock;             /* held on OUT.parts/run as long as this agent lives; -1 */
};

/* Chooses the names and makes the folders, 0700. ERR_EXISTS (said when `loud`) when the output or
 * its parts are there already and may not be replaced, or are in use by another run. */
enum err folders_open(struct folders *f, const struct settings *settings, int loud);

/* Removes the run folder, as far as it is empty of segments. */
void folders_close(struct folders *f);

/* Removes OUT.parts with all that is in it. */
void folders_remove_parts(const char *parts);

#endif
