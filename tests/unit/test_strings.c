#include "trace/strings.h"

#include <stdlib.h>

#include "unit/check.h"

static void test_a_text_has_one_number(void)
{
    struct strings *s;
    CHECK_EQUAL(strings_open(&s), ERR_OK);
    CHECK_EQUAL(strings_put_text(s, ""), 0);
    uint32_t numbers[1000];
    for (int i = 0; i < 1000; i++) {
        char text[20];
        snprintf(text, sizeof text, "name %d", i);
        numbers[i] = strings_put_text(s, text);
        CHECK_EQUAL(numbers[i], i + 1);
    }
    CHECK_EQUAL(strings_put_text(s, "name 500"), numbers[500]);
    CHECK_EQUAL(strings_find_text(s, "name 7"), numbers[7]);
    CHECK_EQUAL(strings_find_text(s, ""), 0);
    CHECK_EQUAL(strings_find_text(s, "name 1000"), TABLE_NONE);
    CHECK_TEXT(strings_get(s, numbers[999]), "name 999");
    CHECK_TEXT(strings_get(s, 123456), "");
    CHECK_EQUAL(strings_count(s), 1001);
    strings_close(s);
}

static void test_sort_maps_old_to_new(void)
{
    struct strings *s;
    strings_open(&s);
    strings_put_text(s, "pear");
    strings_put_text(s, "apple");
    uint32_t map[3];
    CHECK_EQUAL(strings_sort(s, map), ERR_OK);
    CHECK_EQUAL(map[0], 0);
    CHECK_EQUAL(map[1], 2);
    CHECK_EQUAL(map[2], 1);
    CHECK_TEXT(strings_get(s, 1), "apple");
    CHECK_EQUAL(strings_put_text(s, "pear"), 2);
    strings_close(s);
}

static void test_store_and_load_are_inverse_and_load_is_careful(void)
{
    struct strings *s, *t;
    struct string_bytes_rows bytes = {0};
    struct string_ends_rows ends = {0};
    strings_open(&s);
    strings_open(&t);
    strings_put_text(s, "one");
    strings_put_text(s, "two");
    CHECK_EQUAL(strings_store(s, &bytes, &ends), ERR_OK);
    CHECK_EQUAL(bytes.count, 6);
    CHECK_EQUAL(ends.end[2], 6);
    CHECK_EQUAL(strings_load(t, &bytes, &ends), ERR_OK);
    CHECK_TEXT(strings_get(t, 2), "two");
    ends.end[2] = 7;
    CHECK_EQUAL(strings_load(t, &bytes, &ends), ERR_FORMAT);
    ends.end[2] = 2;
    CHECK_EQUAL(strings_load(t, &bytes, &ends), ERR_FORMAT);
    CHECK_TEXT(strings_get(t, 2), "two");
    rows_free(&bytes, table_string_bytes);
    rows_free(&ends, table_string_ends);
    strings_close(s);
    strings_close(t);
}

int main(void)
{
    test_a_text_has_one_number();
    test_sort_maps_old_to_new();
    test_store_and_load_are_inverse_and_load_is_careful();
    return check_result();
}
