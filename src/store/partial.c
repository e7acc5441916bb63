#include "partial.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static enum err refuse_existing(const char *path)
{
    log_error("%s exists; --force replaces it", path);
    return ERR_EXISTS;
}

static enum err refuse_write(const char *path, int number)
{
    log_error("%s cannot be written: %s", path, strerror(number));
    return err_from_errno(number);
}

/* Whether the open file is still the one of that name: whoever held the lock before may have
 * renamed it. */
static int has_name(int fd, const char *path)
{
    struct stat open_status, named;
    return fstat(fd, &open_status) == 0 && lstat(path, &named) == 0 &&
           open_status.st_ino == named.st_ino && open_status.st_dev == named.st_dev;
}

/* A left-over is used again only when it is a plain file of this user under no other name. */
static int is_ours(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
           status.st_uid == geteuid();
}

static enum err take(const char *partial, int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        log_error("%s is being written by another process", partial);
        return ERR_EXISTS;
    }
    if (!is_ours(fd)) {
        log_error("%s is in the way; remove it", partial);
        return ERR_EXISTS;
    }
    return fchmod(fd, 0600) == 0 && ftruncate(fd, 0) == 0 ? ERR_OK : refuse_write(partial, errno);
}

enum err partial_open(const char *path, const char *partial, int force, int *lock)
{
    if (!force && access(path, F_OK) == 0)
        return refuse_existing(path);
    for (;;) {
        int fd = open(partial, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        if (fd < 0)
            return refuse_write(partial, errno);
        enum err e = take(partial, fd);
        if (!e && has_name(fd, partial)) {
            *lock = fd;
            return ERR_OK;
        }
        close(fd);
        if (e)
            return e;
    }
}

static enum err sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return err_from_errno(errno);
    enum err e = fsync(fd) == 0 || errno == EINVAL ? ERR_OK : err_from_errno(errno);
    close(fd);
    return e;
}

/* Some file systems cannot rename without replacing: there the look before must do. */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

enum err partial_publish(const char *path, const char *partial, int force)
{
    char *folder = strdup(path);
    enum err e = folder ? sync_path(partial, O_RDONLY) : ERR_NO_MEMORY;
    if (e) {
        log_error("%s cannot be made lasting: %s", partial, err_text(e));
    } else if ((force ? rename(partial, path) : rename_new(partial, path)) != 0) {
        e = errno == EEXIST ? refuse_existing(path) : refuse_write(path, errno);
    } else {
        sync_path(dirname(folder), O_RDONLY | O_DIRECTORY);
    }
    free(folder);
    return e;
}
