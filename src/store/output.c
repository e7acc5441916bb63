/* The life of a file that is written: create, commit or abandon. */
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "partial.h"
#include "peers/mpi_comm.h"
#include "store_file.h"

/* More than the names, types and attributes of all tables take. */
#define METADATA_BYTES ((int64_t)1 << 20)

static char *with_ending(const char *path, const char *ending)
{
    char *text = NULL;
    return asprintf(&text, "%s%s", path, ending) < 0 ? NULL : text;
}

char *store_analysis_path(const char *run_path)
{
    size_t length = strlen(run_path);
    char *path = NULL;
    if (length > 3 && strcmp(run_path + length - 3, ".h5") == 0)
        length -= 3;
    return asprintf(&path, "%.*s.analysis.h5", (int)length, run_path) < 0 ? NULL : path;
}

void store_free(struct store *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; s->blocks != NULL && i < s->table_count; i++)
        blocks_close(&s->blocks[i]);
    for (size_t i = 0; s->outputs != NULL && i < s->table_count; i++)
        free(s->outputs[i].sets);
    free(s->blocks);
    free(s->outputs);
    if (s->ignores_size)
        sigaction(SIGXFSZ, &s->size_action, NULL);
    inputs_close(s);
    chunk_filter_close(s->filter);
    if (s->lock >= 0)
        close(s->lock);
    free(s->path);
    free(s->partial);
    free(s);
}

/* A limit on the size of files shall be an error like a full disk, not the end of the process. */
static void ignore_size_signal(struct store *s)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    s->ignores_size = sigaction(SIGXFSZ, &ignore, &s->size_action) == 0;
}

static enum err make_outputs(struct store *s)
{
    s->outputs = calloc(s->table_count, sizeof *s->outputs);
    s->blocks = calloc(s->table_count, sizeof *s->blocks);
    enum err e = s->outputs && s->blocks ? ERR_OK : ERR_NO_MEMORY;
    for (size_t i = 0; i < s->table_count && !e; i++) {
        s->outputs[i].sets = calloc(s->tables[i].column_count, sizeof(hid_t));
        e = s->outputs[i].sets ? ERR_OK : ERR_NO_MEMORY;
        if (!e)
            e = blocks_open(&s->blocks[i], &s->tables[i], table_chunk_rows(&s->tables[i]));
    }
    return e;
}

static enum err make_store(struct store **out, const char *path, int force,
                           const struct table *tables, size_t count, struct peers *p)
{
    struct store *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ERR_NO_MEMORY;
    *s = (struct store){.file = -1,
                        .path = strdup(path),
                        .partial = with_ending(path, ".partial"),
                        .peers = p,
                        .by_mpi = peers_size(p) > 1,
                        .force = force,
                        .lock = -1,
                        .tables = tables,
                        .table_count = count};
    enum err e = s->path && s->partial ? make_outputs(s) : ERR_NO_MEMORY;
    if (!e)
        e = chunk_filter_open(&s->filter);
    if (e)
        store_free(s);
    else
        *out = s;
    return e;
}

/* On its own disk each host would write a file of its own, with holes where the others' rows are.
 */
static enum err check_shared_all(struct store *s)
{
    int64_t mark = clock_utc_ns();
    if (!s->by_mpi)
        return ERR_OK;
    enum err e = peers_broadcast_all(s->peers, &mark, sizeof mark, 0);
    if (!e && peers_rank(s->peers) == 0)
        e = partial_mark(s->lock, s->partial, mark);
    e = peers_agree_all(s->peers, e);
    if (e)
        return e;
    int64_t blind = peers_sum_all(s->peers, !partial_has_mark(s->partial, mark));
    if (blind > 0 && peers_rank(s->peers) == 0)
        log_error("%s is not seen by %lld of the %d processes that should write it: the output "
                  "must lie where all of them reach it, or be written by one process",
                  s->partial, (long long)blind, peers_size(s->peers));
    return peers_agree_all(s->peers, blind > 0 ? ERR_IO : ERR_OK);
}

/* Our own lock keeps other writers away; HDF5's would meet it. */
static enum err create_file(struct store *s)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_V110);
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    H5Pset_file_locking(list, 0, 1);
    if (s->by_mpi) {
        H5Pset_fapl_mpio(list, peers_communicator(s->peers), MPI_INFO_NULL);
        H5Pset_all_coll_metadata_ops(list, 1);
        H5Pset_coll_metadata_write(list, 1);
    }
    s->file = H5Fcreate(s->partial, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    enum err e = s->file < 0 ? store_refused(s, "creation") : ERR_OK;
    H5Pclose(list);
    return e;
}

