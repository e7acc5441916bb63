#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "list.h"

#define COUNT_MAX (UINT64_C(1) << 40) /* no process loses more events */

static int is_ours(const struct segment_header *h)
{
    return memcmp(h->magic, SEGMENT_MAGIC, sizeof h->magic) == 0 && h->version == SEGMENT_VERSION &&
           h->slot_bytes == SEGMENT_SLOT_BYTES && h->lanes_max == SEGMENT_LANES_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Texts that end, times and counts that can be added up. */
static void tidy_header(struct segment_header *h)
{
    h->opened_ns = recording_time(h->opened_ns);
    h->opened_utc_ns = recording_time(h->opened_utc_ns);
    h->last_ns = recording_time(h->last_ns);
    h->dropped_no_lane = least(h->dropped_no_lane, COUNT_MAX);
    h->faults = least(h->faults, COUNT_MAX);
    if (h->mpi_phase > MPI_PHASE_ABORTED)
        h->mpi_phase = MPI_PHASE_NONE;
    h->host[sizeof h->host - 1] = 0;
    h->boot_id[sizeof h->boot_id - 1] = 0;
    h->program[sizeof h->program - 1] = 0;
}

enum err recording_read_header(const char *path, struct segment_header *out)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_from_errno(errno);
    ssize_t n = read(fd, out, sizeof *out);
    close(fd);
    if (n != (ssize_t)sizeof *out || !is_ours(out))
        return ERR_FORMAT;
    tidy_header(out);
    return ERR_OK;
}

static void tidy_lane(struct segment_lane *l)
{
    l->dropped = least(l->dropped, COUNT_MAX);
    l->dropped_details = least(l->dropped_details, COUNT_MAX);
    l->unbalanced = least(l->unbalanced, COUNT_MAX);
    for (uint32_t i = 0; i < SEGMENT_OPEN_MAX; i++)
        l->opens[i].begin_ns = recording_time(l->opens[i].begin_ns);
}

/* Maps a file that is at least a header and lanes long. */
static int map_file(struct recording *r, int index, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_size >= segment_bytes(SEGMENT_LANES_MAX, 0)) {
        void *memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory != MAP_FAILED && is_ours(memory)) {
            r->files[index].memory = memory;
            r->files[index].bytes = (uint64_t)status.st_size;
        } else if (memory != MAP_FAILED)
            munmap(memory, (size_t)status.st_size);
    }
    close(fd);
    return r->files[index].memory != NULL;
}

/* The chunk at `index` if all that its header claims lies in the file. */
static int read_chunk(const struct recording *r, int file, uint64_t index,
                      struct recording_chunk *out)
{
    uint64_t at = segment_bytes(SEGMENT_LANES_MAX, 0) + index * SEGMENT_CHUNK_BYTES;
    if (at + SEGMENT_CHUNK_HEADER > r->files[file].bytes)
        return -1;
    const struct segment_chunk *c = (const void *)((const char *)r->files[file].memory + at);
    uint32_t state =
        atomic_load_explicit(&((struct segment_chunk *)c)->state, memory_order_acquire);
    uint32_t count =
        atomic_load_explicit(&((struct segment_chunk *)c)->count, memory_order_acquire);
    uint32_t lane = c->lane;
    if (state != CHUNK_OWNED && state != CHUNK_SEALED)
        return state == CHUNK_ABSENT || state == CHUNK_FREE ? 0 : -1;
    if (count == 0)
        return 0;
    if (count > SEGMENT_CHUNK_SLOTS || lane >= SEGMENT_LANES_MAX ||
        at + SEGMENT_CHUNK_HEADER + (uint64_t)count * SEGMENT_SLOT_BYTES > r->files[file].bytes ||
        (c->checksum != 0 && c->checksum != segment_checksum(c, count)))
        return -1;
    *out = (struct recording_chunk){
        .lane = lane, .sequence = c->sequence, .count = count, .slots = c->slots};
    return 1;
}

static uint64_t chunks_in(const struct recording *r, int file)
{
    const struct segment_header *h = r->files[file].memory;
    uint64_t room =
        (r->files[file].bytes - segment_bytes(SEGMENT_LANES_MAX, 0) + SEGMENT_CHUNK_BYTES - 1) /
        SEGMENT_CHUNK_BYTES;
    return h->chunks_present < room ? h->chunks_present : room;
}

static enum err read_chunks(struct recording *r, int file)
{
    uint64_t count = chunks_in(r, file);
    struct recording_chunk *larger =
        realloc(r->chunks, (r->chunk_count + count + 1) * sizeof *larger);
    if (larger == NULL)
        return ERR_NO_MEMORY;
    r->chunks = larger;
    for (uint64_t i = 0; i < count; i++) {
        int found = read_chunk(r, file, i, &r->chunks[r->chunk_count]);
        r->chunk_count += found > 0;
        r->torn += found < 0;
    }
    return ERR_OK;
}

