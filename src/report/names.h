/* Names of things in the tables, for a person. */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include "report.h"

/* The value of a fact of /run or /analysis/findings; "" when absent. */
const char *names_fact(const struct report_input *input, const char *key);
const char *names_finding(const struct report_input *input, const char *key);

/* The number that a fact states; -1 when absent or no number. */
int64_t names_fact_number(const struct report_input *input, const char *key);

/* Each writes a cleaned name of at most NAMES_COLUMNS columns and returns `out`. */
#define NAMES_COLUMNS 40
#define NAMES_BYTES   (4 * NAMES_COLUMNS + 64)
const char *names_host(char out[NAMES_BYTES], const struct report_input *input, uint32_t node);
const char *names_communicator(char out[NAMES_BYTES], const struct report_input *input,
                               uint32_t communicator);

/* "train.c:123", or the module alone where no line is known. */
const char *names_source(char out[NAMES_BYTES], const struct report_input *input, uint32_t site);

/* "train.c:123 (step)", or the module and offset where no source is known; "" for no site. */
const char *names_site(char out[NAMES_BYTES], const struct report_input *input, uint32_t site);

#endif
