#include "collectives/mpi/comms.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/mpi/digest.h"
#include "collectives/mpi/own.h"
#include "record/record.h"

#define HANDLES_FIRST 256u /* places of the first table; a power of two */
#define ORDINALS_MAX                                                                               \
    (1u << 16) /* different (parent, members) whose communicators are told apart                   \
                */
#define DIGEST_WORLD  0x776f726c64u
#define DIGEST_WINDOW 0x77696e646f77u
#define DIGEST_SELF   0x73656c66u

#define HANDLE_NONE ((uintptr_t)0)
#define HANDLE_GONE (~(uintptr_t)0)

/* Readers take no lock: a place is filled before its handle is stored, and a table that has been
 * outgrown stays. */
struct place {
    _Atomic uintptr_t handle;
    _Atomic(struct comm *) comm;
};
struct handle_table {
    struct handle_table *outgrown;
    uint32_t mask;
    uint32_t used; /* places that were ever filled */
    struct place places[];
};

struct ordinal {
    uint64_t key;
    uint32_t next;
};

static _Atomic(struct handle_table *) current;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of all below, and of changes of the table */
static struct comm *unused;
static struct ordinal *ordinals;
static uint32_t ordinal_count;
static MPI_Group world_group;

/* ---- handles ---- */

static uint32_t hash_handle(uintptr_t handle)
{
    return (uint32_t)(((uint64_t)handle * 0x9e3779b97f4a7c15u) >> 32);
}

static struct comm *handle_find(uintptr_t wanted)
{
    struct handle_table *t = atomic_load_explicit(&current, memory_order_acquire);
    if (t == NULL)
        return NULL;
    for (uint32_t at = hash_handle(wanted);; at++) {
        struct place *p = &t->places[at & t->mask];
        uintptr_t found = atomic_load_explicit(&p->handle, memory_order_acquire);
        if (found == wanted)
            return atomic_load_explicit(&p->comm, memory_order_relaxed);
        if (found == HANDLE_NONE)
            return NULL;
    }
}

static void table_put(struct handle_table *t, uintptr_t handle, struct comm *c)
{
    uint32_t at = hash_handle(handle);
    while (atomic_load_explicit(&t->places[at & t->mask].handle, memory_order_relaxed) !=
           HANDLE_NONE)
        at++;
    struct place *p = &t->places[at & t->mask];
    atomic_store_explicit(&p->comm, c, memory_order_relaxed);
    atomic_store_explicit(&p->handle, handle, memory_order_release);
    t->used++;
}

/* A table with room for one more: the current one, or a larger one without the places that are
 * gone. */
static struct handle_table *table_with_room(void)
{
    struct handle_table *old = atomic_load_explicit(&current, memory_order_relaxed);
    if (old != NULL && old->used < old->mask / 2)
        return old;
    uint32_t places = old != NULL ? (old->mask + 1) * 2 : HANDLES_FIRST;
    struct handle_table *t = calloc(1, sizeof *t + places * sizeof t->places[0]);
    if (t == NULL)
        return NULL;
    t->outgrown = old;
    t->mask = places - 1;
    for (uint32_t i = 0; old != NULL && i <= old->mask; i++) {
        uintptr_t handle = atomic_load_explicit(&old->places[i].handle, memory_order_relaxed);
        if (handle != HANDLE_NONE && handle != HANDLE_GONE)
            table_put(t, handle, atomic_load_explicit(&old->places[i].comm, memory_order_relaxed));
    }
    atomic_store_explicit(&current, t, memory_order_release);
    return t;
}

/* Takes the handle out of the table; the lock is held. */
static struct comm *table_take(struct handle_table *t, uintptr_t wanted)
{
    for (uint32_t at = hash_handle(wanted); t != NULL; at++) {
        struct place *p = &t->places[at & t->mask];
        uintptr_t found = atomic_load_explicit(&p->handle, memory_order_relaxed);
        if (found == HANDLE_NONE)
            break;
        if (found != wanted)
            continue;
        atomic_store_explicit(&p->handle, HANDLE_GONE, memory_order_release);
        return atomic_load_explicit(&p->comm, memory_order_relaxed);
    }
    return NULL;
}

/* What stood under the handle before was freed in a way that we have not seen. */
static bool handle_add(uintptr_t handle, struct comm *c)
{
    pthread_mutex_lock(&lock);
    table_take(atomic_load_explicit(&current, memory_order_relaxed), handle);
    struct handle_table *t = table_with_room();
    if (t != NULL)
        table_put(t, handle, c);
    pthread_mutex_unlock(&lock);
    return t != NULL;
}

