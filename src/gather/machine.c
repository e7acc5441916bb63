#include "machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cores.h"

#define TOPOLOGY_BYTES (8 << 20)

const struct agent_facts *machine_find_agent(const struct sources *s, int rank)
{
    for (size_t i = 0; i < s->agent_count; i++)
        if (s->agents[i].rank == rank)
            return &s->agents[i];
    return s->agent_count == 1 && s->agents[0].rank < 0 ? &s->agents[0] : NULL;
}

int32_t machine_exit_code(const struct agent_facts *agent)
{
    int64_t signal = agent ? agent_number(agent, "signal", -1) : -1;
    if (signal > 0)
        return (int32_t)(128 + signal);
    return agent ? (int32_t)agent_number(agent, "exit_code", -1) : -1;
}

struct fact_writer {
    struct run_rows *out;
    struct strings *strings;
    enum err e;
};

static void put_fact(struct fact_writer *w, const char *key, const char *value)
{
    size_t at;
    if (!w->e)
        w->e = rows_append(w->out, table_run, 1, &at);
    if (w->e)
        return;
    w->out->key[at] = strings_put_text(w->strings, key);
    w->out->value[at] = strings_put_text(w->strings, value);
    if (w->out->key[at] == TABLE_NONE || w->out->value[at] == TABLE_NONE)
        w->e = ERR_NO_MEMORY;
}

static void put_number(struct fact_writer *w, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    put_fact(w, key, text);
}

static void put_agent_fact(struct fact_writer *w, const struct agent_facts *agent, const char *key,
                           const char *as)
{
    char *value = agent ? agent_fact(agent, key) : NULL;
    put_fact(w, as, value ? value : "");
    free(value);
}

static void put_settings(struct fact_writer *w, const struct settings *settings)
{
    char key[64], word[SETTINGS_WORD_BYTES];
    for (int i = 0; settings != NULL && i < SETTING_COUNT; i++) {
        snprintf(key, sizeof key, "setting.%s", setting_list[i].name);
        if (setting_list[i].type == SETTING_CHOICE)
            settings_choice(settings, (enum setting)i, word);
        put_fact(w, key,
                 setting_list[i].type == SETTING_CHOICE ? word
                                                        : settings_text(settings, (enum setting)i));
    }
}

/* The first start and the last end that any agent has seen. */
static void put_times(struct fact_writer *w, const struct sources *s)
{
    int64_t start_ns = -1, end_ns = -1;
    for (size_t i = 0; i < s->agent_count; i++) {
        int64_t start = agent_number(&s->agents[i], "start_utc_ns", -1);
        int64_t end = agent_number(&s->agents[i], "end_utc_ns", -1);
        start_ns = start >= 0 && (start_ns < 0 || start < start_ns) ? start : start_ns;
        end_ns = end > end_ns ? end : end_ns;
    }
    put_number(w, "start_utc_ns", start_ns);
    put_number(w, "end_utc_ns", end_ns);
}

/* The first code that is not 0; -1 when no agent has seen its command end. */
static int64_t exit_code_of_run(const struct sources *s)
{
    int64_t code = -1;
    for (size_t i = 0; i < s->agent_count; i++) {
        int32_t one = machine_exit_code(&s->agents[i]);
        if (one > 0)
            return one;
        code = one == 0 ? 0 : code;
    }
    return code;
}

enum err machine_run_rows(const struct sources *s, const struct gather_options *options,
                          int64_t epoch_utc_ns, struct strings *strings, struct run_rows *out)
{
    static const char *const keys[] = {"command", "directory", "launcher"};
    struct fact_writer w = {.out = out, .strings = strings};
    const struct agent_facts *agent = s->agent_count > 0 ? &s->agents[0] : NULL;
    put_fact(&w, "tool", "scaleprof");
    put_fact(&w, "tool_version", options->tool_version);
    put_fact(&w, "source", "recorded");
    put_number(&w, "epoch_utc_ns", epoch_utc_ns);
    put_fact(&w, "reference_clock", "the clock of the lowest rank's host");
    put_number(&w, "ranks", s->ranks);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put_agent_fact(&w, agent, keys[i], keys[i]);
    put_agent_fact(&w, agent, "job", "job_id");
    put_times(&w, s);
    put_number(&w, "exit_code", exit_code_of_run(s));
    put_number(&w, "processes", (int64_t)s->count);
    put_number(&w, "files_left_out", s->wrong);
    put_settings(&w, options->settings);
    return w.e;
}

