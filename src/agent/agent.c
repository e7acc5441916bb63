#include "agent.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "end.h"
#include "facts.h"
#include "folders.h"
#include "launch.h"
#include "libraries.h"
#include "watch.h"

#define BUSY_TICK_NS INT64_C(1000000)
#define IDLE_TICK_NS INT64_C(20000000)
#define LINGER_NS    INT64_C(1000000000) /* for processes that outlive the command */

#define REFUSED_NS                                                                                 \
    INT64_C(500000000) /* a launcher ends all at the first failure: rank 0 is to speak before */

struct job {
    pid_t child;
    int ended, status;
    int launched; /* by a launcher, which sends its signals to the job itself */
    int hurried;
    sigset_t signals, unblocked;
};

/* The agent sleeps in sigtimedwait, so the signals it cares about are blocked, not handled. */
static void block_signals(struct job *j)
{
    static const int cared_for[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    sigemptyset(&j->signals);
    for (size_t i = 0; i < sizeof cared_for / sizeof *cared_for; i++)
        sigaddset(&j->signals, cared_for[i]);
    sigprocmask(SIG_BLOCK, &j->signals, &j->unblocked);
}

/* A terminal's signals reach the command by itself: it is in the agent's process group. Those sent
 * to the agent alone are passed on, unless a launcher has sent them to both. */
static void on_signal(struct job *j, const siginfo_t *info)
{
    if (info->si_signo == SIGCHLD)
        return;
    j->hurried |= info->si_signo == SIGTERM || info->si_signo == SIGHUP;
    if (!j->launched && info->si_code != SI_KERNEL && !j->ended)
        kill(j->child, info->si_signo);
}

static void sleep_until_signal(struct job *j, int64_t ns)
{
    struct timespec limit = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    siginfo_t info;
    if (sigtimedwait(&j->signals, &info, &limit) > 0)
        on_signal(j, &info);
}

static void reap(struct job *j)
{
    int status;
    while (!j->ended && waitpid(j->child, &status, WNOHANG) == j->child) {
        j->status = status;
        j->ended = 1;
    }
}

static void live(struct job *j, struct watch *w)
{
    int64_t tick_ns = BUSY_TICK_NS;
    while (!j->ended) {
        sleep_until_signal(j, tick_ns);
        uint32_t copied = watch_look(w);
        reap(j);
        tick_ns = copied > 0                   ? BUSY_TICK_NS
                  : tick_ns * 2 < IDLE_TICK_NS ? tick_ns * 2
                                               : IDLE_TICK_NS;
    }
    int64_t end_ns = clock_now_ns() + LINGER_NS;
    for (watch_look(w); watch_live(w) > 0 && clock_now_ns() < end_ns && !j->hurried; watch_look(w))
        sleep_until_signal(j, BUSY_TICK_NS);
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A command ended by a signal is reported by ending in the same way: a launcher and a shell then
 * say what they would have said of the command. Without a core file of our own. */
static int end_as(int status, const sigset_t *unblocked)
{
    if (WIFSIGNALED(status)) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        sigprocmask(SIG_SETMASK, unblocked, NULL);
    }
    return code_of(status);
}

static void use_clock(void)
{
    clock_use(clock_choose());
}

/* Everything after the command has been started. Our own failures are said, and change nothing for
 * the job. */
static void accompany(struct job *j, const struct folders *f, const struct settings *settings,
                      char *const *command, const char *tool_version)
{
    struct watch w;
    int64_t start_utc_ns = clock_utc_ns();
    struct ending ending = {
        .exit_code = -1, .signal = -1, .pid = j->child, .pid_start = host_process_start(j->child)};
    setpriority(PRIO_PROCESS, 0, 19);
    facts_write_agent(f, command, start_utc_ns, NULL);
    watch_open(&w, f->run, f->parts);
    watch_look(&w);
    facts_write_topology(f);
    live(j, &w);
    watch_finish(&w);
    watch_close(&w);
    ending.exit_code = WIFEXITED(j->status) ? WEXITSTATUS(j->status) : -1;
    ending.signal = WIFSIGNALED(j->status) ? WTERMSIG(j->status) : -1;
    facts_write_agent(f, command, start_utc_ns, &ending);
    end_run(f, settings, tool_version, code_of(j->status) != 0, j->hurried);
}

int agent_run(const struct settings *settings, char *const *command, const char *tool_version)
{
    struct folders folders;
    struct job j = {0};
    char id[128];
    int rank, size, code;
    j.launched = host_run_id(id, sizeof id);
    host_launched_rank(&rank, &size);
    use_clock();
    if (libraries_check(settings) != ERR_OK)
        return err_exit_code(ERR_USAGE);
    enum err e = folders_open(&folders, settings, rank <= 0);
    if (e && rank > 0)
        clock_pause_ns(REFUSED_NS);
    if (e)
        return err_exit_code(e == ERR_EXISTS ? ERR_USAGE : e);
    block_signals(&j);
    e = launch_start(command, folders.run, settings, &j.unblocked, &j.child, &code);
    if (e) {
        folders_close(&folders);
        folders_remove_parts(folders.parts);
        return code;
    }
    accompany(&j, &folders, settings, command, tool_version);
    folders_close(&folders);
    return end_as(j.status, &j.unblocked);
}
