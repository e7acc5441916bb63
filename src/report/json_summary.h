/* The member "summary" of the JSON report. */
#ifndef REPORT_JSON_SUMMARY_H
#define REPORT_JSON_SUMMARY_H

#include "json_writer.h"
#include "summary.h"

void json_summary(struct json_writer *w, const struct report_summary *s,
                  const struct report_input *input);

#endif
