#include "clocks.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

#include "base/log.h"
#include "trace/vocabulary.h"

enum err clocks_put_sight(struct clocks *c, struct clock_sight sight)
{
    enum err e = list_make_room((void **)&c->sights, c->count, &c->room, sizeof sight);
    if (!e)
        c->sights[c->count++] = sight;
    return e;
}

enum err clocks_put_burst(struct clocks *c, struct clock_burst burst)
{
    enum err e = list_make_room((void **)&c->bursts, c->burst_count, &c->burst_room, sizeof burst);
    if (!e)
        c->bursts[c->burst_count++] = burst;
    return e;
}

void clocks_close(struct clocks *c)
{
    for (size_t i = 0; c->models != NULL && i < c->count; i++)
        align_model_free(&c->models[i]);
    free(c->models);
    free(c->methods);
    free(c->sights);
    free(c->bursts);
    *c = (struct clocks){0};
}

static int compare_sights(const void *a, const void *b)
{
    const struct clock_sight *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->opened_ns != y->opened_ns)
        return x->opened_ns < y->opened_ns ? -1 : 1;
    return x->domain < y->domain ? -1 : x->domain > y->domain;
}

static int compare_bursts(const void *a, const void *b)
{
    const struct clock_burst *x = a, *y = b;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return x->burst.time_ns < y->burst.time_ns ? -1 : x->burst.time_ns > y->burst.time_ns;
}

uint32_t clocks_find(const struct clocks *c, uint64_t domain)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->sights[i].domain == domain)
            return (uint32_t)i;
    return TABLE_NONE;
}

/* One sight per domain: its lowest rank's earliest. */
static void keep_domains(struct clocks *c)
{
    size_t all = c->count;
    if (all > 0)
        qsort(c->sights, all, sizeof *c->sights, compare_sights);
    c->count = 0;
    for (size_t i = 0; i < all; i++)
        if (clocks_find(c, c->sights[i].domain) == TABLE_NONE)
            c->sights[c->count++] = c->sights[i];
}

/* Nothing but wall time relates this clock to the reference: right to what the hosts' wall clocks
 * agree in, and no bound is claimed. */
static enum err guess_model(const struct clocks *c, size_t i, struct align_model *out)
{
    const struct clock_sight *own = &c->sights[i], *reference = &c->sights[0];
    out->nodes = malloc(sizeof *out->nodes);
    if (out->nodes == NULL)
        return ERR_NO_MEMORY;
    out->count = 1;
    out->nodes[0] =
        (struct align_node){.time_ns = own->opened_ns,
                            .offset_ns = (own->opened_utc_ns - reference->opened_utc_ns) -
                                         (own->opened_ns - reference->opened_ns),
                            .bound_ns = -1};
    return ERR_OK;
}

static enum err fit_domain(struct clocks *c, size_t i)
{
    uint64_t reference = c->sights[0].domain, own = c->sights[i].domain;
    struct align_burst *bursts = malloc((c->burst_count + 1) * sizeof *bursts);
    size_t count = 0;
    if (bursts == NULL)
        return ERR_NO_MEMORY;
    for (size_t b = 0; b < c->burst_count; b++)
        if (c->bursts[b].domain == own && c->bursts[b].peer == reference)
            bursts[count++] = c->bursts[b].burst;
    enum err e = align_model_fit(bursts, count, ALIGN_CURVATURE, &c->models[i]);
    free(bursts);
    c->methods[i] = CLOCK_BURSTS;
    if (e != ERR_EMPTY)
        return e;
    c->methods[i] = CLOCK_UNMEASURED;
    log_warning("the clock of rank %d was not measured against rank %d's: times between them are "
                "not comparable",
                c->sights[i].rank, c->sights[0].rank);
    return guess_model(c, i, &c->models[i]);
}

static enum err fit_all(struct clocks *c)
{
    c->models = calloc(c->count + 1, sizeof *c->models);
    c->methods = calloc(c->count + 1, 1);
    if (c->models == NULL || c->methods == NULL)
        return ERR_NO_MEMORY;
    enum err e = c->count > 0 ? align_model_same(&c->models[0]) : ERR_OK;
    for (size_t i = 1; i < c->count && !e; i++)
        e = fit_domain(c, i);
    return e;
}

