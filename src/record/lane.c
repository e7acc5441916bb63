#include "lane.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "process.h"

static __thread struct {
    struct record_writer *writer;
    int inside;
} self __attribute__((tls_model("initial-exec")));

static pthread_key_t at_thread_end;

static _Atomic int paused;
static _Atomic int64_t resumed_ns;

static void add(_Atomic uint64_t *count, unsigned number)
{
    uint64_t before = atomic_load_explicit(count, memory_order_relaxed);
    atomic_store_explicit(count, before + number, memory_order_relaxed);
}

void lane_count_lost(struct record_writer *w, unsigned details)
{
    add(&w->lane->dropped_details, details);
}

void lane_count_unbalanced(struct record_writer *w)
{
    add(&w->lane->unbalanced, 1);
}

/* Ends the writer's chunk; an empty one goes back, and its number in the lane is used again. */
static void seal(struct record_writer *w)
{
    if (w->chunk == NULL)
        return;
    uint32_t index = atomic_load_explicit(&w->lane->chunk, memory_order_relaxed);
    atomic_store_explicit(&w->lane->chunk, SEGMENT_NO_CHUNK, memory_order_relaxed);
    if (w->used > 0) {
        atomic_store_explicit(&w->chunk->state, CHUNK_SEALED, memory_order_release);
    } else {
        w->lane->next_sequence--;
        segment_give_free(process->segment, index);
    }
    w->chunk = NULL;
    w->used = w->limit = w->reserved = 0;
}

/* The agent brings memory ahead of need; where it gets no core in time, the thread asks the kernel
 * for the next chunk itself, and does not ask again for one that was refused. */
static uint32_t take_chunk(struct segment_header *h)
{
    static _Atomic uint32_t refused;
    uint32_t index = segment_take_free(h);
    while (index == SEGMENT_NO_CHUNK) {
        uint32_t present = atomic_load(&h->chunks_present);
        if (present + 1 == atomic_load_explicit(&refused, memory_order_relaxed))
            return SEGMENT_NO_CHUNK;
        if (segment_grow_mapped(h) != ERR_OK) {
            atomic_store_explicit(&refused, present + 1, memory_order_relaxed);
            return SEGMENT_NO_CHUNK;
        }
        index = segment_take_free(h);
    }
    return index;
}

/* The chunk in use stays when there is no other: a shorter reservation may fit yet. */
union slot *scaleprof_refill(struct record_writer *w, unsigned count, unsigned events)
{
    if (w->lane == NULL)
        return NULL;
    struct segment_header *h = process->segment;
    uint32_t index = count <= SEGMENT_CHUNK_SLOTS ? take_chunk(h) : SEGMENT_NO_CHUNK;
    if (index == SEGMENT_NO_CHUNK) {
        add(&w->lane->dropped, events);
        add(&w->lane->dropped_details, count - events);
        return NULL;
    }
    seal(w);
    struct segment_chunk *chunk = segment_chunk_at(h, index);
    chunk->lane = (uint32_t)(w - process->writers);
    chunk->sequence = w->lane->next_sequence++;
    chunk->checksum = 0;
    atomic_store_explicit(&chunk->count, 0, memory_order_relaxed);
    atomic_store_explicit(&chunk->state, CHUNK_OWNED, memory_order_release);
    atomic_store_explicit(&w->lane->chunk, index, memory_order_relaxed);
    w->chunk = chunk;
    w->used = 0;
    w->reserved = count;
    w->limit = SEGMENT_CHUNK_SLOTS;
    return chunk->slots;
}

union slot *scaleprof_refuse(struct record_writer *w)
{
    if (w->lane == NULL)
        return NULL;
    if (w->open_count == 0) {
        lane_count_unbalanced(w);
    } else {
        record_set_open_count(w, w->open_count - 1);
        add(&w->lane->dropped, 1);
    }
    return NULL;
}

/* ---- who records ---- */

/* A pause shows in the lane when the thread goes on after it. */
static void write_gap(struct record_writer *w)
{
    int64_t begin_ns = atomic_exchange(&w->gap_begin_ns, 0);
    union slot *s = begin_ns != 0 ? record_reserve_event(w, 0) : NULL;
    if (s == NULL)
        return;
    int64_t end_ns = atomic_load(&resumed_ns);
    s->event = (struct slot_event){.kind = EVENT_gap,
                                   .begin_ns = begin_ns,
                                   .duration_ns = end_ns > begin_ns ? end_ns - begin_ns : 0,
                                   .ref = -1,
                                   .bytes = -1};
    record_publish(w);
}

/* The one place where it is decided whether a thread records now. A pause that begins meanwhile
 * either finds `admits` set or is seen here. */
static int admit(struct record_writer *w)
{
    atomic_store(&w->admits, 1);
    if (self.inside || atomic_load(&paused)) {
        atomic_store(&w->admits, 0);
        return 0;
    }
    write_gap(w);
    return 1;
}

