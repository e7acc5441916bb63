#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "commands.h"

static void print_overview(void)
{
    printf("scaleprof %s: where the time of a parallel program goes, and who makes whom wait\n\n",
           TOOL_VERSION);
    for (int i = 0; i < command_count; i++)
        printf("  scaleprof %-8s %s\n", command_list[i].name, command_list[i].meaning);
    printf("\n  mpirun -n 4 scaleprof run -o run.h5 -- ./program\n"
           "  scaleprof reduce run.h5\n"
           "  scaleprof report run.h5\n");
}

static void print_flags(void)
{
    printf("\noptions\n");
    for (int i = 0; i < SETTING_COUNT; i++)
        if (setting_list[i].flag[0])
            printf("  %-12s %s [%s]\n", setting_list[i].flag, setting_list[i].meaning,
                   setting_list[i].value);
}

static void print_command(const struct command *command)
{
    printf("scaleprof %s %s\n\n  %s\n\n  example: %s\n", command->name, command->arguments,
           command->meaning, command->example);
    if (strcmp(command->name, "run") == 0)
        print_flags();
}

static void print_settings(void)
{
    char variable[SETTINGS_VARIABLE_BYTES];
    for (int i = 0; i < SETTING_COUNT; i++)
        printf("%s%s%s [%s]\n    %s\n", settings_variable((enum setting)i, variable),
               setting_list[i].flag[0] ? ", " : "", setting_list[i].flag, setting_list[i].value,
               setting_list[i].meaning);
}

static void print_exit_codes(void)
{
    printf("`scaleprof run` ends as its command does; 127 or 126 when it could not be started.\n"
           "Every other command, and `run` before the command was started:\n");
    for (int i = 0; i < ERR_COUNT; i++)
        printf("  %3d  %s\n", err_exit_code((enum err)i), err_text((enum err)i));
}

int command_help(struct settings *settings, int argc, char **argv)
{
    (void)settings;
    if (argc < 2)
        print_overview();
    else if (strcmp(argv[1], "settings") == 0)
        print_settings();
    else if (strcmp(argv[1], "exit-codes") == 0)
        print_exit_codes();
    else if (command_find(argv[1]) != NULL)
        print_command(command_find(argv[1]));
    else {
        log_error("no help on %s; did you mean %s?", argv[1], command_nearest(argv[1])->name);
        return err_exit_code(ERR_USAGE);
    }
    return 0;
}

int command_version(struct settings *settings, int argc, char **argv)
{
    (void)settings;
    (void)argc;
    (void)argv;
    printf("scaleprof %s\n", TOOL_VERSION);
    return 0;
}
