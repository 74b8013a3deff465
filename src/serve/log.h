/* log.h - files to which the daemon appends lines: its log, on standard error, and its audit trail. A slow reader does not
 * block the daemon.
 *
 * A pipe without a reader, a stopped terminal or a disk that hangs makes a writer wait, and a daemon that waits loses
 * its lease. So the loop only puts lines into a buffer, and a thread writes them. A line that does not fit is dropped and
 * counted. So is a line that the file does not take, as a disk that is full. The next line that is written is preceded by one
 * that says how many lines were dropped. A line of which the file has taken the beginning is written to its end before any
 * other, so the file has whole lines only. */
#ifndef DIBS_SERVE_LOG_H
#define DIBS_SERVE_LOG_H

#include <stddef.h>
#include <stdint.h>

enum { LOG_ROOM = 1 << 16, LOG_AUDIT_ROOM = 1 << 20, LOG_LINE_MAX = 8192 };

struct log;
/* Writes the line that says how many lines were dropped, newline included, of at most LOG_LINE_MAX bytes. Returns its length. */
typedef size_t log_gap(void *user, uint64_t dropped, char *line);

/* A log of `room` bytes on the open file `fd`. With a path it appends to that file instead, and log_reopen closes it and
 * opens the path again. Returns null, and errno says why, if the file cannot be opened, or if no thread can be started for
 * it; if only the thread is missing and there is no path, it returns a log that writes lines at once. Logs are never freed: exit() waits for them, for a short time. */
struct log *log_open(int fd, const char *path, size_t room, log_gap *gap, void *user);
/* Logs a whole line, newline included, of at most LOG_LINE_MAX bytes. */
void log_line(struct log *log, const char *line, size_t len);
/* How many lines were dropped so far. *error becomes the reason for the last one: the errno of the file, or 0 if the file had not taken
 * earlier lines in time. */
uint64_t log_dropped(struct log *log, int *error);
/* The file may have been renamed: opens its path again, when the thread comes to it, which does not wait any longer for
 * the old file to take something. If that fails, the old file stays. */
void log_reopen(struct log *log);
/* Waits for a short time until all lines of all logs are written. exit() calls it. */
void log_end(void);

#endif
