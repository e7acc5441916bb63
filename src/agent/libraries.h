/* Our libraries: where they are, and how a job gets them. */
#ifndef AGENT_LIBRARIES_H
#define AGENT_LIBRARIES_H

#include "base/err.h"
#include "base/settings.h"
#include "environment.h"

/* ERR_USAGE, said with the names there are, when the setting "probes" names a probe that does not
 * exist. */
enum err libraries_check(const struct settings *settings);

/* Links the chosen libraries into the run folder (LD_PRELOAD splits its value at spaces, and a path
 * may hold some) and names them in the environment. A variable that only one tool can have and
 * another has set stays, which is said. */
enum err libraries_put(struct environment *e, const char *run_folder,
                       const struct settings *settings);

#endif
