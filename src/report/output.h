/* The stream that a report goes to. */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include <stdio.h>

#include "base/err.h"

/* Flushes; says what went wrong with the stream, now or earlier. */
enum err output_flush(FILE *out);

#endif
