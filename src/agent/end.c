#include "end.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "facts.h"
#include "gather/gather.h"

#define TICK_NS    INT64_C(5000000)
#define HURRIED_NS INT64_C(300000000)  /* mpirun kills one second after it has asked */
#define FAILED_NS  INT64_C(2000000000) /* others may wait for the failed rank for ever */

static int exists(const struct folders *f, const char *name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", f->parts, name);
    return access(path, F_OK) == 0;
}

static int count_done(const struct folders *f, int size)
{
    int done = 0;
    char name[32];
    for (int rank = 0; rank < size; rank++) {
        snprintf(name, sizeof name, "%d.done", rank);
        done += exists(f, name);
    }
    return done;
}

/* Waits until every agent has left its marker. Returns how many have. */
static int wait_for_all(const struct folders *f, int size, int64_t limit_ns)
{
    int64_t end_ns = clock_now_ns() + limit_ns;
    int done = count_done(f, size);
    while (done < size && clock_now_ns() < end_ns) {
        clock_pause_ns(TICK_NS);
        done = count_done(f, size);
    }
    return done;
}

static int64_t limit_of(const struct settings *settings, int failed, int hurried)
{
    if (hurried)
        return HURRIED_NS;
    return failed ? FAILED_NS : settings_number(settings, SETTING_wait) * INT64_C(1000000000);
}

static void say_how_to_gather(const struct folders *f, const char *output)
{
    log_info("the parts are kept in %s; to make the file: scaleprof gather %s -o %s --force",
             f->parts, f->parts, output);
}

static enum err gather(const struct folders *f, const struct settings *settings,
                       const char *tool_version, struct gather_summary *summary)
{
    const char *const folders[] = {f->parts};
    struct gather_options options = {.output = settings_text(settings, SETTING_output),
                                     .force = (int)settings_number(settings, SETTING_force),
                                     .tool_version = tool_version,
                                     .settings = settings};
    struct peers *p;
    enum err e = peers_open_alone(&p);
    if (e)
        return e;
    e = gather_run_all(folders, 1, &options, p, summary);
    peers_close(p);
    return e;
}

static void gather_and_say(const struct folders *f, const struct settings *settings,
                           const char *tool_version, int missing)
{
    const char *output = settings_text(settings, SETTING_output);
    struct gather_summary s = {0};
    enum err e = gather(f, settings, tool_version, &s);
    if (e == ERR_EMPTY) {
        log_info("nothing was recorded: the command used neither MPI nor scaleprof.h");
        folders_remove_parts(f->parts);
        return;
    }
    if (e) {
        say_how_to_gather(f, output);
        return;
    }
    log_info("%s: %lld ranks, %lld events, %lld dropped; next: scaleprof reduce %s", output,
             (long long)s.ranks, (long long)s.events, (long long)s.dropped, output);
    facts_write_marker(f, "gathered");
    if (missing > 0) {
        log_warning("%d of the ranks were not heard of", missing);
        say_how_to_gather(f, output);
    } else
        folders_remove_parts(f->parts);
}

/* The others' way: done, and if need be the launcher is kept from ending rank 0 before it has
 * gathered. */
static void hold_back(const struct folders *f, int size, int64_t limit_ns, int64_t wait_ns)
{
    if (wait_for_all(f, size, limit_ns) < size)
        return;
    int64_t end_ns = clock_now_ns() + wait_ns;
    while (exists(f, "run") && !exists(f, "gathered") && clock_now_ns() < end_ns)
        clock_pause_ns(TICK_NS);
}

void end_run(const struct folders *f, const struct settings *settings, const char *tool_version,
             int failed, int hurried)
{
    int rank, size;
    char marker[32];
    host_launched_rank(&rank, &size);
    if (size < 1 || rank < 0) {
        rank = 0;
        size = 1;
    }
    snprintf(marker, sizeof marker, "%d.done", rank);
    facts_write_marker(f, marker);
    int64_t limit_ns = limit_of(settings, failed, hurried);
    if (rank != 0) {
        if (failed && !hurried)
            hold_back(f, size, limit_ns,
                      settings_number(settings, SETTING_wait) * INT64_C(1000000000));
        return;
    }
    int done = wait_for_all(f, size, limit_ns);
    if (settings_number(settings, SETTING_gather))
        gather_and_say(f, settings, tool_version, size - done);
    else
        say_how_to_gather(f, settings_text(settings, SETTING_output));
}
