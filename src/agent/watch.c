#include "watch.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

void watch_open(struct watch *w, const char *run_folder, const char *parts_folder)
{
    *w = (struct watch){.run = run_folder, .parts = parts_folder};
}

void watch_close(struct watch *w)
{
    for (size_t i = 0; i < w->count; i++)
        part_close(&w->list[i]);
    free(w->list);
    *w = (struct watch){0};
}

static int is_known(const struct watch *w, const char *path)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->list[i].segment_path, path) == 0)
            return 1;
    return 0;
}

static void take_in(struct watch *w, const char *path)
{
    struct part *larger = realloc(w->list, (w->count + 1) * sizeof *larger);
    if (larger == NULL)
        return;
    w->list = larger;
    if (part_open(&w->list[w->count], path, w->parts) == ERR_OK)
        w->count++;
}

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), n = strlen(ending);
    return length > n && strcmp(text + length - n, ending) == 0;
}

static void find_segments(struct watch *w)
{
    char path[PATH_MAX];
    DIR *dir = opendir(w->run);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (!ends_with(entry->d_name, ".segment") ||
            snprintf(path, sizeof path, "%s/%s", w->run, entry->d_name) >= (int)sizeof path)
            continue;
        if (!is_known(w, path))
            take_in(w, path);
    }
    if (dir != NULL)
        closedir(dir);
}

static void remove_part(struct watch *w, size_t i)
{
    part_close(&w->list[i]);
    w->list[i] = w->list[--w->count];
}

uint32_t watch_look(struct watch *w)
{
    uint32_t copied = 0;
    find_segments(w);
    for (size_t i = 0; i < w->count;) {
        int live = part_is_live(&w->list[i]);
        copied += part_drain(&w->list[i]);
        if (live || w->list[i].failed) {
            i++;
            continue;
        }
        if (part_finish(&w->list[i]) == ERR_OK)
            remove_part(w, i);
        else
            i++;
    }
    return copied;
}

size_t watch_live(const struct watch *w)
{
    size_t live = 0;
    for (size_t i = 0; i < w->count; i++)
        live += (size_t)part_is_live(&w->list[i]);
    return live;
}

enum err watch_finish(struct watch *w)
{
    enum err e = ERR_OK;
    find_segments(w);
    for (size_t i = 0; i < w->count; i++) {
        enum err one = part_finish(&w->list[i]);
        if (one && !e)
            e = one;
    }
    return e;
}
