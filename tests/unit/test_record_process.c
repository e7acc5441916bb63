/* Forks, execs, limits and ends of processes: the job lives as it would without us, and each
 * process has a record of its own. */
#include "record/record.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "unit/scenario.h"

extern char **environ;

static void mark(int64_t number)
{
    struct record_writer *w = scaleprof_writer();
    union slot *s = w != NULL ? record_reserve_event(w, 0) : NULL;
    CHECK(s != NULL);
    if (s == NULL)
        return;
    s->event = (struct slot_event){.kind = EVENT_mark, .ref = number};
    record_publish(w);
}

struct marks {
    int count, strings;
    int64_t sum;
};

static void add_mark(const union slot *slot, void *context)
{
    struct marks *m = context;
    m->strings += slot->kind == SLOT_string;
    if (slot->kind != EVENT_mark)
        return;
    m->count++;
    m->sum += slot->event.ref;
}

static struct marks marks_of(struct segment_header *h, uint32_t lane)
{
    struct marks m = {0};
    if (h != NULL)
        dump_lane(h, lane, add_mark, &m);
    return m;
}

static int files_of(pid_t pid)
{
    char prefix[20];
    int files = 0;
    snprintf(prefix, sizeof prefix, "%d.", (int)pid);
    DIR *dir = opendir(scenario_folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        files += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (dir != NULL)
        closedir(dir);
    return files;
}

/* The process that another one's header names as its parent. */
static struct segment_header *child_of(pid_t parent)
{
    DIR *dir = opendir(scenario_folder);
    struct segment_header *found = NULL;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        struct segment_header *h =
            atoi(entry->d_name) > 0 ? dump_open(scenario_folder, atoi(entry->d_name)) : NULL;
        if (h != NULL && h->parent_pid == parent)
            found = h;
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

/* ---- fork ---- */

static struct record_name shared_name = {.text = "named on both sides"};

/* In the child: nothing of the parent's is used, also not the writer that it still holds. */
static void live_as_child(struct record_writer *parents)
{
    CHECK(record_close(parents, 0, 0) == NULL);
    CHECK(record_reserve(parents, 1) == NULL);
    CHECK_EQUAL(scaleprof_current_step(), -1);
    mark(100);
    CHECK_EQUAL(record_name_number(&shared_name), 1);
    scaleprof_range_end();
    mark(200);
}

static pid_t fork_raw(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
}

static void live_as_parent(pid_t (*fork_somehow)(void))
{
    mark(1);
    scaleprof_string("the parent's only");
    CHECK_EQUAL(record_name_number(&shared_name), 2);
    scaleprof_range_begin("open over the fork");
    scaleprof_step_begin(1);
    struct record_writer *w = scaleprof_writer();
    record_open(w, EVENT_mark, 0, 0, 2);
    pid_t pid = fork_somehow();
    if (pid == 0) {
        live_as_child(w);
        if (fork_somehow == fork)
            exit(scenario_result());
        _exit(scenario_result());
    }
    CHECK(record_close(w, 0, 0) != NULL);
    record_publish(w);
    CHECK_EQUAL(scenario_wait(pid), 0);
    mark(4);
    scaleprof_step_end();
    scaleprof_range_end();
}

static void forking(void)
{
    live_as_parent(fork);
}

static void cloning(void)
{
    live_as_parent(fork_raw);
}

static void check_family(const char *scenario, uint32_t childs_state)
{
    struct segment_header *parent = scenario_run(scenario, NULL);
    struct segment_header *child = child_of(parent->pid);
    CHECK(child != NULL);
    CHECK_EQUAL(marks_of(parent, 0).sum, 1 + 2 + 4);
    CHECK_EQUAL(segment_lane_at(parent, 0)->unbalanced, 0);
    CHECK_EQUAL(parent->state, SEGMENT_CLOSED);
    CHECK_EQUAL(marks_of(child, 0).sum, 300);
    CHECK_EQUAL(marks_of(child, 0).strings, 1);
    CHECK_EQUAL(segment_lane_at(child, 0)->unbalanced, 1);
    CHECK_EQUAL(segment_lane_at(child, 0)->open_count, 0);
    CHECK_EQUAL(child->lanes_used, 1);
    CHECK_EQUAL(child->state, childs_state);
    CHECK_EQUAL(files_of(parent->pid), 1);
}

static void test_a_child_has_a_record_of_its_own(void)
{
    check_family("forking", SEGMENT_CLOSED);
    check_family("cloning", SEGMENT_RECORDING);
}

/* ---- fork while other threads write ---- */

#define WRITERS 3
#define FORKS   20
static _Atomic int stop;

static void *write_until_stopped(void *argument)
{
    int64_t *written = argument;
    while (!atomic_load(&stop)) {
        scaleprof_range_begin("busy");
        scaleprof_range_end();
        ++*written;
    }
    return NULL;
}

static void forking_among_threads(void)
{
    pthread_t threads[WRITERS];
    int64_t written[WRITERS] = {0};
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_until_stopped, &written[i]);
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            mark(i);
            _exit(scenario_result());
        }
        CHECK_EQUAL(scenario_wait(pid), 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
}

static void test_fork_among_writing_threads(void)
{
    struct segment_header *h = scenario_run("forking_among_threads", "SCALEPROF_MEMORY=1M");
    CHECK(h != NULL);
    CHECK_EQUAL(h->lanes_used, WRITERS);
    CHECK_EQUAL(h->faults, 0);
}

/* ---- a child whose threads come to their lanes in another order ---- */

static pthread_barrier_t both_have_lanes;

static void *mark_and_wait(void *argument)
{
    mark(*(int64_t *)argument);
    pthread_barrier_wait(&both_have_lanes);
    pthread_barrier_wait(&both_have_lanes);
    return NULL;
}

/* Two threads of the child take the lanes before its first thread does. */
static void live_with_threads(void)
{
    pthread_t threads[2];
    int64_t numbers[2] = {1, 2};
    pthread_barrier_init(&both_have_lanes, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, mark_and_wait, &numbers[i]);
    pthread_barrier_wait(&both_have_lanes);
    mark(4);
    pthread_barrier_wait(&both_have_lanes);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void reordering(void)
{
    mark(1);
    pid_t pid = fork();
    if (pid == 0) {
        live_with_threads();
        _exit(scenario_result());
    }
    CHECK_EQUAL(scenario_wait(pid), 0);
}

static void test_a_childs_threads_do_not_share_a_lane(void)
{
    struct segment_header *h = scenario_run("reordering", NULL);
    struct segment_header *child = child_of(h->pid);
    CHECK(child != NULL);
    CHECK_EQUAL(child->lanes_used, 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQUAL(marks_of(child, i).count, 1);
    CHECK_EQUAL(marks_of(child, 2).sum, 4);
}

/* ---- programs started from a recorded one ---- */

static void starting_programs(void)
{
    char *arguments[] = {"true", NULL};
    pid_t pid;
    mark(1);
    CHECK_EQUAL(system("true"), 0);
    CHECK_EQUAL(posix_spawnp(&pid, "true", NULL, NULL, arguments, environ), 0);
    CHECK_EQUAL(scenario_wait(pid), 0);
    pid = vfork();
    if (pid == 0) {
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    CHECK_EQUAL(scenario_wait(pid), 0);
    mark(2);
    execl("/proc/self/exe", "scenario", "second_program", (char *)NULL);
}

static void second_program(void)
{
    mark(40);
}

static void test_programs_one_after_another_in_a_process(void)
{
    pid_t pid = scenario_start("starting_programs", NULL);
    CHECK_EQUAL(scenario_wait(pid), 0);
    CHECK_EQUAL(files_of(pid), 2);
    CHECK(child_of(pid) == NULL);
    int64_t sum = 0;
    DIR *dir = opendir(scenario_folder);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[400];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", scenario_folder, entry->d_name);
        if (atoi(entry->d_name) != pid || stat(path, &status) != 0)
            continue;
        CHECK_EQUAL(status.st_mode & 0777, 0600);
        int fd = open(path, O_RDONLY);
        struct segment_header *h = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
        sum += marks_of(h, 0).sum;
        close(fd);
    }
    closedir(dir);
    CHECK_EQUAL(sum, 43);
}

/* ---- what the job must not notice ---- */

static void *record_while_cancelled(void *argument)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    mark(1);
    *(int *)argument = 1;
    pthread_testcancel();
    return NULL;
}

/* The first event of the process, which makes the segment. */
static void cancelled(void)
{
    pthread_t thread;
    void *result;
    int recorded = 0;
    pthread_create(&thread, NULL, record_while_cancelled, &recorded);
    pthread_join(thread, &result);
    CHECK_EQUAL(recorded, 1);
    CHECK(result == PTHREAD_CANCELED);
}

static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDWR);
    close(fd);
    return fd;
}

