#include "list.h"

#include <stdlib.h>

enum err list_make_room(void **list, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return ERR_OK;
    size_t wanted = *room ? *room * 2 : 16;
    void *larger = reallocarray(*list, wanted, bytes);
    if (larger == NULL)
        return ERR_NO_MEMORY;
    *list = larger;
    *room = wanted;
    return ERR_OK;
}
