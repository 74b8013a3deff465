/* demo.h - `dibs demo`, in parts: a directory and processes that end with it (demo_place.c), the lock service (demo_service.c), which
 * the laboratory alone does not have, a plot (demo_plot.c), and the algorithms (cmd_demo.c).
 *
 * The tour starts daemons and commands, and nothing of them may be left behind, however the tour ends. Each process that it
 * starts is killed by the kernel when the tour dies. A process of its own, the sweeper, removes the directory when it reads the
 * end of a pipe whose other end the tour and all that it has started hold open: by then none of them runs. */
#ifndef DIBS_CLI_DEMO_H
#define DIBS_CLI_DEMO_H

#include "cli.h"

#include <sys/types.h>

enum { DEMO_PATH_MAX = 64, DEMO_WORDS_MAX = 24 };

/* ---- demo_place.c */
struct demo_place {
    char dir[DEMO_PATH_MAX]; /* of its own, short enough for sockets */
    int held;                /* the end of the pipe */
    pid_t sweeper;
};

/* Makes the directory. Prints a line on stderr and returns false if that fails. */
bool demo_open(struct demo_place *place);
/* Removes the directory. Processes that still run are waited for. */
void demo_close(struct demo_place *place);

/* A process of this program. */
struct demo_process {
    pid_t pid; /* 0: there is none */
    int in;    /* its standard input, or -1: it has none */
    int out;   /* its standard output, or -1: it goes where its errors go */
};

/* Starts `dibs WORD...`. What it prints on stderr goes to the file `errors`; null: to ours. */
enum demo_io {
    DEMO_PIPES /* its input and output */,
    DEMO_NO_PIPES /* no input, and its output goes to the same file */
};
bool demo_start(struct demo_process *p, enum demo_io io, const char *errors, const char *const *words);
/* Has it ended? */
bool demo_has_ended(struct demo_process *p);
/* Waits for its end, and returns its exit status; if a signal has ended it, 128 and its number. */
int demo_wait(struct demo_process *p);
/* Asks it to end, and waits for that. */
void demo_end(struct demo_process *p);
/* Runs `dibs WORD...` to its end. Its output is in `text`, at most size - 1 bytes of it; its errors go to the file, or, if that is null,
 * to ours. Returns its exit status. */
int demo_run(char *text, size_t size, const char *errors, const char *const *words);
/* Waits a moment, between two looks at something. */
void demo_pause(void);

/* ---- demo_service.c: a lock of three daemons, taken by two commands. False if something was not as it should be. */
bool demo_service(void);

/* ---- demo_plot.c: draws a plot into the file; null: only tells how. False if it could not be drawn. */
bool demo_plot(const char *out);

#endif
