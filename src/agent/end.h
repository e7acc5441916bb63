/* The end of a run: the agents find each other through OUT.parts, and the one of rank 0 makes the
 * run file. */
#ifndef AGENT_END_H
#define AGENT_END_H

#include "base/settings.h"
#include "folders.h"

/* Called when this agent's data is in OUT.parts. `failed`: the command did not end with 0.
 * `hurried`: asked to end by a signal. Rank 0 (or a single agent) waits for the others, gathers and
 * says so; the others return at once unless `failed`: then they hold back until the file is made,
 * for the launcher ends everybody at the first failure. */
void end_run(const struct folders *f, const struct settings *settings, const char *tool_version,
             int failed, int hurried);

#endif
