/* Puts a rank's rows in order and turns row numbers of its own into rows of the run. */
#ifndef GATHER_FINISH_H
#define GATHER_FINISH_H

#include "rank_rows.h"

/* `ends`: where each lane's rows end among the events, which stand lane by lane. */
enum err rank_rows_finish(struct rank_rows *r, const struct rank_places *places, const size_t *ends,
                          size_t runs);

#endif
