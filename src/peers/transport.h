/* What a kind of group must be able to do; peers.c is written over it. */
#ifndef PEERS_TRANSPORT_H
#define PEERS_TRANSPORT_H

#include "peers/peers.h"

enum peers_operation { PEERS_SUM, PEERS_MAX, PEERS_BEFORE };

struct peers_transport {
    enum err (*combine)(struct peers *p, enum peers_operation operation, int64_t *value);
    enum err (*gather)(struct peers *p, const void *mine, size_t bytes, void *all,
                       const size_t *sizes);
    enum err (*broadcast)(struct peers *p, void *data, size_t bytes, int root);
    enum err (*exchange)(struct peers *p, const void *send, const size_t *send_bytes,
                         void *received, const size_t *received_bytes);
    void (*close)(struct peers *p);
};

struct peers {
    const struct peers_transport *transport;
    int rank, size;
    enum err failed; /* the first failure of the transport; after it nobody agrees any more */
};

#endif
