#include "advice.h"

#include "late.h"
#include "names.h"
#include "ranking.h"
#include "sentence.h"
#include "units.h"
#include "utf8.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_STEPS 30

struct list {
    char **texts;
    size_t count;
    int failed;
};

/* Takes the sentence over; a full list drops it. */
static void list_add(struct list *list, struct sentence *s)
{
    char *text = sentence_end(s);
    list->failed |= text == NULL;
    if (text == NULL || list->count == SUMMARY_TEXTS) {
        free(text);
        return;
    }
    list->texts[list->count++] = text;
}

__attribute__((format(printf, 2, 3))) static void list_say(struct list *list, const char *format,
                                                           ...)
{
    char text[512];
    struct sentence s;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sentence_begin(&s);
    sentence_add(&s, "%s", text);
    list_add(list, &s);
}

/* The first ranks of the status, as "3, 5, 9, ...". */
static void ranks_of_status(char out[64], const struct ranks_rows *ranks, int missing)
{
    size_t used = 0, named = 0;
    *out = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        unsigned status = ranks->status[i];
        if (status == RANK_OK || (status == RANK_MISSING) != missing)
            continue;
        if (named++ == 4) {
            snprintf(out + used, 64 - used, ", ...");
            return;
        }
        used += (size_t)snprintf(out + used, 64 - used, "%s%" PRId32, named > 1 ? ", " : "",
                                 ranks->rank[i]);
    }
}

static void caution_ranks(struct list *list, const struct report_summary *s,
                          const struct report_input *input)
{
    char number[UNITS_BYTES], all[UNITS_BYTES], which[64];
    units_count(all, s->run.ranks);
    ranks_of_status(which, &input->run->ranks, 1);
    if (s->run.ranks_missing > 0)
        list_say(list, "%s of %s ranks missing (%s): what they did is in no figure",
                 units_count(number, s->run.ranks_missing), all, which);
    ranks_of_status(which, &input->run->ranks, 0);
    if (s->run.ranks_not_ok > 0)
        list_say(list, "%s of %s ranks did not end well (%s): their records may lack the end",
                 units_count(number, s->run.ranks_not_ok), all, which);
}

static void caution_loss(struct list *list, const struct report_quality *q)
{
    char number[UNITS_BYTES], share[UNITS_BYTES];
    double all = (double)q->dropped + (double)q->events;
    int64_t wrong = summary_add(q->unmatched_collectives, q->mismatched_collectives);
    if (q->dropped > 0)
        list_say(list, "%s events were dropped (%s): give more memory (--memory) and record again",
                 units_count(number, q->dropped), units_share(share, (double)q->dropped / all));
    if (q->torn > 0)
        list_say(list, "pieces of the record that were unreadable: %s",
                 units_count(number, q->torn));
    if (wrong > 0)
        list_say(list, "%s of %s collectives lack a member or differ between members",
                 units_count(number, wrong), units_count(share, q->collectives));
    if (q->faults > 0)
        list_say(list, "faults of scaleprof itself: %s; its log (--log-file) names them",
                 units_count(number, q->faults));
}

static void caution_steps(struct list *list, const struct report_summary *s)
{
    const struct report_steps *steps = &s->steps;
    char share[UNITS_BYTES];
    if (strcmp(s->run.steps_from, "run") == 0 || steps->total == 0)
        list_say(list, "no steps were found: the whole run counts as one step, its start and end "
                       "included");
    else if (strcmp(s->run.steps_from, "collectives") == 0)
        list_say(list, "steps were not marked: what repeats between collectives was taken for one");
    if (steps->total <= 1)
        return;
    if (steps->all_used)
        list_say(list, "no step could be kept, so all were used, warm-up included");
    else if (steps->kept < FEW_STEPS)
        list_say(list, "only %" PRId64 " steps kept: means over so few are weak", steps->kept);
    if (!summary_is_steady(s))
        list_say(list, "the run is not steady: its last third is %s %s than its first",
                 units_share(share, steps->trend > 0 ? steps->trend : -steps->trend),
                 steps->trend > 0 ? "slower" : "faster");
}

/* Whether ranks that share cores also take them from one another. */
static int crowding_hurts(const struct report_summary *s)
{
    double preemptions = summary_preemptions(s);
    return s->run.crowded_node >= 0 && (preemptions < 0 || preemptions >= 1);
}

