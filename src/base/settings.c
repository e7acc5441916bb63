#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

extern char **environ;

#define PREFIX "SCALEPROF_"

/* Upper-case names are needed as text: the preprocessor cannot make them, settings_variable does.
 */
const struct setting_info setting_list[SETTING_COUNT] = {
#define SETTING(name, type, value, flag, meaning) {#name, flag, value, meaning, SETTING_##type},
#include "settings.def"
#undef SETTING
};

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Whether `variable` (up to '=' or its end) is PREFIX and the name in capitals. */
static int is_variable_of(const char *variable, size_t length, const char *name)
{
    size_t prefix = strlen(PREFIX);
    if (length != prefix + strlen(name) || strncmp(variable, PREFIX, prefix) != 0)
        return 0;
    for (size_t i = prefix; i < length; i++)
        if (variable[i] != upper(name[i - prefix]))
            return 0;
    return 1;
}

const char *settings_variable(enum setting which, char out[SETTINGS_VARIABLE_BYTES])
{
    size_t at = strlen(PREFIX);
    memcpy(out, PREFIX, at);
    for (const char *c = setting_list[which].name; *c && at < SETTINGS_VARIABLE_BYTES - 1; c++)
        out[at++] = upper(*c);
    out[at] = 0;
    return out;
}

enum err settings_parse_bytes(const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    if (*text < '0' || *text > '9')
        return ERR_USAGE;
    unsigned long long value = strtoull(text, &end, 10);
    int shift = 0;
    const char *unit = *end ? strchr(units, upper(*end)) : NULL;
    if (unit != NULL) {
        shift = 10 * (int)(unit - units + 1);
        end++;
    }
    if (*end == 'i' && shift > 0)
        end++;
    if (upper(*end) == 'B')
        end++;
    if (*end != 0 || value > (unsigned long long)INT64_MAX >> shift)
        return ERR_USAGE;
    *bytes = (int64_t)(value << shift);
    return ERR_OK;
}

static enum err parse_integer(const char *text, int64_t *number)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != 0)
        return ERR_USAGE;
    *number = value;
    return ERR_OK;
}

static int is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return 1;
    return 0;
}

static enum err parse_bool(const char *text, int64_t *number)
{
    static const char *const yes[] = {"1", "yes", "on", "true", NULL};
    static const char *const no[] = {"0", "no", "off", "false", "", NULL};
    if (!is_one_of(text, yes) && !is_one_of(text, no))
        return ERR_USAGE;
    *number = is_one_of(text, yes);
    return ERR_OK;
}

/* Position of `text` among the words "a|b|c". */
static enum err parse_choice(const char *words, const char *text, int64_t *number)
{
    size_t length = strlen(text);
    for (int64_t position = 0; *words; position++) {
        size_t word = strcspn(words, "|");
        if (word == length && strncmp(words, text, length) == 0) {
            *number = position;
            return ERR_OK;
        }
        words += word + (words[word] == '|');
    }
    return ERR_USAGE;
}

static enum err parse(enum setting which, const char *text, int64_t *number)
{
    const struct setting_info *info = &setting_list[which];
    switch (info->type) {
    case SETTING_BYTES:
        return settings_parse_bytes(text, number);
    case SETTING_INTEGER:
        return parse_integer(text, number);
    case SETTING_BOOL:
        return parse_bool(text, number);
    case SETTING_CHOICE:
        return parse_choice(info->value, text, number);
    case SETTING_TEXT:
        *number = 0;
        return ERR_OK;
    }
    return ERR_INTERNAL;
}

static void set_default(struct settings *s, enum setting which)
{
    const struct setting_info *info = &setting_list[which];
    s->values[which].text = info->type == SETTING_CHOICE ? "" : info->value;
    s->values[which].number = 0;
    if (info->type != SETTING_CHOICE)
        parse(which, info->value, &s->values[which].number);
    s->values[which].source = SETTING_FROM_DEFAULT;
}

static enum err set(struct settings *s, enum setting which, const char *text,
                    enum setting_source source)
{
    int64_t number;
    enum err e = parse(which, text, &number);
    if (e)
        return e;
    s->values[which].text = text;
    s->values[which].number = number;
    s->values[which].source = source;
    return ERR_OK;
}

/* Levenshtein distance, texts cut at 31 characters. */
static int distance(const char *a, size_t a_length, const char *b)
{
    enum { MOST = 31 };
    int row[MOST + 1];
    size_t n = a_length < MOST ? a_length : MOST, m = strnlen(b, MOST);
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int above = row[j];
            int best = diagonal + (upper(a[i - 1]) != upper(b[j - 1]));
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[m];
}

static const char *nearest_name(const char *name, size_t length)
{
    const char *best = setting_list[0].name;
    int least = distance(name, length, best);
    for (int i = 1; i < SETTING_COUNT; i++) {
        int d = distance(name, length, setting_list[i].name);
        if (d < least) {
            least = d;
            best = setting_list[i].name;
        }
    }
    return best;
}

/* Returns the number of faults of one variable of the environment. */
static int load_variable(struct settings *s, const char *variable)
{
    size_t length = strcspn(variable, "=");
    if (strncmp(variable, PREFIX, strlen(PREFIX)) != 0 || variable[length] != '=')
        return 0;
    for (int i = 0; i < SETTING_COUNT; i++) {
        if (!is_variable_of(variable, length, setting_list[i].name))
            continue;
        if (set(s, (enum setting)i, variable + length + 1, SETTING_FROM_ENVIRONMENT) == ERR_OK)
            return 0;
        log_warning("%.*s: \"%s\" is not a value of it (%s); the default stays", (int)length,
                    variable, variable + length + 1, setting_list[i].value);
        return 1;
    }
    char name[SETTINGS_VARIABLE_BYTES];
    const char *nearest = nearest_name(variable + strlen(PREFIX), length - strlen(PREFIX));
    for (int i = 0; i < SETTING_COUNT; i++)
        if (setting_list[i].name == nearest)
            settings_variable((enum setting)i, name);
    log_warning("unknown setting %.*s; the nearest is %s", (int)length, variable, name);
    return 1;
}

int settings_load(struct settings *s)
{
    int faults = 0;
    for (int i = 0; i < SETTING_COUNT; i++)
        set_default(s, (enum setting)i);
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        faults += load_variable(s, *variable);
    return faults;
}

enum err settings_set(struct settings *s, enum setting which, const char *text)
{
    enum err e = set(s, which, text, SETTING_FROM_FLAG);
    if (e)
        log_error("%s: \"%s\" is not a value of it (%s)", setting_list[which].flag, text,
                  setting_list[which].value);
    return e;
}

enum setting settings_find_flag(const char *flag)
{
    for (int i = 0; i < SETTING_COUNT; i++)
        if (setting_list[i].flag[0] && strcmp(flag, setting_list[i].flag) == 0)
            return (enum setting)i;
    return SETTING_COUNT;
}

const char *settings_text(const struct settings *s, enum setting which)
{
    return s->values[which].text;
}

int64_t settings_number(const struct settings *s, enum setting which)
{
    return s->values[which].number;
}

void settings_choice(const struct settings *s, enum setting which, char out[SETTINGS_WORD_BYTES])
{
    const char *words = setting_list[which].value;
    for (int64_t i = 0; i < s->values[which].number; i++)
        words += strcspn(words, "|") + 1;
    size_t length = strcspn(words, "|");
    if (length >= SETTINGS_WORD_BYTES)
        length = SETTINGS_WORD_BYTES - 1;
    memcpy(out, words, length);
    out[length] = 0;
}
