#include "collectives/mpi/operations.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "collectives/mpi/digest.h"
#include "collectives/mpi/own.h"
#include "collectives/mpi/probe.h"
#include "record/record.h"
#include "trace/vocabulary.h"

#define BUCKETS      (1u << 16)
#define BLOCK_PLACES 4096u
#define BLOCKS_MAX   (OPERATIONS_MAX / BLOCK_PLACES)

/* Places lie in blocks that are never given back, so a place's number stays good; each bucket keeps
 * those it has used. Place 0 is no place. */
struct place {
    uint64_t handle;
    uint32_t next;
    bool claimed;
    struct operation operation;
};

struct bucket {
    _Atomic uint32_t locked;
    uint32_t first, last; /* oldest first */
    uint32_t unused;
};

static struct bucket buckets[BUCKETS];
static _Atomic(struct place *) blocks[BLOCKS_MAX];
static _Atomic uint32_t places_given = 1;
static _Atomic bool full;

static struct bucket *bucket_of(uint64_t handle)
{
    return &buckets[digest_add(0, handle) % BUCKETS];
}

/* With one thread in MPI at a time nobody else is here. */
static void bucket_lock(struct bucket *b)
{
    if (!probe_multiple)
        return;
    for (unsigned spins = 0; atomic_exchange_explicit(&b->locked, 1, memory_order_acquire) != 0;
         spins++)
        if (spins % 64 == 63)
            sched_yield();
}

static void bucket_unlock(struct bucket *b)
{
    if (probe_multiple)
        atomic_store_explicit(&b->locked, 0, memory_order_release);
}

static struct place *place_at(uint32_t number)
{
    return atomic_load_explicit(&blocks[number / BLOCK_PLACES], memory_order_acquire) +
           number % BLOCK_PLACES;
}

/* True when the block exists afterwards. */
static bool block_make(uint32_t index)
{
    if (atomic_load_explicit(&blocks[index], memory_order_acquire) != NULL)
        return true;
    size_t bytes = BLOCK_PLACES * sizeof(struct place);
    void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return false;
    struct place *none = NULL;
    if (!atomic_compare_exchange_strong(&blocks[index], &none, made))
        munmap(made, bytes);
    return true;
}

/* A place for the bucket, whose lock is held; 0 when there is none. */
static uint32_t place_take(struct bucket *b)
{
    uint32_t number = b->unused;
    if (number != 0) {
        b->unused = place_at(number)->next;
        return number;
    }
    if (atomic_load_explicit(&places_given, memory_order_relaxed) >= OPERATIONS_MAX)
        return 0;
    number = atomic_fetch_add(&places_given, 1);
    return number < OPERATIONS_MAX && block_make(number / BLOCK_PLACES) ? number : 0;
}

void operations_add(MPI_Request handle, const struct operation *op)
{
    if (handle == own_handle.request_null)
        return;
    uint64_t key = (uintptr_t)handle;
    struct bucket *b = bucket_of(key);
    bucket_lock(b);
    uint32_t number = place_take(b);
    if (number != 0) {
        struct place *p = place_at(number);
        p->handle = key;
        p->next = 0;
        p->claimed = false;
        p->operation = *op;
        p->operation.thread = probe_thread();
        if (b->first == 0)
            b->first = number;
        else
            place_at(b->last)->next = number;
        b->last = number;
    }
    bucket_unlock(b);
    if (number == 0 && !atomic_exchange(&full, true))
        scaleprof_fault("mpi requests", "too many are open at a time");
}

/* The oldest unclaimed place of the handle that this thread has added, else that any has; and the
 * one before it in the chain. 0 none. */
static uint32_t bucket_find(const struct bucket *b, uint64_t handle, uint32_t *before)
{
    uint32_t found = 0, last = 0;
    for (uint32_t number = b->first; number != 0; number = place_at(number)->next) {
        const struct place *p = place_at(number);
        bool own_one = p->operation.thread == probe_thread();
        if (p->handle == handle && !p->claimed && (found == 0 || own_one)) {
            found = number;
            *before = last;
            if (own_one || !probe_multiple)
                break;
        }
        last = number;
    }
    return found;
}

/* Moves a place from the chain to the unused ones. */
static void bucket_remove(struct bucket *b, uint32_t number, uint32_t before)
{
    struct place *p = place_at(number);
    if (before == 0)
        b->first = p->next;
    else
        place_at(before)->next = p->next;
    if (b->last == number)
        b->last = before;
    p->handle = 0;
    p->next = b->unused;
    b->unused = number;
}

/* Copies the operation out; it goes away unless it is persistent. */
static void bucket_take(struct bucket *b, uint32_t number, uint32_t before, struct operation *out)
{
    struct place *p = place_at(number);
    *out = p->operation;
    p->claimed = false;
    if (out->persistent)
        p->operation.number = 0;
    else
        bucket_remove(b, number, before);
}

uint32_t operations_claim(MPI_Request handle)
{
    if (handle == own_handle.request_null)
        return 0;
    uint32_t before;
    struct bucket *b = bucket_of((uintptr_t)handle);
    bucket_lock(b);
    uint32_t number = bucket_find(b, (uintptr_t)handle, &before);
    if (number != 0)
        place_at(number)->claimed = true;
    bucket_unlock(b);
    return number;
}

void operations_unclaim(MPI_Request handle, uint32_t place)
{
    struct bucket *b = bucket_of((uintptr_t)handle);
    bucket_lock(b);
    place_at(place)->claimed = false;
    bucket_unlock(b);
}

void operations_take_claimed(MPI_Request handle, uint32_t place, struct operation *out)
{
    struct bucket *b = bucket_of((uintptr_t)handle);
    bucket_lock(b);
    uint32_t before = 0;
    for (uint32_t at = b->first; at != place && at != 0; at = place_at(at)->next)
        before = at;
    bucket_take(b, place, before, out);
    bucket_unlock(b);
}

bool operations_take(MPI_Request handle, struct operation *out)
{
    if (handle == own_handle.request_null)
        return false;
    uint32_t before;
    struct bucket *b = bucket_of((uintptr_t)handle);
    bucket_lock(b);
    uint32_t number = bucket_find(b, (uintptr_t)handle, &before);
    if (number != 0)
        bucket_take(b, number, before, out);
    bucket_unlock(b);
    return number != 0;
}

bool operations_remove(MPI_Request handle, struct operation *out)
{
    uint32_t before;
    struct bucket *b = bucket_of((uintptr_t)handle);
    bucket_lock(b);
    uint32_t number = bucket_find(b, (uintptr_t)handle, &before);
    if (number != 0) {
        *out = place_at(number)->operation;
        bucket_remove(b, number, before);
    }
    bucket_unlock(b);
    return number != 0;
}

void operations_cancel(MPI_Request handle)
{
    uint32_t before;
    struct bucket *b = bucket_of((uintptr_t)handle);
    bucket_lock(b);
    uint32_t number = bucket_find(b, (uintptr_t)handle, &before);
    if (number != 0)
        place_at(number)->operation.flags |= MESSAGE_CANCELLED;
    bucket_unlock(b);
}

bool operations_restart(MPI_Request handle, uint64_t number, struct operation *out)
{
    uint32_t before;
    struct bucket *b = bucket_of((uintptr_t)handle);
    bucket_lock(b);
    uint32_t place = bucket_find(b, (uintptr_t)handle, &before);
    if (place != 0) {
        place_at(place)->operation.number = number;
        *out = place_at(place)->operation;
    }
    bucket_unlock(b);
    return place != 0;
}
