#include "topology.h"

#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define CORES_MOST 8192

static enum err load(hwloc_topology_t *out)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0)
        return ERR_NO_MEMORY;
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(t) != 0) {
        log_warning("hwloc cannot describe this host");
        hwloc_topology_destroy(t);
        return ERR_IO;
    }
    *out = t;
    return ERR_OK;
}

enum err topology_export_xml(char **xml)
{
    hwloc_topology_t t;
    char *buffer = NULL;
    int length = 0;
    enum err e = load(&t);
    if (e)
        return e;
    if (hwloc_topology_export_xmlbuffer(t, &buffer, &length, 0) != 0)
        e = ERR_IO;
    else if ((*xml = strndup(buffer, (size_t)length)) == NULL)
        e = ERR_NO_MEMORY;
    if (buffer != NULL)
        hwloc_free_xmlbuffer(t, buffer);
    hwloc_topology_destroy(t);
    return e;
}

/* The kernel is asked, not hwloc: that would have to load the topology first, which takes long. */
enum err topology_cpuset(char **list)
{
    cpu_set_t *set = CPU_ALLOC(CORES_MOST);
    hwloc_bitmap_t bits = hwloc_bitmap_alloc();
    enum err e = set && bits ? ERR_OK : ERR_NO_MEMORY;
    if (!e && sched_getaffinity(0, CPU_ALLOC_SIZE(CORES_MOST), set) != 0)
        e = ERR_IO;
    for (unsigned core = 0; core < CORES_MOST && !e; core++)
        if (CPU_ISSET_S(core, CPU_ALLOC_SIZE(CORES_MOST), set) && hwloc_bitmap_set(bits, core) != 0)
            e = ERR_NO_MEMORY;
    if (!e && hwloc_bitmap_list_asprintf(list, bits) < 0)
        e = ERR_NO_MEMORY;
    CPU_FREE(set);
    hwloc_bitmap_free(bits);
    return e;
}