static void unnoticed(void)
{
    int fd = next_descriptor();
    int lowest_free = open("/dev/null", O_RDWR);
    close(lowest_free);
    errno = 77;
    scaleprof_step_begin(1);
    scaleprof_site((const void *)unnoticed);
    scaleprof_counter("x", 1);
    scaleprof_step_end();
    scaleprof_fault("here", "this");
    scaleprof_clock_domain();
    CHECK_EQUAL(errno, 77);
    CHECK_EQUAL(next_descriptor(), fd);
}

static void test_errno_descriptors_and_cancellation_stay(void)
{
    CHECK(scenario_run("unnoticed", "SCALEPROF_LOG_FILE=/nonexistent/log") != NULL);
    CHECK(scenario_run("unnoticed", "SCALEPROF_RUN_DIR=/nonexistent/folder") == NULL);
    struct segment_header *h = scenario_run("cancelled", NULL);
    CHECK_EQUAL(marks_of(h, 0).sum, 1);
}

/* Runs after the destructors of all libraries: registered before their constructors. */
static void mark_late(void)
{
    if (getenv("MARK_LATE") != NULL)
        mark(1000);
}

static void register_late(void)
{
    atexit(mark_late);
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = register_late;

static void test_events_after_the_end_are_kept(void)
{
    struct segment_header *h = scenario_run("second_program", "MARK_LATE=1");
    CHECK_EQUAL(h->state, SEGMENT_CLOSED);
    CHECK_EQUAL(marks_of(h, 0).sum, 1040);
}

/* Children that only look leave nothing. */
static void silent(void)
{
    CHECK_EQUAL(scaleprof_recording(), getenv("EXPECT_RECORDING") != NULL);
    scaleprof_pause(1);
    scaleprof_pause(0);
    CHECK_EQUAL(scaleprof_clock(), CLOCK_MONOTONIC);
}

static void unrecorded(void)
{
    CHECK_EQUAL(scaleprof_recording(), 0);
    CHECK(scaleprof_writer() == NULL);
    scaleprof_step_begin(1);
    scaleprof_range_begin("x");
    scaleprof_counter("x", 1);
    CHECK_EQUAL(scaleprof_communicator("x", 0, 1), 0);
    CHECK_EQUAL(scaleprof_collective_begin("barrier", 0, -1, 0), 0);
    scaleprof_collective_end(1);
    scaleprof_range_end();
    scaleprof_step_end();
    scaleprof_pause(1);
    scaleprof_set_rank(1, 2);
    scaleprof_set_mpi(MPI_PHASE_FINALISED, 0);
    scaleprof_fault("x", "y");
    CHECK_EQUAL(scaleprof_string("x"), 0);
    CHECK_EQUAL(scaleprof_site((const void *)unrecorded), 0);
    CHECK_EQUAL(scaleprof_operation(), 0);
    CHECK_EQUAL(scaleprof_current_step(), -1);
    CHECK(scaleprof_clock_domain() != 0);
}

static void test_nothing_is_made_without_an_event(void)
{
    CHECK(scenario_run("silent", "EXPECT_RECORDING=1") == NULL);
    CHECK(scenario_run("unrecorded", "SCALEPROF_RUN_DIR=") == NULL);
}

static void marked_once(void)
{
    scaleprof_step_begin(5);
    scaleprof_step_end();
}

static void test_a_folder_that_is_not_there_is_said_in_the_log(void)
{
    char path[64], variable[100], line[400] = "";
    snprintf(path, sizeof path, "%s/log", scenario_folder);
    snprintf(variable, sizeof variable, "SCALEPROF_LOG_FILE=%s", path);
    setenv("SCALEPROF_RUN_DI", "misspelt", 1);
    CHECK(scenario_run("marked_once", "SCALEPROF_RUN_DIR=/nonexistent/folder") == NULL);
    CHECK(scenario_run("marked_once", variable) != NULL);
    unsetenv("SCALEPROF_RUN_DI");
    FILE *f = fopen(path, "r");
    CHECK(f != NULL && fgets(line, sizeof line, f) != NULL);
    CHECK(strstr(line, "SCALEPROF_RUN_DI;") != NULL);
    if (f != NULL)
        fclose(f);
}

/* ---- limits ---- */

static void with_file_limit(rlim_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 20000; i++) {
        scaleprof_range_begin("limited");
        scaleprof_range_end();
    }
}

