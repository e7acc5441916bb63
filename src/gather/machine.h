/* What the agents say of the run and its hosts: rows of /run and /nodes, and each rank's end. */
#ifndef GATHER_MACHINE_H
#define GATHER_MACHINE_H

#include "gather/gather.h"
#include "sources.h"
#include "survey.h"
#include "trace/strings.h"
#include "trace/tables.h"

/* Rows of /run. Adds the texts it needs; built before and after the dictionary is joined it gives
 * the same texts. */
enum err machine_run_rows(const struct sources *s, const struct gather_options *options,
                          int64_t epoch_utc_ns, struct strings *strings, struct run_rows *out);

/* Rows of /nodes: one per host and boot, in order of their lowest rank. */
enum err machine_node_rows(const struct sources *s, const struct rank_survey *surveys, size_t ranks,
                           struct strings *strings, struct nodes_rows *out);

/* Row of /nodes of a rank; TABLE_NONE. */
uint32_t machine_find_node(const struct nodes_rows *nodes, const struct strings *strings,
                           const char *host, const char *boot_id);

/* How the rank's command ended and where it was bound; NULL when no agent speaks of it. */
const struct agent_facts *machine_find_agent(const struct sources *s, int rank);

/* Exit code of the agent's command, 128 + signal, or -1 unknown (also for NULL). */
int32_t machine_exit_code(const struct agent_facts *agent);

#endif
