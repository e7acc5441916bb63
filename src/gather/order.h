/* Puts events in order of their begin. */
#ifndef GATHER_ORDER_H
#define GATHER_ORDER_H

#include <stddef.h>

#include "base/err.h"
#include "trace/tables.h"

/* order[k] = row that comes k-th: by begin, then longest first, then as they stand. `ends` are the
 * ends of runs of rows (lanes) within which rows stand in order of their ends, as a lane records
 * them: then the cost is linear in rows for each level of nesting and each doubling of runs. */
enum err order_events(const struct events_rows *events, const size_t *ends, size_t runs,
                      size_t *order);

#endif
