#include "page.h"

#include "utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const escapes[PAGE_STYLES] = {"\033[0m",    "\033[1m",  "\033[2m",
                                                 "\033[1;31m", "\033[33m", "\033[32m"};

/* What the report's own signs become without UTF-8; any other is a question mark. */
static const struct {
    uint32_t code;
    const char *ascii;
} substitutes[] = {
    {0x00B1, "+-"}, {0x00B5, "u"}, {0x00B7, "|"}, {0x00D7, "x"},   {0x2192, "->"}, {0x2500, "-"},
    {0x2588, "#"},  {0x2589, "#"}, {0x258A, "#"}, {0x258B, "#"},   {0x258C, "#"},  {0x258D, "-"},
    {0x258E, "-"},  {0x258F, "-"}, {0x2591, "."}, {0x2026, "..."}, {0x2014, "-"},
};

static const char *substitute(uint32_t code)
{
    for (size_t i = 0; i < sizeof substitutes / sizeof *substitutes; i++)
        if (substitutes[i].code == code)
            return substitutes[i].ascii;
    return "?";
}

void page_begin(struct page *p, const struct report_options *options, FILE *out)
{
    *p = (struct page){.out = out, .color = options->color, .utf8 = options->utf8};
}

static void put(struct page *p, const char *bytes, size_t length)
{
    /* Room for the reset at the line's end stays free. */
    if (p->used + length + 8 > sizeof p->line)
        return;
    memcpy(p->line + p->used, bytes, length);
    p->used += length;
}

static void put_blanks(struct page *p)
{
    for (; p->blank > 0; p->blank--)
        put(p, " ", 1);
}

static void put_style(struct page *p, enum page_style style)
{
    if (!p->color || style == p->style)
        return;
    put(p, escapes[PAGE_PLAIN], strlen(escapes[PAGE_PLAIN]));
    if (style != PAGE_PLAIN)
        put(p, escapes[style], strlen(escapes[style]));
    p->style = style;
}

static void put_code(struct page *p, uint32_t code, const char *bytes, size_t length)
{
    int columns = code == UTF8_INVALID ? 0 : utf8_columns(code);
    if (columns == 0 || p->columns + (size_t)columns > PAGE_COLUMNS)
        return;
    p->columns += (size_t)columns;
    if (code == ' ') {
        p->blank++;
        return;
    }
    put_blanks(p);
    put_style(p, p->wanted);
    put(p, bytes, length);
}

static void put_text(struct page *p, const char *text)
{
    for (const char *at = text, *from = at; *at != 0; from = at) {
        uint32_t code = utf8_next(&at);
        if (p->utf8 || code < 0x80) {
            put_code(p, code, from, (size_t)(at - from));
            continue;
        }
        for (const char *ascii = substitute(code); *ascii != 0; ascii++)
            put_code(p, (unsigned char)*ascii, ascii, 1);
    }
}

void page_add(struct page *p, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_text(p, text);
}

void page_style(struct page *p, enum page_style style)
{
    p->wanted = style;
}

void page_to(struct page *p, size_t column)
{
    if (column > PAGE_COLUMNS)
        column = PAGE_COLUMNS;
    if (p->columns < column) {
        p->blank += column - p->columns;
        p->columns = column;
    }
}

/* Columns that the text takes on this page. */
static size_t width_of(const struct page *p, const char *text)
{
    size_t columns = 0;
    while (*text != 0) {
        uint32_t code = utf8_next(&text);
        if (p->utf8 || code < 0x80)
            columns += code == UTF8_INVALID ? 0 : (size_t)utf8_columns(code);
        else
            columns += strlen(substitute(code));
    }
    return columns;
}

void page_right(struct page *p, size_t width, const char *text)
{
    size_t columns = width_of(p, text);
    if (columns < width)
        page_to(p, p->columns + width - columns);
    put_text(p, text);
}

void page_bar(struct page *p, size_t width, double share)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    size_t end = p->columns + width;
    double filled = share > 0 ? share < 1 ? share : 1 : 0;
    size_t parts = (size_t)(filled * 8 * (double)width + 0.5);
    if (filled > 0 && parts == 0)
        parts = 1;
    for (size_t i = 0; i < parts / 8; i++)
        put_text(p, "█");
    put_text(p, eighths[parts % 8]);
    page_to(p, end);
}

void page_end(struct page *p)
{
    p->wanted = PAGE_PLAIN;
    put_style(p, PAGE_PLAIN);
    fwrite(p->line, 1, p->used, p->out);
    fputc('\n', p->out);
    p->used = p->columns = p->blank = 0;
    p->lines++;
}

void page_heading(struct page *p, const char *title)
{
    page_end(p);
    page_style(p, PAGE_BOLD);
    page_add(p, "── %s ", title);
    while (p->columns < PAGE_COLUMNS)
        put_text(p, "─");
    page_end(p);
}

void page_label(struct page *p, const char *label)
{
    page_style(p, PAGE_BOLD);
    put_text(p, label);
    page_style(p, PAGE_PLAIN);
    page_to(p, PAGE_LABEL);
}

/* The end of the words that fit into `columns`; a single longer word is cut where it must. */
static const char *line_end(const struct page *p, const char *text, size_t columns)
{
    const char *fits = NULL, *at = text;
    size_t used = 0;
    while (*at != 0) {
        const char *from = at;
        uint32_t code = utf8_next(&at);
        /* A number stays with its unit. */
        if (code == ' ' && !(from > text && from[-1] >= '0' && from[-1] <= '9'))
            fits = from;
        char one[8] = {0};
        memcpy(one, from, (size_t)(at - from));
        used += width_of(p, one);
        if (used > columns)
            return fits != NULL && fits > text ? fits : from > text ? from : at;
    }
    return at;
}

int page_wrap(struct page *p, const char *label, enum page_style style, const char *text,
              size_t lines)
{
    page_label(p, label);
    for (size_t i = 0; i < lines && (*text != 0 || i == 0); i++) {
        const char *end = line_end(p, text, PAGE_COLUMNS - PAGE_LABEL);
        int cut = i + 1 == lines && *end != 0;
        if (cut)
            end = line_end(p, text, PAGE_COLUMNS - PAGE_LABEL - 4);
        page_to(p, PAGE_LABEL);
        page_style(p, style);
        page_add(p, "%.*s%s", (int)(end - text), text, cut ? " …" : "");
        page_end(p);
        text = end + strspn(end, " ");
        if (cut)
            return 0;
    }
    return 1;
}
