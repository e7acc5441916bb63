#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "environment.h"
#include "libraries.h"

/* Runs in the child, between fork and exec: what fails is told to the parent through the pipe. */
static void execute(char *const *command, char *const *environment, const sigset_t *unblocked,
                    int report)
{
    sigprocmask(SIG_SETMASK, unblocked, NULL);
    execvpe(command[0], command, environment);
    int number = errno;
    if (write(report, &number, sizeof number) < 0)
        _exit(125);
    _exit(number == ENOENT ? 127 : 126);
}

/* The errno of a failed exec; 0 when the pipe was closed by a successful one. */
static int exec_result(int report)
{
    int number = 0;
    ssize_t got;
    do
        got = read(report, &number, sizeof number);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof number ? number : 0;
}

static enum err say_not_started(const char *command, int number, int *code)
{
    log_error("%s: %s", command, number == ENOENT ? "command not found" : strerror(number));
    *code = number == ENOENT ? 127 : 126;
    return ERR_LAUNCH;
}

static enum err fork_and_execute(char *const *command, char *const *environment,
                                 const sigset_t *unblocked, pid_t *child, int *code)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return say_not_started(command[0], errno, code);
    pid_t pid = fork();
    if (pid == 0)
        execute(command, environment, unblocked, ends[1]);
    int number = pid < 0 ? errno : 0;
    close(ends[1]);
    if (pid > 0)
        number = exec_result(ends[0]);
    close(ends[0]);
    if (number != 0) {
        if (pid > 0)
            waitpid(pid, NULL, 0);
        return say_not_started(command[0], number, code);
    }
    *child = pid;
    return ERR_OK;
}

enum err launch_start(char *const *command, const char *run_folder, const struct settings *settings,
                      const sigset_t *unblocked, pid_t *child, int *code)
{
    struct environment environment;
    *code = 126;
    enum err e = environment_open(&environment);
    if (e)
        return e;
    e = libraries_put(&environment, run_folder, settings);
    if (!e)
        e = environment_set_settings(&environment, settings, run_folder);
    if (!e)
        e = fork_and_execute(command, environment.entries, unblocked, child, code);
    environment_close(&environment);
    return e;
}
