#include "list.h"

#include <stdlib.h>

enum err list_join_all(void **list, size_t *count, size_t *room, size_t bytes, struct peers *p)
{
    void *all;
    size_t all_bytes;
    enum err e = peers_gather_all(p, *list, *count * bytes, &all, &all_bytes, NULL);
    if (e)
        return e;
    free(*list);
    *list = all;
    *count = *room = all_bytes / bytes;
    return ERR_OK;
}
