/* make_docs PAGE ...          rewrites the parts of the pages that are made from the .def tables
 * make_docs --check PAGE ...  says which pages are stale, and where; changes nothing
 *
 * Such a part stands between the lines "<!-- made: NAME -->" and "<!-- end -->". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "trace/tables.h"
#include "trace/vocabulary.h"

#define BEGIN "<!-- made: "
#define END   "<!-- end -->\n"

/* Text of a cell: a bar would end it, "<" or "*" could be taken for markup. */
static void put_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    for (; *text; text++) {
        if (strchr("|*<\\", *text) != NULL)
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc(' ', out);
}

/* Inside a table a bar is escaped even in code. */
static void put_code_cell(FILE *out, const char *text)
{
    if (*text == 0) {
        fputs("| ", out);
        return;
    }
    fputs("| `", out);
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
    fputs("` ", out);
}

static void put_unit(FILE *out, const char *unit)
{
    if (value_set_find(unit) != NULL)
        fprintf(out, "| [%s](#%s) ", unit, unit);
    else
        put_cell(out, unit);
}

static void put_tables(FILE *out, const struct table *list, size_t count)
{
    for (size_t t = 0; t < count; t++) {
        if (t == 0 || strcmp(list[t].path, list[t - 1].path) != 0)
            fprintf(out, "\n### %s\n", list[t].path);
        fprintf(out, "\n%s.\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n",
                list[t].meaning);
        for (size_t c = 0; c < list[t].column_count; c++) {
            const struct table_column *column = &list[t].columns[c];
            put_code_cell(out, column->name);
            put_cell(out, column_type_name(column->type));
            put_unit(out, column->unit);
            put_cell(out, column->meaning);
            fputs("|\n", out);
        }
    }
}

static void put_recording(FILE *out)
{
    put_tables(out, run_table_list, run_table_count);
}

static void put_results(FILE *out)
{
    put_tables(out, analysis_table_list, analysis_table_count);
}

static void put_values(FILE *out)
{
    for (size_t i = 0; i < value_set_count; i++) {
        const struct value_set *set = &value_set_list[i];
        fprintf(out, "\n### %s\n\n%s\n\n| number | name | meaning |\n| --- | --- | --- |\n",
                set->unit, set->form == VALUE_FLAGS ? "A sum of these." : "One of these.");
        for (size_t v = 0; v < set->count; v++) {
            fprintf(out, "| %u ", set->values[v].number);
            put_code_cell(out, set->values[v].name);
            put_cell(out, set->values[v].meaning);
            fputs("|\n", out);
        }
    }
}

static void put_fact(FILE *out, const char *table, const char *name, const char *meaning)
{
    put_code_cell(out, table);
    put_code_cell(out, name);
    put_cell(out, meaning);
    fputs("|\n", out);
}

static void put_facts(FILE *out)
{
    fputs("\n| table | key | value |\n| --- | --- | --- |\n", out);
#define RUN_FACT(name, meaning) put_fact(out, "/run", #name, meaning);
#define FINDING(name, meaning)  put_fact(out, "/analysis/findings", #name, meaning);
#include "trace/facts.def"
#undef RUN_FACT
#undef FINDING
}

/* The words of a choice are its values, the first of them its default. */
static void put_setting(FILE *out, const struct setting_info *setting)
{
    static const char *const types[] = {[SETTING_TEXT] = "text",
                                        [SETTING_BYTES] = "bytes: 64M, 2G",
                                        [SETTING_INTEGER] = "integer",
                                        [SETTING_BOOL] = "0 or 1, no or yes, off or on"};
    if (setting->type == SETTING_CHOICE) {
        fprintf(out, "| `%.*s` ", (int)strcspn(setting->value, "|"), setting->value);
        put_cell(out, setting->value);
    } else {
        put_code_cell(out, setting->value);
        put_cell(out, types[setting->type]);
    }
    put_cell(out, setting->meaning);
    fputs("|\n", out);
}

static void put_settings(FILE *out)
{
    char variable[SETTINGS_VARIABLE_BYTES];
    fputs("\n| variable | option of `run` | default | value | meaning |\n"
          "| --- | --- | --- | --- | --- |\n",
          out);
    for (int i = 0; i < SETTING_COUNT; i++) {
        put_code_cell(out, settings_variable((enum setting)i, variable));
        put_code_cell(out, setting_list[i].flag);
        put_setting(out, &setting_list[i]);
    }
}

static void put_exit_codes(FILE *out)
{
    fputs("\n| exit code | cause |\n| --- | --- |\n", out);
    for (int i = 0; i < ERR_COUNT; i++) {
        fprintf(out, "| %d ", err_exit_code((enum err)i));
        put_cell(out, err_text((enum err)i));
        fputs("|\n", out);
    }
}

static const struct {
    const char *name;
    void (*put)(FILE *out);
} parts[] = {{"recording", put_recording}, {"results", put_results},
             {"values", put_values},       {"facts", put_facts},
             {"settings", put_settings},   {"exit codes", put_exit_codes}};

static int put_part(FILE *out, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strlen(parts[i].name) != length || strncmp(parts[i].name, name, length) != 0)
            continue;
        parts[i].put(out);
        return 0;
    }
    fprintf(stderr, "no part is called \"%.*s\"\n", (int)length, name);
    return 1;
}

/* Copies the page with its made parts made anew; not 0 (said) when its marks are wrong. */
static int make_page(FILE *out, const char *page)
{
    for (;;) {
        const char *begin = strstr(page, BEGIN), *name = begin ? begin + strlen(BEGIN) : NULL;
        if (begin == NULL) {
            fputs(page, out);
            return 0;
        }
        const char *line_end = strchr(name, '\n'), *name_end = strstr(name, " -->\n");
        const char *end = strstr(name, END);
        if (line_end == NULL || name_end + strlen(" -->") != line_end || end == NULL) {
            fprintf(stderr, "a mark without an end: %.40s\n", begin);
            return 1;
        }
        fwrite(page, 1, (size_t)(line_end + 1 - page), out);
        if (put_part(out, name, (size_t)(name_end - name)) != 0)
            return 1;
        fprintf(out, "\n%s", END);
        page = end + strlen(END);
    }
}

static char *read_page(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL || getdelim(&text, &size, 0, file) < 0) {
        perror(path);
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static int write_page(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

static int compare_page(const char *path, const char *is, const char *should)
{
    size_t line = 1, at = 0;
    if (strcmp(is, should) == 0)
        return 0;
    for (; is[at] && is[at] == should[at]; at++)
        line += is[at] == '\n';
    fprintf(stderr, "%s:%zu: stale; build the target docs\n", path, line);
    return 1;
}

static int do_page(const char *path, int check)
{
    char *is = read_page(path), *should = NULL;
    size_t size;
    if (is == NULL)
        return 1;
    FILE *out = open_memstream(&should, &size);
    int fault = make_page(out, is);
    fclose(out);
    if (fault)
        fprintf(stderr, "%s: left as it is\n", path);
    else
        fault = check ? compare_page(path, is, should) : write_page(path, should);
    free(should);
    free(is);
    return fault;
}

int main(int argc, char **argv)
{
    int check = argc > 1 && strcmp(argv[1], "--check") == 0, faults = 0;
    for (int i = 1 + check; i < argc; i++)
        faults += do_page(argv[i], check);
    return faults != 0;
}
