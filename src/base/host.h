/* Facts about this host and process. */
#ifndef BASE_HOST_H
#define BASE_HOST_H

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

/* Rank and number of ranks that the launcher gave this process by the environment (in the order
 * RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, SLURM_PROCID); -1 where it says nothing. Returns
 * the name of the variable used or NULL. */
const char *host_launched_rank(int *rank, int *size);

#endif
