/* What lies in the folders of a run: recorded processes, and what their agents say. */
#ifndef GATHER_SOURCES_H
#define GATHER_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* One recorded process. */
struct source {
    char *part, *segment; /* paths; either may be NULL */
    char host[64];
    int pid, rank;
    int64_t start;
};

/* One *.agent file: key=value pairs. */
struct agent_facts {
    char *text; /* the file, its lines ended by 0 */
    size_t bytes;
    int rank;
};

struct sources {
    struct source *list; /* sorted by rank, host, pid, start */
    size_t count;
    struct agent_facts *agents; /* sorted by rank, then text */
    size_t agent_count;
    int ranks;     /* in the job: as its launcher or MPI said, at least the highest rank seen + 1 */
    int64_t wrong; /* files that are no segments */
    char **topologies; /* <host>.topology.xml paths */
    size_t topology_count;
};

/* Looks through the folders and the run folders that agents name and this host has. ERR_NOT_FOUND
 * (said) for a folder that cannot be read. */
enum err sources_open(struct sources *out, const char *const *folders, size_t count);
void sources_close(struct sources *s);

/* The value of a key with \n and \\ undone, malloc'd; NULL when the file does not have it. */
char *agent_fact(const struct agent_facts *agent, const char *key);
int64_t agent_number(const struct agent_facts *agent, const char *key, int64_t otherwise);

#endif
