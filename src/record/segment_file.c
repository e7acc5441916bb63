#include "segment_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"

#define FIRST_CHUNKS  64u /* 4 MiB that have memory before the agent looks for the first time */
#define MOST_CHUNKS   (1u << 20)
#define MOST_PROGRAMS 100

/* The budget in chunks. A file beyond RLIMIT_FSIZE would bring the job a signal. */
static uint32_t wanted_chunks(int64_t budget_bytes)
{
    uint64_t chunks = budget_bytes > 0 ? (uint64_t)budget_bytes / SEGMENT_CHUNK_BYTES : 0;
    uint64_t fixed = segment_bytes(SEGMENT_LANES_MAX, 0);
    struct rlimit limit;
    if (chunks < 1)
        chunks = 1;
    if (chunks > MOST_CHUNKS)
        chunks = MOST_CHUNKS;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return (uint32_t)chunks;
    if (limit.rlim_cur < fixed)
        return 0;
    uint64_t possible = (limit.rlim_cur - fixed) / SEGMENT_CHUNK_BYTES;
    return (uint32_t)(chunks < possible ? chunks : possible);
}

/* How many chunks to begin with: never more than a quarter of what is free, others live there. */
static uint32_t first_chunks(int fd, uint32_t chunks_max)
{
    struct statvfs space;
    uint64_t chunks = chunks_max < FIRST_CHUNKS ? chunks_max : FIRST_CHUNKS;
    if (fstatvfs(fd, &space) == 0 && space.f_blocks > 0) {
        uint64_t possible = space.f_bavail * (uint64_t)space.f_frsize / 4 / SEGMENT_CHUNK_BYTES;
        chunks = chunks < possible ? chunks : possible;
    }
    return (uint32_t)chunks;
}

/* Pid and start time stay the same over an exec: the program after it needs another name. */
static int open_file(const char *run_dir, char *path, size_t size)
{
    int pid = getpid();
    long long start = host_process_start(pid);
    int length = snprintf(path, size, "%s/%d.%lld.segment", run_dir, pid, start);
    for (int program = 2; length > 0 && (size_t)length < size; program++) {
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST || program > MOST_PROGRAMS)
            return fd;
        length = snprintf(path, size, "%s/%d.%lld.%d.segment", run_dir, pid, start, program);
    }
    errno = ENAMETOOLONG;
    return -1;
}

static void describe_process(struct segment_header *h, const struct segment_facts *facts)
{
    h->pid = getpid();
    h->parent_pid = getppid();
    h->process_start = host_process_start(h->pid);
    h->rank = facts->rank;
    h->size = facts->size;
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

/* The first events find their pages there: a fault costs as much as ten events. */
static void touch_chunks(struct segment_header *h)
{
    char *begin = (char *)h + segment_bytes(h->lanes_max, 0);
    size_t bytes = (size_t)atomic_load(&h->chunks_present) * SEGMENT_CHUNK_BYTES;
    if (bytes == 0 || madvise(begin, bytes, MADV_POPULATE_WRITE) == 0)
        return;
    for (size_t at = 0; at < bytes; at += 4096)
        *(volatile char *)(begin + at) = *(volatile char *)(begin + at);
}

/* A reader knows a segment by its magic, so that is stored when all the rest stands. */
static void store_magic(struct segment_header *h)
{
    typedef uint64_t __attribute__((may_alias)) word;
    word magic;
    memcpy(&magic, SEGMENT_MAGIC, sizeof magic);
    __atomic_store_n((word *)(void *)h->magic, magic, __ATOMIC_RELEASE);
}

static void fill(struct segment_header *h, int fd, uint32_t chunks,
                 const struct segment_facts *facts)
{
    h->version = SEGMENT_VERSION;
    h->slot_bytes = SEGMENT_SLOT_BYTES;
    h->lanes_max = SEGMENT_LANES_MAX;
    h->chunks_max = chunks;
    h->free_chunks = SEGMENT_NO_CHUNK;
    h->state = SEGMENT_RECORDING;
    describe_process(h, facts);
    enum err e = segment_grow(h, fd, first_chunks(fd, chunks));
    if (e)
        log_warning("the segment has memory for %u chunks only: %s",
                    atomic_load(&h->chunks_present), err_text(e));
    touch_chunks(h);
    store_magic(h);
}

/* The memory of header and lanes exists before anything is stored in them. */
static enum err map(int fd, uint32_t chunks, void **out)
{
    uint64_t fixed = segment_bytes(SEGMENT_LANES_MAX, 0);
    uint64_t bytes = segment_bytes(SEGMENT_LANES_MAX, chunks);
    if (chunks == 0)
        return ERR_NO_SPACE;
    if (ftruncate(fd, (off_t)bytes) != 0)
        return err_from_errno(errno);
    int failure = posix_fallocate(fd, 0, (off_t)fixed);
    if (failure != 0)
        return err_from_errno(failure);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return err_from_errno(errno);
    *out = memory;
    return ERR_OK;
}

enum err segment_file_create(struct segment_header **out, const char *run_dir, int64_t budget_bytes,
                             const struct segment_facts *facts)
{
    char path[1100];
    void *memory = NULL;
    uint32_t chunks = wanted_chunks(budget_bytes);
    int fd = open_file(run_dir, path, sizeof path);
    if (fd < 0) {
        enum err e = err_from_errno(errno);
        log_error("%s cannot be made, this process is not recorded: %s", path, strerror(errno));
        return e;
    }
    enum err e = map(fd, chunks, &memory);
    if (e) {
        log_error("%s: this process is not recorded: %s", path, err_text(e));
        unlink(path);
    } else {
        fill(memory, fd, chunks, facts);
        *out = memory;
    }
    close(fd);
    return e;
}
