#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/host.h"
#include "base/log.h"

/* Letters, digits, '-', '_', '.' stay; anything else, also '/', becomes '_'. */
static void clean(char *text)
{
    for (; *text; text++)
        if (!(*text >= 'a' && *text <= 'z') && !(*text >= 'A' && *text <= 'Z') &&
            !(*text >= '0' && *text <= '9') && strchr("-_.", *text) == NULL)
            *text = '_';
}

static int has_room(const char *folder, int64_t bytes)
{
    struct statvfs status;
    return access(folder, W_OK | X_OK) == 0 && statvfs(folder, &status) == 0 &&
           (double)status.f_bavail * (double)status.f_frsize / 4 >= (double)bytes;
}

static const char *choose_base(const struct settings *settings)
{
    const char *wanted = settings_text(settings, SETTING_tmpdir);
    if (wanted[0])
        return wanted;
    if (has_room("/dev/shm", settings_number(settings, SETTING_memory)))
        return "/dev/shm";
    const char *temporary = host_temporary_folder();
    return temporary ? temporary : "/tmp";
}

/* Makes a folder that is ours alone, or accepts one that is: somebody else's, or a link, is
 * refused. */
static enum err own_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0700) == 0)
        return ERR_OK;
    int number = errno;
    if (number == EEXIST && lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == geteuid() && (status.st_mode & 077) == 0)
        return ERR_OK;
    log_error("%s cannot be used: %s", path,
              number == EEXIST ? "it is not a folder of this user alone" : strerror(number));
    return number == EEXIST ? ERR_PERMISSION : err_from_errno(number);
}

static enum err make_run_folder(struct folders *f, const struct settings *settings)
{
    int n = snprintf(f->host, sizeof f->host, "%s/scaleprof-%d-%s", choose_base(settings),
                     (int)geteuid(), f->id);
    if (n < 0 || n >= (int)sizeof f->host - 32) {
        log_error("the path of the run folder is too long");
        return ERR_USAGE;
    }
    enum err e = own_folder(f->host);
    if (e)
        return e;
    snprintf(f->run, sizeof f->run, "%.*s/%d", (int)(sizeof f->run - 32), f->host, (int)getpid());
    return own_folder(f->run);
}

static void remove_contents(const char *folder, const char *keep)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            (keep == NULL || strcmp(entry->d_name, keep) != 0))
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
}

void folders_remove_parts(const char *parts)
{
    remove_contents(parts, NULL);
    rmdir(parts);
}

static void say_in_use(const struct folders *f, const char *output, int loud)
{
    if (loud)
        log_error("%s holds the data of another run: make its file with `scaleprof gather %s -o "
                  "%s`, or replace it "
                  "with --force",
                  f->parts, f->parts, output);
}

/* The file OUT.parts/run holds the id of the run that owns the folder; its agents hold a shared
 * lock on it while they live. */
static enum err claim_parts(struct folders *f, const char *output, int force, int loud)
{
    char path[PATH_MAX + 8], id[sizeof f->id] = {0};
    snprintf(path, sizeof path, "%s/run", f->parts);
    f->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (f->lock < 0) {
        log_error("%s cannot be written: %s", path, strerror(errno));
        return err_from_errno(errno);
    }
    if (flock(f->lock, LOCK_EX | LOCK_NB) != 0)
        flock(f->lock, LOCK_SH);
    ssize_t length = pread(f->lock, id, sizeof id - 1, 0);
    if (length > 0 && strcmp(id, f->id) == 0)
        return flock(f->lock, LOCK_SH) == 0 ? ERR_OK : ERR_IO;
    int alone = flock(f->lock, LOCK_EX | LOCK_NB) == 0;
    if (!alone || (length > 0 && !force)) {
        say_in_use(f, output, loud);
        return ERR_EXISTS;
    }
    remove_contents(f->parts, "run");
    if (ftruncate(f->lock, 0) != 0 || pwrite(f->lock, f->id, strlen(f->id), 0) < 0) {
        log_error("%s cannot be written: %s", path, strerror(errno));
        return err_from_errno(errno);
    }
    return flock(f->lock, LOCK_SH) == 0 ? ERR_OK : ERR_IO;
}

static enum err open_parts(struct folders *f, const struct settings *settings, int loud)
{
    const char *output = settings_text(settings, SETTING_output);
    int force = (int)settings_number(settings, SETTING_force);
    if (snprintf(f->parts, sizeof f->parts, "%s.parts", output) >= (int)sizeof f->parts) {
        log_error("the path of the output is too long");
        return ERR_USAGE;
    }
    if (!force && access(output, F_OK) == 0) {
        if (loud)
            log_error("%s exists; --force replaces it", output);
        return ERR_EXISTS;
    }
    if (mkdir(f->parts, 0700) != 0 && errno != EEXIST) {
        enum err e = err_from_errno(errno);
        if (loud)
            log_error("%s cannot be made: %s", f->parts, strerror(errno));
        return e;
    }
    return claim_parts(f, output, force, loud);
}

enum err folders_open(struct folders *f, const struct settings *settings, int loud)
{
    memset(f, 0, sizeof *f);
    f->lock = -1;
    host_run_id(f->id, sizeof f->id);
    clean(f->id);
    enum err e = open_parts(f, settings, loud);
    if (!e)
        e = make_run_folder(f, settings);
    if (e && f->lock >= 0)
        close(f->lock);
    return e;
}

void folders_close(struct folders *f)
{
    DIR *dir = opendir(f->run);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (strstr(entry->d_name, ".segment") == NULL && entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    rmdir(f->run);
    rmdir(f->host);
    if (f->lock >= 0)
        close(f->lock);
    f->lock = -1;
}
