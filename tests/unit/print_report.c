/* print_report NAME|SEED text|json [utf8] [ranks]: the report on a sample, for scripts; alone it
 * lists the names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/sample_analysis.h"

static int has(int argc, char **argv, const char *word)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct sample s;
    if (argc < 2) {
        for (int i = 0; sample_names[i] != NULL; i++)
            puts(sample_names[i]);
        return 0;
    }
    if (!sample_open_named(&s, argv[1]))
        sample_open_random(&s, (unsigned)atoi(argv[1]));
    struct report_options options = {.utf8 = has(argc, argv, "utf8"),
                                     .color = has(argc, argv, "color"),
                                     .all_ranks = has(argc, argv, "ranks")};
    enum err e = has(argc, argv, "json") ? report_json(&s.input, stdout)
                                         : report_text(&s.input, &options, stdout);
    sample_close(&s);
    return err_exit_code(e);
}
