#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "topology/topology.h"

static void put_text(FILE *out, const char *key, const char *value)
{
    fprintf(out, "%s=", key);
    for (; *value; value++) {
        if (*value == '\n')
            fputs("\\n", out);
        else if (*value == '\\')
            fputs("\\\\", out);
        else
            fputc(*value, out);
    }
    fputc('\n', out);
}

static void put_number(FILE *out, const char *key, int64_t value)
{
    fprintf(out, "%s=%lld\n", key, (long long)value);
}

/* Makes a file of OUT.parts whole or not at all. */
static FILE *begin_file(const struct folders *f, const char *name, char temporary[PATH_MAX])
{
    if (snprintf(temporary, PATH_MAX, "%s/.%s.%d", f->parts, name, (int)getpid()) >= PATH_MAX)
        return NULL;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? NULL : fdopen(fd, "w");
}

static enum err end_file(FILE *out, const struct folders *f, const char *name,
                         const char *temporary)
{
    char path[PATH_MAX];
    int failed = ferror(out);
    if (fclose(out) != 0 || failed ||
        snprintf(path, sizeof path, "%s/%s", f->parts, name) >= (int)sizeof path ||
        rename(temporary, path) != 0) {
        log_error("%s/%s cannot be written: %s", f->parts, name, strerror(errno));
        unlink(temporary);
        return err_from_errno(errno);
    }
    return ERR_OK;
}

/* First line of a file that begins with `key`, after its colon; "" when there is none. */
static void find_line(const char *path, const char *key, char *out, size_t size)
{
    char line[512];
    FILE *file = fopen(path, "re");
    out[0] = 0;
    while (file != NULL && out[0] == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0 && strchr(line, ':') != NULL)
            snprintf(out, size, "%s", strchr(line, ':') + 2);
    out[strcspn(out, "\n")] = 0;
    if (file != NULL)
        fclose(file);
}

static void put_load(FILE *out, const char *key)
{
    double load[3];
    char text[64] = "";
    if (getloadavg(load, 3) == 3)
        snprintf(text, sizeof text, "load=%.2f %.2f %.2f", load[0], load[1], load[2]);
    put_text(out, key, text);
}

static void put_machine(FILE *out)
{
    struct utsname name;
    char cpu[256], kernel[256], environment[32768], *cpuset = NULL;
    find_line("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    if (uname(&name) == 0) {
        snprintf(kernel, sizeof kernel, "%.60s %.120s %.60s", name.sysname, name.release,
                 name.machine);
        put_text(out, "kernel", kernel);
    }
    put_text(out, "cpu_model", cpu);
    put_number(out, "cores_total", sysconf(_SC_NPROCESSORS_ONLN));
    put_number(out, "memory_bytes", (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    if (topology_cpuset(&cpuset) == ERR_OK)
        put_text(out, "cpuset", cpuset);
    free(cpuset);
    host_environment(environment, sizeof environment);
    put_text(out, "environment", environment);
}

/* Arguments one after another with blanks; the values of those that look secret are masked, in the
 * forms
 * --token=x and --token x. */
static void put_command(FILE *out, char *const *command)
{
    char line[32768];
    size_t at = 0;
    int mask = 0;
    line[0] = 0;
    for (size_t i = 0; command[i] != NULL && at < sizeof line; i++) {
        const char *text = command[i];
        size_t name = strcspn(text, "=");
        int secret = text[0] == '-' && host_looks_secret(text, name);
        if (mask)
            text = "***";
        at += (size_t)(secret && text[name] == '=' && !mask
                           ? snprintf(line + at, sizeof line - at, "%s%.*s=***", i ? " " : "",
                                      (int)name, text)
                           : snprintf(line + at, sizeof line - at, "%s%s", i ? " " : "", text));
        mask = !mask && secret && text[name] != '=';
    }
    put_text(out, "command", line);
}

static void put_launch(FILE *out, const struct folders *f)
{
    int rank, size;
    char host[64], boot_id[40], *directory = getcwd(NULL, 0);
    const char *variable = host_launched_rank(&rank, &size);
    host_name(host);
    host_boot_id(boot_id);
    put_text(out, "host", host);
    put_text(out, "boot_id", boot_id);
    put_text(out, "run_folder", f->run);
    put_number(out, "rank", rank);
    put_number(out, "size", size);
    put_text(out, "launcher", variable ? variable : "none");
    put_text(out, "job", f->id);
    put_text(out, "directory", directory ? directory : "");
    free(directory);
}

enum err facts_write_agent(const struct folders *f, char *const *command, int64_t start_utc_ns,
                           const struct ending *ending)
{
    char host[64], name[128], temporary[PATH_MAX];
    host_name(host);
    snprintf(name, sizeof name, "%s.%d.agent", host, (int)getpid());
    FILE *out = begin_file(f, name, temporary);
    if (out == NULL) {
        log_error("%s/%s cannot be written: %s", f->parts, name, strerror(errno));
        return err_from_errno(errno);
    }
    put_launch(out, f);
    put_command(out, command);
    put_machine(out);
    put_number(out, "start_utc_ns", start_utc_ns);
    put_load(out, ending ? "load_after" : "load_before");
    if (ending != NULL) {
        put_number(out, "end_utc_ns", clock_utc_ns());
        put_number(out, "pid", ending->pid);
        put_number(out, "pid_start", ending->pid_start);
        put_number(out, "exit_code", ending->exit_code);
        put_number(out, "signal", ending->signal);
    }
    return end_file(out, f, name, temporary);
}

void facts_write_topology(const struct folders *f)
{
    char host[64], name[96], path[PATH_MAX], temporary[PATH_MAX], *xml = NULL;
    host_name(host);
    snprintf(name, sizeof name, "%s.topology.xml", host);
    if (snprintf(path, sizeof path, "%s/%s", f->parts, name) >= (int)sizeof path ||
        access(path, F_OK) == 0 || topology_export_xml(&xml) != ERR_OK)
        return;
    FILE *out = begin_file(f, name, temporary);
    if (out != NULL) {
        fputs(xml, out);
        end_file(out, f, name, temporary);
    }
    free(xml);
}

enum err facts_write_marker(const struct folders *f, const char *name)
{
    char temporary[PATH_MAX];
    FILE *out = begin_file(f, name, temporary);
    return out == NULL ? err_from_errno(errno) : end_file(out, f, name, temporary);
}
