/* What limits the results, and what to do next. */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include "summary.h"

/* Fills the cautions, the gravest first, and the advice. The verdict must be there. */
enum err advice_make(struct report_summary *s, const struct report_input *input);

#endif
