#include "names.h"

#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX (1u << 24) /* a definition with a higher number is wrong */

static enum err set_number(struct numbers *n, uint32_t number, uint32_t value)
{
    if (number == 0 || number >= NUMBERS_MAX)
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

typedef enum err visit_slot(void *context, const union slot *slot, uint32_t left);

/* Visits every definition of the process, whatever its lane. */
static enum err visit_all(const struct recording *r, visit_slot *visit, void *context)
{
    enum err e = ERR_OK;
    for (size_t c = 0; c < r->chunk_count; c++) {
        const struct recording_chunk *chunk = &r->chunks[c];
        for (uint32_t i = 0; i < chunk->count && !e;
             i += recording_slots(&chunk->slots[i], chunk->count - i))
            if (chunk->slots[i].kind >= SLOT_string && chunk->slots[i].kind <= SLOT_track)
                e = visit(context, &chunk->slots[i], chunk->count - i);
    }
    return e;
}

struct collector {
    struct dictionary *d;
    struct numbers strings;
    int rank;
};

static enum err collect_string(void *context, const union slot *slot, uint32_t left)
{
    struct collector *c = context;
    char text[1024];
    if (slot->kind != SLOT_string || recording_text(slot, left, text) == 0)
        return ERR_OK;
    uint32_t number = strings_put_text(c->d->strings, text);
    return number == TABLE_NONE ? ERR_NO_MEMORY
                                : set_number(&c->strings, slot->string.number, number);
}

static enum err collect_other(void *context, const union slot *slot, uint32_t left)
{
    struct collector *c = context;
    (void)left;
    if (slot->kind == SLOT_site)
        return dictionary_put_site(
            c->d,
            (struct dictionary_site){.offset = slot->site.offset,
                                     .module = names_find(&c->strings, slot->site.module, 0),
                                     .build_id = names_find(&c->strings, slot->site.build_id, 0)});
    if (slot->kind == SLOT_communicator)
        return dictionary_put_comm(
            c->d,
            (struct dictionary_comm){.key = slot->communicator.key,
                                     .parent = slot->communicator.parent,
                                     .size = slot->communicator.size,
                                     .member = slot->communicator.member,
                                     .rank = c->rank,
                                     .name = names_find(&c->strings, slot->communicator.name, 0),
                                     .source = slot->communicator.source});
    return ERR_OK;
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
    struct collector c = {.d = d, .rank = rank};
    enum err e = visit_all(r, collect_string, &c);
    if (!e)
        e = visit_all(r, collect_other, &c);
    if (!e)
        e = collect_lanes(r, d);
    free(c.strings.to);
    return e;
}

struct finder {
    struct names *names;
    const struct dictionary *d;
    const struct comms_rows *comms;
};

/* strings_put does not add here: after the join every text is there. */
static enum err find_string(void *context, const union slot *slot, uint32_t left)
{
    struct finder *f = context;
    char text[1024];
    if (slot->kind != SLOT_string || recording_text(slot, left, text) == 0)
        return ERR_OK;
    return set_number(&f->names->strings, slot->string.number,
                      strings_put_text(f->d->strings, text));
}

static enum err keep_track(struct names *n, const struct slot_track *track)
{
    if (names_find(&n->tracks, track->number, TABLE_NONE) != TABLE_NONE)
        return ERR_OK;
    struct slot_track *larger = realloc(n->track_list, (n->track_count + 1) * sizeof *larger);
    if (larger == NULL)
        return ERR_NO_MEMORY;
    n->track_list = larger;
    larger[n->track_count] = *track;
    return set_number(&n->tracks, track->number, (uint32_t)n->track_count++);
}

static enum err find_other(void *context, const union slot *slot, uint32_t left)
{
    struct finder *f = context;
    struct names *n = f->names;
    (void)left;
    if (slot->kind == SLOT_site) {
        struct dictionary_site site = {.offset = slot->site.offset,
                                       .module = names_find(&n->strings, slot->site.module, 0),
                                       .build_id = names_find(&n->strings, slot->site.build_id, 0)};
        return set_number(&n->sites, slot->site.number, dictionary_find_site(f->d, site));
    }
    if (slot->kind == SLOT_communicator)
        return set_number(&n->communicators, slot->communicator.number,
                          dictionary_find_comm(f->comms, slot->communicator.key));
    return slot->kind == SLOT_track ? keep_track(n, &slot->track) : ERR_OK;
}

enum err names_open(struct names *out, const struct recording *r, const struct dictionary *d,
                    const struct comms_rows *comms)
{
    struct names n = {0};
    struct finder f = {.names = &n, .d = d, .comms = comms};
    enum err e = visit_all(r, find_string, &f);
    if (!e)
        e = visit_all(r, find_other, &f);
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
