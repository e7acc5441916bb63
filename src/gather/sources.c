#include "sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "recording.h"

#define FACTS_BYTES (1u << 20)
#define RANKS_MAX   (1 << 22) /* a header that claims more is wrong */

char *agent_fact(const struct agent_facts *agent, const char *key)
{
    size_t length = strlen(key);
    const char *end = agent->text + agent->bytes;
    for (const char *line = agent->text; line < end; line += strlen(line) + 1) {
        if (strncmp(line, key, length) != 0 || line[length] != '=')
            continue;
        char *value = strdup(line + length + 1), *to = value;
        for (const char *from = value; value != NULL && *from; from++) {
            if (from[0] == '\\' && (from[1] == 'n' || from[1] == '\\'))
                *to++ = *++from == 'n' ? '\n' : '\\';
            else
                *to++ = *from;
        }
        if (to != NULL)
            *to = 0;
        return value;
    }
    return NULL;
}

int64_t agent_number(const struct agent_facts *agent, const char *key, int64_t otherwise)
{
    char *text = agent_fact(agent, key), *end;
    if (text == NULL)
        return otherwise;
    long long value = strtoll(text, &end, 10);
    int good = *text != 0 && *end == 0;
    free(text);
    return good ? value : otherwise;
}

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), n = strlen(ending);
    return length > n && strcmp(text + length - n, ending) == 0;
}

static enum err add_agent(struct sources *s, const char *path)
{
    struct agent_facts *larger = realloc(s->agents, (s->agent_count + 1) * sizeof *larger);
    if (larger == NULL)
        return ERR_NO_MEMORY;
    s->agents = larger;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char *text = malloc(FACTS_BYTES + 1);
    ssize_t n = fd >= 0 && text != NULL ? read(fd, text, FACTS_BYTES) : -1;
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        free(text);
        return text ? ERR_OK : ERR_NO_MEMORY;
    }
    text[n] = 0;
    for (ssize_t i = 0; i < n; i++)
        if (text[i] == '\n')
            text[i] = 0;
    struct agent_facts *agent = &s->agents[s->agent_count++];
    *agent = (struct agent_facts){.text = text, .bytes = (size_t)n};
    agent->rank = (int)agent_number(agent, "rank", -1);
    return ERR_OK;
}

static enum err add_path(char ***list, size_t *count, const char *path)
{
    char **larger = realloc(*list, (*count + 1) * sizeof *larger), *copy = strdup(path);
    if (larger != NULL)
        *list = larger;
    if (larger == NULL || copy == NULL) {
        free(copy);
        return ERR_NO_MEMORY;
    }
    larger[(*count)++] = copy;
    return ERR_OK;
}

static struct source *find_source(struct sources *s, const struct segment_header *h)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].pid == h->pid && s->list[i].start == h->process_start &&
            strcmp(s->list[i].host, h->host) == 0)
            return &s->list[i];
    return NULL;
}

static enum err add_source(struct sources *s, const char *path, int is_part)
{
    struct segment_header h;
    if (recording_read_header(path, &h) != ERR_OK) {
        log_warning("%s is not a segment of this version: left out", path);
        s->wrong++;
        return ERR_OK;
    }
    if (h.rank < -1 || h.rank >= RANKS_MAX || h.size > RANKS_MAX)
        h.rank = h.size = -1;
    struct source *source = find_source(s, &h);
    if (source == NULL) {
        struct source *larger = realloc(s->list, (s->count + 1) * sizeof *larger);
        if (larger == NULL)
            return ERR_NO_MEMORY;
        s->list = larger;
        source = &s->list[s->count++];
        *source = (struct source){.pid = h.pid, .start = h.process_start, .rank = h.rank};
        memcpy(source->host, h.host, sizeof source->host);
    }
    char **place = is_part ? &source->part : &source->segment;
    free(*place);
    *place = strdup(path);
    if (h.rank >= 0)
        source->rank = h.rank;
    if (h.size > s->ranks)
        s->ranks = h.size;
    return *place ? ERR_OK : ERR_NO_MEMORY;
}

static enum err add_file(struct sources *s, const char *path)
{
    if (ends_with(path, ".part"))
        return add_source(s, path, 1);
    if (ends_with(path, ".segment"))
        return add_source(s, path, 0);
    if (ends_with(path, ".agent"))
        return add_agent(s, path);
    if (ends_with(path, ".topology.xml"))
        return add_path(&s->topologies, &s->topology_count, path);
    return ERR_OK;
}

static enum err look_through(struct sources *s, const char *folder)
{
    char path[PATH_MAX];
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        int number = errno;
        log_error("%s cannot be read: %s", folder, strerror(number));
        return err_from_errno(number);
    }
    enum err e = ERR_OK;
    for (struct dirent *entry; !e && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            e = add_file(s, path);
    closedir(dir);
    return e;
}

/* Segments that were never drained to the end still lie in the agent's run folder, if this is its
 * host. */
static enum err look_through_run_folders(struct sources *s)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < s->agent_count && !e; i++) {
        struct stat status;
        char *folder = agent_fact(&s->agents[i], "run_folder");
        if (folder != NULL && lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
            status.st_uid == geteuid())
            e = look_through(s, folder);
        free(folder);
    }
    return e;
}

static int compare_sources(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    int host = strcmp(x->host, y->host);
    if (host != 0)
        return host;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int compare_agents(const void *a, const void *b)
{
    const struct agent_facts *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A process whose rank nobody knows belongs to the one rank there is, or becomes a rank of its own
 * after the others. */
static void number_unknown(struct sources *s)
{
    int highest = -1;
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].rank > highest)
            highest = s->list[i].rank;
    int single = s->agent_count <= 1 && highest <= 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].rank < 0)
            s->list[i].rank = single ? 0 : ++highest;
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].rank + 1 > s->ranks)
            s->ranks = s->list[i].rank + 1;
    for (size_t i = 0; i < s->agent_count && s->count > 0; i++) {
        int64_t size = agent_number(&s->agents[i], "size", 0);
        if (size > s->ranks && size <= RANKS_MAX)
            s->ranks = (int)size;
    }
}

enum err sources_open(struct sources *out, const char *const *folders, size_t count)
{
    struct sources s = {0};
    enum err e = ERR_OK;
    for (size_t i = 0; i < count && !e; i++)
        e = look_through(&s, folders[i]);
    if (!e)
        e = look_through_run_folders(&s);
    if (e) {
        sources_close(&s);
        return e;
    }
    if (s.count > 0)
        qsort(s.list, s.count, sizeof *s.list, compare_sources);
    number_unknown(&s);
    if (s.count > 0)
        qsort(s.list, s.count, sizeof *s.list, compare_sources);
    if (s.agent_count > 0)
        qsort(s.agents, s.agent_count, sizeof *s.agents, compare_agents);
    if (s.topology_count > 0)
        qsort(s.topologies, s.topology_count, sizeof *s.topologies, compare_paths);
    *out = s;
    return ERR_OK;
}

void sources_close(struct sources *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->list[i].part);
        free(s->list[i].segment);
    }
    for (size_t i = 0; i < s->agent_count; i++)
        free(s->agents[i].text);
    for (size_t i = 0; i < s->topology_count; i++)
        free(s->topologies[i]);
    free(s->list);
    free(s->agents);
    free(s->topologies);
    *s = (struct sources){0};
}