static void caution_machine(struct list *list, const struct report_summary *s,
                            const struct report_input *input)
{
    const struct nodes_rows *nodes = &input->run->nodes;
    int64_t node = s->run.crowded_node;
    char host[NAMES_BYTES];
    if (node >= 0)
        list_say(list, "%" PRId32 " ranks on %" PRId32 " core%s of %s: %s", nodes->ranks[node],
                 nodes->cores[node], nodes->cores[node] == 1 ? "" : "s",
                 names_host(host, input, (uint32_t)node),
                 crowding_hurts(s) ? "they take cores from one another, which looks like waiting "
                                     "and like transfer"
                                   : "yet they rarely took a core from one another");
    if (s->quality.clock_domains > 1 && s->quality.clock_bound_ns < 0)
        list_say(list,
                 "clocks of %" PRId64
                 " hosts were not compared: who was late between hosts is a guess",
                 s->quality.clock_domains);
    if (s->quality.clock_violations > 0)
        list_say(list, "%" PRId64 " clock measurements contradict the clock model",
                 s->quality.clock_violations);
}

/* The operation that leaves most time exposed. */
static void advise_transfer(struct list *list, const struct report_input *input)
{
    const struct operations_rows *operations = &input->analysis->operations;
    size_t top;
    char kind[NAMES_BYTES], site[NAMES_BYTES], communicator[NAMES_BYTES];
    if (ranking_largest(&top, 1, operations->exposed_ns, operations->count) == 0)
        return;
    utf8_clean(kind, sizeof kind, strings_get(input->analysis_strings, operations->kind[top]), 20);
    names_source(site, input, operations->site[top]);
    names_communicator(communicator, input, operations->communicator[top]);
    list_say(list,
             "start with the %s%s%s on %s: overlap it with compute, send less, or send fewer and "
             "larger pieces",
             kind, *site != 0 ? " at " : "", site, communicator);
}

static void advise_common(struct list *list, const struct report_summary *s,
                          const struct report_input *input)
{
    int said = s->late >= 0 && input->analysis->late_ranks.cause[s->late] == LATE_DESCHEDULED;
    if (crowding_hurts(s) && s->verdict != VERDICT_empty && !said)
        list_say(list, "give every rank a core of its own before trusting waits and transfers");
    switch (s->verdict) {
    case VERDICT_empty:
        list_say(list, "record again: scaleprof run -o run.h5 -- COMMAND; does it use MPI, or "
                       "marks of scaleprof.h?");
        break;
    case VERDICT_turns:
        list_say(list, "lateness that changes its rank comes from outside (other work, files, "
                       "network) or from uneven work items: compare slow steps with fast ones");
        break;
    case VERDICT_resolution:
        list_say(list, "a finer clock would tell who is late: record longer, or on one host");
        break;
    case VERDICT_transfer:
        advise_transfer(list, input);
        break;
    case VERDICT_idle:
        list_say(list, "find what the device waits for: launches, host work, or input");
        break;
    case VERDICT_compute:
        list_say(list, "communication is not the limit: profile the computation itself, any rank");
        break;
    default:
        break;
    }
}

static void advise(struct list *list, const struct report_summary *s,
                   const struct report_input *input)
{
    if (strcmp(s->run.steps_from, "run") == 0 && s->verdict != VERDICT_empty)
        list_say(
            list,
            "mark the steps of the main loop (scaleprof.h, or range names that --steps lists)");
    for (size_t i = 0; i < input->analysis->late_ranks.count && list->count < SUMMARY_TEXTS; i++) {
        struct sentence text;
        if (!late_resolved(s, input, i))
            continue;
        sentence_begin(&text);
        late_advise(&text, s, input, i);
        list_add(list, &text);
    }
    advise_common(list, s, input);
}

enum err advice_make(struct report_summary *s, const struct report_input *input)
{
    struct list cautions = {.texts = s->cautions}, advice = {.texts = s->advice};
    if (s->verdict != VERDICT_empty) {
        caution_ranks(&cautions, s, input);
        caution_loss(&cautions, &s->quality);
        caution_machine(&cautions, s, input);
        caution_steps(&cautions, s);
    }
    advise(&advice, s, input);
    s->caution_count = cautions.count;
    s->advice_count = advice.count;
    return cautions.failed || advice.failed ? ERR_NO_MEMORY : ERR_OK;
}
