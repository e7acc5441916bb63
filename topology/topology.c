#include "topology.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

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

/* Reads the binding without loading the topology, which takes long. */
enum err topology_cpuset(char **list, int *cores)
{
    hwloc_topology_t t;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set == NULL)
        return ERR_NO_MEMORY;
    if (hwloc_topology_init(&t) != 0) {
        hwloc_bitmap_free(set);
        return ERR_NO_MEMORY;
    }
    enum err e = hwloc_get_cpubind(t, set, HWLOC_CPUBIND_PROCESS) == 0 ? ERR_OK : ERR_IO;
    if (!e && hwloc_bitmap_list_asprintf(list, set) < 0)
        e = ERR_NO_MEMORY;
    if (!e)
        *cores = hwloc_bitmap_weight(set);
    hwloc_topology_destroy(t);
    hwloc_bitmap_free(set);
    return e;
}
