/* What a host is made of and where a process sits on it. */
#ifndef TOPOLOGY_TOPOLOGY_H
#define TOPOLOGY_TOPOLOGY_H

#include <stddef.h>

#include "base/err.h"

/* The host's topology as hwloc XML (malloc'd). */
enum err topology_export_xml(char **xml);

/* Cores this process may use as a list ("0-3,8"), malloc'd, and their number. */
enum err topology_cpuset(char **list);

#endif
