/* The numbers that every form of the report shows, computed once from the tables. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "report.h"
#include "trace/vocabulary.h"

enum report_part {
#define PART(name, label, meaning) PART_##name,
#include "parts.def"
#undef PART
    PART_COUNT
};

enum report_verdict {
#define VERDICT(name, meaning) VERDICT_##name,
#define PATTERN(name, head, held)
#define CAUSE(name, clause, advice)
#include "verdicts.def"
#undef VERDICT
#undef PATTERN
#undef CAUSE
    VERDICT_COUNT
};

struct report_run {
    const char *tool_version, *command, *source, *steps_from; /* "" unknown */
    int64_t start_utc_ns, length_ns, exit_code;               /* -1 unknown */
    int64_t ranks, hosts, cores;
    int64_t ranks_missing, ranks_not_ok; /* not ok: failed, killed or open */
    int64_t crowded_node; /* row of the host with most ranks to a core, more than one; -1 */
};

/* Over kept steps, in nanoseconds. */
struct report_steps {
    int64_t total, kept;
    int all_used; /* none was kept, so all were used */
    double median, mean, p95, least, most;
    double variation, trend;
    double skew_median;
    int64_t skew_bound_ns; /* largest; -1 unknown */
};

/* Means over the kept steps of one rank, in nanoseconds. */
struct report_rank {
    int64_t rank, row; /* row of /ranks; -1 none */
    int64_t steps;
    double part[PART_COUNT], step, hidden, caused_wait;
    double cpu, involuntary; /* -1 not sampled */
};

struct report_efficiency {
    double load_balance, communication, serialisation, transfer, parallel; /* -1 not computed */
};

struct report_quality {
    int64_t events, dropped, dropped_details, torn, open_events, unbalanced, faults;
    int64_t collectives, unmatched_collectives, mismatched_collectives;
    int64_t messages, unmatched_messages, unfinished;
    int64_t clock_bound_ns, clock_estimate_ns; /* largest; -1 unknown */
    int64_t clock_domains, clock_violations;
    double
        overhead; /* share of the recorded time spent in the tool's own wrappers; -1 not measured */
};

#define SUMMARY_TEXTS 12

struct report_summary {
    struct report_run run;
    struct report_steps steps;
    double part[PART_COUNT], step, hidden; /* means over kept steps and ranks */
    size_t rank_count;
    struct report_rank *ranks; /* in order of rank */
    struct report_efficiency efficiency;
    struct report_quality quality;
    enum report_verdict verdict;
    int64_t late; /* row of /analysis/late_ranks that the verdict is about; -1 none */
    char *verdict_text, *verdict_detail; /* "" when there is no more to say */
    size_t caution_count, advice_count;
    char *cautions[SUMMARY_TEXTS], *advice[SUMMARY_TEXTS];
};

/* ERR_NO_MEMORY is the only failure; free with summary_free. */
enum err summary_make(struct report_summary *out, const struct report_input *input);
void summary_free(struct report_summary *s);

const char *summary_part_label(enum report_part part);
const char *summary_part_name(enum report_part part); /* column of the partition */
const char *summary_part_meaning(enum report_part part);

/* The likely clock error of a difference between two ranks, which may err in opposite directions;
 * -1 unknown. */
int64_t summary_pair_estimate(const struct report_summary *s);

/* The sum, or the nearest number there is. */
int64_t summary_add(int64_t a, int64_t b);

/* "a step", or "the run" where there is one step alone. */
const char *summary_unit(const struct report_summary *s);

/* Preemptions of a rank in a step, mean over ranks; -1 not sampled. */
double summary_preemptions(const struct report_summary *s);

/* Whether the steps at the end take as long as those at the beginning. */
#define SUMMARY_STEADY 0.02
int summary_is_steady(const struct report_summary *s);

/* The row of the rank in s->ranks; NULL when there is none. */
const struct report_rank *summary_rank(const struct report_summary *s, int64_t rank);

#endif
