/* Facts about this host and process. */
#ifndef BASE_HOST_H
#define BASE_HOST_H

#include <stddef.h>
#include <stdint.h>

/* The identity of a clock: two processes with equal keys read one and the same clock. Made of boot
 * id, time namespace and clock source, never of a host name (cloned images share those). 0 where
 * /proc cannot be read. */
uint64_t host_clock_domain(void);

/* Writes the boot id (36 characters and 0) or "" to out. */
void host_boot_id(char out[40]);

/* Writes the host's name, cut to fit, to out. */
void host_name(char out[64]);

/* Start time of process `pid` in clock ticks after boot; -1 when it is gone. Distinguishes re-used
 * pids. */
int64_t host_process_start(int pid);

/* 1 when the process has ended and only waits to be reaped, or is gone. */
int host_process_is_zombie(int pid);

/* Rank and number of ranks that the launcher gave this process by the environment (in the order
 * RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, SLURM_PROCID); -1 where it says nothing. Returns
 * the name of the variable used or NULL. */
const char *host_launched_rank(int *rank, int *size);

/* How many processes can reach each other by MPI, by what the launcher says in the environment
 * (mpirun, srun with PMIx or PMI); 1 where it says nothing, so that a command started by hand in a
 * batch script, or by torchrun, is alone. */
int host_mpi_processes(void);

/* A text that all processes of one launch share and no other launch has: the PMIx namespace, the
 * Slurm job and step, or this process's id. Returns 1 when a launcher gave it. */
int host_run_id(char *out, size_t size);

/* TMPDIR; NULL when it is not set. */
const char *host_temporary_folder(void);

/* Writes those variables of the environment that tell how a parallel job was launched and tuned
 * (names that begin with SLURM_, OMPI_, PMIX_, NCCL_, UCX_, CUDA_, OMP_, ...) as NAME=value lines,
 * values that look secret masked. Never the whole environment. */
void host_environment(char *out, size_t size);

/* 1 when the name of a variable or option looks as if its value were a secret (password, token,
 * key, ...). */
int host_looks_secret(const char *name, size_t length);

/* Nonzero where the launcher says by the environment that the `size` ranks of the job lie on
 * several hosts. */
int host_launcher_spans_hosts(int size);

/* Nonzero where the launcher itself has started this process, or the agent whose child it is, with
 * one command for all ranks; 0 also when a shell stands between: it may run something else on some
 * ranks. */
int host_launcher_is_parent(void);

/* 1 when the environment says that a terminal shows UTF-8 (LC_ALL, LC_CTYPE, LANG, in this order).
 */
int host_shows_utf8(void);

#endif
