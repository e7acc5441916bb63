#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "base/log.h"
#include "commands.h"
#include "options.h"
#include "run_file.h"

struct choices {
    const char *json, *all_ranks;
    int to_file;
};

/* An analysis that is missing is made first. */
static enum err read_both(const char *path, const struct settings *settings, struct run_file *run,
                          struct analysis_file *analysis)
{
    enum err e = run_file_open(run, path);
    if (e)
        return e;
    e = analysis_file_read(analysis, path, run->run_id);
    if (e == ERR_NOT_FOUND) {
        log_info("%s is not reduced yet: doing that first", path);
        e = run_file_reduce(path, settings);
        if (!e)
            e = analysis_file_read(analysis, path, run->run_id);
    }
    if (e)
        run_file_close(run);
    return e;
}

static int wants_color(const struct settings *settings, FILE *out)
{
    char word[SETTINGS_WORD_BYTES];
    settings_choice(settings, SETTING_color, word);
    return strcmp(word, "always") == 0 || (strcmp(word, "auto") == 0 && isatty(fileno(out)));
}

static FILE *open_output(const struct settings *settings, const struct choices *c)
{
    const char *path = settings_text(settings, SETTING_output);
    if (!c->to_file)
        return stdout;
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC |
                (settings_number(settings, SETTING_force) ? O_TRUNC : O_EXCL);
    int fd = open(path, flags, 0600);
    if (fd < 0)
        log_error("%s: %s%s", path, strerror(errno),
                  errno == EEXIST ? "; --force replaces it" : "");
    return fd < 0 ? NULL : fdopen(fd, "w");
}

/* The report has flushed it already: only the closing of a file can still fail. */
static enum err close_output(FILE *out, const char *path)
{
    if (out == stdout || fclose(out) == 0)
        return ERR_OK;
    log_error("%s: %s", path, strerror(errno));
    return err_from_errno(errno);
}

static enum err print_report(const char *path, const struct settings *settings,
                             const struct choices *c)
{
    struct run_file run;
    struct analysis_file analysis;
    enum err e = read_both(path, settings, &run, &analysis);
    if (e)
        return e;
    struct report_input input = {.path = path,
                                 .run = &run.tables,
                                 .analysis = &analysis.tables,
                                 .run_strings = run.strings,
                                 .analysis_strings = analysis.strings};
    FILE *out = open_output(settings, c);
    if (out == NULL) {
        e = ERR_IO;
        goto files;
    }
    struct report_options options = {.color = wants_color(settings, out),
                                     .utf8 = host_shows_utf8(),
                                     .all_ranks = c->all_ranks != NULL};
    e = c->json ? report_json(&input, out) : report_text(&input, &options, out);
    enum err closed = close_output(out, settings_text(settings, SETTING_output));
    if (!e)
        e = closed;
files:
    analysis_file_free(&analysis);
    run_file_close(&run);
    return e;
}

int command_report(struct settings *settings, int argc, char **argv)
{
    struct choices c = {0};
    const struct option_flag own[] = {
        {"--json", 0, &c.json}, {"--ranks", 0, &c.all_ranks}, {NULL, 0, NULL}};
    int count;
    char **rest;
    enum err e = options_take(settings, own, argc, argv, &count, &rest);
    if (!e && count != 1) {
        log_error("one run file is needed; example: %s", command_find("report")->example);
        e = ERR_USAGE;
    }
    c.to_file = settings->values[SETTING_output].source == SETTING_FROM_FLAG;
    if (!e)
        e = print_report(argv[1], settings, &c);
    return err_exit_code(e);
}
