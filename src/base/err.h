/* The one list of errors. 0 is success; the function that first knows the cause says it once
 * through log.h, callers pass the code on. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err {
#define ERROR(name, exit_code, text) ERR_##name,
#include "errors.def"
#undef ERROR
    ERR_COUNT
};

/* The sentence of the error in errors.def; never NULL. */
const char *err_text(enum err e);

/* The exit code of a command that ends with this error (0 for ERR_OK). */
int err_exit_code(enum err e);

/* The error that an errno value stands for (ENOSPC and EDQUOT: NO_SPACE, ENOENT: NOT_FOUND, ...;
 * else IO). */
enum err err_from_errno(int number);

#endif
