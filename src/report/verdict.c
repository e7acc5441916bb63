#include "verdict.h"

#include "late.h"
#include "sentence.h"
#include "units.h"

#include <stdio.h>

static const char *const names[] = {
#define VERDICT(name, meaning) #name,
#define PATTERN(name, head, held)
#define CAUSE(name, clause, advice)
#include "verdicts.def"
#undef VERDICT
#undef PATTERN
#undef CAUSE
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

const char *verdict_name(enum report_verdict verdict)
{
    return (size_t)verdict < COUNT(names) ? names[verdict] : "unknown";
}

int verdict_resolved(double difference_ns, int64_t bound_ns, int64_t estimate_ns)
{
    if (bound_ns < 0 && estimate_ns < 0)
        return 1;
    return (bound_ns >= 0 && difference_ns > (double)bound_ns) ||
           (estimate_ns >= 0 && difference_ns > 2 * (double)estimate_ns);
}

const char *verdict_clock(char out[VERDICT_CLOCK_BYTES], double difference_ns, int64_t bound_ns,
                          int64_t estimate_ns)
{
    char bound[UNITS_BYTES], estimate[UNITS_BYTES];
    units_time(bound, (double)(bound_ns >= 0 ? bound_ns : estimate_ns));
    units_time(estimate, (double)estimate_ns);
    if (bound_ns < 0 && estimate_ns < 0)
        snprintf(out, VERDICT_CLOCK_BYTES, "clock error unknown");
    else if (!verdict_resolved(difference_ns, bound_ns, estimate_ns))
        snprintf(out, VERDICT_CLOCK_BYTES, "below clock resolution (±%s)", bound);
    else if (bound_ns >= 0 && difference_ns > (double)bound_ns)
        snprintf(out, VERDICT_CLOCK_BYTES, "±%s", bound);
    else
        snprintf(out, VERDICT_CLOCK_BYTES, "±%s by estimate", estimate);
    return out;
}

static void say_late(struct sentence *text, struct sentence *detail, const struct report_summary *s,
                     const struct report_input *input, size_t others)
{
    late_say(text, s, input, (size_t)s->late);
    late_say_more(detail, s, input, (size_t)s->late);
    if (others > 0)
        sentence_add(detail, " %zu more %s late, see below.", others,
                     others == 1 ? "rank is" : "ranks are");
}

static double positive(int64_t ns)
{
    return ns > 0 ? (double)ns : 0;
}

static double share_of(const struct report_summary *s, double part)
{
    return s->step > 0 ? part / s->step : 0;
}

static double idle_of(const struct report_summary *s)
{
    double idle = 0;
    for (int p = PART_idle_launch; p <= PART_idle_unexplained; p++)
        idle += s->part[p];
    return idle;
}

static enum report_verdict classify(const struct report_summary *s,
                                    const struct report_input *input)
{
    const struct waits_rows *waits = &input->analysis->waits;
    double unresolved = 0, all = 0, transfer = s->part[PART_transfer], idle = idle_of(s);
    for (size_t i = 0; i < waits->count; i++) {
        all += positive(waits->wait_ns[i]);
        unresolved += waits->waited_for[i] < 0 ? positive(waits->wait_ns[i]) : 0;
    }
    if (s->rank_count == 0 || (s->quality.events == 0 && s->step == 0))
        return VERDICT_empty;
    if (s->rank_count == 1)
        return VERDICT_alone;
    if (share_of(s, s->part[PART_wait]) >= 0.1)
        return all > 0 && unresolved > all / 2 ? VERDICT_resolution : VERDICT_turns;
    if (transfer >= s->part[PART_compute] && transfer >= idle)
        return VERDICT_transfer;
    return idle > s->part[PART_compute] ? VERDICT_idle : VERDICT_compute;
}

/* "62 % of a step is compute, 30 % transfer and 8 % wait": the parts of at least 1 %, the largest
 * first. */
static void say_parts(struct sentence *text, const struct report_summary *s)
{
    char share[UNITS_BYTES];
    int said[PART_COUNT] = {0};
    for (int n = 0; n < 3; n++) {
        int best = -1;
        for (int p = 0; p < PART_COUNT; p++)
            if (!said[p] && share_of(s, s->part[p]) >= 0.01 &&
                (best < 0 || s->part[p] > s->part[best]))
                best = p;
        if (best < 0)
            return;
        said[best] = 1;
        units_share(share, share_of(s, s->part[best]));
        if (n == 0)
            sentence_add(text, "%s of %s is %s", share, summary_unit(s), summary_part_label(best));
        else
            sentence_add(text, ", %s %s", share, summary_part_label(best));
    }
}

static void say_common(struct sentence *text, struct sentence *detail,
                       const struct report_summary *s)
{
    switch (s->verdict) {
    case VERDICT_empty:
        sentence_add(text, "Nothing was recorded: %s.",
                     s->rank_count == 0 ? "there is no rank in the run" : "no rank has an event");
        return;
    case VERDICT_alone:
        sentence_add(text, "One rank alone: it waits for nobody. ");
        break;
    case VERDICT_turns:
        sentence_add(text, "Nobody stands out, but ranks wait for one another in turn: ");
        break;
    case VERDICT_resolution:
        sentence_add(text, "Who is late is below clock resolution: ");
        sentence_add(detail, "Ranks wait, but their arrivals differ by less than the clock error.");
        break;
    default:
        sentence_add(text, "Nobody stands out: ");
    }
    say_parts(text, s);
    sentence_add(text, ".");
}

enum err verdict_make(struct report_summary *s, const struct report_input *input)
{
    size_t late = 0;
    struct sentence text, detail;
    sentence_begin(&text);
    sentence_begin(&detail);
    s->late = -1;
    for (size_t i = input->analysis->late_ranks.count; i-- > 0;)
        if (late_resolved(s, input, i)) {
            s->late = (int64_t)i;
            late++;
        }
    s->verdict = s->late >= 0 ? VERDICT_late : classify(s, input);
    if (s->late >= 0)
        say_late(&text, &detail, s, input, late - 1);
    else
        say_common(&text, &detail, s);
    s->verdict_text = sentence_end(&text);
    s->verdict_detail = sentence_end(&detail);
    if (s->verdict_text == NULL || s->verdict_detail == NULL)
        return ERR_NO_MEMORY;
    return ERR_OK;
}
