#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "peers/mpi_comm.h"
#include "store_file.h"

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

static void free_tails(struct store *s)
{
    for (size_t i = 0; s->tails != NULL && i < s->table_count; i++) {
        for (size_t c = 0; s->tails[i] != NULL && c < s->tables[i].column_count; c++)
            tail_close(&s->tails[i][c]);
        free(s->tails[i]);
    }
    free(s->tails);
    s->tails = NULL;
}

/* Memory for values that wait is taken when there are some. */
static enum err make_tails(struct store *s)
{
    enum err e = chunk_filter_open(&s->filter);
    s->tails = calloc(s->table_count, sizeof *s->tails);
    if (e || s->tails == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < s->table_count; i++) {
        s->tails[i] = malloc(s->tables[i].column_count * sizeof **s->tails);
        if (s->tails[i] == NULL)
            return ERR_NO_MEMORY;
        for (size_t c = 0; c < s->tables[i].column_count; c++)
            s->tails[i][c] = (struct tail){.set = -1};
    }
    return ERR_OK;
}

static void free_store(struct store *s)
{
    if (s == NULL)
        return;
    free_tails(s);
    chunk_filter_close(s->filter);
    free(s->path);
    free(s->partial);
    free(s->rows);
    free(s);
}

/* What a person should hear before anything is computed: exists, or cannot be written. Also makes
 * the partial file, readable by its owner only. */
static enum err prepare(const struct store *s)
{
    if (!s->force && access(s->path, F_OK) == 0) {
        log_error("%s exists; --force replaces it", s->path);
        return ERR_EXISTS;
    }
    unlink(s->partial);
    int fd = open(s->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        enum err e = err_from_errno(errno);
        log_error("%s cannot be written: %s", s->partial, strerror(errno));
        return e;
    }
    close(fd);
    return ERR_OK;
}

static hid_t access_list(const struct store *s)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_V110);
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    if (s->by_mpi) {
        H5Pset_fapl_mpio(list, peers_communicator(s->peers), MPI_INFO_NULL);
        H5Pset_all_coll_metadata_ops(list, 1);
        H5Pset_coll_metadata_write(list, 1);
    }
    return list;
}