static struct comm *handle_forget(uintptr_t handle)
{
    pthread_mutex_lock(&lock);
    struct comm *c = table_take(atomic_load_explicit(&current, memory_order_relaxed), handle);
    pthread_mutex_unlock(&lock);
    return c;
}

static void handle_restore(uintptr_t handle, struct comm *c)
{
    if (c != NULL && !handle_add(handle, c))
        scaleprof_fault("mpi communicators", "out of memory");
}

/* Handles of communicators and windows that live at a time differ. */
struct comm *comms_find(MPI_Comm handle)
{
    return handle_find((uintptr_t)handle);
}

struct comm *comms_forget(MPI_Comm handle)
{
    return handle_forget((uintptr_t)handle);
}

void comms_restore(MPI_Comm handle, struct comm *c)
{
    handle_restore((uintptr_t)handle, c);
}

struct comm *comms_find_window(MPI_Win handle)
{
    return handle_find((uintptr_t)handle);
}

struct comm *comms_forget_window(MPI_Win handle)
{
    return handle_forget((uintptr_t)handle);
}

void comms_restore_window(MPI_Win handle, struct comm *c)
{
    handle_restore((uintptr_t)handle, c);
}

/* ---- keys ---- */

uint32_t comms_ordinal(const struct comm *parent, uint64_t members)
{
    uint64_t key = digest_add(parent != NULL ? parent->key : 0, members);
    uint32_t ordinal = UINT32_MAX;
    pthread_mutex_lock(&lock);
    if (ordinals == NULL)
        ordinals = calloc(ORDINALS_MAX, sizeof *ordinals);
    for (uint32_t at = (uint32_t)key; ordinals != NULL; at++) {
        struct ordinal *o = &ordinals[at % ORDINALS_MAX];
        if (o->key == 0 && ordinal_count < ORDINALS_MAX / 4 * 3) {
            o->key = key;
            ordinal_count++;
        }
        if (o->key == key)
            ordinal = o->next++;
        if (o->key == key || o->key == 0)
            break;
    }
    pthread_mutex_unlock(&lock);
    if (ordinal == UINT32_MAX)
        scaleprof_fault("mpi communicators", "too many kinds of them to tell apart");
    return ordinal;
}

/* Digest of the ranks that a group's members have in MPI_COMM_WORLD; 0 when it could not be made.
 */
static uint64_t digest_group(MPI_Group group)
{
    int size;
    uint64_t digest = 0;
    if (own.Group_size(group, &size) != MPI_SUCCESS || size < 0)
        return 0;
    int *ranks = malloc(2 * sizeof *ranks * ((size_t)size + 1));
    if (ranks == NULL)
        return 0;
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    if (own.Group_translate_ranks(group, size, ranks, world_group, ranks + size) == MPI_SUCCESS) {
        digest = digest_add(0, (uint64_t)size);
        for (int i = 0; i < size; i++)
            digest = digest_add(digest, (uint32_t)ranks[size + i]);
    }
    free(ranks);
    return digest;
}

static uint64_t digest_members(MPI_Comm handle, bool remote)
{
    MPI_Group group;
    int result = remote ? own.Comm_remote_group(handle, &group) : own.Comm_group(handle, &group);
    if (result != MPI_SUCCESS)
        return 0;
    uint64_t digest = digest_group(group);
    own.Group_free(&group);
    return digest;
}

/* ---- definition ---- */

static int describe_size(MPI_Comm handle, struct comm *c)
{
    int inter = 0;
    int failed = own.Comm_size(handle, &c->size) != MPI_SUCCESS ||
                 own.Comm_rank(handle, &c->rank) != MPI_SUCCESS ||
                 own.Comm_test_inter(handle, &inter) != MPI_SUCCESS;
    if (!failed && inter)
        failed = own.Comm_remote_size(handle, &c->remote_size) != MPI_SUCCESS;
    return failed;
}

static void describe_topology(MPI_Comm handle, struct comm *c)
{
    int kind = MPI_UNDEFINED, weighted = 0;
    if (c->remote_size > 0 || own.Topo_test(handle, &kind) != MPI_SUCCESS)
        return;
    if (kind == MPI_CART && own.Cartdim_get(handle, &c->in_degree) == MPI_SUCCESS)
        c->out_degree = c->in_degree *= 2;
    else if (kind == MPI_GRAPH &&
             own.Graph_neighbors_count(handle, c->rank, &c->in_degree) == MPI_SUCCESS)
        c->out_degree = c->in_degree;
    else if (kind == MPI_DIST_GRAPH)
        own.Dist_graph_neighbors_count(handle, &c->in_degree, &c->out_degree, &weighted);
}

