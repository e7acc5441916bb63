#include "partial.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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

enum err partial_mark(int lock, const char *partial, int64_t mark)
{
    if (pwrite(lock, &mark, sizeof mark, 0) == sizeof mark && fsync(lock) == 0)
        return ERR_OK;
    return refuse_write(partial, errno);
}

int partial_has_mark(const char *partial, int64_t mark)
{
    int64_t found = ~mark;
    int fd = open(partial, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = pread(fd, &found, sizeof found, 0);
    close(fd);
    return got == sizeof found && found == mark;
}

/* The system's word for why [from, to) cannot be written, or 0. Where the file system cannot
 * reserve, what is free now must do. */
static int reserve(int fd, int64_t from, int64_t to)
{
    struct rlimit limit;
    struct statvfs system;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && (rlim_t)to > limit.rlim_cur)
        return EFBIG;
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, from, to - from) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    int is_full =
        fstatvfs(fd, &system) == 0 && (uint64_t)(to - from) / system.f_frsize >= system.f_bavail;
    return is_full ? ENOSPC : 0;
}

enum err partial_reserve(int lock, const char *partial, int64_t bytes, int64_t *end)
{
    struct stat status;
    if (fstat(lock, &status) != 0)
        return refuse_write(partial, errno);
    int64_t to = (int64_t)status.st_size + bytes;
    if (to <= *end)
        return ERR_OK;
    int number = reserve(lock, *end, to);
    if (number != 0)
        return refuse_write(partial, number);
    *end = to;
    return ERR_OK;
}

static enum err sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_from_errno(errno);
    enum err e = fsync(fd) == 0 || errno == EINVAL ? ERR_OK : err_from_errno(errno);
    close(fd);
    return e;
}

/* Opened anew, so that on network file systems its length is what the others have closed it with.
 * Setting that length frees what was reserved behind it. */
static enum err settle(const char *partial)
{
    struct stat status;
    int fd = open(partial, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return refuse_write(partial, errno);
    int done = fstat(fd, &status) == 0 ? 0 : -1;
    if (done == 0 && status.st_blocks > status.st_size / 512)
        done = ftruncate(fd, status.st_size);
    if (done == 0)
        done = fsync(fd);
    enum err e = done == 0 || errno == EINVAL ? ERR_OK : refuse_write(partial, errno);
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
    enum err e = folder ? settle(partial) : ERR_NO_MEMORY;
    if (!e && (force ? rename(partial, path) : rename_new(partial, path)) != 0)
        e = errno == EEXIST ? refuse_existing(path) : refuse_write(path, errno);
    if (!e)
        sync_folder(dirname(folder));
    free(folder);
    return e;
}
