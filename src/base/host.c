#include "host.h"

#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

extern char **environ;

/* Reads the beginning of a small file as text; "" when it cannot be read. */
static void read_text(const char *path, char *out, size_t size)
{
    out[0] = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, out, size - 1);
    close(fd);
    out[n > 0 ? n : 0] = 0;
    out[strcspn(out, "\n")] = 0;
}

void host_boot_id(char out[40])
{
    read_text("/proc/sys/kernel/random/boot_id", out, 40);
}

void host_name(char out[64])
{
    if (gethostname(out, 64) != 0)
        out[0] = 0;
    out[63] = 0;
}

static uint64_t mix(uint64_t sum, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ ((const unsigned char *)data)[i]) * 0x100000001B3u;
    return sum;
}

uint64_t host_clock_domain(void)
{
    char boot_id[40];
    struct stat time_namespace;
    host_boot_id(boot_id);
    if (boot_id[0] == 0)
        return 0;
    uint64_t inode = stat("/proc/self/ns/time", &time_namespace) == 0 ? time_namespace.st_ino : 0;
    uint64_t source = (uint64_t)clock_in_use;
    uint64_t key = mix(0xCBF29CE484222325u, boot_id, strlen(boot_id));
    key = mix(key, &inode, sizeof inode);
    key = mix(key, &source, sizeof source);
    return key != 0 ? key : 1;
}

/* Field 22 of /proc/PID/stat; the second field may hold spaces and brackets, so count from the last
 * ')'. */
int64_t host_process_start(int pid)
{
    char path[48], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_text(path, line, sizeof line);
    char *at = strrchr(line, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoll(at + 1, NULL, 10) : -1;
}

int host_process_is_zombie(int pid)
{
    char path[48], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_text(path, line, sizeof line);
    const char *at = strrchr(line, ')');
    return at == NULL || at[1] == 0 || strchr("ZXx", at[2]) != NULL;
}

static int number_of(const char *variable)
{
    const char *text = getenv(variable);
    if (text == NULL || *text == 0)
        return -1;
    char *end;
    long value = strtol(text, &end, 10);
    return *end == 0 && value >= 0 && value < INT32_MAX ? (int)value : -1;
}

const char *host_launched_rank(int *rank, int *size)
{
    static const struct {
        const char *rank, *size;
    } launchers[] = {
        {"RANK", "WORLD_SIZE"},           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"PMIX_RANK", "PMIX_SIZE"},       {"PMI_RANK", "PMI_SIZE"},
        {"SLURM_PROCID", "SLURM_NTASKS"},
    };
    *rank = *size = -1;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        int number = number_of(launchers[i].rank);
        if (number < 0)
            continue;
        *rank = number;
        *size = number_of(launchers[i].size);
        if (*size < 0)
            *size = number_of("SLURM_NTASKS");
        if (*size <= number)
            *size = -1;
        return launchers[i].rank;
    }
    return NULL;
}

int host_mpi_processes(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (number_of(sizes[i]) > 0)
            return number_of(sizes[i]);
    int step = getenv("PMIX_NAMESPACE") != NULL ? number_of("SLURM_STEP_NUM_TASKS") : 1;
    return step > 0 ? step : 1;
}

int host_run_id(char *out, size_t size)
{
    const char *namespace = getenv("PMIX_NAMESPACE"), *job = getenv("SLURM_JOB_ID");
    const char *step = getenv("SLURM_STEP_ID");
    int launched = 1;
    if (namespace != NULL && *namespace)
        snprintf(out, size, "%s", namespace);
    else if (job != NULL && *job && step != NULL && *step)
        snprintf(out, size, "slurm%s.%s", job, step);
    else {
        snprintf(out, size, "pid%d.%lld", (int)getpid(), (long long)host_process_start(getpid()));
        launched = 0;
    }
    return launched;
}

const char *host_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder ? folder : NULL;
}

int host_looks_secret(const char *name, size_t length)
{
    static const char *const words[] = {"pass",       "secret", "token", "key",
                                        "credential", "auth",   "cookie"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t i = 0; i + strlen(words[w]) <= length; i++)
            if (strncasecmp(name + i, words[w], strlen(words[w])) == 0)
                return 1;
    return 0;
}

static int begins_with_one_of(const char *text, const char *const *beginnings)
{
    for (; *beginnings != NULL; beginnings++)
        if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
            return 1;
    return 0;
}

/* What a launcher tells its processes to find it again (addresses, keys of the transports) is
 * nobody's business. */
static int is_allowed(const char *variable)
{
    static const char *const wanted[] = {"SLURM_JOB_", "SLURM_N",   "SLURM_CPU",  "SLURM_TASKS",
                                         "SLURM_MPI",  "OMPI_MCA_", "NCCL_",      "UCX_",
                                         "CUDA_",      "OMP_",      "GOMP_",      "KMP_",
                                         "MKL_",       "HWLOC_",    "SCALEPROF_", NULL};
    static const char *const internal[] = {"OMPI_MCA_orte_", "OMPI_MCA_ess",    "OMPI_MCA_initial_",
                                           "OMPI_MCA_pmix",  "OMPI_MCA_shmem_", NULL};
    return begins_with_one_of(variable, wanted) && !begins_with_one_of(variable, internal);
}

void host_environment(char *out, size_t size)
{
    size_t at = 0;
    out[0] = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL && at < size;
         variable++) {
        size_t name = strcspn(*variable, "=");
        if (!is_allowed(*variable))
            continue;
        int secret = host_looks_secret(*variable, name);
        int n = snprintf(out + at, size - at, "%.*s=%s\n", (int)name, *variable,
                         secret ? "***" : *variable + name + ((*variable)[name] == '='));
        if (n < 0 || (size_t)n >= size - at) {
            out[at] = 0;
            return;
        }
        at += (size_t)n;
    }
}

int host_launcher_spans_hosts(int size)
{
    static const char *const local_sizes[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                              "MV2_COMM_WORLD_LOCAL_SIZE"};
    for (size_t i = 0; i < sizeof local_sizes / sizeof *local_sizes; i++) {
        int local = number_of(local_sizes[i]);
        if (local >= 0)
            return local < size;
    }
    return number_of("SLURM_STEP_NUM_NODES") > 1;
}

/* Command name and parent of a process; 0 when it is not to be seen. */
static int process_look(int pid, char name[16], int *parent)
{
    char path[48], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_text(path, line, sizeof line);
    const char *end = strrchr(line, ')');
    return end != NULL && sscanf(line, "%*d (%15[^)]", name) == 1 &&
           sscanf(end, ") %*c %d", parent) == 1;
}

int host_launcher_is_parent(void)
{
    static const char *const launchers[] = {"orted",      "mpirun",         "mpiexec",
                                            "orterun",    "prted",          "prterun",
                                            "slurmstepd", "hydra_pmi_prox", "pmi_proxy"};
    char name[16];
    int pid = getppid();
    if (number_of("OMPI_NUM_APP_CTX") > 1 || !process_look(pid, name, &pid))
        return 0;
    if (strcmp(name, "scaleprof") == 0 && !process_look(pid, name, &pid))
        return 0;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strncmp(name, launchers[i], strlen(launchers[i])) == 0)
            return 1;
    return 0;
}

int host_shows_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && *value != 0)
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return 0;
}