uint32_t machine_find_node(const struct nodes_rows *nodes, const struct strings *strings,
                           const char *host, const char *boot_id)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (strcmp(strings_get(strings, nodes->host[i]), host) == 0 &&
            strcmp(strings_get(strings, nodes->boot_id[i]), boot_id) == 0)
            return (uint32_t)i;
    return TABLE_NONE;
}

static uint32_t put_agent_text(struct strings *strings, const struct agent_facts *agent,
                               const char *key)
{
    char *value = agent ? agent_fact(agent, key) : NULL;
    uint32_t number = strings_put_text(strings, value ? value : "");
    free(value);
    return number;
}

static uint32_t put_topology(const struct sources *s, const char *host, struct strings *strings)
{
    char ending[96];
    snprintf(ending, sizeof ending, "/%s.topology.xml", host);
    for (size_t i = 0; i < s->topology_count; i++) {
        size_t length = strlen(s->topologies[i]), n = strlen(ending);
        if (length < n || strcmp(s->topologies[i] + length - n, ending) != 0)
            continue;
        int fd = open(s->topologies[i], O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        char *text = calloc(TOPOLOGY_BYTES + 1, 1);
        ssize_t got = fd >= 0 && text ? read(fd, text, TOPOLOGY_BYTES) : -1;
        uint32_t number = got > 0 ? strings_put(strings, text, strlen(text)) : 0;
        free(text);
        if (fd >= 0)
            close(fd);
        return number;
    }
    return 0;
}

/* An agent of this host, for what is the same for all of them: the first that has ended, else the
 * first. */
static const struct agent_facts *agent_on(const struct sources *s, const char *host,
                                          const char *key)
{
    const struct agent_facts *found = NULL;
    for (size_t i = 0; i < s->agent_count; i++) {
        char *name = agent_fact(&s->agents[i], "host"), *value = agent_fact(&s->agents[i], key);
        if (name != NULL && strcmp(name, host) == 0 && (found == NULL || value != NULL) &&
            value != NULL)
            found = found ? found : &s->agents[i];
        free(name);
        free(value);
    }
    return found;
}

/* Each rank may be bound to cores of its own: the job has those of all of them. */
static int32_t cores_of(const struct sources *s, const char *host)
{
    struct cores set = {{0}};
    for (size_t i = 0; i < s->agent_count; i++) {
        char *name = agent_fact(&s->agents[i], "host");
        char *list = agent_fact(&s->agents[i], "cpuset");
        if (name != NULL && list != NULL && strcmp(name, host) == 0)
            cores_add(&set, list);
        free(name);
        free(list);
    }
    int count = cores_count(&set);
    return count > 0 ? count : -1;
}

static enum err add_node(const struct sources *s, const struct rank_survey *survey,
                         struct strings *strings, struct nodes_rows *out)
{
    size_t at;
    enum err e = rows_append(out, table_nodes, 1, &at);
    if (e)
        return e;
    const struct agent_facts *agent = agent_on(s, survey->host, "kernel");
    out->host[at] = strings_put_text(strings, survey->host);
    out->boot_id[at] = strings_put_text(strings, survey->boot_id);
    out->kernel[at] = put_agent_text(strings, agent, "kernel");
    out->cpu_model[at] = put_agent_text(strings, agent, "cpu_model");
    out->cores[at] = cores_of(s, survey->host);
    out->cores_total[at] = agent ? (int32_t)agent_number(agent, "cores_total", -1) : -1;
    out->memory_bytes[at] = agent ? agent_number(agent, "memory_bytes", -1) : -1;
    out->ranks[at] = 0;
    out->environment[at] = put_agent_text(strings, agent, "environment");
    out->before[at] = put_agent_text(strings, agent, "load_before");
    out->after[at] = put_agent_text(strings, agent_on(s, survey->host, "load_after"), "load_after");
    out->topology[at] = put_topology(s, survey->host, strings);
    return ERR_OK;
}

enum err machine_node_rows(const struct sources *s, const struct rank_survey *surveys, size_t ranks,
                           struct strings *strings, struct nodes_rows *out)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < ranks && !e; i++) {
        if (surveys[i].processes == 0)
            continue;
        uint32_t node = machine_find_node(out, strings, surveys[i].host, surveys[i].boot_id);
        if (node == TABLE_NONE) {
            e = add_node(s, &surveys[i], strings, out);
            node = (uint32_t)out->count - 1;
        }
        if (!e)
            out->ranks[node]++;
    }
    return e;
}
