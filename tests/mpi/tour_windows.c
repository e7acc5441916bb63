/* One-sided communication and files. */
#include <mpi.h>
#include <stdlib.h>

#include "mpi/tour.h"

static void said_fence(const char *call, const char *comm, long sequence)
{
    expect("MPI_%s bytes=-1", call);
    expect("  collective fence comm=%s root=-1 seq=%ld sent=0 received=0", comm, sequence);
}

/* What is put lies there after the fence; accesses to nobody move nothing. The name given at the
 * end is the name of all. */
static void fences(struct tour *t)
{
    int memory[4] = {0}, value = t->rank, old = -1, one = 1, right = (t->rank + 1) % t->size;
    MPI_Win window;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    said_fence("Win_create", "world", t->world_sequence++);
    MPI_Win_fence(0, window);
    said_fence("Win_fence", "field", 0);
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    expect("MPI_Put bytes=4");
    MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
    expect("MPI_Put bytes=0");
    MPI_Win_fence(0, window);
    said_fence("Win_fence", "field", 1);
    MUST(memory[0] == (t->rank + t->size - 1) % t->size);
    MPI_Get(&old, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    expect("MPI_Get bytes=4");
    MPI_Win_fence(0, window);
    said_fence("Win_fence", "field", 2);
    MUST(old == t->rank);
    MPI_Accumulate(&one, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, window);
    expect("MPI_Accumulate bytes=4");
    MPI_Get_accumulate(NULL, 0, MPI_INT, &old, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_NO_OP, window);
    expect("MPI_Get_accumulate bytes=4");
    MPI_Win_fence(0, window);
    said_fence("Win_fence", "field", 3);
    MUST(memory[1] == 1 && old == 0);
    MPI_Win_set_name(window, "field");
    expect("MPI_Win_set_name bytes=-1");
    MPI_Win_free(&window);
    said_fence("Win_free", "field", 4);
}

static void locks(struct tour *t)
{
    int *memory, value = 5, old = -1, none = 0, right = (t->rank + 1) % t->size;
    MPI_Win window;
    MPI_Request request;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    said_fence("Win_allocate", "world", t->world_sequence++);
    for (int i = 0; i < 4; i++)
        memory[i] = 0;
    MPI_Win_fence(0, window);
    said_fence("Win_fence", "world:window", 0);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    expect("MPI_Win_lock bytes=-1");
    MPI_Fetch_and_op(&value, &old, MPI_INT, right, 0, MPI_SUM, window);
    expect("MPI_Fetch_and_op bytes=4");
    MPI_Win_flush(right, window);
    expect("MPI_Win_flush bytes=-1");
    MUST(old == 0);
    MPI_Compare_and_swap(&value, &none, &old, MPI_INT, right, 1, window);
    expect("MPI_Compare_and_swap bytes=4");
    MPI_Win_flush_local(right, window);
    expect("MPI_Win_flush_local bytes=-1");
    MPI_Win_unlock(right, window);
    expect("MPI_Win_unlock bytes=-1");
    MPI_Win_lock_all(0, window);
    expect("MPI_Win_lock_all bytes=-1");
    MPI_Rput(&value, 1, MPI_INT, right, 2, 1, MPI_INT, window, &request);
    expect("MPI_Rput bytes=4");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    MPI_Rget(&old, 1, MPI_INT, right, 2, 1, MPI_INT, window, &request);
    expect("MPI_Rget bytes=4");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    MPI_Raccumulate(&value, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM, window, &request);
    expect("MPI_Raccumulate bytes=4");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    MPI_Rget_accumulate(&value, 1, MPI_INT, &old, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM, window,
                        &request);
    expect("MPI_Rget_accumulate bytes=4");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    MPI_Win_flush_all(window);
    expect("MPI_Win_flush_all bytes=-1");
    MPI_Win_flush_local_all(window);
    expect("MPI_Win_flush_local_all bytes=-1");
    MPI_Win_sync(window);
    expect("MPI_Win_sync bytes=-1");
    MPI_Win_unlock_all(window);
    expect("MPI_Win_unlock_all bytes=-1");
    MPI_Win_free(&window);
    said_fence("Win_free", "world:window", 1);
}

/* Not every MPI has these windows for every communicator. */
static void dynamic(struct tour *t)
{
    MPI_Win window;
    int memory[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window) == MPI_SUCCESS) {
        said_fence("Win_create_dynamic", "world", t->world_sequence++);
        MPI_Win_attach(window, memory, sizeof memory);
        expect("MPI_Win_attach bytes=-1");
        MPI_Win_detach(window, memory);
        expect("MPI_Win_detach bytes=-1");
        MPI_Win_free(&window);
        said_fence("Win_free", "world:window", 0);
    } else {
        expect("MPI_Win_create_dynamic bytes=-1 failed");
        expect("  collective fence comm=world root=-1 seq=%ld sent=0 received=0",
               t->world_sequence++);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Each rank exposes its memory to the left, and puts to the right. */
static void epochs(struct tour *t)
{
    int memory[2] = {0}, value = 7, flag, *base;
    int left = (t->rank + t->size - 1) % t->size, right = (t->rank + 1) % t->size;
    MPI_Group world, from, to;
    MPI_Win window, shared;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &from);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    said_fence("Win_create", "world", t->world_sequence++);
    for (int way = 0; way < 2; way++) {
        MPI_Win_post(from, 0, window);
        expect("MPI_Win_post bytes=-1");
        MPI_Win_start(to, 0, window);
        expect("MPI_Win_start bytes=-1");
        MPI_Put(&value, 1, MPI_INT, right, way, 1, MPI_INT, window);
        expect("MPI_Put bytes=4");
        MPI_Win_complete(window);
        expect("MPI_Win_complete bytes=-1");
        if (way == 0) {
            MPI_Win_wait(window);
            expect("MPI_Win_wait bytes=-1");
            continue;
        }
        int polls = -1;
        for (flag = 0; !flag; polls++)
            MPI_Win_test(window, &flag);
        if (polls > 0)
            expect("MPI_Win_test polls=%d", polls);
        expect("MPI_Win_test bytes=-1");
    }
    MUST(memory[0] == 7 && memory[1] == 7);
    MPI_Win_free(&window);
    said_fence("Win_free", "world:window", 0);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            &shared);
    said_fence("Win_allocate_shared", "world", t->world_sequence++);
    MPI_Win_free(&shared);
    said_fence("Win_free", "world:window", 0);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
}

/* A file of this rank alone: what MPI calls inside these is not recorded. */
static void files(struct tour *t)
{
    char name[1024];
    int out = t->rank + 100, in = 0;
    MPI_File file;
    const char *folder = getenv("EXPECT_DIR");
    snprintf(name, sizeof name, "%s/file.%d", folder != NULL ? folder : "/tmp", t->rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    expect("MPI_File_open bytes=-1");
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    expect("MPI_File_set_view bytes=-1");
    MPI_File_write_at_all(file, 0, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect("MPI_File_write_at_all bytes=4");
    MPI_File_sync(file);
    expect("MPI_File_sync bytes=-1");
    MPI_File_read_at(file, 0, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect("MPI_File_read_at bytes=4");
    MUST(in == out);
    MPI_File_close(&file);
    expect("MPI_File_close bytes=-1");
    MPI_File_delete(name, MPI_INFO_NULL);
    expect("MPI_File_delete bytes=-1");
}

/* Open MPI 4.1 has no windows for one process. */
void tour_windows(struct tour *t)
{
    if (t->size > 1) {
        fences(t);
        locks(t);
        dynamic(t);
        epochs(t);
    }
    files(t);
}