void comms_describe(MPI_Comm handle, struct comm *out)
{
    memset(out, 0, sizeof *out);
    if (describe_size(handle, out) == 0)
        describe_topology(handle, out);
}

static uint64_t describe_members(MPI_Comm handle, const struct comm *c)
{
    uint64_t local = digest_members(handle, false);
    if (c->remote_size == 0 || local == 0)
        return local;
    uint64_t remote = digest_members(handle, true);
    if (remote == 0)
        return 0;
    return local < remote ? digest_add(local, remote) : digest_add(remote, local);
}

static struct comm *comm_take(void)
{
    pthread_mutex_lock(&lock);
    struct comm *c = unused;
    if (c != NULL)
        unused = c->next;
    pthread_mutex_unlock(&lock);
    if (c == NULL)
        return calloc(1, sizeof *c);
    memset(c, 0, sizeof *c);
    return c;
}

void comms_release(struct comm *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&lock);
    c->number = 0;
    c->next = unused;
    unused = c;
    pthread_mutex_unlock(&lock);
}

static void define_in_segment(struct comm *c, const struct comm *parent)
{
    struct slot_communicator definition = {
        .kind = SLOT_communicator,
        .source = COMMUNICATOR_MPI,
        .key = c->key,
        .parent = parent != NULL ? parent->key : 0,
        .size = c->size,
        .member = c->rank,
        .remote_size = c->remote_size,
        .name = scaleprof_string(c->name),
    };
    c->number = scaleprof_communicator_define(&definition);
}

/* Fills and takes in `c`, whose key is digest(base, members, ordinal). */
static struct comm *admit(struct comm *c, uintptr_t handle, const struct comm *parent,
                          uint64_t base, uint32_t ordinal)
{
    c->key = digest_add(digest_add(base, c->members), ordinal);
    define_in_segment(c, parent);
    if (handle_add(handle, c))
        return c;
    scaleprof_fault("mpi communicators", "out of memory");
    comms_release(c);
    return NULL;
}

static struct comm *describe_new(MPI_Comm handle)
{
    struct comm *c = comm_take();
    if (c == NULL) {
        scaleprof_fault("mpi communicators", "out of memory");
        return NULL;
    }
    if (describe_size(handle, c) == 0)
        c->members = describe_members(handle, c);
    if (c->members == 0) {
        scaleprof_fault("mpi communicators", "MPI did not describe a new one");
        comms_release(c);
        return NULL;
    }
    describe_topology(handle, c);
    return c;
}

static void name_child(struct comm *c, const struct comm *parent, const char *how)
{
    snprintf(c->name, sizeof c->name, "%.30s%s%s", parent != NULL ? parent->name : "",
             parent != NULL ? ":" : "", how);
}

struct comm *comms_define(MPI_Comm handle, const struct comm *parent, const char *how)
{
    struct comm *c = describe_new(handle);
    if (c == NULL)
        return NULL;
    name_child(c, parent, how);
    return admit(c, (uintptr_t)handle, parent, parent != NULL ? parent->key : 0,
                 comms_ordinal(parent, c->members));
}

struct comm *comms_define_as(MPI_Comm handle, const struct comm *parent, const char *how,
                             uint32_t ordinal)
{
    struct comm *c = describe_new(handle);
    if (c == NULL)
        return NULL;
    name_child(c, parent, how);
    return admit(c, (uintptr_t)handle, parent, parent != NULL ? parent->key : 0, ordinal);
}

struct comm *comms_define_window(MPI_Win handle, const struct comm *parent)
{
    struct comm *c = parent != NULL ? comm_take() : NULL;
    if (c == NULL)
        return NULL;
    c->members = digest_add(parent->members, DIGEST_WINDOW);
    c->size = parent->size;
    c->rank = parent->rank;
    name_child(c, parent, "window");
    return admit(c, (uintptr_t)handle, parent, parent->key, comms_ordinal(parent, c->members));
}

static enum err open_predefined(MPI_Comm handle, uint64_t base, const char *name)
{
    struct comm *c = describe_new(handle);
    if (c == NULL)
        return ERR_MPI;
    snprintf(c->name, sizeof c->name, "%s", name);
    return admit(c, (uintptr_t)handle, NULL, base, 0) != NULL ? ERR_OK : ERR_NO_MEMORY;
}

enum err comms_open(void)
{
    if (own.Comm_group(own_handle.comm_world, &world_group) != MPI_SUCCESS)
        return ERR_MPI;
    enum err e = open_predefined(own_handle.comm_world, DIGEST_WORLD, "world");
    return e != ERR_OK ? e : open_predefined(own_handle.comm_self, DIGEST_SELF, "self");
}
