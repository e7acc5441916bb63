/* `scaleprof run`: the agent beside a rank. It starts the command, lets it live by its own rules,
 * drains its segments while it runs, and sees to it that a run file is made. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "base/settings.h"

/* Runs `command` (NULL-terminated) under recording and returns the exit code for this process: the
 * command's own (128 + signal when a signal ended it), 127 or 126 when it could not be started.
 * Never anything else: what fails on our side is said on stderr. */
int agent_run(const struct settings *settings, char *const *command, const char *tool_version);

#endif
