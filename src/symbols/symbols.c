#include "symbols.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULES_MAX 256

/* A module we have opened; `dwfl` is NULL when nothing can be said of it. */
struct module {
    char *path, *build_id;
    Dwfl *dwfl;
    Dwfl_Module *module;
};

struct symbols {
    struct module modules[MODULES_MAX];
    size_t count;
};

enum err symbols_open(struct symbols **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? ERR_OK : ERR_NO_MEMORY;
}

void symbols_close(struct symbols *s)
{
    for (size_t i = 0; s != NULL && i < s->count; i++) {
        if (s->modules[i].dwfl != NULL)
            dwfl_end(s->modules[i].dwfl);
        free(s->modules[i].path);
        free(s->modules[i].build_id);
    }
    free(s);
}

static int has_build_id(Dwfl_Module *module, const char *wanted)
{
    const unsigned char *bits;
    GElf_Addr address;
    char text[129];
    int length = dwfl_module_build_id(module, &bits, &address);
    if (length <= 0 || length > 64)
        return 0;
    for (int i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", bits[i]);
    return strcmp(text, wanted) == 0;
}

/* A file is reported at the address it is linked for: an offset from the load address is then an
 * address in it. */
static void open_module(struct module *m)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    m->dwfl = dwfl_begin(&callbacks);
    if (m->dwfl == NULL)
        return;
    m->module = dwfl_report_elf(m->dwfl, m->path, m->path, -1, 0, false);
    dwfl_report_end(m->dwfl, NULL, NULL);
    if (m->module == NULL || (m->build_id[0] && !has_build_id(m->module, m->build_id))) {
        dwfl_end(m->dwfl);
        m->dwfl = NULL;
        return;
    }
}

static struct module *find_module(struct symbols *s, const char *path, const char *build_id)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->modules[i].path, path) == 0 && strcmp(s->modules[i].build_id, build_id) == 0)
            return &s->modules[i];
    if (s->count == MODULES_MAX)
        return NULL;
    struct module *m = &s->modules[s->count];
    *m = (struct module){.path = strdup(path), .build_id = strdup(build_id)};
    if (m->path == NULL || m->build_id == NULL) {
        free(m->path);
        free(m->build_id);
        return NULL;
    }
    s->count++;
    open_module(m);
    return m;
}

/* The instruction that called lies before the one returned to. */
struct symbol symbols_find(struct symbols *s, const char *module, const char *build_id,
                           int64_t offset)
{
    struct symbol result = {.function = "", .file = "", .line = -1};
    struct module *m = module[0] ? find_module(s, module, build_id) : NULL;
    if (m == NULL || m->dwfl == NULL || offset <= 0)
        return result;
    Dwarf_Addr address = (Dwarf_Addr)offset - 1;
    const char *name = dwfl_module_addrname(m->module, address);
    Dwfl_Line *line = dwfl_module_getsrc(m->module, address);
    int number = -1;
    const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    result.function = name ? name : "";
    result.file = file ? file : "";
    result.line = file ? number : -1;
    return result;
}
