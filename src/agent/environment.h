/* The environment of the command: ours, and what recording adds. */
#ifndef AGENT_ENVIRONMENT_H
#define AGENT_ENVIRONMENT_H

#include <stddef.h>

#include "base/err.h"
#include "base/settings.h"

struct environment {
    char **entries; /* NULL-terminated; entries from `own` on were allocated here */
    size_t count;
    char **owned;
    size_t owned_count;
};

enum err environment_open(struct environment *e);
void environment_close(struct environment *e);

/* The value of a variable; NULL when it is not set. */
const char *environment_get(const struct environment *e, const char *name);

/* Sets a variable, replacing its value. */
enum err environment_set(struct environment *e, const char *name, const char *value);

/* The settings that the recorder inside the job reads, as variables: those from flags, the run
 * folder, the clock. */
enum err environment_set_settings(struct environment *e, const struct settings *settings,
                                  const char *run_folder);

#endif
