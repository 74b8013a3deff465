/* log.h - the daemon's log: lines on standard error. A slow reader does not block the daemon.
 *
 * A pipe without a reader, a stopped terminal or a disk that hangs makes a writer wait, and a daemon that waits loses
 * its lease. So the loop only puts lines into a buffer of LOG_ROOM bytes, and a thread writes them. A line that does
 * not fit is dropped and counted. The next line that fits is preceded by one that says how many lines were dropped. */
#ifndef DIBS_SERVE_LOG_H
#define DIBS_SERVE_LOG_H

#include <stddef.h>
#include <stdint.h>

enum { LOG_ROOM = 1 << 16 };

/* Starts the thread. Before that, and if no thread can be started, lines are written at once. */
void log_begin(void);
/* Logs a whole line, newline included. */
void log_line(const char *line, size_t len);
/* How many lines were dropped so far. */
uint64_t log_dropped(void);
/* Waits for a short time until all lines are written. exit() calls it. */
void log_end(void);

#endif
