#include <string.h>

#include "agent/agent.h"
#include "base/log.h"
#include "commands.h"
#include "options.h"

/* The command may also follow without "--": then it begins at the first argument that is no option.
 */
static int split_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i;
        if (argv[i][0] != '-')
            return i - 1;
        enum setting which = settings_find_flag(options_long_name(argv[i]));
        if (which != SETTING_COUNT && setting_list[which].type != SETTING_BOOL)
            i++;
    }
    return argc;
}

int command_run(struct settings *settings, int argc, char **argv)
{
    static const struct option_flag none[] = {{NULL, 0, NULL}};
    int count;
    char **rest;
    int split = split_command(argc, argv);
    enum err e =
        options_take(settings, none, split < argc ? split + (strcmp(argv[split], "--") != 0) : argc,
                     argv, &count, &rest);
    if (e)
        return err_exit_code(e);
    char **command = split + 1 < argc ? argv + split + 1 : NULL;
    if (command == NULL) {
        log_error("no command to run; example: %s", command_find("run")->example);
        return err_exit_code(ERR_USAGE);
    }
    char mpi[SETTINGS_WORD_BYTES];
    settings_choice(settings, SETTING_mpi, mpi);
    if (strcmp(mpi, "agent") == 0) {
        log_error(
            "--mpi agent is not part of this version; --mpi target records programs that use MPI");
        return err_exit_code(ERR_USAGE);
    }
    return agent_run(settings, command, TOOL_VERSION);
}
