/* Where each step's time went on each rank: the exact partition, and who is behind the waits. */
#ifndef REDUCE_PARTITION_H
#define REDUCE_PARTITION_H

#include "state.h"

/* Before the first rank: room for what the ranks cause each other. */
enum err partition_begin(struct state *s);

/* Adds the rank's rows of /analysis/partition and of /analysis/waits, and the exposed and hidden
 * parts of the instances it takes part in. `rows` are the rank's own. */
enum err partition_rank(struct state *s, size_t rank_row, const struct reduce_rank_rows *rows);

/* After all ranks: caused_wait_ns of every row, from the waits that name its rank. */
void partition_finish(struct state *s);

/* Rows whose parts do not add up to their length: 0, or a fault of this program. */
int64_t partition_check(const struct partition_rows *p);

#endif
