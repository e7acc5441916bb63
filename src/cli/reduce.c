#include "reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "commands.h"
#include "options.h"
#include "peers/peers.h"
#include "run_file.h"
#include "symbols/symbols.h"

static void release_rank(void *context, struct reduce_rank_rows *rows)
{
    (void)context;
    rows_free(&rows->events, table_events);
    rows_free(&rows->collectives, table_collectives);
    rows_free(&rows->messages, table_messages);
    rows_free(&rows->counters, table_counters);
}

/* Columns that a pass looks at; what it does not is not unpacked. */
static const char *const event_columns[] = {"begin_ns", "duration_ns", "lane", "kind", "flags",
                                            "name",     "site",        "ref",  NULL};
static const char *const call_columns[] = {"begin_ns", "duration_ns", "lane", "kind", NULL};

static enum err read_operations(struct run_file *f, size_t row, struct reduce_rank_rows *rows)
{
    const struct ranks_rows *r = &f->tables.ranks;
    enum err e = store_read(f->store, table_collectives, r->collective_first[row],
                            r->collective_count[row], &rows->collectives);
    if (!e)
        e = store_read(f->store, table_messages, r->message_first[row], r->message_count[row],
                       &rows->messages);
    return e;
}

static enum err read_rank(void *context, size_t row, enum reduce_want want,
                          struct reduce_rank_rows *out)
{
    struct run_file *f = context;
    const struct ranks_rows *r = &f->tables.ranks;
    struct reduce_rank_rows rows = {0};
    enum err e =
        store_read_columns(f->store, table_events, r->event_first[row], r->event_count[row],
                           want == REDUCE_OPERATIONS ? event_columns : call_columns, &rows.events);
    if (!e && want == REDUCE_OPERATIONS)
        e = read_operations(f, row, &rows);
    if (!e && want == REDUCE_CALLS)
        e = store_read(f->store, table_counters, r->counter_first[row], r->counter_count[row],
                       &rows.counters);
    if (e)
        release_rank(context, &rows);
    else
        *out = rows;
    return e;
}

/* Row i is call site i of the run. */
static enum err name_sites(const struct run_file *f, struct analysis_tables *out,
                           struct strings *strings)
{
    const struct sites_rows *sites = &f->tables.sites;
    struct symbols *symbols;
    enum err e = symbols_open(&symbols);
    if (e)
        return e;
    e = rows_append(&out->site_names, table_site_names, sites->count, NULL);
    for (size_t i = 0; i < sites->count && !e; i++) {
        struct symbol s =
            symbols_find(symbols, strings_get(f->strings, sites->module[i]),
                         strings_get(f->strings, sites->build_id[i]), sites->offset[i]);
        out->site_names.function[i] = strings_put_text(strings, s.function);
        out->site_names.file[i] = strings_put_text(strings, s.file);
        out->site_names.line[i] = s.line;
    }
    symbols_close(symbols);
    return e;
}

static enum err store_strings(struct analysis_tables *out, const struct strings *strings)
{
    struct string_bytes_rows bytes = {0};
    struct string_ends_rows ends = {0};
    enum err e = strings_store(strings, &bytes, &ends);
    if (!e)
        e = rows_append(&out->analysis_string_bytes, table_analysis_string_bytes, bytes.count,
                        NULL);
    if (!e)
        e = rows_append(&out->analysis_string_ends, table_analysis_string_ends, ends.count, NULL);
    if (!e && bytes.count > 0)
        memcpy(out->analysis_string_bytes.bytes, bytes.bytes, bytes.count);
    if (!e)
        memcpy(out->analysis_string_ends.end, ends.end, ends.count * sizeof *ends.end);
    rows_free(&bytes, table_string_bytes);
    rows_free(&ends, table_string_ends);
    return e;
}

static enum err write_analysis(const char *run_path, const char *run_id,
                               const struct analysis_tables *tables)
{
    struct store *s;
    struct peers *p;
    char *path = store_analysis_path(run_path);
    enum err e = path ? peers_open_alone(&p) : ERR_NO_MEMORY;
    if (e)
        goto path;
    e = store_create_all(&s, path, 1, analysis_table_list, analysis_table_count, p);
    if (e)
        goto peers;
    for (size_t i = 0; i < analysis_table_count && !e; i++)
        e = store_append_all(s, &analysis_table_list[i],
                             (const char *)tables + analysis_table_list[i].rows_offset);
    if (!e)
        e = store_attribute_all(s, "tool_version", TOOL_VERSION);
    if (!e)
        e = store_attribute_all(s, "run_id", run_id);
    if (e)
        store_abandon_all(s);
    else
        e = store_commit_all(s);
peers:
    peers_close(p);
path:
    free(path);
    return e;
}

enum err run_file_reduce(const char *path, const struct settings *settings)
{
    struct run_file f;
    struct analysis_tables tables = {0};
    struct strings *strings;
    enum err e = run_file_open(&f, path);
    if (e)
        return e;
    e = strings_open(&strings);
    if (e)
        goto file;
    struct reduce_source source = {.tables = &f.tables,
                                   .strings = f.strings,
                                   .read = read_rank,
                                   .release = release_rank,
                                   .context = &f};
    struct reduce_options options = {.step_patterns = settings_text(settings, SETTING_steps),
                                     .tool_version = TOOL_VERSION};
    e = reduce_run(&source, &options, &tables, strings);
    if (!e)
        e = name_sites(&f, &tables, strings);
    if (!e)
        e = store_strings(&tables, strings);
    if (!e)
        e = write_analysis(path, f.run_id, &tables);
    analysis_tables_free(&tables);
    strings_close(strings);
file:
    run_file_close(&f);
    return e;
}

int command_reduce(struct settings *settings, int argc, char **argv)
{
    static const struct option_flag none[] = {{NULL, 0, NULL}};
    int count;
    char **rest;
    enum err e = options_take(settings, none, argc, argv, &count, &rest);
    if (!e && count != 1) {
        log_error("one run file is needed; example: %s", command_find("reduce")->example);
        e = ERR_USAGE;
    }
    if (!e)
        e = run_file_reduce(argv[1], settings);
    if (!e)
        log_info("%s is reduced; next: scaleprof report %s", argv[1], argv[1]);
    return err_exit_code(e);
}
