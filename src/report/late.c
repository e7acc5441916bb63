#include "late.h"

#include "names.h"
#include "units.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *head, *held;
} patterns[] = {
#define VERDICT(name, meaning)
#define PATTERN(name, head, held) {#name, head, held},
#define CAUSE(name, clause, advice)
#include "verdicts.def"
#undef VERDICT
#undef PATTERN
#undef CAUSE
};

static const struct {
    const char *name, *clause, *advice;
} causes[] = {
#define VERDICT(name, meaning)
#define PATTERN(name, head, held)
#define CAUSE(name, clause, advice) {#name, clause, advice},
#include "verdicts.def"
#undef VERDICT
#undef PATTERN
#undef CAUSE
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

const char *late_pattern_name(unsigned pattern)
{
    return pattern < COUNT(patterns) ? patterns[pattern].name : "unknown";
}

const char *late_cause_name(unsigned cause)
{
    return causes[cause < COUNT(causes) ? cause : LATE_UNKNOWN].name;
}

struct late_words {
    struct sentence_word words[15];
    char numbers[12][UNITS_BYTES], host[NAMES_BYTES];
};

static double positive(int64_t ns)
{
    return ns > 0 ? (double)ns : 0;
}

static void fill_words(struct late_words *w, const struct report_summary *s,
                       const struct report_input *input, size_t row)
{
    const struct late_ranks_rows *late = &input->analysis->late_ranks;
    const struct nodes_rows *nodes = &input->run->nodes;
    const struct report_rank *rank = summary_rank(s, late->rank[row]);
    uint32_t node = rank != NULL && rank->row >= 0 ? input->run->ranks.node[rank->row] : TABLE_NONE;
    double wait = positive(late->caused_wait_ns[row]);
    snprintf(w->numbers[0], UNITS_BYTES, "%" PRId32, late->rank[row]);
    units_count(w->numbers[1], node < nodes->count ? nodes->ranks[node] : s->run.ranks);
    units_count(w->numbers[2], node < nodes->count ? nodes->cores[node] : s->run.cores);
    snprintf(w->numbers[3], UNITS_BYTES, "%" PRId64, late->first_step[row]);
    units_count(w->numbers[4], late->steps[row]);
    units_count(w->numbers[5], late->kept_steps[row]);
    units_time(w->numbers[6], (double)late->lateness_ns[row]);
    if (late->cpu_excess_ns[row] == -1)
        strcpy(w->numbers[7], "an unknown amount");
    else
        units_time(w->numbers[7], positive(late->cpu_excess_ns[row]));
    units_time(w->numbers[8], wait);
    double cost = positive(late->cost_ns[row]), step = s->steps.mean > 0 ? s->steps.mean : 1;
    units_share(w->numbers[9], wait / step);
    units_time(w->numbers[10], cost);
    units_share(w->numbers[11], cost / step);
    names_host(w->host, input, node);
    static const char *const keys[] = {"rank", "ranks",  "cores", "first", "steps", "kept",
                                       "late", "excess", "wait",  "share", "cost",  "cost_share"};
    for (size_t i = 0; i < COUNT(keys); i++)
        w->words[i] = (struct sentence_word){keys[i], w->numbers[i]};
    w->words[COUNT(keys)] = (struct sentence_word){"host", w->host};
    w->words[COUNT(keys) + 1] =
        (struct sentence_word){"others", s->rank_count == 2 ? "the other" : "the others"};
    w->words[COUNT(keys) + 2] = (struct sentence_word){NULL, NULL};
}

int late_resolved(const struct report_summary *s, const struct report_input *input, size_t row)
{
    const struct late_ranks_rows *late = &input->analysis->late_ranks;
    return verdict_resolved((double)late->lateness_ns[row], late->bound_ns[row],
                            summary_pair_estimate(s));
}

static unsigned cause_of(const struct report_input *input, size_t row)
{
    unsigned cause = input->analysis->late_ranks.cause[row];
    return cause < COUNT(causes) ? cause : LATE_UNKNOWN;
}

/* The others stay in their operations for it, though it has joined them in time: operations move
 * only while their rank is in MPI. */
static int only_held_up(const struct report_input *input, size_t row)
{
    const struct late_ranks_rows *late = &input->analysis->late_ranks;
    return positive(late->caused_wait_ns[row]) < positive(late->cost_ns[row]) / 2;
}

void late_say(struct sentence *out, const struct report_summary *s,
              const struct report_input *input, size_t row)
{
    unsigned pattern = input->analysis->late_ranks.pattern[row];
    if (pattern >= COUNT(patterns))
        pattern = LATE_CHRONIC;
    struct late_words words = {0};
    fill_words(&words, s, input, row);
    sentence_expand(out, only_held_up(input, row) ? patterns[pattern].held : patterns[pattern].head,
                    words.words);
    sentence_add(out, ": ");
    sentence_expand(out, causes[cause_of(input, row)].clause, words.words);
    sentence_add(out, ".");
}

void late_say_more(struct sentence *out, const struct report_summary *s,
                   const struct report_input *input, size_t row)
{
    const struct late_ranks_rows *late = &input->analysis->late_ranks;
    char clock[VERDICT_CLOCK_BYTES];
    struct late_words words = {0};
    fill_words(&words, s, input, row);
    sentence_expand(out, "Last in {steps} of {kept} steps, {late} after the median rank (",
                    words.words);
    sentence_add(out, "%s).",
                 verdict_clock(clock, (double)late->lateness_ns[row], late->bound_ns[row],
                               summary_pair_estimate(s)));
    if (only_held_up(input, row))
        sentence_add(out, " The others have it as transfer: it began its operations in time, but "
                          "left them alone while it was late.");
    else if (late->cost_ns[row] > 0)
        sentence_expand(out, " Were it not late, a step would take {cost} less ({cost_share}).",
                        words.words);
}

void late_advise(struct sentence *out, const struct report_summary *s,
                 const struct report_input *input, size_t row)
{
    struct late_words words = {0};
    fill_words(&words, s, input, row);
    sentence_expand(out, causes[cause_of(input, row)].advice, words.words);
}
