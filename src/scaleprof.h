/* scaleprof.h - marks that a program sets for scaleprof.
 *
 * A program links libscaleprof_record (-lscaleprof_record) and calls these where its steps, phases
 * and own collectives begin and end. Under `scaleprof run` they are recorded; without it each call
 * returns after one test of a thread-local pointer. Every function may be called from any thread,
 * before or after MPI_Init and MPI_Finalize, and never fails visibly: what could not be recorded is
 * counted and printed in the report. Text arguments are copied before the call returns; a NULL text
 * is recorded as "".
 */
#ifndef SCALEPROF_H
#define SCALEPROF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCALEPROF_API __attribute__((visibility("default")))

/* 1 when this process is being recorded (also while recording is paused), else 0. */
SCALEPROF_API int scaleprof_recording(void);

/* One step (iteration) of the program's main loop on this rank. `number` is the same on every rank
 * for the same step; steps do not nest: a begin inside an open step, of whichever thread, ends the
 * open one first. */
SCALEPROF_API void scaleprof_step_begin(int64_t number);
SCALEPROF_API void scaleprof_step_end(void);

/* A named phase of the calling thread. Ranges nest; an end without a begin is counted and ignored.
 */
SCALEPROF_API void scaleprof_range_begin(const char *name);
SCALEPROF_API void scaleprof_range_end(void);

/* Names a group of `size` ranks in which this process is number `rank`, for collectives of one's
 * own (gloo, sockets, RPC). All members must give the same name and size. Returns a handle of this
 * process; 0, also usable, is the group of all ranks. */
SCALEPROF_API uint32_t scaleprof_communicator(const char *name, int rank, int size);

/* A collective that no probe sees. `kind` is a name of collectives.def ("allreduce", "broadcast",
 * ...; an unknown one is kept and never waits), `root` a member of the group or -1, `bytes` what
 * this rank contributes. Members must begin the collectives of one communicator in the same order.
 * Returns a token that any thread may give to scaleprof_collective_end once the result is there; 0
 * when not recorded. */
SCALEPROF_API uint64_t scaleprof_collective_begin(const char *kind, uint32_t communicator, int root,
                                                  int64_t bytes);
SCALEPROF_API void scaleprof_collective_end(uint64_t token);

/* A sample of a quantity (loss, queue length, bytes in use) at this instant. */
SCALEPROF_API void scaleprof_counter(const char *name, double value);

#ifdef __cplusplus
}
#endif

#endif
