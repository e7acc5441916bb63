#include "libraries.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static const struct library {
    const char *probe, *file, *variable;
    int preload;
} libraries[] = {
#define LIBRARY(probe, file, variable, preload) {probe, file, variable, preload},
#include "libraries.def"
#undef LIBRARY
};

/* What every probe needs; found by the loader beside the link it came through. */
static const char recorder[] = "libscaleprof_record.so";

/* Installed, the libraries lie in ../lib (or lib64, lib/<machine>) beside the program; in a build
 * tree with it. */
static int find_library(const char *file, char out[PATH_MAX])
{
    static const char arch_place[] = "../lib/" SCALEPROF_LIB_ARCH;
    static const char *const places[] = {".", "../lib", "../lib64", arch_place};
    char self[PATH_MAX], path[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return 0;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", self, places[i], file);
        if (access(path, R_OK) == 0 && realpath(path, out) != NULL)
            return 1;
    }
    return 0;
}

static int is_wanted(const char *probes, const char *probe)
{
    size_t length = strlen(probe);
    for (const char *at = probes; *at;
         at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strcspn(at, ","))
        if (strcspn(at, ",") == length && strncmp(at, probe, length) == 0)
            return 1;
    return 0;
}

static int is_probe(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strlen(libraries[i].probe) == length && strncmp(libraries[i].probe, word, length) == 0)
            return 1;
    return 0;
}

enum err libraries_check(const struct settings *settings)
{
    char names[128] = "";
    for (const char *at = settings_text(settings, SETTING_probes); *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (length > 0 && !is_probe(at, length)) {
            for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
                snprintf(names + strlen(names), sizeof names - strlen(names), " %s",
                         libraries[i].probe);
            log_error("there is no probe %.*s; there are:%s", (int)length, at, names);
            return ERR_USAGE;
        }
        at += length;
    }
    return ERR_OK;
}

static enum err link_library(const char *run_folder, const char *file, char link[PATH_MAX])
{
    char target[PATH_MAX];
    if (!find_library(file, target)) {
        log_debug("%s is not there", file);
        return ERR_NOT_FOUND;
    }
    if (snprintf(link, PATH_MAX, "%s/%s", run_folder, file) >= PATH_MAX)
        return ERR_USAGE;
    if (symlink(target, link) != 0 && errno != EEXIST) {
        log_error("%s cannot be made: %s", link, strerror(errno));
        return err_from_errno(errno);
    }
    return ERR_OK;
}

static enum err add_preload(struct environment *e, const char *link)
{
    const char *there = environment_get(e, "LD_PRELOAD");
    if (there == NULL || *there == 0)
        return environment_set(e, "LD_PRELOAD", link);
    char *both = NULL;
    if (asprintf(&both, "%s:%s", there, link) < 0)
        return ERR_NO_MEMORY;
    enum err error = environment_set(e, "LD_PRELOAD", both);
    free(both);
    return error;
}

static enum err put_library(struct environment *e, const struct library *library,
                            const char *run_folder)
{
    char link[PATH_MAX];
    enum err error = link_library(run_folder, library->file, link);
    if (error)
        return error == ERR_NOT_FOUND ? ERR_OK : error;
    if (library->preload)
        return add_preload(e, link);
    if (environment_get(e, library->variable) != NULL) {
        log_warning("%s is set already; the %s probe stays out", library->variable, library->probe);
        return ERR_OK;
    }
    return environment_set(e, library->variable, link);
}

enum err libraries_put(struct environment *e, const char *run_folder,
                       const struct settings *settings)
{
    char link[PATH_MAX];
    enum err error = link_library(run_folder, recorder, link);
    if (error == ERR_NOT_FOUND)
        log_error("%s is not where scaleprof is installed: nothing will be recorded", recorder);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !error; i++)
        if (is_wanted(settings_text(settings, SETTING_probes), libraries[i].probe))
            error = put_library(e, &libraries[i], run_folder);
    return error;
}
