/* What is learned: the outputs of a teacher network that the student does not see, on random
 * inputs. Every rank has a shard of its own; the teacher is the same. */
#ifndef TRAIN_MLP_TASK_H
#define TRAIN_MLP_TASK_H

#include <stdint.h>

enum { TASK_INPUTS = 16, TASK_OUTPUTS = 4 };

struct task {
    int batch, batches; /* the shard is this many batches, read round and round */
    float *inputs;      /* [batches][batch][TASK_INPUTS] */
    float *targets;     /* [batches][batch][TASK_OUTPUTS] */
};

/* Makes rank `rank`'s shard; the caller closes it. Returns 0, or -1 when memory is short. */
int task_open(struct task **out, int batch, int batches, uint64_t seed, int rank);
void task_close(struct task *t);

const float *task_input(const struct task *t, int64_t step);
const float *task_target(const struct task *t, int64_t step);

#endif
