#include "output.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

enum err output_flush(FILE *out)
{
    errno = 0;
    if (fflush(out) == 0 && !ferror(out))
        return ERR_OK;
    int cause = errno != 0 ? errno : EIO;
    log_error("the report could not be written: %s", strerror(cause));
    return err_from_errno(cause);
}
