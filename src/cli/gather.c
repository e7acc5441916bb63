#include "gather/gather.h"

#include "base/log.h"
#include "commands.h"
#include "options.h"
#include "peers/peers.h"

int command_gather(struct settings *settings, int argc, char **argv)
{
    static const struct option_flag none[] = {{NULL, 0, NULL}};
    struct gather_summary s = {0};
    struct peers *p;
    int count;
    char **rest;
    enum err e = options_take(settings, none, argc, argv, &count, &rest);
    if (!e && count == 0) {
        log_error("no folder to gather; example: %s", command_find("gather")->example);
        e = ERR_USAGE;
    }
    if (!e)
        e = peers_open_launched_all(&p);
    if (e)
        return err_exit_code(e);
    struct gather_options options = {.output = settings_text(settings, SETTING_output),
                                     .force = (int)settings_number(settings, SETTING_force),
                                     .tool_version = TOOL_VERSION,
                                     .settings = settings};
    e = gather_run_all((const char *const *)argv + 1, (size_t)count, &options, p, &s);
    if (!e && peers_rank(p) == 0)
        log_info("%s: %lld ranks (%lld missing), %lld events, %lld dropped, %lld chunks torn; the "
                 "folders are kept",
                 options.output, (long long)s.ranks, (long long)s.ranks_missing,
                 (long long)s.events, (long long)s.dropped, (long long)s.torn);
    peers_close(p);
    return err_exit_code(e);
}
