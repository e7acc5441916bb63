/* The gradients that train_mlp communicates are those of its loss: compared with differences. */
#include "jobs/targets/train_mlp/network.h"
#include "jobs/targets/train_mlp/task.h"
#include "unit/check.h"

#include <math.h>

enum { LAYERS = 3, BATCH = 5 };

static double loss_of(struct network *n, const struct task *t)
{
    network_set_input(n, task_input(t, 0));
    for (int l = 0; l < n->layers; l++)
        network_forward_layer(n, l);
    return network_loss(n, task_target(t, 0));
}

static void check_gradients(struct network *n, const struct task *t)
{
    const float h = 1e-2f;
    double worst = 0;
    (void)loss_of(n, t);
    for (int l = n->layers - 1; l >= 0; l--)
        network_backward_layer(n, l);
    for (size_t i = 0; i < network_parameter_count(n); i++) {
        float kept = n->parameters[i];
        n->parameters[i] = kept + h;
        double above = loss_of(n, t);
        n->parameters[i] = kept - h;
        double below = loss_of(n, t);
        n->parameters[i] = kept;
        worst = fmax(worst, fabs((above - below) / (2 * (double)h) - (double)n->gradients[i]));
    }
    CHECK(worst < 1e-4);
}

static void check_training(struct network *n, const struct task *t)
{
    double first = loss_of(n, t);
    uint64_t before = network_checksum(n);
    for (int step = 0; step < 50; step++) {
        (void)loss_of(n, t);
        for (int l = n->layers - 1; l >= 0; l--)
            network_backward_layer(n, l);
        network_update(n, 0.2f);
    }
    CHECK(loss_of(n, t) < 0.3 * first);
    CHECK(network_checksum(n) != before);
}

int main(void)
{
    static const int widths[LAYERS + 1] = {TASK_INPUTS, 7, 6, TASK_OUTPUTS};
    struct network *n = NULL, *same = NULL;
    struct task *t = NULL, *other = NULL;
    CHECK_EQUAL(network_open(&n, widths, LAYERS, BATCH, 7), 0);
    CHECK_EQUAL(network_open(&same, widths, LAYERS, BATCH, 7), 0);
    CHECK_EQUAL(task_open(&t, BATCH, 2, 7, 0), 0);
    CHECK_EQUAL(task_open(&other, BATCH, 2, 7, 1), 0);
    CHECK(network_checksum(n) == network_checksum(same));
    CHECK(task_input(t, 0)[0] != task_input(other, 0)[0]);
    CHECK(task_input(t, 2) == task_input(t, 0));
    check_gradients(n, t);
    check_training(n, t);
    network_close(n);
    network_close(same);
    task_close(t);
    task_close(other);
    return check_result();
}
