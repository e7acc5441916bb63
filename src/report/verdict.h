/* What the numbers mean, in sentences (UTF-8, names cleaned). */
#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

#include "summary.h"

/* Fills verdict, late and the two texts of a summary whose numbers are all there. */
enum err verdict_make(struct report_summary *s, const struct report_input *input);

const char *verdict_name(enum report_verdict verdict);

/* "±1.20 µs", "below clock resolution (±1.20 µs)", "clock error unknown": what the clock says of a
 * difference between two ranks. A difference inside the bound counts when it is twice the estimate.
 * Returns `out`. */
#define VERDICT_CLOCK_BYTES 96
const char *verdict_clock(char out[VERDICT_CLOCK_BYTES], double difference_ns, int64_t bound_ns,
                          int64_t estimate_ns);

/* Whether the clock can tell the difference from nothing. */
int verdict_resolved(double difference_ns, int64_t bound_ns, int64_t estimate_ns);

#endif
