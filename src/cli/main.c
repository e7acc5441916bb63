#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "commands.h"

static void say(enum log_level level, const char *message)
{
    static const char *const names[] = {"error: ", "warning: ", "", "debug: "};
    fprintf(stderr, "scaleprof: %s%s\n", names[level], message);
}

/* The setting's choice by place: "warning" stands first as its default, but what a command did is
 * always said. */
static enum log_level level_of(const struct settings *settings)
{
    static const enum log_level levels[] = {LOG_INFO, LOG_ERROR, LOG_INFO, LOG_DEBUG};
    return levels[settings_number(settings, SETTING_log)];
}

static int asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return 1;
    return 0;
}

static int run_command(struct settings *settings, int argc, char **argv)
{
    const struct command *command = command_find(argv[0]);
    if (command == NULL) {
        log_error("unknown command %s; did you mean %s? `scaleprof help` lists them", argv[0],
                  command_nearest(argv[0])->name);
        return err_exit_code(ERR_USAGE);
    }
    if (asks_for_help(argc, argv)) {
        char *help[] = {"help", argv[0], NULL};
        return command_help(settings, 2, help);
    }
    return command->run(settings, argc, argv);
}

int main(int argc, char **argv)
{
    struct settings settings;
    log_open(say, LOG_WARNING);
    settings_load(&settings);
    log_open(say, level_of(&settings));
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        char *help[] = {"help", NULL};
        int code = command_help(&settings, 1, help);
        return argc < 2 ? err_exit_code(ERR_USAGE) : code;
    }
    if (strcmp(argv[1], "--version") == 0)
        return command_version(&settings, 1, argv + 1);
    return run_command(&settings, argc - 1, argv + 1);
}
