/* progress.h - a line on the terminal while a command works, and colours for verdicts.
 *
 * The line goes to standard error, appears when the work has taken a second, is written anew five times a second, and is
 * erased at the end. Nothing is written if standard error is no terminal. There is one work at a time; its functions may be
 * called from any thread.
 *
 * Colours are for standard output, if that is a terminal. They are left out if the variable NO_COLOR is set and not
 * empty, or if TERM is "dumb". */
#ifndef DIBS_CLI_PROGRESS_H
#define DIBS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The line says how many of what there is to do are done ("37 of 100 seeds"), and estimates the time that is left. */
void progress_begin(const char *what, uint64_t all);
/* If `all` is another number than before, another piece of work has begun, and so does the estimate. */
void progress_set(uint64_t done, uint64_t all);
/* A line in the caller's words takes the place of the numbers. */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Erases the line, before something else is printed; it comes back. */
void progress_clear(void);
void progress_end(void);

/* As pool_run (base/pool.h), while a line shows how many of the jobs are done. */
void progress_pool(unsigned threads, size_t count, void (*job)(void *context, size_t k), void *context,
                   const char *what);

/* Texts to print before and after a verdict: escape sequences, or empty. */
enum verdict_colour { VERDICT_GOOD, VERDICT_BAD, VERDICT_OPEN };
bool has_colours(void);
const char *colour_of(enum verdict_colour colour);
const char *colour_end(void);

#endif
