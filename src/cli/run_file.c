#include "run_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

static const struct table *const *large_tables(void)
{
    static const struct table *list[8];
    const struct table *const large[] = {table_events,   table_collectives, table_messages,
                                         table_counters, table_syncs,       NULL};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        list[i] = large[i];
    return list;
}

enum err run_file_open(struct run_file *out, const char *path)
{
    struct run_file f = {0};
    enum err e = store_open(&f.store, path);
    if (e)
        return e;
    e = store_read_tables(f.store, run_table_list, run_table_count, &f.tables, large_tables());
    if (!e)
        e = strings_open(&f.strings);
    if (!e)
        e = strings_load(f.strings, &f.tables.string_bytes, &f.tables.string_ends);
    if (!e)
        e = store_read_attribute(f.store, "run_id", f.run_id, sizeof f.run_id);
    if (e) {
        run_file_close(&f);
        return e;
    }
    *out = f;
    return ERR_OK;
}

void run_file_close(struct run_file *f)
{
    strings_close(f->strings);
    run_tables_free(&f->tables);
    store_close(f->store);
    *f = (struct run_file){0};
}

enum err analysis_file_read(struct analysis_file *out, const char *run_path, const char *run_id)
{
    char own_id[RUN_FILE_ID_BYTES] = "";
    struct analysis_file f = {0};
    struct store *s = NULL;
    char *path = store_analysis_path(run_path);
    enum err e = path ? ERR_OK : ERR_NO_MEMORY;
    if (!e && access(path, F_OK) != 0)
        e = ERR_NOT_FOUND;
    if (!e)
        e = store_open(&s, path);
    if (!e)
        e = store_read_attribute(s, "run_id", own_id, sizeof own_id);
    if (!e && strcmp(own_id, run_id) != 0)
        e = ERR_NOT_FOUND;
    if (!e)
        e = store_read_tables(s, analysis_table_list, analysis_table_count, &f.tables, NULL);
    if (!e)
        e = strings_open(&f.strings);
    struct string_bytes_rows bytes = {.count = f.tables.analysis_string_bytes.count,
                                      .bytes = f.tables.analysis_string_bytes.bytes};
    struct string_ends_rows ends = {.count = f.tables.analysis_string_ends.count,
                                    .end = f.tables.analysis_string_ends.end};
    if (!e)
        e = strings_load(f.strings, &bytes, &ends);
    store_close(s);
    free(path);
    if (e)
        analysis_file_free(&f);
    else
        *out = f;
    return e;
}

void analysis_file_free(struct analysis_file *f)
{
    strings_close(f->strings);
    analysis_tables_free(&f->tables);
    *f = (struct analysis_file){0};
}
