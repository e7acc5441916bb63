/* A row of /analysis/late_ranks in words, from the templates of verdicts.def. */
#ifndef REPORT_LATE_H
#define REPORT_LATE_H

#include "sentence.h"
#include "summary.h"

const char *late_pattern_name(unsigned pattern);
const char *late_cause_name(unsigned cause);

/* Whether the clock can tell its lateness from nothing. */
int late_resolved(const struct report_summary *s, const struct report_input *input, size_t row);

/* Who makes the others wait, how much, and why. */
void late_say(struct sentence *out, const struct report_summary *s,
              const struct report_input *input, size_t row);

/* How often, how late with which clock error, and what a step would gain. */
void late_say_more(struct sentence *out, const struct report_summary *s,
                   const struct report_input *input, size_t row);

/* What to do next about it. */
void late_advise(struct sentence *out, const struct report_summary *s,
                 const struct report_input *input, size_t row);

#endif
