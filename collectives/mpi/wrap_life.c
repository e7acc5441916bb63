/* Start and end of MPI in the process, and MPI_Pcontrol. */
#include <stdarg.h>

#include "collectives/collectives.h"
#include "collectives/mpi/comms.h"
#include "collectives/mpi/exchange.h"
#include "collectives/mpi/own.h"
#include "collectives/mpi/record_call.h"

static struct comm *world;
static int level;

static struct slot_collective describe(enum collective_kind kind, int64_t sequence)
{
    return (struct slot_collective){
        .kind = SLOT_collective,
        .collective = (uint8_t)kind,
        .scope = SEQUENCE_COMMUNICATOR,
        .blocking = 1,
        .communicator = world->number,
        .root = -1,
        .sequence = sequence,
    };
}

/* MPI has returned from its start: the probe starts, and the call is the first collective of the
 * world. */
static void begin(struct call *call, int result, int thread_level)
{
    bool recorded = call_close(call, result, 0) != NULL;
    if (recorded)
        record_publish(call->writer);
    if (result != MPI_SUCCESS)
        return;
    probe_start(thread_level);
    if (atomic_load(&probe_state) != PROBE_ON)
        return;
    level = thread_level;
    world = comms_find(own_handle.comm_world);
    int64_t sequence = comm_next_sequence(world);
    union slot *s = recorded ? record_reserve(call->writer, 1) : NULL;
    if (s != NULL) {
        s->collective = describe(COLLECTIVE_initialise, sequence);
        record_publish(call->writer);
    }
    exchange_start(world->rank, world->size);
}

RECORDED(Init, (int *argc, char ***argv))
{
    struct call call;
    call_open(&call, CALL_Init, address);
    int result = real(argc, argv);
    begin(&call, result, MPI_THREAD_SINGLE);
    return result;
}

RECORDED(Init_thread, (int *argc, char ***argv, int required, int *provided))
{
    struct call call;
    call_open(&call, CALL_Init_thread, address);
    int result = real(argc, argv, required, provided);
    begin(&call, result, result == MPI_SUCCESS ? *provided : MPI_THREAD_SINGLE);
    return result;
}

static int recorded_Finalize(__typeof__(&MPI_Finalize) real, const void *address)
{
    struct call call;
    int64_t sequence = comm_next_sequence(world);
    call_open(&call, CALL_Finalize, address);
    exchange_finish();
    int result = real();
    union slot *s = call_close(&call, result, world != NULL);
    if (s != NULL && world != NULL)
        s[1].collective = describe(COLLECTIVE_finalise, sequence);
    if (s != NULL)
        record_publish(call.writer);
    if (result == MPI_SUCCESS) {
        scaleprof_set_mpi(MPI_PHASE_FINALISED, level);
        probe_stop();
    }
    return result;
}

/* It does not return where it works: what stands in the segment is all there will be. */
RECORDED(Abort, (MPI_Comm comm, int errorcode))
{
    struct call call;
    call_open(&call, CALL_Abort, address);
    scaleprof_set_mpi(MPI_PHASE_ABORTED, level);
    int result = real(comm, errorcode);
    call_close_plain(&call, result);
    return result;
}

static bool start_passes(void)
{
    return probe_depth != 0 || atomic_load(&probe_state) != PROBE_WAITING;
}

#define EXPORT_START(name, params, args)                                                           \
    EXPORT_CALL_AS(CALL_MPI, MPI_##name, name, start_passes, params, args)                         \
    EXPORT_CALL_AS(CALL_PMPI, PMPI_##name, name, start_passes, params, args)
EXPORT_START(Init, (int *argc, char ***argv), (argc, argv))
EXPORT_START(Init_thread, (int *argc, char ***argv, int required, int *provided),
             (argc, argv, required, provided))
EXPORT_CALL(Finalize, (void), ())
EXPORT_CALL(Abort, (MPI_Comm comm, int errorcode), (comm, errorcode))

/* The words behind the level belong to other tools, which know how many there are: as many as lie
 * in registers are passed on. */
#define EXPORT_PCONTROL(layer, symbol)                                                             \
    SCALEPROF_API int symbol(const int level_asked, ...)                                           \
    {                                                                                              \
        __typeof__(&symbol) real = (__typeof__(&symbol))call_real(layer, CALL_Pcontrol);           \
        if (real == NULL)                                                                          \
            return MPI_ERR_OTHER;                                                                  \
        va_list words;                                                                             \
        va_start(words, level_asked);                                                              \
        void *a = va_arg(words, void *), *b = va_arg(words, void *), *c = va_arg(words, void *);   \
        va_end(words);                                                                             \
        if (!probe_passes())                                                                       \
            scaleprof_pause(level_asked == 0);                                                     \
        return real(level_asked, a, b, c);                                                         \
    }
EXPORT_PCONTROL(CALL_MPI, MPI_Pcontrol)
EXPORT_PCONTROL(CALL_PMPI, PMPI_Pcontrol)
