/* Lanes: the threads' places in the segment, and the slow half of writer.h. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "lane.h"
#include "process.h"

/* `generation` tells a writer of this process from one that a forked child has inherited. */
static __thread struct {
    struct record_writer *writer;
    uint32_t generation;
    uint32_t busy; /* inside one of our own functions: what it calls is not recorded */
} self __attribute__((tls_model("initial-exec")));

static pthread_key_t at_thread_end;
static pthread_once_t key_made = PTHREAD_ONCE_INIT;

static void seal(struct record_writer *w)
{
    if (w->chunk == NULL)
        return;
    struct segment_header *h = process.segment;
    uint32_t index = atomic_load(&w->lane->chunk);
    if (w->used > 0)
        atomic_store_explicit(&w->chunk->state, CHUNK_SEALED, memory_order_release);
    else
        segment_give_free(h, index);
    atomic_store(&w->lane->chunk, SEGMENT_NO_CHUNK);
    w->chunk = NULL;
    w->used = SEGMENT_CHUNK_SLOTS;
}

static void end_thread(void *value)
{
    struct record_writer *w = value;
    if (self.writer != w || self.generation != scaleprof_generation ||
        atomic_load(&process.state) != PROCESS_OPEN)
        return;
    seal(w);
    self.writer = NULL;
    atomic_store_explicit(&w->lane->state, LANE_ENDED, memory_order_release);
}

static void make_key(void)
{
    if (pthread_key_create(&at_thread_end, end_thread) != 0)
        at_thread_end = (pthread_key_t)-1;
}

/* A lane nobody had yet, else one whose thread has ended; its place in the list or
 * SEGMENT_LANES_MAX. */
static uint32_t take_lane(struct segment_header *h)
{
    uint32_t index = atomic_load(&h->lanes_used);
    while (index < h->lanes_max)
        if (atomic_compare_exchange_weak(&h->lanes_used, &index, index + 1))
            return index;
    for (uint32_t i = 0; i < h->lanes_max; i++) {
        uint32_t ended = LANE_ENDED;
        if (atomic_compare_exchange_strong(&segment_lane_at(h, i)->state, &ended, LANE_UNUSED))
            return i;
    }
    return SEGMENT_LANES_MAX;
}

static struct record_writer *open_lane(void)
{
    struct segment_header *h = process.segment;
    pthread_once(&key_made, make_key);
    uint32_t index = take_lane(h);
    if (index >= SEGMENT_LANES_MAX)
        return NULL;
    struct segment_lane *lane = segment_lane_at(h, index);
    struct record_writer *w = &process.writers[index];
    lane->thread_id = (uint32_t)gettid();
    atomic_store(&lane->chunk, SEGMENT_NO_CHUNK);
    atomic_store(&lane->open_count, 0);
    prctl(PR_GET_NAME, lane->name);
    *w = (struct record_writer){.lane = lane, .used = SEGMENT_CHUNK_SLOTS};
    atomic_store_explicit(&lane->state, LANE_LIVE, memory_order_release);
    pthread_setspecific(at_thread_end, w);
    self.writer = w;
    self.generation = scaleprof_generation;
    return w;
}

/* The slow way to a writer: the first time in a thread, or in a forked child. */
static struct record_writer *first_writer(void)
{
    if (!process_open())
        return NULL;
    int saved = errno;
    self.busy++;
    struct record_writer *w = open_lane();
    self.busy--;
    errno = saved;
    if (w == NULL)
        atomic_fetch_add(&process.segment->dropped_no_lane, 1);
    return w;
}

/* Also while recording is paused: what begins and ends steps goes on. */
struct record_writer *lane_writer(void)
{
    if (atomic_load_explicit(&process.state, memory_order_acquire) == PROCESS_OFF || self.busy)
        return NULL;
    if (__builtin_expect(self.writer != NULL && self.generation == scaleprof_generation &&
                             atomic_load_explicit(&process.state, memory_order_relaxed) ==
                                 PROCESS_OPEN,
                         1))
        return self.writer;
    return first_writer();
}

struct record_writer *scaleprof_writer(void)
{
    if (atomic_load_explicit(&process.paused, memory_order_relaxed))
        return NULL;
    return lane_writer();
}

int scaleprof_refill(struct record_writer *w, unsigned count)
{
    struct segment_header *h = process.segment;
    seal(w);
    uint32_t index = segment_take_free(h);
    if (index == SEGMENT_NO_CHUNK) {
        atomic_fetch_add_explicit(&w->lane->dropped, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&w->lane->dropped_details, count - 1, memory_order_relaxed);
        return 0;
    }
    struct segment_chunk *chunk = segment_chunk_at(h, index);
    chunk->lane = (uint32_t)(w - process.writers);
    chunk->sequence = w->lane->next_sequence++;
    chunk->checksum = 0;
    atomic_store_explicit(&chunk->count, 0, memory_order_relaxed);
    atomic_store_explicit(&chunk->state, CHUNK_OWNED, memory_order_release);
    atomic_store(&w->lane->chunk, index);
    w->chunk = chunk;
    w->used = 0;
    return 1;
}

void scaleprof_unbalanced(struct record_writer *w)
{
    atomic_fetch_add_explicit(&w->lane->unbalanced, 1, memory_order_relaxed);
}

uint32_t scaleprof_string(const char *text)
{
    struct record_writer *w = lane_writer();
    return w != NULL && text != NULL ? intern_string(process.intern, w, text) : 0;
}

/* Looking for the module calls into the loader, which may call what is recorded. */
uint32_t scaleprof_site(const void *return_address)
{
    struct record_writer *w = lane_writer();
    if (w == NULL)
        return 0;
    self.busy++;
    uint32_t number = intern_site(process.intern, w, return_address);
    self.busy--;
    return number;
}

uint32_t scaleprof_communicator_define(const struct slot_communicator *definition)
{
    struct record_writer *w = lane_writer();
    return w != NULL ? intern_communicator(process.intern, w, definition) : 0;
}

void scaleprof_communicator_rename(uint32_t number, const char *name)
{
    struct record_writer *w = lane_writer();
    if (w != NULL)
        intern_rename(process.intern, w, number, scaleprof_string(name));
}