/* By lane and sequence; of two copies of a chunk the one with more slots first. */
static int compare_chunks(const void *a, const void *b)
{
    const struct recording_chunk *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->count > y->count ? -1 : x->count < y->count;
}

/* A chunk that could not be read leaves a hole unless it was its lane's last. */
static void drop_copies(struct recording *r)
{
    size_t kept = 0;
    int64_t holes = 0;
    qsort(r->chunks, r->chunk_count, sizeof *r->chunks, compare_chunks);
    for (size_t i = 0; i < r->chunk_count; i++) {
        const struct recording_chunk *c = &r->chunks[i], *last = kept ? &r->chunks[kept - 1] : NULL;
        if (last != NULL && last->lane == c->lane && last->sequence == c->sequence)
            continue;
        if (c->lane >= r->lane_count) {
            r->torn++;
            continue;
        }
        uint32_t expected = last != NULL && last->lane == c->lane ? last->sequence + 1 : 0;
        holes += c->sequence != expected;
        r->slots += c->count;
        r->chunks[kept++] = *c;
    }
    r->torn = r->torn > holes ? r->torn : holes;
    r->chunk_count = kept;
}

static enum err copy_head(struct recording *r, const void *newest)
{
    memcpy(&r->header, newest, sizeof r->header);
    tidy_header(&r->header);
    r->lane_count = (uint32_t)least(r->header.lanes_used, SEGMENT_LANES_MAX);
    r->lanes = calloc(r->lane_count + 1, sizeof *r->lanes);
    if (r->lanes == NULL)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < r->lane_count; i++) {
        memcpy(&r->lanes[i],
               (const char *)newest + SEGMENT_HEADER_BYTES + (size_t)i * SEGMENT_LANE_BYTES,
               sizeof *r->lanes);
        tidy_lane(&r->lanes[i]);
    }
    return ERR_OK;
}

/* The segment first: a chunk that the agent moves to the part meanwhile is then found at least
 * once. The head last: an interval that ends meanwhile is not told twice. */
enum err recording_open(struct recording *out, const char *part_path, const char *segment_path)
{
    struct recording r = {0};
    enum err e = ERR_OK;
    int segment = segment_path != NULL && map_file(&r, 1, segment_path);
    if (segment)
        e = read_chunks(&r, 1);
    int part = part_path != NULL && map_file(&r, 0, part_path);
    if (part && !e)
        e = read_chunks(&r, 0);
    if (!part && !segment) {
        log_warning("%s is not a segment of this version: left out",
                    part_path ? part_path : segment_path);
        return ERR_FORMAT;
    }
    if (!e)
        e = copy_head(&r, r.files[segment ? 1 : 0].memory);
    if (e) {
        recording_close(&r);
        return e;
    }
    drop_copies(&r);
    *out = r;
    return ERR_OK;
}

void recording_close(struct recording *r)
{
    for (int i = 0; i < 2; i++)
        if (r->files[i].memory != NULL)
            munmap(r->files[i].memory, r->files[i].bytes);
    free(r->chunks);
    free(r->definitions);
    free(r->lanes);
    *r = (struct recording){0};
}

void recording_rest(const struct recording *r)
{
    for (int i = 0; i < 2; i++)
        if (r->files[i].memory != NULL)
            madvise(r->files[i].memory, r->files[i].bytes, MADV_DONTNEED);
}

enum err recording_keep_definition(struct recording *r, const union slot *slot, uint32_t left)
{
    enum err e = list_make_room((void **)&r->definitions, r->definition_count, &r->definition_room,
                                sizeof *r->definitions);
    if (!e)
        r->definitions[r->definition_count++] =
            (struct recording_definition){.slot = slot, .left = left};
    return e;
}

void recording_lane(const struct recording *r, uint32_t lane, size_t *first, size_t *end)
{
    size_t low = 0, high = r->chunk_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->chunks[middle].lane < lane)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low < r->chunk_count && r->chunks[low].lane == lane)
        low++;
    *end = low;
}

uint32_t recording_text(const union slot *slot, uint32_t left, char out[1024])
{
    uint32_t length = slot->string.length, slots = 1u + slot->string.more;
    uint32_t first = length < SLOT_STRING_FIRST_BYTES ? length : SLOT_STRING_FIRST_BYTES;
    if (slots > left || length >= 1024 ||
        length > SLOT_STRING_FIRST_BYTES + (uint32_t)slot->string.more * SEGMENT_SLOT_BYTES)
        return 0;
    memcpy(out, slot->string.text, first);
    memcpy(out + first, slot[1].raw, length - first);
    out[length] = 0;
    return slots;
}
