#include "log_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static char file[1024];

static void write_line(enum log_level level, const char *message)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char line[1100];
    int length =
        snprintf(line, sizeof line, "scaleprof[%d] %s: %s\n", (int)getpid(), names[level], message);
    if (length < 0 || length >= (int)sizeof line)
        return;
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (write(fd, line, (size_t)length) != length)
        log_open(NULL, LOG_ERROR);
    close(fd);
}

static enum log_level wanted_level(const struct settings *settings)
{
    static const struct {
        const char *word;
        enum log_level level;
    } levels[] = {{"error", LOG_ERROR}, {"info", LOG_INFO}, {"debug", LOG_DEBUG}};
    char word[SETTINGS_WORD_BYTES];
    settings_choice(settings, SETTING_log, word);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(word, levels[i].word) == 0)
            return levels[i].level;
    return LOG_WARNING;
}

void log_file_open(const struct settings *settings)
{
    const char *path = settings_text(settings, SETTING_log_file);
    if (path[0] == 0 || strlen(path) >= sizeof file)
        return;
    strcpy(file, path);
    log_open(write_line, wanted_level(settings));
}