static enum err create_file(struct store *s)
{
    hid_t list = access_list(s);
    s->file = H5Fcreate(s->partial, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    H5Pclose(list);
    return s->file < 0 ? store_refused(s->partial, "its creation") : ERR_OK;
}

/* A relative name, so that the link holds when both files have moved. */
static enum err link_analysis(struct store *s)
{
    if (s->tables != run_table_list)
        return ERR_OK;
    char *path = store_analysis_path(s->path);
    if (path == NULL)
        return ERR_NO_MEMORY;
    herr_t done = H5Lcreate_external(basename(path), "/analysis", s->file, "analysis", H5P_DEFAULT,
                                     H5P_DEFAULT);
    free(path);
    return done < 0 ? store_refused(s->partial, "the link to the analysis") : ERR_OK;
}

static enum err make_store(struct store **out, const char *path, int force,
                           const struct table *tables, size_t count, struct peers *p)
{
    struct store *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ERR_NO_MEMORY;
    *s = (struct store){.file = -1,
                        .writing = 1,
                        .path = strdup(path),
                        .partial = with_ending(path, ".partial"),
                        .peers = p,
                        .by_mpi = peers_communicator(p) != MPI_COMM_NULL,
                        .force = force,
                        .tables = tables,
                        .table_count = count,
                        .rows = calloc(count, sizeof *s->rows)};
    if (s->path == NULL || s->partial == NULL || s->rows == NULL ||
        (!s->by_mpi && make_tails(s) != ERR_OK)) {
        free_store(s);
        return ERR_NO_MEMORY;
    }
    *out = s;
    return ERR_OK;
}

enum err store_create_all(struct store **out, const char *path, int force,
                          const struct table *tables, size_t count, struct peers *p)
{
    struct store *s = NULL;
    store_silence();
    enum err e = peers_agree_all(p, make_store(&s, path, force, tables, count, p));
    if (e) {
        free_store(s);
        return e;
    }
    e = peers_agree_all(p, peers_rank(p) == 0 ? prepare(s) : ERR_OK);
    if (e) {
        free_store(s);
        return e;
    }
    e = create_file(s);
    if (!e)
        e = layout_create(s);
    if (!e)
        e = link_analysis(s);
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
    enum err e = root < 0 ? ERR_HDF5 : attribute_write(root, name, value);
    if (root >= 0)
        H5Gclose(root);
    return e ? store_refused(s->partial, name) : ERR_OK;
}

static size_t table_index(const struct store *s, const struct table *t)
{
    return (size_t)(t - s->tables);
}

/* Makes the dataset `total` rows long and writes `count` values at `first`. */
static enum err write_values(struct store *s, hid_t set, const struct table_column *c,
                             const void *values, hsize_t first, hsize_t count, hsize_t total)
{
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (s->by_mpi)
        H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    herr_t done = H5Dset_extent(set, &total);
    hid_t file = H5Dget_space(set), memory = H5Screate_simple(1, &count, NULL);
    if (count > 0) {
        H5Sselect_hyperslab(file, H5S_SELECT_SET, &first, NULL, &count, NULL);
    } else {
        H5Sselect_none(file);
        H5Sselect_none(memory);
    }
    static const char nothing[8];
    if (done >= 0 && (count > 0 || s->by_mpi))
        done = H5Dwrite(set, column_native_type(c->type), memory, file, transfer,
                        count > 0 ? values : nothing);
    H5Sclose(memory);
    H5Sclose(file);
    H5Pclose(transfer);
    return done < 0 ? ERR_HDF5 : ERR_OK;
}

/* Alone, rows come one after another: whole chunks are made here. 1 when that took the values. */
static int write_tail(struct store *s, size_t table, size_t column, const void *values,
                      int64_t first, size_t count, enum err *e)
{
    const struct table_column *c = &s->tables[table].columns[column];
    struct tail *t = s->tails ? &s->tails[table][column] : NULL;
    char path[128];
    if (t == NULL || (first != t->end && count > 0))
        return 0;
    if (t->set < 0) {
        column_path(&s->tables[table], c, path);
        t->set = H5Dopen2(s->file, path, H5P_DEFAULT);
        t->chunk_rows = t->set >= 0 ? chunk_filter_rows(t->set, column_type_bytes(c->type)) : 0;
    }
    if (t->chunk_rows == 0)
        return 0;
    *e = tail_write(t, s->filter, values, count, column_type_bytes(c->type));
    return 1;
}

static enum err flush_tails(struct store *s)
{
    enum err e = ERR_OK;
    for (size_t i = 0; s->tails != NULL && i < s->table_count; i++)
        for (size_t c = 0; c < s->tables[i].column_count && !e; c++)
            e = tail_flush(&s->tails[i][c], s->filter,
                           column_type_bytes(s->tables[i].columns[c].type));
    free_tails(s);
    return e ? store_refused(s->partial, "writing it out") : ERR_OK;
}

static enum err write_column(struct store *s, const struct table *t, const struct table_column *c,
                             const void *rows, int64_t first, size_t count, int64_t total)
{
    enum err done = ERR_OK;
    if (write_tail(s, table_index(s, t), (size_t)(c - t->columns), rows_column(rows, c), first,
                   count, &done))
        return done ? store_refused(s->partial, t->path) : ERR_OK;
    char path[128];
    column_path(t, c, path);
    hid_t set = H5Dopen2(s->file, path, H5P_DEFAULT);
    if (set < 0)
        return store_refused(s->partial, path);
    enum err e = write_values(s, set, c, rows_column(rows, c), (hsize_t)first, (hsize_t)count,
                              (hsize_t)total);
    if (H5Dclose(set) < 0 && !e)
        e = ERR_HDF5;
    return e ? store_refused(s->partial, path) : ERR_OK;
}

enum err store_write_all(struct store *s, const struct table *t, const void *rows, int64_t first)
{
    size_t index = table_index(s, t), count = *(const size_t *)rows;
    int64_t end = peers_max_all(s->peers, count > 0 ? first + (int64_t)count : 0);
    if (end > s->rows[index])
        s->rows[index] = end;
    enum err e = ERR_OK;
    if (end > 0)
        for (size_t i = 0; i < t->column_count && !e; i++)
            e = write_column(s, t, &t->columns[i], rows, first, count, s->rows[index]);
    return peers_agree_all(s->peers, e);
}

enum err store_append_all(struct store *s, const struct table *t, const void *rows)
{
    int64_t count = (int64_t) * (const size_t *)rows;
    int64_t first = s->rows[table_index(s, t)] + peers_before_all(s->peers, count);
    return store_write_all(s, t, rows, first);
}

static enum err sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return err_from_errno(errno);
    enum err e = fsync(fd) == 0 || errno == EINVAL ? ERR_OK : err_from_errno(errno);
    close(fd);
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

/* Without force a file that has appeared since the start stays. */
static enum err publish(const struct store *s)
{
    char *folder = strdup(s->path);
    enum err e = folder ? sync_path(s->partial, O_RDONLY) : ERR_NO_MEMORY;
    if (!e && !s->force && access(s->path, F_OK) == 0)
        e = ERR_EXISTS;
    if (!e && rename(s->partial, s->path) != 0)
        e = err_from_errno(errno);
    if (!e)
        remove_old_analysis(s);
    if (e)
        log_error("%s: %s", s->path, err_text(e));
    else
        sync_path(dirname(folder), O_RDONLY | O_DIRECTORY);
    free(folder);
    return e;
}

enum err store_commit_all(struct store *s)
{
    enum err e = flush_tails(s);
    if (H5Fflush(s->file, H5F_SCOPE_GLOBAL) < 0)
        e = store_refused(s->partial, "writing it out");
    if (H5Fclose(s->file) < 0 && !e)
        e = store_refused(s->partial, "closing it");
    s->file = -1;
    e = peers_agree_all(s->peers, e);
    if (!e)
        e = peers_agree_all(s->peers, peers_rank(s->peers) == 0 ? publish(s) : ERR_OK);
    if (e && peers_rank(s->peers) == 0)
        unlink(s->partial);
    free_store(s);
    return e;
}

void store_abandon_all(struct store *s)
{
    if (s == NULL)
        return;
    free_tails(s);
    if (s->file >= 0)
        H5Fclose(s->file);
    H5Eclear2(H5E_DEFAULT);
    if (peers_rank(s->peers) == 0)
        unlink(s->partial);
    free_store(s);
}

void store_close(struct store *s)
{
    if (s == NULL)
        return;
    if (s->file >= 0)
        H5Fclose(s->file);
    free_store(s);
}
