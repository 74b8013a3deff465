/* lock.h - `dibs lock`, in three parts: the wait for the lock (lock_wait.c), the command and its processes (lock_job.c), and
 * the options (cmd_lock.c). */
#ifndef DIBS_CLI_LOCK_H
#define DIBS_CLI_LOCK_H

#include "ask.h"
#include "wrap/wrap.h"

#include <signal.h>
#include <sys/types.h>

enum {
    LOCK_NO_DAEMON = 120,
    LOCK_TIMED_OUT = 121,
    LOCK_LOST = 122,
    LOCK_REFUSED = 123,
    LOCK_NO_QUORUM = 124,
    LOCK_CANNOT_RUN = 126,
    LOCK_NOT_FOUND = 127,
    LOCK_SIGNAL = 128, /* and its number */
};

struct lock_run {
    const char *name, *group;
    struct ask_place place;
    bool shared;
    uint64_t slots;
    double wait_s, ttl_s, grace_s; /* negative: not given */
    unsigned background;           /* enum wrap_background */
    char *const *command;

    struct dibs *daemon;
    int signals; /* signalfd */
    sigset_t before;
    uint64_t fence;
    bool lost;
};

uint64_t lock_now_ms(void);
/* A signal that came, or 0. */
int lock_signal(const struct lock_run *run);
/* We stop, with all that the shell has started together with us, until the user lets us go on. If no shell is there to do
 * that, the system stops nothing. */
void lock_suspend(void);

/* ---- lock_wait.c: connects and waits until the lock is held. Returns 0 or, after a line on stderr, the exit status. */
int lock_wait(struct lock_run *run);

/* ---- lock_job.c: runs the command while the lock is held. When this returns, nothing that the command has started runs, but
 * with --background leave. Returns the exit status. */
int lock_job(struct lock_run *run);

#endif
