/* again.h - whether `dibs lock` asks again, where and when, if an attempt has ended without the locks.
 *
 * There is no I/O here: src/cli/lock_wait.c makes the attempts. An attempt connects to a daemon and requests the locks. It ends with the
 * locks, or because something is missing: a holder has not released a lock in time, the daemon reaches no majority, or there is no daemon.
 *
 *   A1. With a limit (--wait), dibs tries until the limit is over. Without one, it waits in the request alone, so an attempt that fails is the
 *       last one, except that all places of --connect are asked once (A3). `dibs lead` tries without end.
 *   A2. It tries again only if that can help: not if the daemon has refused the request, or does not admit this user.
 *   A3. If a member says that it grants no locks, the next place of --connect comes first from then on, at once; but after one round of all
 *       places, each attempt waits for a pause, as after any other failure.
 *   A4. A pause is twice as long as the one before it, up to AGAIN_PAUSE_MS_MAX, and not longer than the rest of the limit. */
#ifndef DIBS_WRAP_AGAIN_H
#define DIBS_WRAP_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

enum { AGAIN_PAUSE_MS = 50, AGAIN_PAUSE_MS_MAX = 1000 };

/* Why an attempt has ended. */
enum again_why {
    AGAIN_GONE,      /* no daemon was reached, or the connection has broken */
    AGAIN_DENIED,    /* the system does not let this user connect to the daemon */
    AGAIN_NO_QUORUM, /* the member grants no locks: it reaches no majority, or is being drained */
    AGAIN_LOST,      /* the locks were granted, and lost before the command began */
    AGAIN_REFUSED    /* anything else: the daemon has refused the request, or the time is over */
};

struct again {
    bool forever;         /* `dibs lead` */
    uint64_t deadline_ms; /* the end of the limit; 0: there is none */
    unsigned places;      /* how many places --connect names; 0 or 1: there is no other one */
    unsigned moves;       /* how often another place has come first */
    uint64_t pause_ms;    /* the last pause; 0: there was none */
};

struct again_next {
    bool ends;      /* dibs gives up; nothing below counts */
    bool elsewhere; /* the next place of --connect comes first from now on */
    uint64_t pause_ms;
};

/* The rest of the limit. `dibs lead`: UINT64_MAX; 0 if there is no limit (A1). */
uint64_t again_left_ms(const struct again *a, uint64_t now_ms);
struct again_next again_step(struct again *a, enum again_why why, uint64_t now_ms);

#endif
