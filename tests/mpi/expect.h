/* A test program says, beside each call, the rows that the recorder must have written for it. One
 * file per rank in $EXPECT_DIR; without that variable nothing is written. */
#ifndef TEST_MPI_EXPECT_H
#define TEST_MPI_EXPECT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) FILE *expect_file;

static inline void expect_open(int rank)
{
    const char *folder = getenv("EXPECT_DIR");
    char path[1024];
    if (folder == NULL)
        return;
    snprintf(path, sizeof path, "%s/expect.%d", folder, rank);
    expect_file = fopen(path, "w");
    if (expect_file == NULL)
        abort();
}

__attribute__((format(printf, 1, 2))) static inline void expect(const char *format, ...)
{
    va_list arguments;
    if (expect_file == NULL)
        return;
    va_start(arguments, format);
    vfprintf(expect_file, format, arguments);
    va_end(arguments);
    fputc('\n', expect_file);
}

static inline void expect_close(void)
{
    if (expect_file != NULL && fclose(expect_file) != 0)
        abort();
}

/* Results of the program itself: a wrong one ends it with 1. */
__attribute__((weak)) int expect_wrong;
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition);                 \
            expect_wrong = 1;                                                                      \
        }                                                                                          \
    } while (0)

#endif
