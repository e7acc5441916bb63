#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#define MESSAGE_BYTES 1000

static _Atomic(log_sink *) current_sink;
static atomic_int least_level = LOG_INFO;

void log_open(log_sink *sink, enum log_level least)
{
    atomic_store(&least_level, (int)least);
    atomic_store(&current_sink, sink);
}

void log_say(enum log_level level, const char *format, ...)
{
    log_sink *sink = atomic_load(&current_sink);
    if (sink == NULL || (int)level > atomic_load(&least_level))
        return;
    char message[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    sink(level, message);
}
