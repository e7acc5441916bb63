#include "err.h"

#include <errno.h>

static const struct {
    const char *text;
    int exit_code;
} errors[] = {
#define ERROR(name, exit_code, text) {text, exit_code},
#include "errors.def"
#undef ERROR
};

const char *err_text(enum err e)
{
    return (unsigned)e < ERR_COUNT ? errors[e].text : "unknown error";
}

int err_exit_code(enum err e)
{
    return (unsigned)e < ERR_COUNT ? errors[e].exit_code : errors[ERR_INTERNAL].exit_code;
}

enum err err_from_errno(int number)
{
    switch (number) {
    case 0:
        return ERR_OK;
    case ENOMEM:
        return ERR_NO_MEMORY;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return ERR_NO_SPACE;
    case EEXIST:
        return ERR_EXISTS;
    case ENOENT:
    case ENOTDIR:
        return ERR_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return ERR_PERMISSION;
    default:
        return ERR_IO;
    }
}
