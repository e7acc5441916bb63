/* Small text files of key=value lines beside the parts: what an agent knows that no segment says.
 * In a value a line break is written \n and a backslash \\. */
#ifndef AGENT_FACTS_H
#define AGENT_FACTS_H

#include <stdint.h>

#include "base/err.h"
#include "folders.h"

/* How the command ended; -1 unknown. */
struct ending {
    int exit_code, signal, pid;
    int64_t pid_start;
};

/* Writes <host>.<pid>.agent: host, launch, command, machine. Once at the start and again, with
 * `ending`, at the end. */
enum err facts_write_agent(const struct folders *f, char *const *command, int64_t start_utc_ns,
                           const struct ending *ending);

/* Writes <host>.topology.xml, unless another agent of the host has. */
void facts_write_topology(const struct folders *f);

/* Writes an empty file NAME of OUT.parts. */
enum err facts_write_marker(const struct folders *f, const char *name);

#endif
