#include "sentence.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sentence_begin(struct sentence *s)
{
    *s = (struct sentence){0};
}

static char *room_for(struct sentence *s, size_t bytes)
{
    if (s->failed)
        return NULL;
    if (s->length + bytes + 1 > s->room) {
        size_t wanted = 2 * s->room > s->length + bytes + 1 ? 2 * s->room : s->length + bytes + 128;
        char *larger = realloc(s->text, wanted);
        if (larger == NULL) {
            s->failed = 1;
            return NULL;
        }
        s->text = larger;
        s->room = wanted;
    }
    return s->text + s->length;
}

void sentence_add(struct sentence *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *at = bytes < 0 ? NULL : room_for(s, (size_t)bytes);
    if (at == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(at, (size_t)bytes + 1, format, arguments);
    va_end(arguments);
    s->length += (size_t)bytes;
}

static const char *value_of(const struct sentence_word *words, const char *key, size_t length)
{
    for (; words->key != NULL; words++)
        if (strlen(words->key) == length && memcmp(words->key, key, length) == 0)
            return words->value;
    return NULL;
}

void sentence_expand(struct sentence *s, const char *template, const struct sentence_word *words)
{
    while (*template != 0) {
        size_t plain = strcspn(template, "{");
        sentence_add(s, "%.*s", (int)plain, template);
        template += plain;
        const char *end = strchr(template, '}');
        if (end == NULL)
            return;
        const char *value = value_of(words, template + 1, (size_t)(end - template - 1));
        sentence_add(s, "%s", value != NULL ? value : "?");
        template = end + 1;
    }
}

char *sentence_end(struct sentence *s)
{
    char *at = room_for(s, 0);
    if (at == NULL) {
        free(s->text);
        return NULL;
    }
    *at = 0;
    return s->text;
}
