#include "collectives/mpi/calls.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIBRARIES_MAX 16
#define PATH_BYTES    1024

struct record_name call_names[CALL_COUNT] = {
#define CALL(name, lower, params, args) [CALL_##name] = {.text = "MPI_" #name},
#include "collectives/mpi/calls.def"
    [CALL_Pcontrol] = {.text = "MPI_Pcontrol"},
};

_Atomic(void *) call_reals[CALL_LAYERS][CALL_COUNT];

/* Libraries mapped into the process whose file is called libmpi*. */
struct mapped {
    size_t count;
    char paths[LIBRARIES_MAX][PATH_BYTES];
};

static bool is_mpi(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, "libmpi", 6) == 0;
}

static int note_library(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct mapped *m = context;
    if (!is_mpi(info->dlpi_name) || strlen(info->dlpi_name) >= PATH_BYTES)
        return 0;
    strcpy(m->paths[m->count++], info->dlpi_name);
    return m->count == LIBRARIES_MAX;
}

/* The symbol in an MPI library that is mapped but not in the global scope (its user was loaded
 * RTLD_LOCAL). The handle is kept: the library must outlive the pointer. */
static void *find_local(const char *name)
{
    struct mapped m = {0};
    dl_iterate_phdr(note_library, &m);
    for (size_t i = 0; i < m.count; i++) {
        void *library = dlopen(m.paths[i], RTLD_NOLOAD | RTLD_LAZY);
        void *found = library != NULL ? dlsym(library, name) : NULL;
        if (found != NULL)
            return found;
        if (library != NULL)
            dlclose(library);
    }
    return NULL;
}

void *call_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found != NULL ? found : find_local(name);
}

void *call_data(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return found != NULL ? found : find_local(name);
}

void *call_resolve(enum call_layer layer, enum call_id id)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", layer == CALL_PMPI ? "P" : "", call_names[id].text);
    void *found = call_function(name);
    atomic_store_explicit(&call_reals[layer][id], found, memory_order_release);
    return found;
}

/* Looked up once for each place in MPI that calls us: there are as many as wrapped calls. */
bool call_is_from_mpi(const void *address)
{
    static struct {
        _Atomic(const void *) address;
        _Atomic bool from_mpi;
    } known[1024];
    size_t at = (uintptr_t)address / 4 % (sizeof known / sizeof known[0]);
    if (atomic_load_explicit(&known[at].address, memory_order_acquire) == address)
        return atomic_load_explicit(&known[at].from_mpi, memory_order_relaxed);
    Dl_info info;
    bool from_mpi = dladdr(address, &info) != 0 && info.dli_fname != NULL && is_mpi(info.dli_fname);
    atomic_store_explicit(&known[at].address, NULL, memory_order_relaxed);
    atomic_store_explicit(&known[at].from_mpi, from_mpi, memory_order_release);
    atomic_store_explicit(&known[at].address, address, memory_order_release);
    return from_mpi;
}
