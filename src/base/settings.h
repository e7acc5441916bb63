/* Settings: one table (settings.def), read from the environment and the command line. No malloc:
 * texts point into the environment or argv. */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stdint.h>

#include "base/err.h"

#define SETTINGS_VARIABLE_BYTES 48
#define SETTINGS_WORD_BYTES     24

enum setting {
#define SETTING(name, type, value, flag, meaning) SETTING_##name,
#include "settings.def"
#undef SETTING
    SETTING_COUNT
};

enum setting_type { SETTING_TEXT, SETTING_BYTES, SETTING_INTEGER, SETTING_BOOL, SETTING_CHOICE };
enum setting_source { SETTING_FROM_DEFAULT, SETTING_FROM_ENVIRONMENT, SETTING_FROM_FLAG };

struct setting_info {
    const char *name, *flag;
    const char *value; /* default; of a CHOICE its words "a|b|c", the first being the default */
    const char *meaning;
    enum setting_type type;
};

struct settings {
    struct {
        const char *text;
        int64_t number; /* bytes, integer, 0/1, or position of the choice (0 the default) */
        enum setting_source source;
    } values[SETTING_COUNT];
};

extern const struct setting_info setting_list[SETTING_COUNT];

/* Defaults, then the environment. Every fault (unknown SCALEPROF_* variable with the nearest known
 * name, value that does not parse) is said as a warning and its default kept: a job must not fail
 * by them. Returns how many. */
int settings_load(struct settings *s);

/* Sets one from the command line; `text` must live as long as `s`. ERR_USAGE (said) when it does
 * not parse. */
enum err settings_set(struct settings *s, enum setting which, const char *text);

/* The setting of this flag ("--memory"); SETTING_COUNT when none has it. */
enum setting settings_find_flag(const char *flag);

/* Writes the environment variable of the setting ("SCALEPROF_MEMORY") to `out` and returns it. */
const char *settings_variable(enum setting which, char out[SETTINGS_VARIABLE_BYTES]);

const char *settings_text(const struct settings *s, enum setting which);
int64_t settings_number(const struct settings *s, enum setting which);

/* Writes the word of a CHOICE ("auto") to `out`. */
void settings_choice(const struct settings *s, enum setting which, char out[SETTINGS_WORD_BYTES]);

/* Parses "64M", "2GiB", "1000" to bytes; ERR_USAGE on anything else. Says nothing. */
enum err settings_parse_bytes(const char *text, int64_t *bytes);

#endif
