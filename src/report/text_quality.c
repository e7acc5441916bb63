#include "names.h"
#include "text.h"
#include "units.h"

#include <inttypes.h>

static void say_count(struct text *t, const char *what, int64_t number, const char *meaning)
{
    char cell[UNITS_BYTES];
    page_right(&t->page, 14, units_count(cell, number));
    page_add(&t->page, "  %s", what);
    page_to(&t->page, 42);
    page_add(&t->page, "%s", meaning);
    page_end(&t->page);
}

static void say_time(struct text *t, const char *what, int64_t ns, const char *meaning)
{
    char cell[UNITS_BYTES];
    page_right(&t->page, 14, ns < 0 ? "unknown" : units_time(cell, (double)ns));
    page_add(&t->page, "  %s", what);
    page_to(&t->page, 42);
    page_add(&t->page, "%s", meaning);
    page_end(&t->page);
}

void text_quality(struct text *t)
{
    const struct report_quality *q = &t->summary->quality;
    char share[UNITS_BYTES];
    page_heading(&t->page, "How far the data can be trusted");
    say_count(t, "events", q->events, "recorded");
    say_count(t, "events dropped", q->dropped, "no memory was left for them");
    say_count(t, "details dropped", q->dropped_details, "likewise; their operations are unmatched");
    say_count(t, "pieces torn", q->torn, "unreadable, or their checksum was wrong");
    say_count(t, "events open", q->open_events, "still going on when the record ended");
    say_count(t, "ends without begin", q->unbalanced, "ignored");
    say_count(t, "collectives", q->collectives, "calls, over all ranks");
    say_count(t, "of them unmatched", q->unmatched_collectives,
              "a member of the communicator is missing");
    say_count(t, "of them mismatched", q->mismatched_collectives,
              "members called different operations");
    say_count(t, "message sides", q->messages, "sends and receives");
    say_count(t, "of them unmatched", q->unmatched_messages, "the other side was not found");
    say_count(t, "operations unfinished", q->unfinished, "their completion was never seen");
    say_count(t, "faults of scaleprof", q->faults, "in the recorded processes");
    say_count(t, "clocks", q->clock_domains, "different ones that times were read from");
    say_time(t, "clock bound", q->clock_bound_ns,
             "no time is wrong by more, against the reference");
    say_time(t, "clock estimate", q->clock_estimate_ns, "the likely error");
    say_count(t, "clock violations", q->clock_violations,
              "measurements that contradict the clock model");
    page_right(&t->page, 14, q->overhead < 0 ? "not measured" : units_share(share, q->overhead));
    page_add(&t->page, "  of the time in scaleprof's own wrappers");
    page_end(&t->page);
}
