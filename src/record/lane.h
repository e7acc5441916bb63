/* The calling thread's writer. */
#ifndef RECORD_LANE_H
#define RECORD_LANE_H

#include "record/record.h"

/* As scaleprof_writer, but also while recording is paused. */
struct record_writer *lane_writer(void);

#endif
