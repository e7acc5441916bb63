#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/host.h"
#include "base/log.h"
#include "base/settings.h"

#define FIRST_CHUNKS 64u /* 4 MiB that have memory before the agent looks for the first time */
#define LEAST_CHUNKS 4u
#define MOST_CHUNKS  (1u << 20)

struct process process;
uint32_t scaleprof_generation;

static struct settings settings;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;

static void write_log(enum log_level level, const char *message)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char line[1100];
    int length =
        snprintf(line, sizeof line, "scaleprof[%d] %s: %s\n", (int)getpid(), names[level], message);
    if (write(log_fd, line, (size_t)length) < 0)
        log_open(NULL, LOG_ERROR);
}

/* CHOICE log: its first word is "warning", the most urgent last but one; see settings.def. */
static enum log_level wanted_level(void)
{
    static const enum log_level levels[] = {LOG_WARNING, LOG_ERROR, LOG_INFO, LOG_DEBUG};
    return levels[settings_number(&settings, SETTING_log)];
}

static void start_log(void)
{
    const char *path = settings_text(&settings, SETTING_log_file);
    if (path[0] == 0)
        return;
    log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd >= 0)
        log_open(write_log, wanted_level());
}

static void use_clock(void)
{
    char word[SETTINGS_WORD_BYTES];
    settings_choice(&settings, SETTING_clock, word);
    clock_use(strcmp(word, "raw") == 0 ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC);
}

static uint32_t wanted_chunks(void)
{
    int64_t chunks = settings_number(&settings, SETTING_memory) / SEGMENT_CHUNK_BYTES;
    return chunks < LEAST_CHUNKS  ? LEAST_CHUNKS
           : chunks > MOST_CHUNKS ? MOST_CHUNKS
                                  : (uint32_t)chunks;
}

static void describe_process(struct segment_header *h)
{
    int rank, size;
    host_launched_rank(&rank, &size);
    h->pid = getpid();
    h->parent_pid = getppid();
    h->process_start = host_process_start(h->pid);
    h->rank = rank;
    h->size = size;
    h->clock_id = (int32_t)clock_in_use;
    h->mpi_thread_level = -1;
    h->clock_domain = host_clock_domain();
    host_name(h->host);
    host_boot_id(h->boot_id);
    ssize_t length = readlink("/proc/self/exe", h->program, sizeof h->program - 1);
    h->program[length > 0 ? length : 0] = 0;
    h->opened_ns = clock_now_ns();
    h->opened_utc_ns = clock_utc_ns();
}

/* A reader knows a segment by its magic, so that is stored when all the rest stands. */
static void fill_header(struct segment_header *h, int fd, uint32_t chunks)
{
    h->version = SEGMENT_VERSION;
    h->slot_bytes = SEGMENT_SLOT_BYTES;
    h->lanes_max = SEGMENT_LANES_MAX;
    h->chunks_max = chunks;
    h->free_chunks = SEGMENT_NO_CHUNK;
    h->state = SEGMENT_RECORDING;
    describe_process(h);
    enum err e = segment_grow(h, fd, FIRST_CHUNKS);
    if (e)
        log_warning("the segment has memory for %u chunks only: %s", h->chunks_present,
                    err_text(e));
    size_t begin = (size_t)segment_bytes(h->lanes_max, 0),
           present = (size_t)h->chunks_present * SEGMENT_CHUNK_BYTES;
    for (size_t at = 0; at < present; at += 4096)
        *(volatile char *)((char *)h + begin + at) = *(volatile char *)((char *)h + begin + at);
    atomic_thread_fence(memory_order_release);
    memcpy(h->magic, SEGMENT_MAGIC, sizeof h->magic);
}

static enum err make_segment(void)
{
    char path[1024];
    uint32_t chunks = wanted_chunks();
    uint64_t bytes = segment_bytes(SEGMENT_LANES_MAX, chunks);
    snprintf(path, sizeof path, "%s/%d.%lld.segment", settings_text(&settings, SETTING_run_dir),
             (int)getpid(), (long long)host_process_start(getpid()));
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_error("%s cannot be made: %s", path, strerror(errno));
        return err_from_errno(errno);
    }
    enum err e = ERR_OK;
    void *memory = MAP_FAILED;
    if (ftruncate(fd, (off_t)bytes) != 0 ||
        fallocate(fd, 0, 0, (off_t)segment_bytes(SEGMENT_LANES_MAX, 0)) != 0)
        e = err_from_errno(errno);
    if (!e)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!e && memory == MAP_FAILED)
        e = err_from_errno(errno);
    if (e) {
        log_error("%s: %s", path, err_text(e));
        unlink(path);
    } else {
        fill_header(memory, fd, chunks);
        process.segment = memory;
        process.bytes = (int64_t)bytes;
    }
    close(fd);
    return e;
}

static enum err make_writers(void)
{
    void *memory = mmap(NULL, SEGMENT_LANES_MAX * sizeof *process.writers, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return ERR_NO_MEMORY;
    process.writers = memory;
    return ERR_OK;
}

static enum err open_all(void)
{
    enum err e = intern_open(&process.intern);
    if (e)
        return e;
    e = make_writers();
    if (e)
        goto intern;
    e = make_segment();
    if (e)
        goto writers;
    atomic_store(&process.current_step, -1);
    scaleprof_generation++;
    return ERR_OK;
writers:
    munmap(process.writers, SEGMENT_LANES_MAX * sizeof *process.writers);
intern:
    intern_close(process.intern);
    return e;
}

int process_open(void)
{
    if (atomic_load_explicit(&process.state, memory_order_acquire) == PROCESS_UNOPENED) {
        int saved = errno;
        pthread_mutex_lock(&opening);
        if (atomic_load(&process.state) == PROCESS_UNOPENED)
            atomic_store(&process.state, open_all() == ERR_OK ? PROCESS_OPEN : PROCESS_OFF);
        pthread_mutex_unlock(&opening);
        errno = saved;
    }
    return atomic_load_explicit(&process.state, memory_order_acquire) == PROCESS_OPEN;
}

void process_close(void)
{
    if (atomic_load(&process.state) == PROCESS_OPEN) {
        atomic_store(&process.segment->last_ns, clock_now_ns());
        atomic_store(&process.segment->state, SEGMENT_CLOSED);
    }
    atomic_store(&process.state, PROCESS_OFF);
}

/* The child has the parent's mapping; it lets go of it and will make a segment of its own at its
 * first event. */
static void start_anew(void)
{
    if (atomic_load(&process.state) == PROCESS_OPEN) {
        munmap(process.segment, (size_t)process.bytes);
        munmap(process.writers, SEGMENT_LANES_MAX * sizeof *process.writers);
        intern_close(process.intern);
        process.segment = NULL;
        atomic_store(&process.state, PROCESS_UNOPENED);
    }
    pthread_mutex_init(&opening, NULL);
}

__attribute__((constructor)) static void load(void)
{
    settings_load(&settings);
    if (settings_text(&settings, SETTING_run_dir)[0] == 0) {
        atomic_store(&process.state, PROCESS_OFF);
        return;
    }
    start_log();
    use_clock();
    pthread_atfork(NULL, NULL, start_anew);
}

__attribute__((destructor)) static void unload(void)
{
    process_close();
}
