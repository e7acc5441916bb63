/* Parts of the text report; each writes whole lines. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "page.h"
#include "summary.h"

struct text {
    struct page page;
    const struct report_input *input;
    const struct report_options *options;
    const struct report_summary *summary;
    size_t cautions_said, advice_said; /* on the first screen */
};

#define TEXT_SCREEN_LINES 24 /* the first screen has no more */

void text_screen(struct text *t);

/* The details after it. */
void text_unsaid(struct text *t);
void text_parts(struct text *t);
void text_ranks(struct text *t);
void text_late_ranks(struct text *t);
void text_waits(struct text *t);
void text_operations(struct text *t);
void text_messages(struct text *t);
void text_steps(struct text *t);
void text_quality(struct text *t);

/* "±1.20 µs" of one wait or skew of the run, as verdict_clock says it. */
const char *text_clock(char out[], const struct text *t, double difference_ns, int64_t bound_ns);

/* A sum over the kept steps, per step. */
double text_of_step(const struct text *t, int64_t sum);

#endif
