#include "trace/tables.h"

#include "unit/check.h"

static void test_rows_grow_and_keep_their_values(void)
{
    struct events_rows rows = {0};
    for (int i = 0; i < 1000; i++) {
        size_t at;
        CHECK_EQUAL(rows_append(&rows, table_events, 1, &at), ERR_OK);
        rows.begin_ns[at] = i;
        rows.kind[at] = (uint8_t)i;
    }
    CHECK_EQUAL(rows.count, 1000);
    CHECK_EQUAL(rows.begin_ns[999], 999);
    CHECK_EQUAL(rows.kind[999], 999 % 256);
    struct events_rows view;
    rows_slice(&view, &rows, table_events, 500, 10);
    CHECK_EQUAL(view.count, 10);
    CHECK_EQUAL(view.begin_ns[0], 500);
    struct events_rows copy = {0};
    CHECK_EQUAL(rows_append_all(&copy, table_events, &view), ERR_OK);
    CHECK_EQUAL(copy.begin_ns[9], 509);
    rows_free(&copy, table_events);
    rows_free(&rows, table_events);
    CHECK(rows.begin_ns == NULL);
}

static void test_permute_moves_whole_rows(void)
{
    struct events_rows rows = {0};
    rows_append(&rows, table_events, 3, NULL);
    memset(rows.kind, 0, 3);
    for (int i = 0; i < 3; i++) {
        rows.begin_ns[i] = 10 * i;
        rows.kind[i] = (uint8_t)i;
    }
    const size_t order[] = {2, 0, 1};
    CHECK_EQUAL(rows_permute(&rows, table_events, order), ERR_OK);
    CHECK_EQUAL(rows.begin_ns[0], 20);
    CHECK_EQUAL(rows.kind[0], 2);
    CHECK_EQUAL(rows.begin_ns[2], 10);
    rows_free(&rows, table_events);
}

static void test_descriptions_are_complete(void)
{
    for (size_t i = 0; i < run_table_count; i++) {
        CHECK(run_table_list[i].column_count > 0);
        CHECK(run_table_list[i].path[0] == '/');
        for (size_t c = 0; c < run_table_list[i].column_count; c++)
            CHECK(run_table_list[i].columns[c].meaning[0] != 0);
    }
    CHECK_TEXT(table_events->path, "/events");
    CHECK_TEXT(table_events->columns[0].name, "begin_ns");
}

int main(void)
{
    test_rows_grow_and_keep_their_values();
    test_permute_moves_whole_rows();
    test_descriptions_are_complete();
    return check_result();
}
