/* All recorded processes of this agent's job. */
#ifndef AGENT_WATCH_H
#define AGENT_WATCH_H

#include <stddef.h>

#include "base/err.h"
#include "part.h"

struct watch {
    const char *run, *parts; /* folders; not owned */
    struct part *list;
    size_t count;
};

void watch_open(struct watch *w, const char *run_folder, const char *parts_folder);
void watch_close(struct watch *w);

/* Finds new segments, drains all, and finishes those whose process has ended. Returns how many
 * chunks were copied. */
uint32_t watch_look(struct watch *w);

/* Processes that still live. */
size_t watch_live(const struct watch *w);

/* Takes the rest of every process that is left, whether it has ended or not. */
enum err watch_finish(struct watch *w);

#endif
