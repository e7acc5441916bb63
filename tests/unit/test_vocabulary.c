#include "trace/vocabulary.h"

#include "collectives/collectives.h"
#include "trace/tables.h"
#include "unit/check.h"

static const char *described(const char *unit)
{
    static char text[VALUES_TEXT_BYTES];
    const struct value_set *set = value_set_find(unit);
    if (set == NULL)
        return "";
    value_set_describe(set, text);
    return text;
}

static void test_sets_say_what_the_constants_say(void)
{
    CHECK_TEXT(described("rank_status"), "0 ok, 1 failed, 2 killed, 3 open, 4 missing");
    CHECK_TEXT(described("step_flag"), "1 first, 2 last, 4 partial, 8 overlaps, 16 kept");
    CHECK_EQUAL(RANK_MISSING, 4);
    CHECK_EQUAL(STEP_KEPT, 16);
    CHECK(value_set_find("ns") == NULL);
    const struct value_set *kinds = value_set_find("collective_kind");
    CHECK_EQUAL(kinds->count, COLLECTIVE_KIND_COUNT);
    CHECK_TEXT(kinds->values[COLLECTIVE_allreduce].name, "allreduce");
    CHECK_TEXT(value_set_find("event_kind")->values[EVENT_mpi_call].name, "mpi_call");
    CHECK_EQUAL(value_set_find("event_flag")->values[0].number, EVENT_FLAG_open);
}

/* Numbers of kinds are their places, flags are single bits: readers may index by them. */
static void test_numbers(void)
{
    for (size_t i = 0; i < value_set_count; i++) {
        const struct value_set *set = &value_set_list[i];
        CHECK(strlen(described(set->unit)) < VALUES_TEXT_BYTES - 1);
        for (size_t v = 0; v < set->count; v++) {
            CHECK_EQUAL(set->values[v].number, set->form == VALUE_FLAGS ? 1 << v : (int)v);
            CHECK(set->values[v].meaning[0] != 0);
        }
    }
}

static int is_used(const struct table *list, size_t count, const char *unit)
{
    for (size_t t = 0; t < count; t++)
        for (size_t c = 0; c < list[t].column_count; c++)
            if (strcmp(list[t].columns[c].unit, unit) == 0)
                return 1;
    return 0;
}

static void test_every_set_is_some_columns_unit(void)
{
    for (size_t i = 0; i < value_set_count; i++)
        CHECK(is_used(run_table_list, run_table_count, value_set_list[i].unit) ||
              is_used(analysis_table_list, analysis_table_count, value_set_list[i].unit));
}

int main(void)
{
    test_sets_say_what_the_constants_say();
    test_numbers();
    test_every_set_is_some_columns_unit();
    return check_result();
}
