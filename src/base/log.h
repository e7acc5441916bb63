/* Messages to a person. A program gives the sink; without one nothing is written, so that a library
 * inside a job is silent unless its settings name a log file. Thread-safe; no malloc. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Gets one whole message without newline; must not call log_say. */
typedef void log_sink(enum log_level level, const char *message);

/* Sets the sink (NULL: none) and the least urgent level that reaches it. */
void log_open(log_sink *sink, enum log_level least);

/* Formats one message (cut at 1,000 bytes) and hands it to the sink. */
void log_say(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_say(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_say(LOG_WARNING, __VA_ARGS__)
#define log_info(...)    log_say(LOG_INFO, __VA_ARGS__)
#define log_debug(...)   log_say(LOG_DEBUG, __VA_ARGS__)

#endif
