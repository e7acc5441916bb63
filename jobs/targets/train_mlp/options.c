#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum option_type { NUMBER, SWITCH_ON, SWITCH_OFF, WAY, TEXT };

struct option_row {
    const char *flag, *argument, *meaning;
    enum option_type type;
    size_t field;
    int64_t least, most;
};

#define FIELD(name) offsetof(struct options, name)

static const struct option_row rows[] = {
    {"--steps", "N", "steps to train (default 200)", NUMBER, FIELD(steps), 1, 100000000},
    {"--size", "N", "width of the three hidden layers (default 96)", NUMBER, FIELD(width), 1, 8192},
    {"--batch", "N", "samples of a rank in a step (default 32)", NUMBER, FIELD(batch), 1, 65536},
    {"--buckets", "N", "buckets of gradients (default 4)", NUMBER, FIELD(buckets), 1, 1024},
    {"--seed", "N", "seed of weights and data (default 1)", NUMBER, FIELD(seed), 0, INT32_MAX},
    {"--no-overlap", "", "start the allreduces only after backward", SWITCH_OFF, FIELD(overlap), 0,
     0},
    {"--large-last-bucket", "", "three quarters of the gradients in the bucket that is ready last",
     SWITCH_ON, FIELD(large_last_bucket), 0, 0},
    {"--late-rank", "R", "rank that comes late in every step", NUMBER, FIELD(late_rank), 0,
     INT32_MAX},
    {"--late-us", "US", "by this much (default 5000)", NUMBER, FIELD(late_us), 0, 60000000},
    {"--late-by", "cpu|sleep", "by burning CPU time or by sleeping (default: as it works)", WAY,
     FIELD(late_way), 0, 0},
    {"--slow-rank", "R", "rank whose backward pass becomes slower", NUMBER, FIELD(slow_rank), 0,
     INT32_MAX},
    {"--slow-from", "K", "from this step on (default 0)", NUMBER, FIELD(slow_from), 0, INT32_MAX},
    {"--slow-us", "US", "by this much (default 5000)", NUMBER, FIELD(slow_us), 0, 60000000},
    {"--sleep-work", "US", "a tiny network, and this long a sleep in each step for its work",
     NUMBER, FIELD(sleep_work_us), 1, 60000000},
    {"--alternate-recording", "", "pause recording in two of four steps, by MPI_Pcontrol",
     SWITCH_ON, FIELD(alternate_recording), 0, 0},
    {"--times", "FILE", "write each step's time on rank 0: step, recorded, nanoseconds", TEXT,
     FIELD(times_path), 0, 0},
    {"--quiet", "", "print the last line only", SWITCH_ON, FIELD(quiet), 0, 0},
    {"--help", "", "print this", SWITCH_ON, FIELD(help), 0, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

void options_print_help(FILE *out)
{
    fprintf(out, "train_mlp: data-parallel training of a small network over MPI\n\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(out, "  %-21s %-9s  %s\n", rows[i].flag, rows[i].argument, rows[i].meaning);
    fprintf(out, "\nExits with 1 when the loss did not fall or the ranks' parameters differ.\n");
}

static const struct option_row *find_row(const char *flag)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].flag, flag) == 0)
            return &rows[i];
    return NULL;
}

/* The field behind a row; which type it has, the row says. */
static void *field_of(struct options *o, const struct option_row *row)
{
    return (char *)o + row->field;
}

static int read_argument(struct options *o, const struct option_row *row, const char *text)
{
    char *end;
    errno = 0;
    long long number;
    switch (row->type) {
    case NUMBER:
        number = strtoll(text, &end, 10);
        if (errno != 0 || end == text || *end != 0 || number < row->least || number > row->most)
            return -1;
        *(int64_t *)field_of(o, row) = number;
        return 0;
    case WAY:
        if (strcmp(text, "cpu") != 0 && strcmp(text, "sleep") != 0)
            return -1;
        *(enum plant_way *)field_of(o, row) = text[0] == 'c' ? PLANT_BY_CPU : PLANT_BY_SLEEP;
        return 0;
    case TEXT:
        *(const char **)field_of(o, row) = text;
        return 0;
    default:
        return -1;
    }
}

static void set_defaults(struct options *o)
{
    *o = (struct options){.steps = 200,
                          .width = -1,
                          .batch = -1,
                          .buckets = 4,
                          .seed = 1,
                          .late_rank = -1,
                          .late_us = 5000,
                          .slow_rank = -1,
                          .slow_us = 5000,
                          .overlap = 1};
}

/* Defaults that depend on whether the work is sleeping. */
static void set_dependent_defaults(struct options *o)
{
    int sleeping = o->sleep_work_us > 0;
    if (o->width < 0)
        o->width = sleeping ? 16 : 96;
    if (o->batch < 0)
        o->batch = sleeping ? 16 : 32;
    o->slow_way = sleeping ? PLANT_BY_SLEEP : PLANT_BY_CPU;
    if (o->late_way == PLANT_AS_IT_WORKS)
        o->late_way = o->slow_way;
}

int options_read(struct options *o, int argc, char **argv, FILE *complaints)
{
    set_defaults(o);
    for (int i = 1; i < argc; i++) {
        const struct option_row *row = find_row(argv[i]);
        const char *problem = NULL;
        if (row == NULL)
            problem = "is unknown; --help lists the options";
        else if (row->type == SWITCH_ON || row->type == SWITCH_OFF)
            *(int *)field_of(o, row) = row->type == SWITCH_ON;
        else if (i + 1 >= argc || read_argument(o, row, argv[i + 1]) != 0)
            problem = "wants an argument as --help says";
        else
            i++;
        if (problem != NULL) {
            if (complaints != NULL)
                fprintf(complaints, "train_mlp: %s %s\n", argv[i], problem);
            return -1;
        }
    }
    set_dependent_defaults(o);
    return 0;
}