static void limited(void)
{
    with_file_limit(SEGMENT_HEADER_BYTES + SEGMENT_LANES_MAX * SEGMENT_LANE_BYTES +
                    5 * SEGMENT_CHUNK_BYTES + 1000);
}

static void very_limited(void)
{
    with_file_limit(100000);
}

static void test_a_limit_of_file_sizes_is_kept(void)
{
    struct segment_header *h = scenario_run("limited", NULL);
    CHECK(h != NULL);
    CHECK_EQUAL(h->chunks_max, 5);
    CHECK_EQUAL(dump_lane(h, 0, NULL, NULL), 5 * SEGMENT_CHUNK_SLOTS);
    CHECK_EQUAL(segment_lane_at(h, 0)->dropped, 20000 + 1 - 5 * SEGMENT_CHUNK_SLOTS);
    CHECK(scenario_run("very_limited", NULL) == NULL);
}

#define PLENTY 200000

static void plentiful(void)
{
    for (int i = 0; i < PLENTY; i++) {
        scaleprof_range_begin("many");
        scaleprof_range_end();
    }
}

/* No agent lives here: beyond its first memory the process gets more by itself. */
static void test_memory_grows_without_an_agent(void)
{
    struct segment_header *h = scenario_run("plentiful", NULL);
    CHECK(h != NULL);
    CHECK_EQUAL(segment_lane_at(h, 0)->dropped, 0);
    CHECK_EQUAL(segment_lane_at(h, 0)->dropped_details, 0);
    CHECK_EQUAL(dump_lane(h, 0, NULL, NULL), PLENTY + 1);
    CHECK_EQUAL(h->chunks_present, (PLENTY + 1) / SEGMENT_CHUNK_SLOTS + 1);
}

const struct scenario scenarios[] = {{"plentiful", plentiful},
                                     {"forking", forking},
                                     {"cloning", cloning},
                                     {"forking_among_threads", forking_among_threads},
                                     {"starting_programs", starting_programs},
                                     {"second_program", second_program},
                                     {"reordering", reordering},
                                     {"unnoticed", unnoticed},
                                     {"cancelled", cancelled},
                                     {"silent", silent},
                                     {"unrecorded", unrecorded},
                                     {"marked_once", marked_once},
                                     {"limited", limited},
                                     {"very_limited", very_limited},
                                     {NULL, NULL}};

static void tests(void)
{
    test_a_child_has_a_record_of_its_own();
    test_fork_among_writing_threads();
    test_a_childs_threads_do_not_share_a_lane();
    test_programs_one_after_another_in_a_process();
    test_errno_descriptors_and_cancellation_stay();
    test_events_after_the_end_are_kept();
    test_nothing_is_made_without_an_event();
    test_a_folder_that_is_not_there_is_said_in_the_log();
    test_a_limit_of_file_sizes_is_kept();
    test_memory_grows_without_an_agent();
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, tests);
}
