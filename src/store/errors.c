#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store_file.h"

struct causes {
    char deepest[200];
    enum err e;
};

/* HDF5 tells the system's error only in words: "errno = 28, ...", or MPI's name of it. */
static enum err cause_of(const char *description)
{
    const char *number = strstr(description, "errno = ");
    if (strstr(description, "MPI_ERR_NO_SPACE") || strstr(description, "MPI_ERR_QUOTA"))
        return ERR_NO_SPACE;
    return number ? err_from_errno(atoi(number + strlen("errno = "))) : ERR_OK;
}

static herr_t look(unsigned n, const H5E_error2_t *error, void *context)
{
    struct causes *c = context;
    (void)n;
    if (error->desc == NULL)
        return 0;
    snprintf(c->deepest, sizeof c->deepest, "%s", error->desc);
    if (c->e == ERR_OK)
        c->e = cause_of(error->desc);
    return 0;
}

/* A file that could not be closed, for the disk is full, must not be closed again at exit: HDF5
 * crashes then. */
void store_silence(void)
{
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

enum err store_refused(struct store *s, const char *what)
{
    struct causes c = {"", ERR_OK};
    const char *path = s->partial ? s->partial : s->path;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, look, &c);
    H5Eclear2(H5E_DEFAULT);
    if (s->failed)
        return s->failed;
    s->failed = c.e ? c.e : ERR_HDF5;
    if (c.e)
        log_error("%s: %s: %s", path, what, err_text(c.e));
    else
        log_error("%s: %s: HDF5 refused%s%s", path, what, c.deepest[0] ? ": " : "", c.deepest);
    return s->failed;
}
