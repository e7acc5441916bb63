/* The clocks of a run and their models. The reference is the clock of the lowest rank. */
#ifndef GATHER_CLOCKS_H
#define GATHER_CLOCKS_H

#include "align/align.h"
#include "peers/peers.h"
#include "trace/tables.h"

/* What one process says of its clock. */
struct clock_sight {
    uint64_t domain;
    int64_t opened_ns, opened_utc_ns;
    int32_t rank;
    uint32_t unused;
};

/* One burst as recorded. */
struct clock_burst {
    uint64_t domain, peer;
    struct align_burst burst;
};

struct clocks {
    struct clock_sight
        *sights; /* one per process before join; one per domain, in order of rank, after it */
    size_t count, room;
    struct clock_burst *bursts;
    size_t burst_count, burst_room;
    struct align_model *models; /* per domain, after join */
    uint8_t *methods;           /* as /clock/domains method */
    int64_t epoch_ns;           /* reference time that becomes 0 */
    int64_t epoch_utc_ns;
};

enum err clocks_put_sight(struct clocks *c, struct clock_sight sight);
enum err clocks_put_burst(struct clocks *c, struct clock_burst burst);

/* Joins what all processes have seen and fits every domain's model. Collective. */
enum err clocks_join_all(struct clocks *c, struct peers *p);
void clocks_close(struct clocks *c);

/* Row of /clock/domains. After join. */
uint32_t clocks_find(const struct clocks *c, uint64_t domain);

/* Reference time since the epoch of a local time; its bound, -1 where the clock was not measured.
 */
int64_t clocks_apply(const struct clocks *c, uint32_t domain, int64_t local_ns, int64_t *bound_ns);

enum err clocks_rows(const struct clocks *c, struct clock_domains_rows *domains,
                     struct clock_bursts_rows *bursts, struct clock_models_rows *models);

#endif
