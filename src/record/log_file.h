/* Where the recorder's messages go: the file of the setting log_file, else nowhere. */
#ifndef RECORD_LOG_FILE_H
#define RECORD_LOG_FILE_H

#include "base/settings.h"

/* The file is opened anew for each message, of which there are few: the job's file descriptors stay
 * as they are. */
void log_file_open(const struct settings *settings);

#endif
