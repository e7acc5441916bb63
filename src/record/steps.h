/* The program's steps: one is open at a time in a process, whichever thread marks it. */
#ifndef RECORD_STEPS_H
#define RECORD_STEPS_H

#include <stdint.h>

struct steps {
    _Atomic uint32_t open;
    _Atomic int64_t number;
    _Atomic int64_t begin_ns;
};

#endif
