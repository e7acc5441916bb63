/* What a person or a program is told about a reduced run. Reads only the tables. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdio.h>

#include "base/err.h"
#include "trace/strings.h"
#include "trace/tables.h"

struct report_input {
    const char *path;             /* name of the run file, for the heading */
    const struct run_tables *run; /* without events, collectives, messages, counters */
    const struct analysis_tables *analysis;
    const struct strings *run_strings, *analysis_strings;
};

struct report_options {
    int color;     /* escape sequences for a terminal */
    int utf8;      /* bars and marks beyond ASCII, and names as they are */
    int all_ranks; /* every rank's row, however many there are */
};

/* Both flush the stream; when that fails they have said why.
 *
 * The text report: a first screen that answers what was run, how long a step takes and how steady
 * it is, where its time goes, who made whom wait, which operations cost most, and how far the data
 * can be trusted. */
enum err report_text(const struct report_input *input, const struct report_options *options,
                     FILE *out);

/* Every number, full precision, in the schema of docs/report-json.md. */
enum err report_json(const struct report_input *input, FILE *out);

#endif
