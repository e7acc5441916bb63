/* Collectives that the program marks itself and has not ended yet. */
#ifndef RECORD_OWN_H
#define RECORD_OWN_H

#include <stdint.h>

#define OWN_OPEN_MAX 4096u

struct own_begun {
    _Atomic uint64_t token; /* 0 free, 1 in someone's hands */
    int64_t begin_ns;
    int64_t sequence, bytes;
    uint32_t group, kind_name;
    int32_t root;
};

struct own {
    _Atomic uint32_t turns;
    struct own_begun begun[OWN_OPEN_MAX];
};

#endif
