#include "base/settings.h"

#include <stdlib.h>

#include "base/log.h"
#include "unit/check.h"

static char last_message[1000];

static void keep(enum log_level level, const char *message)
{
    (void)level;
    snprintf(last_message, sizeof last_message, "%s", message);
}

static void test_bytes(void)
{
    int64_t bytes = -1;
    CHECK_EQUAL(settings_parse_bytes("64M", &bytes), ERR_OK);
    CHECK_EQUAL(bytes, 64 << 20);
    CHECK_EQUAL(settings_parse_bytes("2GiB", &bytes), ERR_OK);
    CHECK_EQUAL(bytes, INT64_C(2) << 30);
    CHECK_EQUAL(settings_parse_bytes("1000", &bytes), ERR_OK);
    CHECK_EQUAL(bytes, 1000);
    static const char *const wrong[] = {"", "-1", "1X", "M", "1MM", "99999999999T", " 1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_EQUAL(settings_parse_bytes(wrong[i], &bytes), ERR_USAGE);
    CHECK_EQUAL(bytes, 1000);
}

static void test_environment_and_flags(void)
{
    struct settings s;
    char word[SETTINGS_WORD_BYTES], variable[SETTINGS_VARIABLE_BYTES];
    CHECK_EQUAL(settings_load(&s), 0);
    CHECK_EQUAL(settings_number(&s, SETTING_memory), 64 << 20);
    settings_choice(&s, SETTING_mpi, word);
    CHECK_TEXT(word, "auto");
    setenv("SCALEPROF_MEMORY", "1M", 1);
    setenv("SCALEPROF_MPI", "target", 1);
    CHECK_EQUAL(settings_load(&s), 0);
    CHECK_EQUAL(settings_number(&s, SETTING_memory), 1 << 20);
    CHECK_EQUAL(s.values[SETTING_memory].source, SETTING_FROM_ENVIRONMENT);
    settings_choice(&s, SETTING_mpi, word);
    CHECK_TEXT(word, "target");
    CHECK_EQUAL(settings_find_flag("--memory"), SETTING_memory);
    CHECK_EQUAL(settings_find_flag(""), SETTING_COUNT);
    CHECK_EQUAL(settings_set(&s, SETTING_memory, "3M"), ERR_OK);
    CHECK_EQUAL(settings_number(&s, SETTING_memory), 3 << 20);
    CHECK_EQUAL(settings_set(&s, SETTING_memory, "lots"), ERR_USAGE);
    CHECK_EQUAL(settings_number(&s, SETTING_memory), 3 << 20);
    CHECK_TEXT(settings_variable(SETTING_log_file, variable), "SCALEPROF_LOG_FILE");
}

static void test_faults_are_said_and_harmless(void)
{
    struct settings s;
    setenv("SCALEPROF_MEMORY", "plenty", 1);
    CHECK_EQUAL(settings_load(&s), 1);
    CHECK_EQUAL(settings_number(&s, SETTING_memory), 64 << 20);
    unsetenv("SCALEPROF_MEMORY");
    setenv("SCALEPROF_MEMROY", "1M", 1);
    CHECK_EQUAL(settings_load(&s), 1);
    CHECK_TEXT(last_message, "unknown setting SCALEPROF_MEMROY; the nearest is SCALEPROF_MEMORY");
    unsetenv("SCALEPROF_MEMROY");
}

int main(void)
{
    unsetenv("SCALEPROF_MEMORY");
    log_open(keep, LOG_WARNING);
    test_bytes();
    test_environment_and_flags();
    test_faults_are_said_and_harmless();
    return check_result();
}
