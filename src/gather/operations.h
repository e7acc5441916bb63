/* Operations that one call starts and another sees end, by the number that both name. */
#ifndef GATHER_OPERATIONS_H
#define GATHER_OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct operation {
    uint64_t number;
    size_t row;
    int is_message;
};

struct completion {
    uint64_t number;
    size_t event; /* row of the call that saw the end */
    int64_t bytes;
    int32_t peer, tag;
    uint8_t flags;
};

struct operations {
    struct operation *list;
    size_t count, room;
    struct completion *ends;
    size_t end_count, end_room;
};

enum err operations_put(struct operations *o, struct operation operation);
enum err operations_put_end(struct operations *o, struct completion completion);

/* After operations_sort: the operation of this number; NULL. */
void operations_sort(struct operations *o);
const struct operation *operations_find(const struct operations *o, uint64_t number);
void operations_clear(struct operations *o);
void operations_close(struct operations *o);

#endif
