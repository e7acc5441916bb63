#include "utf8.h"

#include <stdio.h>
#include <string.h>

uint32_t utf8_next(const char **text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)*text;
    if (*s == 0)
        return 0;
    ++*text;
    if (*s < 0x80)
        return *s;
    int bytes = *s >= 0xF0 ? 4 : *s >= 0xE0 ? 3 : 2;
    if (*s < 0xC2 || *s > 0xF4)
        return UTF8_INVALID;
    uint32_t code = *s & (0xFF >> (bytes + 1));
    for (int i = 1; i < bytes; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return UTF8_INVALID;
        code = code << 6 | (s[i] & 0x3F);
    }
    if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return UTF8_INVALID;
    *text += bytes - 1;
    return code;
}

static const struct {
    uint32_t first, last;
    int columns;
} ranges[] = {
    {0x0000, 0x001F, 0},    {0x007F, 0x00A0, 0}, {0x00AD, 0x00AD, 0},   {0x0300, 0x036F, 0},
    {0x0483, 0x0489, 0},    {0x0590, 0x08FF, 0}, /* written from right to left */
    {0x1100, 0x115F, 2},    {0x180B, 0x180E, 0}, {0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},
    {0x200B, 0x200F, 0},    {0x2028, 0x202E, 0}, {0x2060, 0x206F, 0},   {0x20D0, 0x20FF, 0},
    {0x2E80, 0x303E, 2},    {0x3041, 0xA4CF, 2}, {0xAC00, 0xD7A3, 2},   {0xD800, 0xF8FF, 0},
    {0xF900, 0xFAFF, 2},    {0xFB1D, 0xFDFF, 0}, {0xFE00, 0xFE0F, 0},   {0xFE20, 0xFE2F, 0},
    {0xFE30, 0xFE6F, 2},    {0xFE70, 0xFEFF, 0}, {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},
    {0xFFF0, 0xFFFB, 0},    {0xFFFE, 0xFFFF, 0}, {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
    {0xE0000, 0x10FFFF, 0},
};

int utf8_columns(uint32_t code)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return ranges[i].columns;
    return 1;
}

/* Writes how the code point that began at `bytes` is shown; returns its columns. */
static size_t show(char out[16], uint32_t code, const char *bytes, size_t length)
{
    int columns = code == UTF8_INVALID ? 0 : utf8_columns(code);
    if (columns > 0) {
        memcpy(out, bytes, length);
        out[length] = 0;
        return (size_t)columns;
    }
    const char *format = code == UTF8_INVALID || code < 0x80 ? "\\x%02X" : "\\u{%X}";
    return (size_t)snprintf(out, 16, format, code == UTF8_INVALID ? (unsigned char)*bytes : code);
}

static size_t total_columns(const char *name)
{
    char shown[16];
    size_t columns = 0;
    for (const char *at = name, *from = at; *at != 0; from = at) {
        uint32_t code = utf8_next(&at);
        columns += show(shown, code, from, (size_t)(at - from));
    }
    return columns;
}

size_t utf8_clean(char *out, size_t size, const char *name, size_t columns)
{
    size_t total = total_columns(name), place = 0, written = 0, used = 0;
    size_t head = total <= columns ? total : (columns - 1) / 2;
    size_t tail = total <= columns ? total : total - (columns - 1 - head);
    int cut = 0;
    for (const char *at = name, *from = at; *at != 0; from = at) {
        char shown[16];
        uint32_t code = utf8_next(&at);
        size_t wide = show(shown, code, from, (size_t)(at - from));
        int keep = place + wide <= head || place >= tail;
        if (!keep && !cut) {
            strcpy(shown, "…");
            written++;
        } else if (keep) {
            written += wide;
        }
        place += wide;
        if ((keep || !cut) && used + strlen(shown) < size) {
            memcpy(out + used, shown, strlen(shown));
            used += strlen(shown);
        }
        cut |= !keep;
    }
    out[used] = 0;
    return written;
}
