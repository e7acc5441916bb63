#include "names.h"

#include "utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *find(const uint32_t *keys, const uint32_t *values, size_t count,
                        const struct strings *strings, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(strings_get(strings, keys[i]), key) == 0)
            return strings_get(strings, values[i]);
    return "";
}

const char *names_fact(const struct report_input *input, const char *key)
{
    const struct run_rows *rows = &input->run->run;
    return find(rows->key, rows->value, rows->count, input->run_strings, key);
}

const char *names_finding(const struct report_input *input, const char *key)
{
    const struct findings_rows *rows = &input->analysis->findings;
    return find(rows->key, rows->value, rows->count, input->analysis_strings, key);
}

int64_t names_fact_number(const struct report_input *input, const char *key)
{
    const char *text = names_fact(input, key);
    char *end;
    long long number = strtoll(text, &end, 10);
    return end == text || *end != 0 ? -1 : number;
}

const char *names_host(char out[NAMES_BYTES], const struct report_input *input, uint32_t node)
{
    const struct nodes_rows *nodes = &input->run->nodes;
    const char *name =
        node < nodes->count ? strings_get(input->run_strings, nodes->host[node]) : "";
    utf8_clean(out, NAMES_BYTES, *name != 0 ? name : "unknown host", NAMES_COLUMNS);
    return out;
}

const char *names_communicator(char out[NAMES_BYTES], const struct report_input *input,
                               uint32_t communicator)
{
    const struct comms_rows *comms = &input->run->comms;
    if (communicator >= comms->count)
        return strcpy(out, "unknown");
    const char *name = strings_get(input->run_strings, comms->name[communicator]);
    if (*name != 0)
        utf8_clean(out, NAMES_BYTES, name, NAMES_COLUMNS / 2);
    else
        sprintf(out, "communicator %" PRIu32, communicator);
    sprintf(out + strlen(out), " (%" PRId32 ")", comms->size[communicator]);
    return out;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

static const char *module_of(char out[NAMES_BYTES], const struct report_input *input, uint32_t site,
                             size_t columns)
{
    const struct sites_rows *sites = &input->run->sites;
    if (site >= sites->count)
        return strcpy(out, "");
    const char *module = strings_get(input->run_strings, sites->module[site]);
    utf8_clean(out, NAMES_BYTES, *module != 0 ? last_part(module) : "unknown", columns);
    return out;
}

static const char *module_and_offset(char out[NAMES_BYTES], const struct report_input *input,
                                     uint32_t site)
{
    module_of(out, input, site, NAMES_COLUMNS - 12);
    if (site < input->run->sites.count)
        sprintf(out + strlen(out), "+0x%" PRIx64, (uint64_t)input->run->sites.offset[site]);
    return out;
}

const char *names_site(char out[NAMES_BYTES], const struct report_input *input, uint32_t site)
{
    const struct site_names_rows *names = &input->analysis->site_names;
    const char *function = "", *file = "";
    char whole[1024];
    if (site < names->count) {
        function = strings_get(input->analysis_strings, names->function[site]);
        file = strings_get(input->analysis_strings, names->file[site]);
    }
    if (*file == 0 && *function == 0)
        return module_and_offset(out, input, site);
    if (*file == 0)
        snprintf(whole, sizeof whole, "%s", function);
    else if (*function == 0)
        snprintf(whole, sizeof whole, "%s:%" PRId32, last_part(file), names->line[site]);
    else
        snprintf(whole, sizeof whole, "%.400s:%" PRId32 " (%s)", last_part(file), names->line[site],
                 function);
    utf8_clean(out, NAMES_BYTES, whole, NAMES_COLUMNS);
    return out;
}

const char *names_source(char out[NAMES_BYTES], const struct report_input *input, uint32_t site)
{
    const struct site_names_rows *names = &input->analysis->site_names;
    const char *file =
        site < names->count ? strings_get(input->analysis_strings, names->file[site]) : "";
    if (*file == 0 || names->line[site] < 0)
        return module_of(out, input, site, NAMES_COLUMNS / 2);
    utf8_clean(out, NAMES_BYTES, last_part(file), NAMES_COLUMNS / 2);
    sprintf(out + strlen(out), ":%" PRId32, names->line[site]);
    return out;
}
