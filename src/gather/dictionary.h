/* What all ranks name by numbers of their own, numbered once for the whole run: texts, call sites,
 * communicators. The numbers depend only on what is named, not on who gathers. */
#ifndef GATHER_DICTIONARY_H
#define GATHER_DICTIONARY_H

#include "peers/peers.h"
#include "trace/strings.h"
#include "trace/tables.h"

struct dictionary_site {
    int64_t offset;
    uint32_t module, build_id; /* texts */
};

/* One member's definition of a communicator. */
struct dictionary_comm {
    uint64_t key, parent;
    int32_t size, member, rank;
    uint32_t name; /* text */
    uint8_t source;
    uint8_t unused[7];
};

struct dictionary_key {
    uint64_t key;
    uint32_t row, unused;
};

struct dictionary {
    struct strings *strings;
    struct dictionary_site *sites;
    size_t site_count, site_room;
    struct dictionary_comm *comms;
    size_t comm_count, comm_room;
    struct dictionary_key *keys; /* of the rows of /comms, sorted; made with them */
    size_t key_count, key_room;
};

enum err dictionary_open(struct dictionary *d);
void dictionary_close(struct dictionary *d);

enum err dictionary_put_site(struct dictionary *d, struct dictionary_site site);
enum err dictionary_put_comm(struct dictionary *d, struct dictionary_comm comm);

/* Joins the dictionaries of all processes: afterwards each has all texts, sorted by their bytes,
 * all sites, sorted and unlike, and all definitions of communicators, sorted by communicator and
 * member. Collective. */
enum err dictionary_join_all(struct dictionary *d, struct peers *p);

/* Row of /sites, TABLE_NONE when it is not there. After join. */
uint32_t dictionary_find_site(const struct dictionary *d, struct dictionary_site site);

/* The rows of /sites, /comms and /comm_members. After join. */
enum err dictionary_rows(struct dictionary *d, struct sites_rows *sites, struct comms_rows *comms,
                         struct comm_members_rows *members);

/* Row of /comms of a key; TABLE_NONE. After dictionary_rows. */
uint32_t dictionary_find_comm(const struct dictionary *d, uint64_t key);

#endif
