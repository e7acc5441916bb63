#include "json_writer.h"
#include "json_summary.h"
#include "output.h"
#include "summary.h"

#include <string.h>

#define JSON_MAJOR 1
#define JSON_MINOR 0

/* Columns whose text is not for a report: a host's whole topology. */
static int left_out(const struct table *table, const struct table_column *column)
{
    return table == table_nodes && strcmp(column->name, "topology") == 0;
}

/* The texts that a column of numbers stands for; NULL when it holds numbers. */
static const struct strings *strings_of(const struct report_input *input,
                                        const struct table_column *column)
{
    if (column->type != COLUMN_U32)
        return NULL;
    if (strcmp(column->unit, "string of /analysis/strings") == 0)
        return input->analysis_strings;
    if (strcmp(column->unit, "string") != 0)
        return NULL;
    return input->run_strings;
}

static void put_number(struct json_writer *w, enum column_type type, const void *values, size_t row)
{
    switch (type) {
    case COLUMN_I64:
        json_integer(w, ((const int64_t *)values)[row]);
        break;
    case COLUMN_I32:
        json_integer(w, ((const int32_t *)values)[row]);
        break;
    case COLUMN_U64:
        json_unsigned(w, ((const uint64_t *)values)[row]);
        break;
    case COLUMN_U32:
        json_unsigned(w, ((const uint32_t *)values)[row]);
        break;
    case COLUMN_U16:
        json_unsigned(w, ((const uint16_t *)values)[row]);
        break;
    case COLUMN_U8:
        json_unsigned(w, ((const uint8_t *)values)[row]);
        break;
    case COLUMN_F64:
        json_double(w, ((const double *)values)[row]);
        break;
    }
}

static void put_column(struct json_writer *w, const struct report_input *input, const void *rows,
                       size_t count, const struct table_column *column)
{
    const struct strings *strings = strings_of(input, column);
    const void *values = rows_column(rows, column);
    json_name(w, column->name);
    json_array(w);
    for (size_t i = 0; i < count; i++) {
        if (strings != NULL)
            json_text(w, strings_get(strings, ((const uint32_t *)values)[i]));
        else
            put_number(w, column->type, values, i);
    }
    json_array_end(w);
}

static int is_strings(const struct table *t)
{
    return t == table_string_bytes || t == table_string_ends || t == table_analysis_string_bytes ||
           t == table_analysis_string_ends;
}

/* The tables that grow with events are not given to the report. */
static int is_rows_of_events(const struct table *t)
{
    return t == table_events || t == table_collectives || t == table_messages ||
           t == table_counters || t == table_syncs;
}

static void put_tables(struct json_writer *w, const char *name, const struct report_input *input,
                       const void *tables, const struct table *list, size_t count)
{
    json_name(w, name);
    json_object(w);
    for (size_t i = 0; i < count; i++) {
        const struct table *t = &list[i];
        const void *rows = (const char *)tables + t->rows_offset;
        size_t row_count = *(const size_t *)rows;
        if (is_strings(t) || is_rows_of_events(t))
            continue;
        json_name(w, t->name);
        json_object(w);
        for (size_t c = 0; c < t->column_count; c++)
            if (!left_out(t, &t->columns[c]))
                put_column(w, input, rows, row_count, &t->columns[c]);
        json_object_end(w);
    }
    json_object_end(w);
}

static void put_version(struct json_writer *w)
{
    json_name(w, "schema");
    json_text(w, "scaleprof-report");
    json_name(w, "version");
    json_object(w);
    json_name(w, "major");
    json_integer(w, JSON_MAJOR);
    json_name(w, "minor");
    json_integer(w, JSON_MINOR);
    json_object_end(w);
}

enum err report_json(const struct report_input *input, FILE *out)
{
    struct report_summary summary;
    struct json_writer w;
    enum err e = summary_make(&summary, input);
    if (e)
        return e;
    json_begin(&w, out);
    json_object(&w);
    put_version(&w);
    json_name(&w, "run_file");
    json_text(&w, input->path);
    json_summary(&w, &summary, input);
    put_tables(&w, "run", input, input->run, run_table_list, run_table_count);
    put_tables(&w, "analysis", input, input->analysis, analysis_table_list, analysis_table_count);
    json_object_end(&w);
    json_end(&w);
    summary_free(&summary);
    return output_flush(out);
}
