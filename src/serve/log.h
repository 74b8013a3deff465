/* log.h - the daemon's log: lines on standard error that no reader can hold up.
 *
 * A pipe that nobody reads, a terminal that is stopped and a disk that hangs make a writer wait, and a daemon that waits
 * loses its lease. So the loop only puts lines into a buffer of LOG_ROOM bytes, and a thread of its own writes them. A line
 * that does not fit is dropped and counted, and the next line that fits is preceded by one that tells how many were. */
#ifndef DIBS_SERVE_LOG_H
#define DIBS_SERVE_LOG_H

#include <stddef.h>
#include <stdint.h>

enum { LOG_ROOM = 1 << 16 };

/* Until it has begun, and where a thread cannot be had, lines are written at once. */
void log_begin(void);
/* A whole line, with its newline. */
void log_line(const char *line, size_t len);
/* How many lines were dropped so far. */
uint64_t log_dropped(void);
/* Waits until all of it is written, but not for long. exit() does so by itself. */
void log_end(void);

#endif
