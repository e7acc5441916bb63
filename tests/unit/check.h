/* Checks of the unit tests: alive in every build, counted, and the test goes on after one fails. */
#ifndef UNIT_CHECK_H
#define UNIT_CHECK_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static atomic_int checks_done, checks_failed;

static inline void check_report(int holds, const char *file, int line, const char *what)
{
    checks_done++;
    if (holds)
        return;
    checks_failed++;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
}

static inline void check_report_equal(int64_t got, int64_t wanted, const char *file, int line,
                                      const char *what)
{
    checks_done++;
    if (got == wanted)
        return;
    checks_failed++;
    fprintf(stderr, "%s:%d: %s is %" PRId64 ", not %" PRId64 "\n", file, line, what, got, wanted);
}

static inline void check_report_text(const char *got, const char *wanted, const char *file,
                                     int line, const char *what)
{
    checks_done++;
    if (strcmp(got, wanted) == 0)
        return;
    checks_failed++;
    fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", file, line, what, got, wanted);
}

#define CHECK(condition) check_report(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(got, wanted)                                                                   \
    check_report_equal((int64_t)(got), (int64_t)(wanted), __FILE__, __LINE__, #got)
#define CHECK_TEXT(got, wanted) check_report_text(got, wanted, __FILE__, __LINE__, #got)

/* The exit code of the test: 0 when something was checked and all of it held. */
static inline int check_result(void)
{
    fprintf(stderr, "%d checks, %d failed\n", checks_done, checks_failed);
    return checks_done == 0 || checks_failed > 0;
}

#endif
