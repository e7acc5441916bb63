/* A text that grows. */
#ifndef REPORT_SENTENCE_H
#define REPORT_SENTENCE_H

#include <stddef.h>

struct sentence {
    char *text;
    size_t length, room;
    int failed; /* memory ran out */
};

struct sentence_word {
    const char *key, *value; /* key NULL ends a list */
};

void sentence_begin(struct sentence *s);
void sentence_add(struct sentence *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the template with every {key} replaced by its value. */
void sentence_expand(struct sentence *s, const char *template, const struct sentence_word *words);

/* The text, malloc'd; NULL when memory ran out. */
char *sentence_end(struct sentence *s);

#endif
