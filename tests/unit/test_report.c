#include "report/report.h"

#include <math.h>
#include <stdlib.h>

#include "report/sample.h"
#include "report/units.h"
#include "trace/vocabulary.h"
#include "unit/check.h"

#define RANKS 3
#define STEPS 12

static const char hostile[] = "</script>\"\\\n\x01\xff\xfe \xe2\x80\xae name";

static void test_order_statistics(void)
{
    double values[] = {7, 1, 3, 5}, trend[12];
    sample_sort(values, 4);
    CHECK(values[0] == 1 && values[3] == 7);
    CHECK(sample_median(values, 4) == 4);
    CHECK(sample_quantile(values, 4, 0) == 1);
    CHECK(sample_quantile(values, 4, 1) == 7);
    CHECK(fabs(sample_quantile(values, 4, 0.95) - 6.7) < 1e-12);
    CHECK(sample_mean(values, 4) == 4);
    CHECK(fabs(sample_variation(values, 4) - sqrt(20.0 / 3) / 4) < 1e-12);
    CHECK(sample_variation(values, 1) == 0);
    CHECK(sample_median(values, 0) == 0);
    for (int i = 0; i < 12; i++)
        trend[i] = i < 4 ? 10 : i < 8 ? 11 : 12;
    CHECK(fabs(sample_trend(trend, 12) - 0.2) < 1e-12);
    CHECK(sample_trend(trend, 8) == 0);
}

static void test_units(void)
{
    char text[UNITS_BYTES];
    CHECK_TEXT(units_time(text, 1234567), "1.23 ms");
    CHECK_TEXT(units_time(text, 0), "0 ns");
    CHECK_TEXT(units_count(text, 1234567), "1,234,567");
    CHECK_TEXT(units_size(text, 20644), "20.6 kB");
}

static void put_run_fact(struct run_tables *run, struct strings *s, const char *key,
                         const char *value)
{
    size_t at;
    rows_append(&run->run, table_run, 1, &at);
    run->run.key[at] = strings_put_text(s, key);
    run->run.value[at] = strings_put_text(s, value);
}

/* All columns of new rows 0. */
static size_t put_zeroes(void *rows, const struct table *t, size_t n)
{
    size_t first;
    rows_append(rows, t, n, &first);
    for (size_t c = 0; c < t->column_count; c++) {
        size_t bytes = column_type_bytes(t->columns[c].type);
        memset((char *)rows_column(rows, &t->columns[c]) + first * bytes, 0, n * bytes);
    }
    return first;
}

static void make_run(struct run_tables *run, struct strings *s)
{
    put_run_fact(run, s, "command", hostile);
    put_run_fact(run, s, "start_utc_ns", "1700000000000000000");
    put_zeroes(&run->nodes, table_nodes, 1);
    run->nodes.host[0] = strings_put_text(s, "node one");
    run->nodes.ranks[0] = RANKS;
    run->nodes.cores[0] = 8;
    put_zeroes(&run->ranks, table_ranks, RANKS);
    for (int i = 0; i < RANKS; i++) {
        run->ranks.rank[i] = i;
        run->ranks.end_ns[i] = 100000000;
        run->ranks.event_count[i] = 1000;
    }
}

/* Rank 2 computes 4 ms longer than the others in each step of 10 ms; they wait for it. */
static void make_analysis(struct analysis_tables *a)
{
    put_zeroes(&a->steps, table_steps, STEPS);
    put_zeroes(&a->partition, table_partition, STEPS * RANKS);
    put_zeroes(&a->quality, table_quality, RANKS);
    for (int k = 0; k < STEPS; k++) {
        a->steps.number[k] = k;
        a->steps.begin_ns[k] = k * 10000000;
        a->steps.end_ns[k] = (k + 1) * 10000000;
        a->steps.ranks[k] = RANKS;
        a->steps.flags[k] = k ? STEP_KEPT : STEP_FIRST;
        for (int r = 0; r < RANKS; r++) {
            int row = k * RANKS + r;
            a->partition.step[row] = (uint32_t)k;
            a->partition.rank[row] = r;
            a->partition.begin_ns[row] = a->steps.begin_ns[k];
            a->partition.end_ns[row] = a->steps.end_ns[k];
            a->partition.compute_ns[row] = r == 2 ? 9000000 : 5000000;
            a->partition.wait_ns[row] = r == 2 ? 0 : 4000000;
            a->partition.transfer_ns[row] = 1000000;
        }
    }
    put_zeroes(&a->late_ranks, table_late_ranks, 1);
    a->late_ranks.rank[0] = 2;
    a->late_ranks.cause[0] = LATE_CPU_WORK;
    a->late_ranks.steps[0] = a->late_ranks.kept_steps[0] = STEPS - 1;
    a->late_ranks.lateness_ns[0] = a->late_ranks.cpu_excess_ns[0] = 4000000;
    a->late_ranks.caused_wait_ns[0] = a->late_ranks.cost_ns[0] = 4000000;
}

