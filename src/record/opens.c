#include "opens.h"

int opens_find(struct record_writer *w, uint8_t kind, uint8_t or_kind)
{
    uint32_t kept = w->open_count < RECORD_OPEN_MAX ? w->open_count : RECORD_OPEN_MAX;
    for (int place = (int)kept - 1; place >= 0; place--) {
        uint8_t found = record_open_at(w, (uint32_t)place)->kind;
        if (found == kind || found == or_kind)
            return place;
    }
    return -1;
}

void opens_remove(struct record_writer *w, int place)
{
    for (uint32_t i = (uint32_t)place; i + 1 < w->open_count && i + 1 < RECORD_OPEN_MAX; i++)
        *record_open_at(w, i) = *record_open_at(w, i + 1);
    record_set_open_count(w, w->open_count - 1);
}
