/* The commands of the program: one row in commands.def and one file each. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "base/err.h"
#include "base/settings.h"

#define TOOL_VERSION SCALEPROF_VERSION

struct command {
    const char *name, *arguments, *meaning, *example;
    int (*run)(struct settings *settings, int argc, char **argv);
};

extern const struct command command_list[];
extern const int command_count;

/* Each gets its arguments (argv[0] is the command's name) and returns the exit code of the program.
 */
#define COMMAND(name, arguments, meaning, example)                                                 \
    int command_##name(struct settings *settings, int argc, char **argv);
#include "commands.def"
#undef COMMAND

/* The command of this name; NULL when there is none. nearest is never NULL. */
const struct command *command_find(const char *name);
const struct command *command_nearest(const char *name);

#endif
