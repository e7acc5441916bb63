/* `scaleprof run`: the agent beside a rank. It starts the command, lets it live by its own rules,
 * drains its segments while it runs, and sees to it that a run file is made. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "base/settings.h"

/* Runs `command` (NULL-terminated) under recording and ends as it does: returns its exit code, or
 * ends this process by the signal that ended it, so that a launcher says what it would have said.
 * 127 or 126 when it could not be started; the codes of errors.def when it was not started because
 * of us (an output that exists, a probe that does not). What fails later on our side is said on
 * stderr and changes nothing. */
int agent_run(const struct settings *settings, char *const *command, const char *tool_version);

#endif
