#include "process.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/host.h"
#include "base/settings.h"
#include "lane.h"
#include "log_file.h"
#include "segment_file.h"

#define PATH_BYTES    1024
#define OPENING_TURNS 200000 /* of 50 us: nobody waits longer than ten seconds for the segment */

struct process *process;
uint32_t scaleprof_generation;

/* Copies: programs write over their environment. */
static char run_dir[PATH_BYTES];
static int64_t memory_bytes;
static _Atomic int known_rank = -1, known_size = -1;

static void use_clock(const struct settings *settings)
{
    char word[SETTINGS_WORD_BYTES];
    settings_choice(settings, SETTING_clock, word);
    clock_use(strcmp(word, "raw") == 0 ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC);
}

void process_set_rank(int rank, int size)
{
    atomic_store(&known_rank, rank);
    atomic_store(&known_size, size);
    if (process_open()) {
        process->segment->rank = rank;
        process->segment->size = size;
    }
}

static enum err make_segment(void)
{
    struct segment_facts facts = {.rank = atomic_load(&known_rank),
                                  .size = atomic_load(&known_size)};
    if (facts.rank < 0)
        host_launched_rank(&facts.rank, &facts.size);
    enum err e = segment_file_create(&process->segment, run_dir, memory_bytes, &facts);
    if (!e)
        scaleprof_generation++;
    return e;
}

/* The state that this thread finds or brings about. */
static uint32_t open_or_wait(void)
{
    uint32_t state = PROCESS_UNOPENED;
    if (atomic_compare_exchange_strong(&process->state, &state, PROCESS_OPENING)) {
        state = make_segment() == ERR_OK ? PROCESS_OPEN : PROCESS_FAILED;
        atomic_store_explicit(&process->state, state, memory_order_release);
    }
    for (int turn = 0; state == PROCESS_OPENING && turn < OPENING_TURNS; turn++) {
        clock_pause_ns(50000);
        state = atomic_load_explicit(&process->state, memory_order_acquire);
    }
    if (state == PROCESS_OPENING)
        atomic_fetch_add(&process->missed, 1);
    return state;
}

int process_open(void)
{
    struct lane_guard guard;
    if (process_is_open())
        return 1;
    if (process == NULL || atomic_load(&process->state) == PROCESS_FAILED || !lane_enter(&guard))
        return 0;
    uint32_t state = open_or_wait();
    lane_leave(&guard);
    return state == PROCESS_OPEN;
}

void process_count_missed(void)
{
    uint64_t missed = atomic_exchange(&process->missed, 0);
    atomic_fetch_add(&process->segment->dropped_no_lane, missed);
}

/* What the kernel has not wiped (before Linux 4.14) is wiped here. */
static int wipes_itself;
static void start_anew(void)
{
    if (!wipes_itself)
        madvise(process, sizeof *process, MADV_DONTNEED);
    lane_forget();
}

static int make_state(void)
{
    void *memory = mmap(NULL, sizeof *process, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    process = memory;
    wipes_itself = madvise(memory, sizeof *process, MADV_WIPEONFORK) == 0;
    pthread_atfork(NULL, NULL, start_anew);
    return 1;
}

/* A process that is not recorded gets no further than the first test: every compiler and shell of
 * a job comes by here. */
__attribute__((constructor)) static void load(void)
{
    char variable[SETTINGS_VARIABLE_BYTES];
    struct settings settings;
    const char *wanted = getenv(settings_variable(SETTING_run_dir, variable));
    if (wanted == NULL || wanted[0] == 0 || getauxval(AT_SECURE))
        return;
    int faults = settings_load(&settings);
    log_file_open(&settings);
    if (faults > 0)
        settings_load(&settings);
    snprintf(run_dir, sizeof run_dir, "%s", wanted);
    memory_bytes = settings_number(&settings, SETTING_memory);
    use_clock(&settings);
    if (strlen(wanted) < sizeof run_dir && lane_prepare())
        make_state();
}

/* Destructors of others may still record after this: what they write is published like everything
 * before. */
__attribute__((destructor)) static void unload(void)
{
    if (!process_is_open())
        return;
    lane_end_own();
    process_count_missed();
    atomic_store(&process->segment->last_ns, clock_now_ns());
    atomic_store_explicit(&process->segment->state, SEGMENT_CLOSED, memory_order_release);
}
