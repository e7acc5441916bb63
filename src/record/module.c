#include "module.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

struct search {
    uintptr_t address;
    struct module *out;
    int found;
};

static int holds(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return 1;
    }
    return 0;
}

static void write_hex(const unsigned char *bytes, size_t count, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = 0;
}

/* Looks for the GNU build id among the notes of one segment. */
static void read_notes(const char *notes, size_t size, char *out)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)notes;
        size_t name = (note->n_namesz + 3) & ~3u, content = (note->n_descsz + 3) & ~3u;
        if (name > size || content > size || sizeof *note + name + content > size)
            return;
        const char *text = notes + sizeof *note;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(text, "GNU", 4) == 0 &&
            note->n_descsz < MODULE_BUILD_ID_BYTES / 2) {
            write_hex((const unsigned char *)text + name, note->n_descsz, out);
            return;
        }
        notes += sizeof *note + name + content;
        size -= sizeof *note + name + content;
    }
}

static void read_path(const struct dl_phdr_info *info, char *out, size_t size)
{
    if (info->dlpi_name != NULL && info->dlpi_name[0] != 0) {
        size_t length = strnlen(info->dlpi_name, size - 1);
        memcpy(out, info->dlpi_name, length);
        out[length] = 0;
        return;
    }
    ssize_t length = readlink("/proc/self/exe", out, size - 1);
    out[length > 0 ? length : 0] = 0;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    if (!holds(info, search->address))
        return 0;
    struct module *out = search->out;
    out->offset = (int64_t)(search->address - info->dlpi_addr);
    out->build_id[0] = 0;
    read_path(info, out->path, sizeof out->path);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE && out->build_id[0] == 0)
            read_notes((const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                       info->dlpi_phdr[i].p_memsz, out->build_id);
    search->found = 1;
    return 1;
}

int module_find(const void *address, struct module *out)
{
    struct search search = {.address = (uintptr_t)address, .out = out};
    dl_iterate_phdr(look_at, &search);
    return search.found;
}
