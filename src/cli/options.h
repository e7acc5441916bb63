/* Command lines: flags from the table of settings, a few short ones, and what is left over. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/err.h"
#include "base/settings.h"

/* A flag that only one command knows; `value` receives its text, or "1" where it takes none. */
struct option_flag {
    const char *name; /* "--json" */
    int takes_value;
    const char **value;
};

/* Takes flags out of argv[1..]: those of the settings table (--name VALUE, --name=VALUE, booleans
 * without value), -o
 * (--output), -f (--force), and `own` (ended by a NULL name). What is left, up to and without "--",
 * stays in argv[1..] in its order, *count of it; *rest is what follows "--" (NULL without one). An
 * unknown flag is ERR_USAGE, said with the nearest one. --help and -h are not taken here. */
enum err options_take(struct settings *settings, const struct option_flag *own, int argc,
                      char **argv, int *count, char ***rest);

/* The long name of a short flag ("-o" is "--output"); any other flag as it is. */
const char *options_long_name(const char *flag);

#endif
