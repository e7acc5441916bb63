#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "transport.h"

void peers_close(struct peers *p)
{
    if (p != NULL)
        p->transport->close(p);
}

int peers_rank(const struct peers *p)
{
    return p->rank;
}

int peers_size(const struct peers *p)
{
    return p->size;
}

/* The numbers have no place for an error: it waits for the next agreement. */
static int64_t combine(struct peers *p, enum peers_operation operation, int64_t value)
{
    enum err e = p->transport->combine(p, operation, &value);
    if (p->failed == ERR_OK)
        p->failed = e;
    return value;
}

enum err peers_agree_all(struct peers *p, enum err mine)
{
    if (mine == ERR_OK)
        mine = p->failed;
    int64_t worst = combine(p, PEERS_MAX, (int64_t)mine);
    if (mine)
        return mine;
    if (p->failed)
        return p->failed;
    return worst ? ERR_PEER : ERR_OK;
}

int64_t peers_sum_all(struct peers *p, int64_t mine)
{
    return combine(p, PEERS_SUM, mine);
}

int64_t peers_max_all(struct peers *p, int64_t mine)
{
    return combine(p, PEERS_MAX, mine);
}

int64_t peers_before_all(struct peers *p, int64_t mine)
{
    return combine(p, PEERS_BEFORE, mine);
}

/* malloc(0) may be NULL, which would look like no memory. */
static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (memory == NULL)
        log_error("no memory for %zu bytes from the other processes", bytes);
    return memory;
}

static size_t sum_of(const size_t *sizes, int count)
{
    size_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += sizes[i];
    return sum;
}

enum err peers_gather_all(struct peers *p, const void *mine, size_t bytes, void **all,
                          size_t *all_bytes, size_t *ends)
{
    size_t *sizes = allocate((size_t)p->size * sizeof *sizes);
    size_t *ones = allocate((size_t)p->size * sizeof *ones);
    void *memory = NULL;
    enum err e = peers_agree_all(p, sizes != NULL && ones != NULL ? ERR_OK : ERR_NO_MEMORY);
    if (e)
        goto sizes;
    for (int i = 0; i < p->size; i++)
        ones[i] = sizeof bytes;
    e = p->transport->gather(p, &bytes, sizeof bytes, sizes, ones);
    if (e)
        goto sizes;
    size_t total = sum_of(sizes, p->size);
    memory = allocate(total);
    e = peers_agree_all(p, memory != NULL ? ERR_OK : ERR_NO_MEMORY);
    if (!e)
        e = p->transport->gather(p, mine, bytes, memory, sizes);
    if (e)
        goto sizes;
    for (int i = 0; ends != NULL && i < p->size; i++)
        ends[i] = sum_of(sizes, i + 1);
    *all = memory;
    *all_bytes = total;
    memory = NULL;
sizes:
    free(memory);
    free(ones);
    free(sizes);
    return e;
}

enum err peers_broadcast_all(struct peers *p, void *data, size_t bytes, int root)
{
    return p->transport->broadcast(p, data, bytes, root);
}

enum err peers_exchange_all(struct peers *p, const void *send, const size_t *send_bytes,
                            void **received, size_t *received_bytes)
{
    size_t *one = allocate((size_t)p->size * sizeof *one);
    void *memory = NULL;
    enum err e = peers_agree_all(p, one != NULL ? ERR_OK : ERR_NO_MEMORY);
    if (e)
        goto one;
    for (int i = 0; i < p->size; i++)
        one[i] = sizeof *one;
    e = p->transport->exchange(p, send_bytes, one, received_bytes, one);
    if (e)
        goto one;
    memory = allocate(sum_of(received_bytes, p->size));
    e = peers_agree_all(p, memory != NULL ? ERR_OK : ERR_NO_MEMORY);
    if (!e)
        e = p->transport->exchange(p, send, send_bytes, memory, received_bytes);
    if (e)
        goto one;
    *received = memory;
    memory = NULL;
one:
    free(memory);
    free(one);
    return e;
}

static enum err combine_alone(struct peers *p, enum peers_operation operation, int64_t *value)
{
    (void)p;
    if (operation == PEERS_BEFORE)
        *value = 0;
    return ERR_OK;
}

static enum err gather_alone(struct peers *p, const void *mine, size_t bytes, void *all,
                             const size_t *sizes)
{
    (void)p;
    (void)sizes;
    if (bytes > 0)
        memcpy(all, mine, bytes);
    return ERR_OK;
}

static enum err broadcast_alone(struct peers *p, void *data, size_t bytes, int root)
{
    (void)p;
    (void)data;
    (void)bytes;
    (void)root;
    return ERR_OK;
}

static enum err exchange_alone(struct peers *p, const void *send, const size_t *send_bytes,
                               void *received, const size_t *received_bytes)
{
    (void)received_bytes;
    return gather_alone(p, send, send_bytes[0], received, NULL);
}

static void close_alone(struct peers *p)
{
    free(p);
}

enum err peers_open_alone(struct peers **out)
{
    static const struct peers_transport alone = {combine_alone, gather_alone, broadcast_alone,
                                                 exchange_alone, close_alone};
    struct peers *p = malloc(sizeof *p);
    if (p == NULL)
        return ERR_NO_MEMORY;
    *p = (struct peers){.transport = &alone, .rank = 0, .size = 1};
    *out = p;
    return ERR_OK;
}
