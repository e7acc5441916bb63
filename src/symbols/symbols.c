#include "symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Opens a plain ELF file; -1 for anything else. The path comes from a recording and may name a
 * device, a pipe, or an archive that libdw would unpack. */
static int open_elf(const char *path)
{
    struct stat facts;
    char magic[4];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && pread(fd, magic, 4, 0) == 4 &&
        memcmp(magic, "\177ELF", 4) == 0)
        return fd;
    close(fd);
    return -1;
}

/* A file is reported at the address it is linked for: an offset from the load address is then an
 * address in it. Separate debug files are looked for by build id on this host only: the standard
 * callback would ask servers on the network. */
static void open_module(struct module *m)
{
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = dwfl_build_id_find_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    int fd = open_elf(m->path);
    if (fd < 0)
        return;
    m->dwfl = dwfl_begin(&callbacks);
    if (m->dwfl == NULL)
        goto file;
    m->module = dwfl_report_elf(m->dwfl, m->path, m->path, fd, 0, false);
    dwfl_report_end(m->dwfl, NULL, NULL);
    if (m->module == NULL)
        goto file;
    if (m->build_id[0] == 0 || has_build_id(m->module, m->build_id))
        return;
    fd = -1; /* the module has taken it over */
file:
    if (fd >= 0)
        close(fd);
    if (m->dwfl != NULL)
        dwfl_end(m->dwfl);
    m->dwfl = NULL;
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

/* The compilation unit of the address. Not every compiler writes the index of addresses that libdw
 * looks into (clang does not): then each unit is asked. */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL)
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

/* The innermost function at the address, inlined ones too: the one whose source the line is in. */
static const char *function_in(Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL;
    const char *name = NULL;
    int count = unit != NULL ? dwarf_getscopes(unit, address, &scopes) : 0;
    for (int i = 0; i < count && name == NULL; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            name = dwarf_diename(&scopes[i]);
    }
    free(scopes);
    return name;
}

/* The symbol that covers the address; the nearest one before it may be another function. */
static const char *function_by_symbol(Dwfl_Module *module, Dwarf_Addr address)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    return name != NULL && offset < symbol.st_size ? name : NULL;
}

/* The instruction that called lies before the one returned to. */
struct symbol symbols_find(struct symbols *s, const char *path, const char *build_id,
                           int64_t offset)
{
    struct symbol result = {.function = "", .file = "", .line = -1};
    struct module *m = path[0] ? find_module(s, path, build_id) : NULL;
    if (m == NULL || m->dwfl == NULL || offset <= 0)
        return result;
    Dwarf_Addr address = (Dwarf_Addr)offset - 1, bias = 0;
    Dwarf_Die *unit = find_unit(m->module, address, &bias);
    const char *name = function_in(unit, address - bias);
    Dwarf_Line *line = unit != NULL ? dwarf_getsrc_die(unit, address - bias) : NULL;
    int number = -1;
    const char *file =
        line && dwarf_lineno(line, &number) == 0 ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (name == NULL)
        name = function_by_symbol(m->module, address);
    result.function = name ? name : "";
    result.file = file && number > 0 ? file : "";
    result.line = file && number > 0 ? number : -1;
    return result;
}
