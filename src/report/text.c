#include "text.h"

#include "output.h"
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

const char *text_clock(char out[], const struct text *t, double difference_ns, int64_t bound_ns)
{
    return verdict_clock(out, difference_ns, bound_ns, summary_pair_estimate(t->summary));
}

double text_of_step(const struct text *t, int64_t sum)
{
    int64_t steps = t->summary->steps.kept;
    return (double)sum / (double)(steps > 0 ? steps : 1);
}

enum err report_text(const struct report_input *input, const struct report_options *options,
                     FILE *out)
{
    struct report_summary summary;
    struct text t = {.input = input, .options = options, .summary = &summary};
    enum err e = summary_make(&summary, input);
    if (e)
        return e;
    page_begin(&t.page, options, out);
    text_screen(&t);
    text_unsaid(&t);
    text_parts(&t);
    text_ranks(&t);
    text_late_ranks(&t);
    text_waits(&t);
    text_operations(&t);
    text_messages(&t);
    text_steps(&t);
    text_quality(&t);
    summary_free(&summary);
    return output_flush(out);
}
