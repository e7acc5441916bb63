#include "options.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

static const struct {
    const char *letter, *flag;
} short_flags[] = {{"-o", "--output"}, {"-f", "--force"}, {"-m", "--memory"}};

const char *options_long_name(const char *flag)
{
    for (size_t i = 0; i < sizeof short_flags / sizeof *short_flags; i++)
        if (strcmp(flag, short_flags[i].letter) == 0)
            return short_flags[i].flag;
    return flag;
}

/* How many characters two flags begin with alike: enough to guess what was meant. */
static size_t likeness(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

static enum err say_unknown(const char *flag, const struct option_flag *own)
{
    const char *best = "--help";
    for (int i = 0; i < SETTING_COUNT; i++)
        if (likeness(flag, setting_list[i].flag) > likeness(flag, best))
            best = setting_list[i].flag;
    for (; own->name != NULL; own++)
        if (likeness(flag, own->name) > likeness(flag, best))
            best = own->name;
    log_error("unknown option %s; did you mean %s?", flag, best);
    return ERR_USAGE;
}

struct cursor {
    int argc, at;
    char **argv;
};

/* The value of a flag: after '=', or the next argument. */
static enum err take_value(struct cursor *c, const char *equals, const char *flag,
                           const char **value)
{
    if (equals != NULL) {
        *value = equals + 1;
        return ERR_OK;
    }
    if (c->at + 1 >= c->argc) {
        log_error("%s needs a value", flag);
        return ERR_USAGE;
    }
    *value = c->argv[++c->at];
    return ERR_OK;
}

static enum err take_setting(struct cursor *c, struct settings *settings, enum setting which,
                             const char *equals)
{
    const char *value = "1";
    if (setting_list[which].type != SETTING_BOOL || equals != NULL) {
        enum err e = take_value(c, equals, setting_list[which].flag, &value);
        if (e)
            return e;
    }
    return settings_set(settings, which, value);
}

static enum err take_flag(struct cursor *c, struct settings *settings,
                          const struct option_flag *own)
{
    char name[64];
    const char *text = c->argv[c->at], *equals = strchr(text, '=');
    snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - text : (int)strlen(text)), text);
    const char *flag = options_long_name(name);
    for (const struct option_flag *o = own; o->name != NULL; o++) {
        if (strcmp(flag, o->name) != 0)
            continue;
        *o->value = "1";
        return o->takes_value ? take_value(c, equals, flag, o->value) : ERR_OK;
    }
    enum setting which = settings_find_flag(flag);
    return which == SETTING_COUNT ? say_unknown(name, own)
                                  : take_setting(c, settings, which, equals);
}

enum err options_take(struct settings *settings, const struct option_flag *own, int argc,
                      char **argv, int *count, char ***rest)
{
    struct cursor c = {.argc = argc, .argv = argv, .at = 1};
    int kept = 0;
    *rest = NULL;
    for (; c.at < argc; c.at++) {
        if (strcmp(argv[c.at], "--") == 0) {
            *rest = argv + c.at + 1;
            break;
        }
        if (argv[c.at][0] != '-' || argv[c.at][1] == 0) {
            argv[1 + kept++] = argv[c.at];
            continue;
        }
        enum err e = take_flag(&c, settings, own);
        if (e)
            return e;
    }
    *count = kept;
    return ERR_OK;
}
