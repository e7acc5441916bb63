#include "json_writer.h"

#include "utf8.h"

#include <inttypes.h>
#include <math.h>

static void begin_value(struct json_writer *w)
{
    if (!w->named && w->used[w->depth])
        fputc(',', w->out);
    if (!w->named && w->depth == 1)
        fputc('\n', w->out);
    w->used[w->depth] = 1;
    w->named = 0;
}

static void open_level(struct json_writer *w, int bracket)
{
    begin_value(w);
    fputc(bracket, w->out);
    if (w->depth + 1 < JSON_DEPTH)
        w->depth++;
    w->used[w->depth] = 0;
}

static void close_level(struct json_writer *w, int bracket)
{
    fputc(bracket, w->out);
    if (w->depth > 0)
        w->depth--;
}

void json_begin(struct json_writer *w, FILE *out)
{
    *w = (struct json_writer){.out = out};
}

void json_end(struct json_writer *w)
{
    fputc('\n', w->out);
}

void json_object(struct json_writer *w)
{
    open_level(w, '{');
}

void json_object_end(struct json_writer *w)
{
    close_level(w, '}');
}

void json_array(struct json_writer *w)
{
    open_level(w, '[');
}

void json_array_end(struct json_writer *w)
{
    close_level(w, ']');
}

static void put_code(FILE *out, uint32_t code)
{
    if (code == UTF8_INVALID)
        code = 0xFFFD;
    if (code == '"' || code == '\\')
        fprintf(out, "\\%c", (int)code);
    else if (code >= 0x20 && code < 0x7F)
        fputc((int)code, out);
    else if (code < 0x10000)
        fprintf(out, "\\u%04" PRIx32, code);
    else
        fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + ((code - 0x10000) >> 10),
                0xDC00 + ((code - 0x10000) & 0x3FF));
}

static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text != 0)
        put_code(out, utf8_next(&text));
    fputc('"', out);
}

void json_name(struct json_writer *w, const char *name)
{
    begin_value(w);
    put_text(w->out, name);
    fputc(':', w->out);
    w->named = 1;
}

void json_text(struct json_writer *w, const char *text)
{
    if (text == NULL) {
        json_null(w);
        return;
    }
    begin_value(w);
    put_text(w->out, text);
}

void json_integer(struct json_writer *w, int64_t value)
{
    begin_value(w);
    fprintf(w->out, "%" PRId64, value);
}

void json_unsigned(struct json_writer *w, uint64_t value)
{
    begin_value(w);
    fprintf(w->out, "%" PRIu64, value);
}

void json_double(struct json_writer *w, double value)
{
    begin_value(w);
    if (isfinite(value))
        fprintf(w->out, "%.17g", value);
    else
        fputs("null", w->out);
}

void json_bool(struct json_writer *w, int value)
{
    begin_value(w);
    fputs(value ? "true" : "false", w->out);
}

void json_null(struct json_writer *w)
{
    begin_value(w);
    fputs("null", w->out);
}
