/* Starts the command so that it is recorded. */
#ifndef AGENT_LAUNCH_H
#define AGENT_LAUNCH_H

#include <signal.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/settings.h"

/* Forks and executes `command` with our libraries and `run_folder` in its environment. `unblocked`
 * is the signal mask it gets. ERR_LAUNCH when it could not be executed, said in one line; *code is
 * then 127 (not found) or 126. */
enum err launch_start(char *const *command, const char *run_folder, const struct settings *settings,
                      const sigset_t *unblocked, pid_t *child, int *code);

#endif
