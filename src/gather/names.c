#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

/* Numbers are handed out one after another, some of them for definitions that were then lost: one
 * far beyond what the recording could hold is wrong. */
#define NUMBERS_PER_SLOT 16
#define NUMBERS_LEAST    65536

static enum err set_number(struct numbers *n, const struct recording *r, uint32_t number,
                           uint32_t value)
{
    if (number == 0 || number >= NUMBERS_LEAST + NUMBERS_PER_SLOT * r->slots)
        return ERR_OK;
    if (number >= n->count) {
        size_t wanted = (size_t)number * 2 + 64;
        uint32_t *larger = realloc(n->to, wanted * sizeof *larger);
        if (larger == NULL)
            return ERR_NO_MEMORY;
        memset(larger + n->count, 0xFF, (wanted - n->count) * sizeof *larger);
        n->to = larger;
        n->count = wanted;
    }
    n->to[number] = value;
    return ERR_OK;
}

typedef enum err visit_definition(void *context, const union slot *slot, uint32_t left);

/* Visits the definitions of one kind, whatever their lane. */
static enum err visit(const struct recording *r, unsigned kind, visit_definition *visitor,
                      void *context)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < r->definition_count && !e; i++)
        if (recording_kind(r->definitions[i].slot) == kind)
            e = visitor(context, r->definitions[i].slot, r->definitions[i].left);
    return e;
}

struct collector {
    const struct recording *r;
    struct dictionary *d;
    struct numbers strings;
    int rank;
};

static enum err collect_string(void *context, const union slot *slot, uint32_t left)
{
    struct collector *c = context;
    char text[1024];
    if (recording_text(slot, left, text) == 0)
        return ERR_OK;
    uint32_t number = strings_put_text(c->d->strings, text);
    return number == TABLE_NONE ? ERR_NO_MEMORY
                                : set_number(&c->strings, c->r, slot->string.number, number);
}

static enum err collect_site(void *context, const union slot *slot, uint32_t left)
{
    struct collector *c = context;
    (void)left;
    return dictionary_put_site(
        c->d,
        (struct dictionary_site){.offset = slot->site.offset,
                                 .module = names_find(&c->strings, slot->site.module, 0),
                                 .build_id = names_find(&c->strings, slot->site.build_id, 0)});
}

static enum err collect_communicator(void *context, const union slot *slot, uint32_t left)
{
    struct collector *c = context;
    (void)left;
    return dictionary_put_comm(
        c->d, (struct dictionary_comm){.key = slot->communicator.key,
                                       .parent = slot->communicator.parent,
                                       .size = slot->communicator.size,
                                       .member = slot->communicator.member,
                                       .rank = c->rank,
                                       .name = names_find(&c->strings, slot->communicator.name, 0),
                                       .source = slot->communicator.source});
}

void names_lane(const struct segment_lane *lane, char out[65])
{
    memcpy(out, lane->name, 64);
    out[64] = 0;
}

static enum err collect_lanes(const struct recording *r, struct dictionary *d)
{
    char name[65];
    for (uint32_t i = 0; i < r->lane_count; i++) {
        names_lane(&r->lanes[i], name);
        if (strings_put_text(d->strings, name) == TABLE_NONE)
            return ERR_NO_MEMORY;
    }
    return ERR_OK;
}

enum err names_collect(const struct recording *r, int rank, struct dictionary *d)
{
    struct collector c = {.r = r, .d = d, .rank = rank};
    enum err e = visit(r, SLOT_string, collect_string, &c);
    if (!e)
        e = visit(r, SLOT_site, collect_site, &c);
    if (!e)
        e = visit(r, SLOT_communicator, collect_communicator, &c);
    if (!e)
        e = collect_lanes(r, d);
    free(c.strings.to);
    return e;
}

struct finder {
    const struct recording *r;
    struct names *names;
    const struct dictionary *d;
};

static enum err find_string(void *context, const union slot *slot, uint32_t left)
{
    struct finder *f = context;
    char text[1024];
    if (recording_text(slot, left, text) == 0)
        return ERR_OK;
    return set_number(&f->names->strings, f->r, slot->string.number,
                      strings_find_text(f->d->strings, text));
}

static enum err find_site(void *context, const union slot *slot, uint32_t left)
{
    struct finder *f = context;
    struct names *n = f->names;
    struct dictionary_site site = {.offset = slot->site.offset,
                                   .module = names_find(&n->strings, slot->site.module, 0),
                                   .build_id = names_find(&n->strings, slot->site.build_id, 0)};
    (void)left;
    return set_number(&n->sites, f->r, slot->site.number, dictionary_find_site(f->d, site));
}

static enum err find_communicator(void *context, const union slot *slot, uint32_t left)
{
    struct finder *f = context;
    (void)left;
    return set_number(&f->names->communicators, f->r, slot->communicator.number,
                      dictionary_find_comm(f->d, slot->communicator.key));
}

static enum err keep_track(void *context, const union slot *slot, uint32_t left)
{
    struct finder *f = context;
    struct names *n = f->names;
    (void)left;
    if (names_find(&n->tracks, slot->track.number, TABLE_NONE) != TABLE_NONE)
        return ERR_OK;
    enum err e =
        list_make_room((void **)&n->track_list, n->track_count, &n->track_room, sizeof slot->track);
    if (e)
        return e;
    n->track_list[n->track_count] = slot->track;
    return set_number(&n->tracks, f->r, slot->track.number, (uint32_t)n->track_count++);
}

enum err names_open_tracks(struct names *out, const struct recording *r)
{
    struct names n = {0};
    struct finder f = {.r = r, .names = &n};
    enum err e = visit(r, SLOT_track, keep_track, &f);
    if (e)
        names_close(&n);
    else
        *out = n;
    return e;
}

enum err names_open(struct names *out, const struct recording *r, const struct dictionary *d)
{
    struct names n;
    enum err e = names_open_tracks(&n, r);
    if (e)
        return e;
    struct finder f = {.r = r, .names = &n, .d = d};
    e = visit(r, SLOT_string, find_string, &f);
    if (!e)
        e = visit(r, SLOT_site, find_site, &f);
    if (!e)
        e = visit(r, SLOT_communicator, find_communicator, &f);
    if (e)
        names_close(&n);
    else
        *out = n;
    return e;
}

void names_close(struct names *n)
{
    free(n->strings.to);
    free(n->sites.to);
    free(n->communicators.to);
    free(n->tracks.to);
    free(n->track_list);
    *n = (struct names){0};
}