static char *render(const struct report_input *input, int json)
{
    struct report_options options = {.utf8 = 0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK_EQUAL(json ? report_json(input, out) : report_text(input, &options, out), ERR_OK);
    fclose(out);
    return text;
}

static void check_text(const char *text)
{
    size_t column = 0;
    for (const char *c = text; *c; c++) {
        CHECK(*c == '\n' || (*c >= ' ' && *c < 0x7f));
        CHECK(!(*c == '\n' && c > text && c[-1] == ' '));
        column = *c == '\n' ? 0 : column + 1;
        CHECK(column <= 100);
    }
    CHECK(strstr(text, "Rank 2 makes the others wait 40 % of each step (4.00 ms)") != NULL);
    CHECK(strstr(text, "more CPU work") != NULL);
}

/* The numbers of JSON are exact, and its text is ASCII whatever the names. */
static void check_json(const char *json)
{
    for (const char *c = json; *c; c++)
        CHECK(*c == '\n' || (*c >= ' ' && *c < 0x7f));
    CHECK(strstr(json, "\"schema\"") != NULL);
    CHECK(strstr(json, "nan") == NULL && strstr(json, "inf") == NULL);
    CHECK(strstr(json, "\"compute_ns\"") != NULL);
    CHECK(strstr(json, "</script>") == NULL || strstr(json, "\\\"") != NULL);
    FILE *out = fopen("test_report.json", "w");
    fputs(json, out);
    fclose(out);
    int code = system(
        "python3 -c \"import json; d = json.load(open('test_report.json')); s = d['summary']; "
        "assert s['steps']['total'] == 12 and s['steps']['kept'] == 11, s; "
        "assert s['parts']['wait_ns'] * 3 == 8000000, s; "
        "assert d['analysis']['partition']['compute_ns'][2] == 9000000\"");
    CHECK_EQUAL(code, 0);
    remove("test_report.json");
}

static void test_a_run_is_told(void)
{
    struct run_tables run = {0};
    struct analysis_tables analysis = {0};
    struct strings *run_strings, *analysis_strings;
    strings_open(&run_strings);
    strings_open(&analysis_strings);
    make_run(&run, run_strings);
    make_analysis(&analysis);
    struct report_input input = {.path = "run.h5",
                                 .run = &run,
                                 .analysis = &analysis,
                                 .run_strings = run_strings,
                                 .analysis_strings = analysis_strings};
    char *text = render(&input, 0), *json = render(&input, 1);
    check_text(text);
    check_json(json);
    free(text);
    free(json);
    run_tables_free(&run);
    analysis_tables_free(&analysis);
    strings_close(run_strings);
    strings_close(analysis_strings);
}

static void test_an_empty_run_is_told(void)
{
    struct run_tables run = {0};
    struct analysis_tables analysis = {0};
    struct strings *strings;
    strings_open(&strings);
    struct report_input input = {.path = "",
                                 .run = &run,
                                 .analysis = &analysis,
                                 .run_strings = strings,
                                 .analysis_strings = strings};
    free(render(&input, 0));
    free(render(&input, 1));
    strings_close(strings);
}

int main(void)
{
    test_order_statistics();
    test_units();
    test_a_run_is_told();
    test_an_empty_run_is_told();
    return check_result();
}
