#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

extern char **environ;

enum err environment_open(struct environment *e)
{
    *e = (struct environment){0};
    while (environ != NULL && environ[e->count] != NULL)
        e->count++;
    e->entries = malloc((e->count + 1) * sizeof *e->entries);
    if (e->entries == NULL)
        return ERR_NO_MEMORY;
    memcpy(e->entries, environ, e->count * sizeof *e->entries);
    e->entries[e->count] = NULL;
    return ERR_OK;
}

void environment_close(struct environment *e)
{
    for (size_t i = 0; i < e->owned_count; i++)
        free(e->owned[i]);
    free(e->owned);
    free(e->entries);
    *e = (struct environment){0};
}

static size_t find(const struct environment *e, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < e->count; i++)
        if (strncmp(e->entries[i], name, length) == 0 && e->entries[i][length] == '=')
            return i;
    return e->count;
}

const char *environment_get(const struct environment *e, const char *name)
{
    size_t at = find(e, name);
    return at < e->count ? e->entries[at] + strlen(name) + 1 : NULL;
}

enum err environment_set(struct environment *e, const char *name, const char *value)
{
    char *entry = NULL, **owned = realloc(e->owned, (e->owned_count + 1) * sizeof *owned);
    if (owned == NULL)
        return ERR_NO_MEMORY;
    e->owned = owned;
    if (asprintf(&entry, "%s=%s", name, value) < 0)
        return ERR_NO_MEMORY;
    e->owned[e->owned_count++] = entry;
    size_t at = find(e, name);
    if (at == e->count) {
        char **entries = realloc(e->entries, (e->count + 2) * sizeof *entries);
        if (entries == NULL)
            return ERR_NO_MEMORY;
        e->entries = entries;
        e->entries[++e->count] = NULL;
    }
    e->entries[at] = entry;
    return ERR_OK;
}

enum err environment_set_settings(struct environment *e, const struct settings *settings,
                                  const char *run_folder)
{
    char variable[SETTINGS_VARIABLE_BYTES];
    enum err error = ERR_OK;
    for (int i = 0; i < SETTING_COUNT && !error; i++)
        if (settings->values[i].source == SETTING_FROM_FLAG)
            error = environment_set(e, settings_variable((enum setting)i, variable),
                                    settings->values[i].text);
    if (!error)
        error = environment_set(e, settings_variable(SETTING_run_dir, variable), run_folder);
    if (!error)
        error = environment_set(e, settings_variable(SETTING_clock, variable),
                                clock_in_use == CLOCK_MONOTONIC_RAW ? "raw" : "monotonic");
    return error;
}