void scaleprof_pause(int pause)
{
    if (!process_is_open()) {
        atomic_store(&paused, pause != 0);
        return;
    }
    int64_t now_ns = clock_now_ns();
    if (!pause)
        atomic_store(&resumed_ns, now_ns);
    if (atomic_exchange(&paused, pause != 0) || !pause)
        return;
    for (uint32_t i = 0; i < SEGMENT_LANES_MAX; i++) {
        struct record_writer *w = &process->writers[i];
        int64_t none = 0;
        if (atomic_exchange(&w->admits, 0))
            atomic_compare_exchange_strong(&w->gap_begin_ns, &none, now_ns);
    }
}

int lane_enter(struct lane_guard *guard)
{
    if (self.inside)
        return 0;
    self.inside = 1;
    guard->error = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
    if (self.writer != NULL)
        atomic_store_explicit(&self.writer->admits, 0, memory_order_relaxed);
    return 1;
}

void lane_leave(const struct lane_guard *guard)
{
    self.inside = 0;
    pthread_setcancelstate(guard->cancel_state, NULL);
    errno = guard->error;
}

/* ---- lanes ---- */

/* A lane nobody had yet, else one whose thread has ended; its place or SEGMENT_LANES_MAX. */
static uint32_t take_lane(struct segment_header *h)
{
    uint32_t index = atomic_load(&h->lanes_used);
    while (index < SEGMENT_LANES_MAX)
        if (atomic_compare_exchange_weak(&h->lanes_used, &index, index + 1))
            return index;
    if (atomic_load(&process->ended_lanes) == 0)
        return SEGMENT_LANES_MAX;
    for (uint32_t i = 0; i < SEGMENT_LANES_MAX; i++) {
        uint32_t ended = LANE_ENDED;
        if (atomic_compare_exchange_strong(&segment_lane_at(h, i)->state, &ended, LANE_UNUSED)) {
            atomic_fetch_sub(&process->ended_lanes, 1);
            return i;
        }
    }
    return SEGMENT_LANES_MAX;
}

static struct record_writer *open_lane(void)
{
    struct segment_header *h = process->segment;
    process_count_missed();
    uint32_t index = take_lane(h);
    if (index >= SEGMENT_LANES_MAX) {
        atomic_fetch_add(&h->dropped_no_lane, 1);
        return NULL;
    }
    struct segment_lane *lane = segment_lane_at(h, index);
    struct record_writer *w = &process->writers[index];
    lane->thread_id = (uint32_t)gettid();
    atomic_store(&lane->chunk, SEGMENT_NO_CHUNK);
    atomic_store(&lane->open_count, 0);
    prctl(PR_GET_NAME, lane->name);
    w->open_count = w->used = w->limit = w->reserved = 0;
    w->chunk = NULL;
    w->clock_id = clock_in_use;
    atomic_store(&w->gap_begin_ns, 0);
    w->lane = lane;
    atomic_store_explicit(&lane->state, LANE_LIVE, memory_order_release);
    pthread_setspecific(at_thread_end, w);
    self.writer = w;
    return w;
}

static void end_lane(struct record_writer *w)
{
    struct segment_lane *lane = w->lane;
    seal(w);
    add(&lane->unbalanced, w->open_count);
    record_set_open_count(w, 0);
    atomic_store(&w->admits, 0);
    w->lane = NULL;
    self.writer = NULL;
    atomic_store_explicit(&lane->state, LANE_ENDED, memory_order_release);
    atomic_fetch_add(&process->ended_lanes, 1);
}

/* In a forked child `value` may be the parent's: only the thread's own counts. */
static void end_thread(void *value)
{
    if (value == self.writer && self.writer->lane != NULL)
        end_lane(self.writer);
}

int lane_prepare(void)
{
    return pthread_key_create(&at_thread_end, end_thread) == 0;
}

void lane_forget(void)
{
    if (self.writer != NULL && self.writer->lane == NULL)
        self.writer = NULL;
}

void lane_end_own(void)
{
    if (self.writer != NULL && self.writer->lane != NULL)
        seal(self.writer);
}

/* The slow way to a writer: the first time in a thread or a forked child, and whenever the writer
 * does not admit. */
static struct record_writer *find_writer(int despite_pause)
{
    struct record_writer *w = self.writer;
    struct lane_guard guard;
    if (w == NULL || w->lane == NULL) {
        if ((!despite_pause && atomic_load(&paused)) || !process_open() || !lane_enter(&guard))
            return NULL;
        w = open_lane();
        lane_leave(&guard);
    }
    if (w == NULL || self.inside)
        return NULL;
    return admit(w) || despite_pause ? w : NULL;
}

struct record_writer *lane_writer(void)
{
    struct record_writer *w = self.writer;
    if (w != NULL && atomic_load_explicit(&w->admits, memory_order_relaxed))
        return w;
    return process != NULL ? find_writer(1) : NULL;
}

struct record_writer *scaleprof_writer(void)
{
    struct record_writer *w = self.writer;
    if (__builtin_expect(w != NULL, 1) &&
        __builtin_expect(atomic_load_explicit(&w->admits, memory_order_relaxed), 1))
        return w;
    return process != NULL ? find_writer(0) : NULL;
}
