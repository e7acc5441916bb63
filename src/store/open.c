/* Opening for reading: is it ours, is it whole, can this version read it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store_file.h"

/* Says why a file that is there is not an HDF5 file. */
static enum err not_hdf5(const char *path)
{
    struct stat status;
    static const char signature[8] = "\211HDF\r\n\032\n";
    char start[8] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        enum err e = err_from_errno(errno);
        log_error("%s cannot be read: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return e;
    }
    ssize_t got = read(fd, start, sizeof start);
    close(fd);
    if (S_ISDIR(status.st_mode))
        log_error("%s is a folder, not a run file", path);
    else if (status.st_size == 0)
        log_error("%s is empty", path);
    else if (got == (ssize_t)sizeof start && memcmp(start, signature, sizeof start) == 0) {
        log_error("%s is cut off or damaged", path);
        return ERR_TRUNCATED;
    } else
        log_error("%s is not a run file (it is not HDF5)", path);
    return ERR_FORMAT;
}

static enum err check_version(struct store *s)
{
    char format[16], version[24];
    int major = -1, minor = -1;
    store_read_attribute(s, "format", format, sizeof format);
    store_read_attribute(s, "format_version", version, sizeof version);
    if (strcmp(format, "scaleprof") != 0 || sscanf(version, "%d.%d", &major, &minor) != 2 ||
        major < 1) {
        log_error("%s is HDF5, but not a file of scaleprof", s->path);
        return ERR_FORMAT;
    }
    if (major > STORE_FORMAT_MAJOR) {
        log_error("%s has format %d.%d; this version reads up to %d.x: use a newer scaleprof",
                  s->path, major, minor, STORE_FORMAT_MAJOR);
        return ERR_VERSION;
    }
    return ERR_OK;
}

enum err store_open(struct store **out, const char *path)
{
    store_silence();
    struct store *s = calloc(1, sizeof *s);
    if (s == NULL || (s->path = strdup(path)) == NULL) {
        free(s);
        return ERR_NO_MEMORY;
    }
    s->lock = -1;
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    H5Pset_file_locking(list, 0, 1);
    s->file = access(path, R_OK) == 0 ? H5Fopen(path, H5F_ACC_RDONLY, list) : -1;
    H5Pclose(list);
    H5Eclear2(H5E_DEFAULT);
    enum err e = s->file < 0 ? not_hdf5(path) : check_version(s);
    if (e) {
        store_close(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

enum err store_read_attribute(struct store *s, const char *name, char *out, size_t size)
{
    hid_t root = H5Gopen2(s->file, "/", H5P_DEFAULT);
    out[0] = 0;
    if (root < 0)
        return ERR_FORMAT;
    enum err e = attribute_read(root, name, out, size);
    H5Gclose(root);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

void store_close(struct store *s)
{
    if (s == NULL)
        return;
    inputs_close(s);
    if (s->file >= 0)
        H5Fclose(s->file);
    store_free(s);
}
