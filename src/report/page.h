/* Lines of a text page: bounded width, columns, styles, ASCII where the terminal has no more, no
 * trailing spaces. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "report.h"

#define PAGE_COLUMNS 100
#define PAGE_LABEL   13 /* columns of the label at the left of a line */

enum page_style {
    PAGE_PLAIN,
    PAGE_BOLD,
    PAGE_FAINT,
    PAGE_RED,
    PAGE_YELLOW,
    PAGE_GREEN,
    PAGE_STYLES
};

struct page {
    FILE *out;
    int color, utf8;
    size_t lines;                  /* ended so far */
    size_t columns, used;          /* of the line being written; `used` in bytes */
    enum page_style style, wanted; /* in force; of the next visible sign */
    size_t blank;                  /* spaces asked for, not written yet */
    char line[8 * PAGE_COLUMNS];
};

void page_begin(struct page *p, const struct report_options *options, FILE *out);

/* Adds text (UTF-8, cleaned) to the line; what passes the width is cut. */
void page_add(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

void page_style(struct page *p, enum page_style style);

/* Moves to the column; nothing when the line is there already. */
void page_to(struct page *p, size_t column);

/* Adds the text so that it ends `width` columns from here. */
void page_right(struct page *p, size_t width, const char *text);

/* A bar of `width` columns, filled to `share` (0 to 1) of it. */
void page_bar(struct page *p, size_t width, double share);

void page_end(struct page *p);

/* A line that begins a part of the page. */
void page_heading(struct page *p, const char *title);

/* Begins a line with its label. */
void page_label(struct page *p, const char *label);

/* The text after a label, broken at spaces into at most `lines` lines, the last one cut with "…".
 * Ends the line.
 * Returns whether all of it was shown. */
int page_wrap(struct page *p, const char *label, enum page_style style, const char *text,
              size_t lines);

#endif