/* A relative name, so that the link holds when both files have moved. */
static enum err link_analysis(struct store *s)
{
    if (s->tables != run_table_list)
        return ERR_OK;
    char *path = store_analysis_path(s->path);
    if (path == NULL)
        return ERR_NO_MEMORY;
    herr_t done = H5Lcreate_external(basename(path), "/analysis", s->file, "/analysis", H5P_DEFAULT,
                                     H5P_DEFAULT);
    free(path);
    return done < 0 ? store_refused(s, "/analysis") : ERR_OK;
}

enum err reserve_all(struct store *s, int64_t bytes)
{
    enum err e = ERR_OK;
    if (!s->by_mpi)
        return ERR_OK;
    if (peers_rank(s->peers) == 0)
        e = partial_reserve(s->lock, s->partial, bytes + METADATA_BYTES, &s->reserved);
    return peers_agree_all(s->peers, e);
}

/* All processes write the same metadata: the first one's time. */
static enum err stamp_all(struct store *s)
{
    char text[32] = "";
    int64_t now_ns = clock_utc_ns();
    enum err e = peers_broadcast_all(s->peers, &now_ns, sizeof now_ns, 0);
    time_t now = (time_t)(now_ns / 1000000000);
    struct tm utc;
    if (e)
        return e;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    e = store_attribute_all(s, "created_utc", text);
    return e ? e
             : store_attribute_all(s, "content",
                                   s->tables == run_table_list ? "recording" : "analysis");
}

enum err store_create_all(struct store **out, const char *path, int force,
                          const struct table *tables, size_t count, struct peers *p)
{
    struct store *s = NULL;
    store_silence();
    enum err e = peers_agree_all(p, make_store(&s, path, force, tables, count, p));
    if (!e)
        e = peers_agree_all(
            p, peers_rank(p) == 0 ? partial_open(s->path, s->partial, force, &s->lock) : ERR_OK);
    if (e) {
        store_free(s);
        return e;
    }
    ignore_size_signal(s);
    e = check_shared_all(s);
    if (!e)
        e = reserve_all(s, 0);
    if (!e)
        e = peers_agree_all(p, create_file(s));
    s->reserved = 0;
    if (!e)
        e = reserve_all(s, 0);
    if (!e)
        e = layout_create(s);
    if (!e)
        e = link_analysis(s);
    if (!e)
        e = stamp_all(s);
    e = peers_agree_all(p, e);
    if (e) {
        store_abandon_all(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

enum err store_attribute_all(struct store *s, const char *name, const char *value)
{
    hid_t root = H5Gopen2(s->file, "/", H5P_DEFAULT);
    if (root < 0)
        return store_refused(s, "/");
    enum err e = attribute_write(s, root, name, value);
    H5Gclose(root);
    return e;
}

/* The results of the run that was here before are not those of this one. */
static void remove_old_analysis(const struct store *s)
{
    char *path = s->tables == run_table_list ? store_analysis_path(s->path) : NULL;
    if (path != NULL)
        unlink(path);
    free(path);
}

static enum err publish(const struct store *s)
{
    enum err e = partial_publish(s->path, s->partial, s->force);
    if (!e)
        remove_old_analysis(s);
    return e;
}

static enum err flush(struct store *s)
{
    return H5Fflush(s->file, H5F_SCOPE_GLOBAL) < 0 ? store_refused(s, "flushing") : ERR_OK;
}

/* HDF5 writes what it still holds when the file is closed, and cannot close it where that fails:
 * what the file took of a full disk is given back before. */
static void discard(const struct store *s)
{
    if (peers_rank(s->peers) == 0 && s->lock >= 0) {
        unlink(s->partial);
        while (ftruncate(s->lock, 0) != 0 && errno == EINTR)
            continue;
    }
    peers_agree_all(s->peers, ERR_OK);
}

enum err store_commit_all(struct store *s)
{
    enum err e = write_rest_all(s);
    if (e) {
        store_abandon_all(s);
        return e;
    }
    e = peers_agree_all(s->peers, flush(s));
    if (!e) {
        e = H5Fclose(s->file) < 0 ? store_refused(s, "closing") : ERR_OK;
        s->file = -1;
        e = peers_agree_all(s->peers, e);
    }
    if (!e)
        e = peers_agree_all(s->peers, peers_rank(s->peers) == 0 ? publish(s) : ERR_OK);
    if (e) {
        store_abandon_all(s);
        return e;
    }
    store_free(s);
    return ERR_OK;
}

void store_abandon_all(struct store *s)
{
    if (s == NULL)
        return;
    discard(s);
    if (s->file >= 0)
        H5Fclose(s->file);
    H5Eclear2(H5E_DEFAULT);
    store_free(s);
}
