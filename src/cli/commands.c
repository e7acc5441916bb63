#include "commands.h"

#include <string.h>

const struct command command_list[] = {
#define COMMAND(name, arguments, meaning, example)                                                 \
    {#name, arguments, meaning, example, command_##name},
#include "commands.def"
#undef COMMAND
};
const int command_count = sizeof command_list / sizeof *command_list;

const struct command *command_find(const char *name)
{
    for (int i = 0; i < command_count; i++)
        if (strcmp(command_list[i].name, name) == 0)
            return &command_list[i];
    return NULL;
}

/* How many letters two names share at the same places. */
static int likeness(const char *a, const char *b)
{
    int same = 0;
    for (; *a && *b; a++, b++)
        same += *a == *b;
    return same;
}

const struct command *command_nearest(const char *name)
{
    const struct command *best = &command_list[0];
    for (int i = 1; i < command_count; i++)
        if (likeness(name, command_list[i].name) > likeness(name, best->name))
            best = &command_list[i];
    return best;
}
