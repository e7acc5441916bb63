#include "task.h"

#include <stdlib.h>
#include <string.h>

#include "network.h"
#include "random.h"

static void fill_shard(struct task *t, struct network *teacher, struct random *r)
{
    size_t input_count = (size_t)t->batch * TASK_INPUTS;
    size_t target_count = (size_t)t->batch * TASK_OUTPUTS;
    for (int b = 0; b < t->batches; b++) {
        float *input = t->inputs + (size_t)b * input_count;
        for (size_t i = 0; i < input_count; i++)
            input[i] = random_normal(r);
        network_set_input(teacher, input);
        for (int l = 0; l < teacher->layers; l++)
            network_forward_layer(teacher, l);
        memcpy(t->targets + (size_t)b * target_count, network_output(teacher),
               target_count * sizeof(float));
    }
}

int task_open(struct task **out, int batch, int batches, uint64_t seed, int rank)
{
    static const int teacher_widths[] = {TASK_INPUTS, 12, TASK_OUTPUTS};
    struct network *teacher = NULL;
    struct task *t = calloc(1, sizeof *t);
    if (t == NULL)
        return -1;
    t->batch = batch;
    t->batches = batches;
    t->inputs = calloc((size_t)batch * (size_t)batches * TASK_INPUTS, sizeof(float));
    t->targets = calloc((size_t)batch * (size_t)batches * TASK_OUTPUTS, sizeof(float));
    if (t->inputs == NULL || t->targets == NULL)
        goto close_task;
    if (network_open(&teacher, teacher_widths, 2, batch, seed + 1000003) != 0)
        goto close_task;
    struct random r = random_begin(seed, (uint64_t)rank + 1);
    fill_shard(t, teacher, &r);
    network_close(teacher);
    *out = t;
    return 0;

close_task:
    task_close(t);
    return -1;
}

void task_close(struct task *t)
{
    if (t == NULL)
        return;
    free(t->inputs);
    free(t->targets);
    free(t);
}

const float *task_input(const struct task *t, int64_t step)
{
    return t->inputs + (size_t)(step % t->batches) * (size_t)t->batch * TASK_INPUTS;
}

const float *task_target(const struct task *t, int64_t step)
{
    return t->targets + (size_t)(step % t->batches) * (size_t)t->batch * TASK_OUTPUTS;
}
