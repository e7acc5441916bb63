/* A run file and its analysis, opened for a command. */
#ifndef CLI_RUN_FILE_H
#define CLI_RUN_FILE_H

#include "base/settings.h"
#include "store/store.h"
#include "trace/strings.h"
#include "trace/tables.h"

#define RUN_FILE_ID_BYTES 40

struct run_file {
    struct store *store;
    struct run_tables tables; /* without events, collectives, messages, counters, syncs */
    struct strings *strings;
    char run_id[RUN_FILE_ID_BYTES]; /* of the run, "" in a file without one */
};

enum err run_file_open(struct run_file *out, const char *path);
void run_file_close(struct run_file *f);

struct analysis_file {
    struct analysis_tables tables;
    struct strings *strings;
};

/* Reads the analysis of a run. ERR_NOT_FOUND, not said, when there is none, or only that of another
 * run. */
enum err analysis_file_read(struct analysis_file *out, const char *run_path, const char *run_id);
void analysis_file_free(struct analysis_file *f);

/* Reduces the run and writes its analysis beside it, replacing an older one. */
enum err run_file_reduce(const char *path, const struct settings *settings);

#endif
