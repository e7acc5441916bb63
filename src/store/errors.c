#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "store_file.h"

struct deepest {
    char text[200];
    int no_space;
};

static herr_t keep_deepest(unsigned n, const H5E_error2_t *error, void *context)
{
    struct deepest *d = context;
    (void)n;
    if (error->desc == NULL)
        return 0;
    snprintf(d->text, sizeof d->text, "%s", error->desc);
    if (strstr(error->desc, strerror(ENOSPC)) || strstr(error->desc, strerror(EDQUOT)) ||
        strstr(error->desc, strerror(EFBIG)))
        d->no_space = 1;
    return 0;
}

void store_silence(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

enum err store_refused(const char *path, const char *what)
{
    struct deepest d = {"", 0};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_deepest, &d);
    H5Eclear2(H5E_DEFAULT);
    if (d.no_space) {
        log_error("%s: no space left for it", path);
        return ERR_NO_SPACE;
    }
    log_error("%s: %s failed%s%s", path, what, d.text[0] ? ": " : "", d.text);
    return ERR_HDF5;
}