/* The epoch is the first moment that any process has recorded, so that no time is negative. */
static void choose_epoch(struct clocks *c, const struct clock_sight *all, size_t count)
{
    c->epoch_ns = 0;
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t domain = clocks_find(c, all[i].domain);
        int64_t ref_ns = align_apply(&c->models[domain], all[i].opened_ns, NULL);
        if (ref_ns < first)
            first = ref_ns;
    }
    c->epoch_ns = first;
    c->epoch_utc_ns = c->sights[0].opened_utc_ns - (c->sights[0].opened_ns - first);
}

enum err clocks_join_all(struct clocks *c, struct peers *p)
{
    enum err e = list_join_all((void **)&c->sights, &c->count, &c->room, sizeof *c->sights, p);
    if (!e)
        e = list_join_all((void **)&c->bursts, &c->burst_count, &c->burst_room, sizeof *c->bursts,
                          p);
    if (e || c->count == 0)
        return e;
    size_t all = c->count;
    struct clock_sight *sights = malloc(all * sizeof *sights);
    e = sights ? ERR_OK : ERR_NO_MEMORY;
    if (!e) {
        memcpy(sights, c->sights, all * sizeof *sights);
        keep_domains(c);
        if (c->burst_count > 0)
            qsort(c->bursts, c->burst_count, sizeof *c->bursts, compare_bursts);
        e = fit_all(c);
    }
    if (!e)
        choose_epoch(c, sights, all);
    free(sights);
    return peers_agree_all(p, e);
}

int64_t clocks_apply(const struct clocks *c, uint32_t domain, int64_t local_ns, int64_t *bound_ns)
{
    return align_apply(&c->models[domain], local_ns, bound_ns) - c->epoch_ns;
}

static enum err domain_rows(const struct clocks *c, struct clock_domains_rows *out)
{
    enum err e = rows_append(out, table_clock_domains, c->count, NULL);
    for (size_t i = 0; i < c->count && !e; i++) {
        out->key[i] = c->sights[i].domain;
        out->node[i] = TABLE_NONE;
        out->parent[i] = i == 0 ? TABLE_NONE : 0;
        out->method[i] = c->methods[i];
        out->curvature[i] = c->models[i].curvature;
        out->violations[i] = c->models[i].violations;
        out->bursts[i] = 0;
        for (size_t b = 0; b < c->burst_count; b++)
            out->bursts[i] += c->bursts[b].domain == c->sights[i].domain;
    }
    return e;
}

static enum err burst_rows(const struct clocks *c, struct clock_bursts_rows *out)
{
    enum err e = rows_append(out, table_clock_bursts, c->burst_count, NULL);
    for (size_t i = 0; i < c->burst_count && !e; i++) {
        out->domain[i] = clocks_find(c, c->bursts[i].domain);
        out->peer[i] = clocks_find(c, c->bursts[i].peer);
        out->time_ns[i] = c->bursts[i].burst.time_ns;
        out->low_ns[i] = c->bursts[i].burst.low_ns;
        out->high_ns[i] = c->bursts[i].burst.high_ns;
        out->exchanges[i] = c->bursts[i].burst.exchanges;
        out->round_trip_ns[i] = c->bursts[i].burst.round_trip_ns;
    }
    return e;
}

enum err clocks_rows(const struct clocks *c, struct clock_domains_rows *domains,
                     struct clock_bursts_rows *bursts, struct clock_models_rows *models)
{
    enum err e = domain_rows(c, domains);
    if (!e)
        e = burst_rows(c, bursts);
    for (size_t i = 0; i < c->count && !e; i++) {
        size_t at;
        e = rows_append(models, table_clock_models, c->models[i].count, &at);
        for (size_t n = 0; n < c->models[i].count && !e; n++) {
            models->domain[at + n] = (uint32_t)i;
            models->time_ns[at + n] = c->models[i].nodes[n].time_ns;
            models->offset_ns[at + n] = c->models[i].nodes[n].offset_ns;
            models->bound_ns[at + n] = c->models[i].nodes[n].bound_ns;
        }
    }
    return e;
}
