#include "spread.h"

#include <stdlib.h>
#include <string.h>

/* Before the values of a fragment, column after column. */
struct packet {
    uint64_t table;
    int64_t first;
    uint64_t count;
};

static size_t row_bytes(const struct table *t)
{
    size_t bytes = 0;
    for (size_t i = 0; i < t->column_count; i++)
        bytes += column_type_bytes(t->columns[i].type);
    return bytes;
}

static size_t packet_bytes(const struct blocks *b, const struct fragment *f)
{
    return sizeof(struct packet) + rows_struct_count(f->rows) * row_bytes(b->table);
}

static size_t owner_of(const struct blocks *b, const struct fragment *f, const struct peers *p)
{
    return (size_t)(f->first / (int64_t)b->block_rows) % (size_t)peers_size(p);
}

static char *put(char *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
    return to + bytes;
}

static char *pack_fragment(char *to, uint64_t table, const struct blocks *b,
                           const struct fragment *f)
{
    const struct table *t = b->table;
    size_t count = rows_struct_count(f->rows);
    struct packet head = {table, f->first, count};
    to = put(to, &head, sizeof head);
    for (size_t i = 0; i < t->column_count; i++)
        to = put(to, rows_column(f->rows, &t->columns[i]),
                 count * column_type_bytes(t->columns[i].type));
    return to;
}

/* All fragments, those for process 0 first. bytes[i] is what process i gets. */
static enum err pack(const struct blocks *tables, size_t count, struct peers *p, char **out,
                     size_t *bytes)
{
    size_t size = (size_t)peers_size(p), total = 0;
    memset(bytes, 0, size * sizeof *bytes);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < tables[i].count; k++)
            bytes[owner_of(&tables[i], &tables[i].fragments[k], p)] +=
                packet_bytes(&tables[i], &tables[i].fragments[k]);
    for (size_t i = 0; i < size; i++)
        total += bytes[i];
    char *packed = malloc(total + 1), **to = malloc(size * sizeof *to), *at = packed;
    if (packed == NULL || to == NULL) {
        free(packed);
        free(to);
        return ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < size; at += bytes[i++])
        to[i] = at;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < tables[i].count; k++) {
            const struct fragment *f = &tables[i].fragments[k];
            char **place = &to[owner_of(&tables[i], f, p)];
            *place = pack_fragment(*place, i, &tables[i], f);
        }
    free(to);
    *out = packed;
    return ERR_OK;
}

static enum err unpack(struct blocks *tables, const char *from, size_t bytes)
{
    const char *end = from + bytes;
    while (from < end) {
        struct packet head;
        void *rows;
        memcpy(&head, from, sizeof head);
        from += sizeof head;
        const struct table *t = tables[head.table].table;
        enum err e = blocks_add(&tables[head.table], head.first, head.count, &rows);
        if (e)
            return e;
        for (size_t i = 0; i < t->column_count; i++) {
            size_t length = head.count * column_type_bytes(t->columns[i].type);
            put(rows_column(rows, &t->columns[i]), from, length);
            from += length;
        }
    }
    return ERR_OK;
}

enum err spread_all(struct blocks *tables, size_t count, struct peers *p)
{
    size_t size = (size_t)peers_size(p), total = 0;
    size_t *bytes = calloc(2 * size, sizeof *bytes);
    char *packed = NULL;
    void *received = NULL;
    if (size == 1) {
        free(bytes);
        return ERR_OK;
    }
    enum err e = bytes ? pack(tables, count, p, &packed, bytes) : ERR_NO_MEMORY;
    e = peers_agree_all(p, e);
    if (!e)
        e = peers_exchange_all(p, packed, bytes, &received, bytes + size);
    free(packed);
    for (size_t i = 0; i < size && !e; i++)
        total += bytes[size + i];
    for (size_t i = 0; i < count && !e; i++)
        blocks_clear(&tables[i]);
    if (!e)
        e = unpack(tables, received, total);
    free(received);
    free(bytes);
    return peers_agree_all(p, e);
}
