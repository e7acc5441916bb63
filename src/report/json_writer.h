/* Writes JSON to a stream as it is told: no tree in memory. The text is ASCII whatever the input.
 */
#ifndef REPORT_JSON_WRITER_H
#define REPORT_JSON_WRITER_H

#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

struct json_writer {
    FILE *out;
    int depth;
    int used[JSON_DEPTH]; /* whether the level has a member already */
    int named;            /* a name waits for its value */
};

void json_begin(struct json_writer *w, FILE *out);

/* Ends the text with a newline. */
void json_end(struct json_writer *w);

void json_object(struct json_writer *w);
void json_object_end(struct json_writer *w);
void json_array(struct json_writer *w);
void json_array_end(struct json_writer *w);

/* The name of the next value, inside an object. */
void json_name(struct json_writer *w, const char *name);

/* Bytes that are not UTF-8 become U+FFFD; NULL becomes null. */
void json_text(struct json_writer *w, const char *text);
void json_integer(struct json_writer *w, int64_t value);
void json_unsigned(struct json_writer *w, uint64_t value);
void json_double(struct json_writer *w,
                 double value); /* null when not finite; 17 digits, which are exact */
void json_bool(struct json_writer *w, int value);
void json_null(struct json_writer *w);

#endif
