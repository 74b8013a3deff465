/* lock.h - `dibs lock`, in four parts: the names of the locks (lock_names.c), the wait for them (lock_wait.c), the command and its
 * processes (lock_job.c), and the options (cmd_lock.c). */
#ifndef DIBS_CLI_LOCK_H
#define DIBS_CLI_LOCK_H

#include "ask.h"
#include "wrap/wrap.h"

#include <signal.h>
#include <sys/types.h>

/* The exit statuses of `dibs lock`: the one table, from which the help is made, and which docs/failures.md repeats.
 * They are none of those of timeout(1), env(1) and xargs(1) (123 to 127, 137), of the shell (126, 127, from 128 on), of
 * sysexits.h (64 to 78), of flock(1) and of most commands (1, 2, ..), of Python (120), of daemontools (100, 111) and of
 * curl (up to 101). */
#define LOCK_STATUSES(X)                                                                                               \
    X(LOCK_NOT_GRANTED, 112, "the lock was not granted in time; --exit-status sets another one")                       \
    LOCK_RUN_STATUSES(X)
/* Those of `dibs lead`, whose wait has no limit. */
#define LOCK_RUN_STATUSES(X)                                                                                           \
    X(LOCK_LOST, 113, "the lock was lost, and COMMAND was ended")                                                      \
    X(LOCK_REFUSED, 114, "the daemon has refused the request")                                                         \
    X(LOCK_NO_DAEMON, 115, "no daemon was reached")                                                                    \
    X(LOCK_NO_QUORUM, 116, "the daemon does not reach a majority of the members")                                      \
    X(LOCK_DEADLOCK, 117, "COMMAND's locks and those of others wait for each other in a circle")                       \
    X(LOCK_CANNOT_RUN, 126, "COMMAND cannot be run")                                                                   \
    X(LOCK_NOT_FOUND, 127, "COMMAND was not found")                                                                    \
    X(LOCK_SIGNAL, 128, "+ N: signal N has ended COMMAND, or the wait")

enum {
#define LOCK_STATUS(name, number, text) name = (number),
    LOCK_STATUSES(LOCK_STATUS)
#undef LOCK_STATUS
};

struct lock_run {
    struct dibs_part part[DIBS_PARTS_MAX]; /* the locks */
    size_t count;
    struct ask_place place;
    bool quiet, verbose;
    bool forever;                          /* it waits without a limit for whatever is missing */
    bool yields;                           /* a signal that tells dibs to end ends the command, see struct wrap */
    uint64_t not_granted;                  /* the exit status then */
    double wait_s, ttl_s, grace_s, keep_s; /* negative: not given */
    uint64_t priority;
    unsigned background; /* enum wrap_background */
    char *const *command;
    bool undivided; /* the command line has no --: the first word is the lock, the others are the command */

    struct dibs *daemon;
    int signals; /* signalfd */
    sigset_t before, watched;
    sigset_t
        ignored; /* the caller ignores these: dibs does not end because of them, and the command inherits that (nohup) */
    bool lost;
};

/* The modes on the command line, each behind a name or before all of them. */
struct lock_modes {
    struct cli_marks shared, group, slots;
};

uint64_t lock_now_ms(void);
/* A signal that came, or 0. */
int lock_signal(const struct lock_run *run);
bool lock_ignores(const struct lock_run *run, int number);
/* Tells the user, on stderr. It waits a moment, and no longer: a terminal may be halted (Ctrl-S) or a pipe not be read, while the lock
 * and the command have to be watched. Bytes that cannot be written meanwhile are dropped. */
void lock_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* We stop, with all that the shell has started together with us, until the user lets us go on. If no shell is there to
 * do that, the system stops nothing. */
void lock_suspend(void);

/* Waits, runs the command, and releases. Returns the exit status. */
int lock_all(struct lock_run *run);

/* ---- lock_names.c */
/* The locks of the command line. Ends the program if they are wrong. */
void lock_name(struct lock_run *run, const char *const *names, size_t count, const struct lock_modes *modes);
/* Their names in quotes, for people. The text is valid until the next call. */
const char *lock_label(const struct lock_run *run);
/* Would the command run under more locks than a daemon can be told? Then the daemon would not find every deadlock. Tells the user so. */
bool lock_nests_too_deep(const struct lock_run *run);
/* The fence with which an outer `dibs lock` holds this lock, according to the environment; 0: there is none. */
uint64_t lock_outer_fence(const char *lock);
/* What the command finds in its environment. */
void lock_set_environment(const struct lock_run *run);

/* ---- lock_wait.c: connects and waits until the lock is held. Returns false, with an exit status and a line on stderr,
 * if that fails. */
bool lock_wait(struct lock_run *run, int *status);
/* Does this command run under one of these locks, which it may not share with itself? It would wait for itself. Tells the user so. */
bool lock_waits_for_itself(struct dibs *d, const struct dibs_part *parts, size_t count);

/* ---- lock_job.c: runs the command while the lock is held. When this returns, nothing that the command has started
 * runs, but with --background leave. Returns the exit status. */
int lock_job(struct lock_run *run);

#endif
