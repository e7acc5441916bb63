/* Tests of the recorder: it reads its settings when it is loaded, so each scenario runs in a
 * program of its own (this one, started again), and the test looks at the segments that it leaves.
 */
#ifndef UNIT_SCENARIO_H
#define UNIT_SCENARIO_H

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/check.h"
#include "unit/segment_dump.h"

struct scenario {
    const char *name;
    void (*run)(void);
};

/* Of the test program; the last has no name. */
extern const struct scenario scenarios[];

static char scenario_folder[] = "/tmp/test_record.XXXXXX";

/* Starts a scenario, recorded into the folder, with one more variable "NAME=value" or NULL. */
static inline pid_t scenario_start(const char *name, const char *variable)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    setenv("SCALEPROF_RUN_DIR", scenario_folder, 1);
    if (variable != NULL)
        putenv(strdup(variable));
    execl("/proc/self/exe", "scenario", name, (char *)NULL);
    _exit(99);
}

/* The exit code, 128 + signal when one ended it. */
static inline int scenario_wait(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs a scenario whose own checks must hold, and maps its segment (NULL when it left none). */
static inline struct segment_header *scenario_run(const char *name, const char *variable)
{
    pid_t pid = scenario_start(name, variable);
    int code = scenario_wait(pid);
    if (code != 0)
        fprintf(stderr, "scenario %s ended with %d\n", name, code);
    CHECK_EQUAL(code, 0);
    return dump_open(scenario_folder, pid);
}

/* Of a scenario's process: whether all its checks held. */
static inline int scenario_result(void)
{
    return checks_failed > 0;
}

/* Runs the scenario that the command line names, or makes the folder and runs the tests. */
static inline int scenario_main(int argc, char **argv, void (*tests)(void))
{
    for (const struct scenario *s = scenarios; argc > 1 && s->name != NULL; s++)
        if (strcmp(s->name, argv[1]) == 0) {
            s->run();
            return scenario_result();
        }
    if (argc > 1 || mkdtemp(scenario_folder) == NULL)
        return 98;
    tests();
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", scenario_folder);
    return system(command) != 0 || check_result();
}

#endif
