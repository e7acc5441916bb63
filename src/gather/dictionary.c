#include "dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

enum err dictionary_open(struct dictionary *d)
{
    *d = (struct dictionary){0};
    return strings_open(&d->strings);
}

void dictionary_close(struct dictionary *d)
{
    strings_close(d->strings);
    free(d->sites);
    free(d->comms);
    free(d->keys);
    *d = (struct dictionary){0};
}

enum err dictionary_put_site(struct dictionary *d, struct dictionary_site site)
{
    enum err e = list_make_room((void **)&d->sites, d->site_count, &d->site_room, sizeof site);
    if (!e)
        d->sites[d->site_count++] = site;
    return e;
}

enum err dictionary_put_comm(struct dictionary *d, struct dictionary_comm comm)
{
    enum err e = list_make_room((void **)&d->comms, d->comm_count, &d->comm_room, sizeof comm);
    if (!e)
        d->comms[d->comm_count++] = comm;
    return e;
}

static int compare_sites(const void *a, const void *b)
{
    const struct dictionary_site *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->build_id != y->build_id)
        return x->build_id < y->build_id ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Communicators of MPI first, large ones first, so that the one of all ranks is number 0. */
static int compare_keys(const struct dictionary_comm *x, const struct dictionary_comm *y)
{
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Of several definitions by one member the one with a name first. */
static int compare_comms(const void *a, const void *b)
{
    const struct dictionary_comm *x = a, *y = b;
    int keys = compare_keys(x, y);
    if (keys != 0)
        return keys;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->name > y->name ? -1 : x->name < y->name;
}

static void sort_sites(struct dictionary *d)
{
    size_t kept = 0;
    if (d->site_count == 0)
        return;
    qsort(d->sites, d->site_count, sizeof *d->sites, compare_sites);
    for (size_t i = 0; i < d->site_count; i++)
        if (kept == 0 || compare_sites(&d->sites[kept - 1], &d->sites[i]) != 0)
            d->sites[kept++] = d->sites[i];
    d->site_count = kept;
}

static void sort_comms(struct dictionary *d)
{
    size_t kept = 0;
    if (d->comm_count == 0)
        return;
    qsort(d->comms, d->comm_count, sizeof *d->comms, compare_comms);
    for (size_t i = 0; i < d->comm_count; i++) {
        const struct dictionary_comm *c = &d->comms[i], *last = kept ? &d->comms[kept - 1] : NULL;
        if (last == NULL || compare_keys(last, c) != 0 || last->member != c->member ||
            last->rank != c->rank)
            d->comms[kept++] = *c;
    }
    d->comm_count = kept;
}

static enum err gather_strings(struct strings *all, const struct strings *mine, struct peers *p)
{
    struct string_bytes_rows bytes = {0};
    struct string_ends_rows ends = {0};
    char *texts = NULL, *joined = NULL;
    size_t size = 0, joined_bytes = 0;
    enum err e = peers_agree_all(p, strings_store(mine, &bytes, &ends));
    if (e)
        goto rows;
    texts = malloc(bytes.count + ends.count + 1);
    e = peers_agree_all(p, texts ? ERR_OK : ERR_NO_MEMORY);
    if (e)
        goto rows;
    for (size_t i = 0; i < strings_count(mine); i++) {
        size_t length = strlen(strings_get(mine, (uint32_t)i));
        memcpy(texts + size, strings_get(mine, (uint32_t)i), length + 1);
        size += length + 1;
    }
    e = peers_gather_all(p, texts, size, (void **)&joined, &joined_bytes, NULL);
    for (size_t at = 0; !e && at < joined_bytes; at += strlen(joined + at) + 1)
        if (strings_put_text(all, joined + at) == TABLE_NONE)
            e = ERR_NO_MEMORY;
    e = peers_agree_all(p, e);
rows:
    free(joined);
    free(texts);
    rows_free(&bytes, table_string_bytes);
    rows_free(&ends, table_string_ends);
    return e;
}

/* The texts that sites and communicators name get their new numbers. */
static void renumber(struct dictionary *d, const struct strings *old, struct strings *all)
{
    for (size_t i = 0; i < d->site_count; i++) {
        d->sites[i].module = strings_put_text(all, strings_get(old, d->sites[i].module));
        d->sites[i].build_id = strings_put_text(all, strings_get(old, d->sites[i].build_id));
    }
    for (size_t i = 0; i < d->comm_count; i++)
        d->comms[i].name = strings_put_text(all, strings_get(old, d->comms[i].name));
}

static enum err sort_strings(struct strings *all)
{
    uint32_t *map = malloc(strings_count(all) * sizeof *map);
    enum err e = map ? strings_sort(all, map) : ERR_NO_MEMORY;
    free(map);
    return e;
}

enum err dictionary_join_all(struct dictionary *d, struct peers *p)
{
    struct strings *all = NULL;
    enum err e = peers_agree_all(p, strings_open(&all));
    if (!e)
        e = gather_strings(all, d->strings, p);
    if (!e)
        e = peers_agree_all(p, sort_strings(all));
    if (e) {
        strings_close(all);
        return e;
    }
    renumber(d, d->strings, all);
    strings_close(d->strings);
    d->strings = all;
    sort_sites(d);
    e = list_join_all((void **)&d->sites, &d->site_count, &d->site_room, sizeof *d->sites, p);
    if (!e)
        e = list_join_all((void **)&d->comms, &d->comm_count, &d->comm_room, sizeof *d->comms, p);
    sort_sites(d);
    sort_comms(d);
    return e;
}

uint32_t dictionary_find_site(const struct dictionary *d, struct dictionary_site site)
{
    const struct dictionary_site *found =
        d->site_count ? bsearch(&site, d->sites, d->site_count, sizeof site, compare_sites) : NULL;
    return found ? (uint32_t)(found - d->sites) : TABLE_NONE;
}

static enum err site_rows(const struct dictionary *d, struct sites_rows *out)
{
    enum err e = rows_append(out, table_sites, d->site_count, NULL);
    for (size_t i = 0; i < d->site_count && !e; i++) {
        out->module[i] = d->sites[i].module;
        out->build_id[i] = d->sites[i].build_id;
        out->offset[i] = d->sites[i].offset;
    }
    return e;
}

static enum err add_comm(struct comms_rows *out, const struct dictionary_comm *c)
{
    size_t at;
    enum err e = rows_append(out, table_comms, 1, &at);
    if (e)
        return e;
    out->key[at] = c->key;
    out->source[at] = c->source;
    out->parent[at] = TABLE_NONE;
    out->size[at] = c->size;
    out->name[at] = c->name;
    return ERR_OK;
}

static enum err add_member(struct comm_members_rows *out, const struct dictionary_comm *c,
                           size_t comm)
{
    size_t at;
    enum err e = rows_append(out, table_comm_members, 1, &at);
    if (e)
        return e;
    out->communicator[at] = (uint32_t)comm;
    out->comm_rank[at] = c->member;
    out->rank[at] = c->rank;
    return ERR_OK;
}

static int compare_dictionary_keys(const void *a, const void *b)
{
    const struct dictionary_key *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Of several rows with one key, which differ in source or size, the first. */
uint32_t dictionary_find_comm(const struct dictionary *d, uint64_t key)
{
    size_t low = 0, high = d->key_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->keys[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->key_count && d->keys[low].key == key ? d->keys[low].row : TABLE_NONE;
}

static enum err index_keys(struct dictionary *d, const struct comms_rows *comms)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < comms->count && !e; i++) {
        e = list_make_room((void **)&d->keys, d->key_count, &d->key_room, sizeof *d->keys);
        if (!e)
            d->keys[d->key_count++] =
                (struct dictionary_key){.key = comms->key[i], .row = (uint32_t)i};
    }
    if (!e && d->key_count > 0)
        qsort(d->keys, d->key_count, sizeof *d->keys, compare_dictionary_keys);
    return e;
}

static void find_parents(const struct dictionary *d, struct comms_rows *comms)
{
    size_t comm = 0;
    for (size_t i = 0; i < d->comm_count; i++) {
        comm += i > 0 && compare_keys(&d->comms[i - 1], &d->comms[i]) != 0;
        if (d->comms[i].parent != 0 && comms->parent[comm] == TABLE_NONE)
            comms->parent[comm] = dictionary_find_comm(d, d->comms[i].parent);
    }
}

enum err dictionary_rows(struct dictionary *d, struct sites_rows *sites, struct comms_rows *comms,
                         struct comm_members_rows *members)
{
    enum err e = site_rows(d, sites);
    const struct dictionary_comm *last = NULL;
    for (size_t i = 0; i < d->comm_count && !e; i++) {
        const struct dictionary_comm *c = &d->comms[i];
        if (last == NULL || compare_keys(last, c) != 0)
            e = add_comm(comms, c);
        else if (comms->name[comms->count - 1] == 0)
            comms->name[comms->count - 1] = c->name;
        if (!e)
            e = add_member(members, c, comms->count - 1);
        last = c;
    }
    if (!e)
        e = index_keys(d, comms);
    if (!e)
        find_parents(d, comms);
    return e;
}
