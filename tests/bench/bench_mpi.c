/* What the probe adds to calls of MPI, in ns: blocks that call MPI's own function, the probe while
 * recording is paused, and the probe while it records, one after another in one process. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/record.h"

#define BLOCK_CALLS  1000
#define BLOCKS       400
#define FOLDER_BYTES 64

enum way { DIRECT, PAUSED, RECORDED, WAYS };

/* The function of MPI behind the probe: in the library of one that is not wrapped. */
static void *direct(const char *name)
{
    Dl_info info;
    void *library = dladdr((void *)MPI_Get_version, &info)
                        ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_NOW)
                        : NULL;
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) {
        fprintf(stderr, "MPI has no %s\n", name);
        exit(1);
    }
    return found;
}

/* This process's segment, mapped a second time as an agent does. */
static struct segment_header *map_segment(void)
{
    char path[1024];
    FILE *list;
    snprintf(path, sizeof path, "ls %s/%d.*.segment", getenv("SCALEPROF_RUN_DIR"), (int)getpid());
    list = popen(path, "r");
    if (list == NULL || fgets(path, sizeof path, list) == NULL)
        exit(1);
    pclose(list);
    path[strcspn(path, "\n")] = 0;
    int fd = open(path, O_RDWR);
    off_t bytes = lseek(fd, 0, SEEK_END);
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        exit(1);
    close(fd);
    return memory;
}

/* Gives every sealed chunk back, as an agent that has drained it. */
static void recycle(struct segment_header *h)
{
    uint32_t present = atomic_load(&h->chunks_present);
    for (uint32_t i = 0; i < present; i++)
        if (atomic_load(&segment_chunk_at(h, i)->state) == CHUNK_SEALED)
            segment_give_free(h, i);
}

struct work {
    const char *name;
    void (*run)(enum way way);
};

static int send_value = 1, receive_value;
static __typeof__(&MPI_Allreduce) direct_allreduce;
static __typeof__(&MPI_Isend) direct_isend;
static __typeof__(&MPI_Recv) direct_recv;
static __typeof__(&MPI_Wait) direct_wait;
static __typeof__(&MPI_Test) direct_test;

static void run_allreduce(enum way way)
{
    __typeof__(&MPI_Allreduce) call = way == DIRECT ? direct_allreduce : MPI_Allreduce;
    for (int i = 0; i < BLOCK_CALLS; i++)
        call(&send_value, &receive_value, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

/* Three calls: the message is on its way before it is received. */
static void run_message(enum way way)
{
    __typeof__(&MPI_Isend) isend = way == DIRECT ? direct_isend : MPI_Isend;
    __typeof__(&MPI_Recv) recv = way == DIRECT ? direct_recv : MPI_Recv;
    __typeof__(&MPI_Wait) wait = way == DIRECT ? direct_wait : MPI_Wait;
    for (int i = 0; i < BLOCK_CALLS; i++) {
        MPI_Request request;
        isend(&send_value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        recv(&receive_value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        wait(&request, MPI_STATUS_IGNORE);
    }
}

static MPI_Request never;

static void run_test(enum way way)
{
    __typeof__(&MPI_Test) test = way == DIRECT ? direct_test : MPI_Test;
    int flag;
    for (int i = 0; i < BLOCK_CALLS; i++)
        test(&never, &flag, MPI_STATUS_IGNORE);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, BLOCKS, sizeof *values, compare);
    return values[BLOCKS / 2];
}

static void measure(const struct work *w, struct segment_header *h)
{
    static double ns[WAYS][BLOCKS];
    double middle[WAYS];
    for (int b = 0; b < BLOCKS; b++)
        for (int way = 0; way < WAYS; way++) {
            recycle(h);
            scaleprof_pause(way != RECORDED);
            int64_t begin_ns = clock_now_ns();
            w->run((enum way)way);
            ns[way][b] = (double)(clock_now_ns() - begin_ns) / BLOCK_CALLS;
        }
    for (int way = 0; way < WAYS; way++)
        middle[way] = median(ns[way]);
    printf("%-34s %8.1f %8.1f %8.1f   %+8.1f %+8.1f\n", w->name, middle[DIRECT], middle[PAUSED],
           middle[RECORDED], middle[PAUSED] - middle[DIRECT], middle[RECORDED] - middle[DIRECT]);
}

/* Starts this program again under the probe. */
static int restart(char **argv)
{
    char folder[FOLDER_BYTES] = "/dev/shm/scaleprof-bench-XXXXXX", link[FOLDER_BYTES + 16];
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(link, sizeof link, "%s/probe.so", folder);
    if (symlink(PROBE, link) != 0)
        return 1;
    setenv("SCALEPROF_RUN_DIR", folder, 1);
    setenv("LD_PRELOAD", link, 1);
    execv("/proc/self/exe", argv);
    return 1;
}

int main(int argc, char **argv)
{
    if (getenv("SCALEPROF_RUN_DIR") == NULL)
        return restart(argv);
    MPI_Init(&argc, &argv);
    direct_allreduce = direct("PMPI_Allreduce");
    direct_isend = direct("PMPI_Isend");
    direct_recv = direct("PMPI_Recv");
    direct_wait = direct("PMPI_Wait");
    direct_test = direct("PMPI_Test");
    direct_allreduce(&send_value, &receive_value, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Irecv(&receive_value, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &never);
    struct segment_header *h = map_segment();
    static const struct work works[] = {
        {"MPI_Allreduce, 4 bytes, self", run_allreduce},
        {"MPI_Isend + MPI_Recv + MPI_Wait", run_message},
        {"MPI_Test that finds nothing", run_test},
    };
    printf("%-34s %8s %8s %8s   %8s %8s\n", "ns per call (medians of blocks)", "direct", "paused",
           "recorded", "paused", "recorded");
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        measure(&works[i], h);
    double clock_ns[BLOCKS];
    for (int b = 0; b < BLOCKS; b++) {
        int64_t begin_ns = clock_now_ns();
        for (int i = 0; i < BLOCK_CALLS; i++)
            clock_now_ns();
        clock_ns[b] = (double)(clock_now_ns() - begin_ns) / BLOCK_CALLS;
    }
    printf("one reading of the clock: %.1f ns\n", median(clock_ns));
    char command[FOLDER_BYTES + 16];
    snprintf(command, sizeof command, "rm -rf %s", getenv("SCALEPROF_RUN_DIR"));
    MPI_Cancel(&never);
    MPI_Wait(&never, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return system(command);
}
