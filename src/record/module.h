/* Which program or library an address lies in. */
#ifndef RECORD_MODULE_H
#define RECORD_MODULE_H

#include <stdint.h>

#define MODULE_BUILD_ID_BYTES 65

struct module {
    char path[1000];
    char build_id[MODULE_BUILD_ID_BYTES]; /* hex, "" none */
    int64_t offset;                       /* address minus load address */
};

/* 0 when no mapped module holds the address. */
int module_find(const void *address, struct module *out);

#endif
