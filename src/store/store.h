/* The run file. The only folder that knows HDF5. Files are written as NAME.partial, flushed, and
 * renamed by commit: a NAME that exists is whole. See docs/format.md. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "peers/peers.h"
#include "trace/tables.h"

#define STORE_FORMAT_MAJOR 1
#define STORE_FORMAT_MINOR 0

struct store;

/* ---- writing, by all processes of `p` together ---- */

/* Begins `path` (as path.partial). `tables` of `count` are the tables it will hold (run_table_list
 * or analysis_table_list). A run file also gets the external link /analysis to BASE.analysis.h5
 * beside it. ERR_EXISTS when path exists and not `force`. The process numbers of `p` decide who
 * makes it. */
enum err store_create_all(struct store **out, const char *path, int force,
                          const struct table *tables, size_t count, struct peers *p);

/* Appends this process's rows to the table; rows of process 0 come first, then 1, ... within this
 * call. Processes without rows call it with an empty struct. */
enum err store_append_all(struct store *s, const struct table *t, const void *rows);

/* Writes this process's rows at row `first` of the table, which it extends as needed; every process
 * calls it, with count 0 when it has none. No row may be given twice, and none left out.
 * Rows that continue those of the process's call before cost least; of others, up to two chunks a
 * call (65,536 rows of a large table) wait in memory until commit. */
enum err store_write_all(struct store *s, const struct table *t, const void *rows, int64_t first);

/* A text attribute on "/" (source, tool_version, ...). Same value from every process. */
enum err store_attribute_all(struct store *s, const char *name, const char *value);

/* Flushes, syncs and renames; then the file is there. On failure the partial file is removed. Frees
 * `s`. */
enum err store_commit_all(struct store *s);

/* Drops what was begun. Frees `s`; takes NULL. */
void store_abandon_all(struct store *s);

/* ---- reading, by one process ---- */

/* Opens a run file or an analysis file. ERR_FORMAT when it is none, ERR_VERSION when its major
 * version is newer, ERR_TRUNCATED when it is cut off; each said with the file's name. */
enum err store_open(struct store **out, const char *path);
void store_close(struct store *s);

/* Rows of a table; 0 when the file has no such table. ERR_FORMAT when its columns differ in length.
 */
enum err store_rows(struct store *s, const struct table *t, int64_t *count);

/* Reads rows [first, first + count) into `rows` (appended). A column that an older file lacks is
 * filled with -1 (0 for U8 and strings). ERR_LIMIT when the range is not there. */
enum err store_read(struct store *s, const struct table *t, int64_t first, int64_t count,
                    void *rows);

/* As store_read, but only the columns named (ended by NULL); the others hold zeroes. */
enum err store_read_columns(struct store *s, const struct table *t, int64_t first, int64_t count,
                            const char *const *names, void *rows);

/* Reads a text attribute of "/"; "" when absent. Cut to `size`. */
enum err store_read_attribute(struct store *s, const char *name, char *out, size_t size);

/* Reads all tables of the list into the struct (run_tables or analysis_tables), except those named
 * in `except` (NULL-terminated list of tables, or NULL). ERR_FORMAT (said) when the file holds the
 * other list. */
enum err store_read_tables(struct store *s, const struct table *list, size_t count, void *tables,
                           const struct table *const *except);

/* The name of the analysis file of a run file ("x.h5" -> "x.analysis.h5"), malloc'd. */
char *store_analysis_path(const char *run_path);

#endif
