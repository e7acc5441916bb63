/* Data-parallel training as frameworks do it: every rank computes gradients on its own shard,
 * buckets of gradients are averaged while backward still runs, all ranks make the same update. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "buckets.h"
#include "network.h"
#include "options.h"
#include "plant.h"
#include "scaleprof.h"
#include "task.h"

enum { LAYERS = 4, BATCHES = 16, LOSS_EVERY = 10, JUDGED_FROM_STEPS = 50 };

static const float learning_rate = 0.2f;
static const double wanted_loss_fraction = 0.5;

struct trainer {
    struct options options;
    int rank, ranks;
    MPI_Comm gradients_comm;
    struct task *task;
    struct network *network;
    struct buckets *buckets;
    struct plant late, slow;
    FILE *times;
    double first_loss, loss;
};

/* The time that stands for one of a step's `parts` pieces of work under --sleep-work. */
static void sleep_for_work(const struct trainer *t, int parts)
{
    plant_sleep(t->options.sleep_work_us / parts);
}

static void forward(struct trainer *t, int64_t step)
{
    scaleprof_range_begin("forward");
    network_set_input(t->network, task_input(t->task, step));
    for (int l = 0; l < LAYERS; l++)
        network_forward_layer(t->network, l);
    sleep_for_work(t, 3);
    t->loss = network_loss(t->network, task_target(t->task, step));
    scaleprof_range_end();
}

static void backward(struct trainer *t, int64_t step)
{
    scaleprof_range_begin("backward");
    for (int l = LAYERS - 1; l >= 0; l--) {
        network_backward_layer(t->network, l);
        sleep_for_work(t, LAYERS * 3 / 2);
        plant_lose(&t->slow, t->rank, step, LAYERS);
        if (t->options.overlap) {
            buckets_start(t->buckets, t->network->begin[l]);
            buckets_progress(t->buckets);
        }
    }
    scaleprof_range_end();
}

static void average_loss(struct trainer *t, int64_t step)
{
    scaleprof_range_begin("loss");
    MPI_Allreduce(MPI_IN_PLACE, &t->loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    t->loss /= t->ranks;
    scaleprof_counter("loss", t->loss);
    scaleprof_range_end();
    if (step == 0)
        t->first_loss = t->loss;
    if (t->rank == 0 && !t->options.quiet)
        printf("step %6" PRId64 "  loss %.6f\n", step, t->loss);
}

static void train_step(struct trainer *t, int64_t step)
{
    scaleprof_step_begin(step);
    scaleprof_range_begin("input");
    plant_lose(&t->late, t->rank, step, 1);
    scaleprof_range_end();
    forward(t, step);
    backward(t, step);
    scaleprof_range_begin("wait");
    buckets_start(t->buckets, 0);
    buckets_finish(t->buckets);
    scaleprof_range_end();
    scaleprof_range_begin("update");
    network_update(t->network, learning_rate);
    scaleprof_range_end();
    if (step % LOSS_EVERY == 0 || step == t->options.steps - 1)
        average_loss(t, step);
    scaleprof_step_end();
}

/* Recorded, not, not, recorded: a drift of the machine falls on both alike. */
static int recorded_in(int64_t step)
{
    return step % 4 == 0 || step % 4 == 3;
}

static void train(struct trainer *t)
{
    for (int64_t step = 0; step < t->options.steps; step++) {
        int recorded = !t->options.alternate_recording || recorded_in(step);
        if (t->options.alternate_recording)
            MPI_Pcontrol(recorded);
        double begin = MPI_Wtime();
        train_step(t, step);
        double seconds = MPI_Wtime() - begin;
        if (t->times != NULL)
            fprintf(t->times, "%" PRId64 " %d %.0f\n", step, recorded, seconds * 1e9);
    }
    if (t->options.alternate_recording)
        MPI_Pcontrol(1);
}

/* Collective. 0 when the loss fell as it must and all ranks hold the same parameters. */
static int judge(const struct trainer *t)
{
    uint64_t sum = network_checksum(t->network), least, most;
    MPI_Allreduce(&sum, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&sum, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    int same = least == most;
    int judged = t->options.steps >= JUDGED_FROM_STEPS;
    int fell = t->loss < wanted_loss_fraction * t->first_loss;
    if (t->rank == 0)
        printf("train_mlp: %d ranks, %" PRId64 " steps, loss %.6f -> %.6f%s, parameters %s\n",
               t->ranks, t->options.steps, t->first_loss, t->loss,
               !judged ? " (too few steps to judge)"
               : fell  ? ""
                       : " (did not fall as it must)",
               same ? "identical" : "DIFFER");
    return same && (fell || !judged) ? 0 : 1;
}

static int trainer_open_times(struct trainer *t)
{
    if (t->options.times_path == NULL || t->rank != 0)
        return 0;
    t->times = fopen(t->options.times_path, "w");
    if (t->times == NULL)
        perror(t->options.times_path);
    return t->times == NULL ? -1 : 0;
}

/* Collective. Returns 0, or -1 when this rank could not make its part. */
static int trainer_open(struct trainer *t)
{
    const struct options *o = &t->options;
    int width = (int)o->width, batch = (int)o->batch;
    const int widths[LAYERS + 1] = {TASK_INPUTS, width, width, width, TASK_OUTPUTS};
    t->late = (struct plant){(int)o->late_rank, 0, o->late_us, o->late_way};
    t->slow = (struct plant){(int)o->slow_rank, o->slow_from, o->slow_us, o->slow_way};
    MPI_Comm_dup(MPI_COMM_WORLD, &t->gradients_comm);
    MPI_Comm_set_name(t->gradients_comm, "gradients");
    if (trainer_open_times(t) != 0 ||
        task_open(&t->task, batch, BATCHES, (uint64_t)o->seed, t->rank) != 0 ||
        network_open(&t->network, widths, LAYERS, batch, (uint64_t)o->seed + (uint64_t)t->rank) !=
            0)
        return -1;
    return buckets_open(&t->buckets, t->network->gradients, network_parameter_count(t->network),
                        (int)o->buckets, o->large_last_bucket, t->gradients_comm);
}

static void trainer_close(struct trainer *t)
{
    buckets_close(t->buckets);
    network_close(t->network);
    task_close(t->task);
    if (t->times != NULL)
        fclose(t->times);
    MPI_Comm_free(&t->gradients_comm);
}

static int run(struct trainer *t)
{
    if (trainer_open(t) != 0) {
        fprintf(stderr, "train_mlp: rank %d could not begin\n", t->rank);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Bcast(t->network->parameters, (int)network_parameter_count(t->network), MPI_FLOAT, 0,
              MPI_COMM_WORLD);
    train(t);
    int result = judge(t);
    trainer_close(t);
    return result;
}

int main(int argc, char **argv)
{
    struct trainer trainer = {0};
    int result;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &trainer.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &trainer.ranks);
    if (options_read(&trainer.options, argc, argv, trainer.rank == 0 ? stderr : NULL) != 0) {
        result = 2;
    } else if (trainer.options.help) {
        if (trainer.rank == 0)
            options_print_help(stdout);
        result = 0;
    } else {
        result = run(&trainer);
    }
    MPI_Finalize();
    return result;
}
