#include "base/host.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit/check.h"

static void test_identity(void)
{
    char boot_id[40], name[64];
    host_boot_id(boot_id);
    host_name(name);
    CHECK_EQUAL(strlen(boot_id), 36);
    CHECK(name[0] != 0);
    CHECK(host_process_start(getpid()) > 0);
    CHECK_EQUAL(host_process_start(-5), -1);
    clock_use(CLOCK_MONOTONIC);
    uint64_t monotonic = host_clock_domain();
    CHECK(monotonic != 0);
    CHECK(host_clock_domain() == monotonic);
    clock_use(CLOCK_MONOTONIC_RAW);
    CHECK(host_clock_domain() != monotonic);
    clock_use(CLOCK_REALTIME);
    CHECK_EQUAL(clock_in_use, CLOCK_MONOTONIC_RAW);
}

static void test_launched_rank(void)
{
    int rank, size;
    static const char *const all[] = {"RANK",
                                      "WORLD_SIZE",
                                      "OMPI_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_SIZE",
                                      "PMIX_RANK",
                                      "PMIX_SIZE",
                                      "PMI_RANK",
                                      "PMI_SIZE",
                                      "SLURM_PROCID",
                                      "SLURM_NTASKS"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unsetenv(all[i]);
    CHECK(host_launched_rank(&rank, &size) == NULL);
    CHECK_EQUAL(rank, -1);
    setenv("SLURM_PROCID", "3", 1);
    setenv("SLURM_NTASKS", "8", 1);
    CHECK_TEXT(host_launched_rank(&rank, &size), "SLURM_PROCID");
    CHECK_EQUAL(rank, 3);
    CHECK_EQUAL(size, 8);
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    CHECK_TEXT(host_launched_rank(&rank, &size), "OMPI_COMM_WORLD_RANK");
    CHECK_EQUAL(size, 4);
    setenv("RANK", "x", 1);
    CHECK_TEXT(host_launched_rank(&rank, &size), "OMPI_COMM_WORLD_RANK");
    setenv("RANK", "9", 1);
    setenv("WORLD_SIZE", "4", 1);
    host_launched_rank(&rank, &size);
    CHECK_EQUAL(rank, 9);
    CHECK_EQUAL(size, -1);
}

int main(void)
{
    test_identity();
    test_launched_rank();
    return check_result();
}
