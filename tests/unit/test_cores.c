#include "gather/cores.h"

#include "unit/check.h"

static int count(const char *list, const char *more)
{
    struct cores set = {{0}};
    cores_add(&set, list);
    cores_add(&set, more);
    return cores_count(&set);
}

int main(void)
{
    CHECK_EQUAL(count("0", "1"), 2);
    CHECK_EQUAL(count("0-3,8,10-11", "3,9"), 8);
    CHECK_EQUAL(count("", ""), 0);
    CHECK_EQUAL(count("8191", "8192"), 1);
    CHECK_EQUAL(count("5-99999999999999999999", "x"), 0);
    CHECK_EQUAL(count("7-3", "1,,2"), 1);
    CHECK_EQUAL(count("1-", "-1"), 0);
    return check_result();
}
