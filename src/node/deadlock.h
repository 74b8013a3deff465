/* deadlock.h - clients that wait for each other in a circle, at one member or at several (I36).
 *
 * The model. A session waits for one lock at a time. While it waits, it acquires no lock. Its *wait* is blocked by every
 * session that holds the lock in a mode that excludes it. A *cycle* is a sequence of waits in which each is blocked by the session of
 * the next one, and the last by the session of the first. None of these waits ends before a TTL or a time limit is over. In a lock with
 * several slots a wait ends with any of the holders, so such locks are not part of cycles here. Nor is a wait behind another wait.
 *
 * A command that runs under locks (`dibs lock a -- COMMAND`) may request others, in a session of its own, and the locks under which it
 * runs are not released before it ends. So a session may say under which locks it runs, each by its name and fence (HELLO .. UNDER). A session
 * that holds a lock and does not wait is a *parent* if a session that runs under this lock waits, its *child*: then the parent is a hop of the
 * path without a wait of its own, and the child is the next hop.
 *
 * Search (Chandy, Misra and Haas, "Distributed deadlock detection", 1983, in the AND model). A wait of a session that holds
 * something, and that has lasted for conf.deadlock_ms, sends a *probe* to all members: which sessions hold this lock, and wait? Their
 * member adds each of these waits to the path in the probe, and sends the longer probe to all members. If a probe comes back to the
 * session that sent it, its path is a cycle. A wait passes the same probe on once.
 *
 * Victim. Waits are ordered by their stamps: the time of day at which they began, then the member and the number. A probe follows
 * only waits that are older than the wait that sent it. So only the youngest wait of a cycle finds the cycle. That wait ends, with the
 * outcome CLAIM_TIMED_OUT and the cycle in session.cycle.
 *
 * When a cycle comes into being, its youngest wait has just begun: the sessions of the older waits held what they hold before. So one probe
 * is enough, if no clock is wrong and no note is lost. For these cases a probe is sent again and again, at longer intervals.
 *
 * No false victim (I36). A wait may end, and a lock may be released, while a probe is under way. So the cycle is not believed before a second
 * probe (DEADLOCK_CONFIRM) has followed its path: each member looks again whether the same wait lasts (a claim's number is used once) and
 * whether its session holds the same lock with the same fence. A fact that both probes find was true all the time in between. The second began when
 * the first had ended; at that moment all of the cycle existed.
 *
 * Costs. A session that holds nothing and runs under nothing is never the first of a cycle, and sends no probe. Probes are notes: they may be lost. What a
 * member does for one probe is bounded (DEADLOCK_LOOKS). Many clients that wait for each other can make many probes; these take only a
 * part of the room for notes (DEADLOCK_NOTES), so that queries are answered meanwhile. */
#ifndef DIBS_NODE_DEADLOCK_H
#define DIBS_NODE_DEADLOCK_H

#include "base/ring.h"
#include "link/link.h"
#include "lock/lock.h"

struct node;
struct session;
struct unpack;

enum {
    DEADLOCK_MS = 1000,       /* of waiting before anything is done, unless the configuration says otherwise */
    DEADLOCK_HOPS_MAX = 16,   /* waits in a cycle that is found */
    DEADLOCK_LOOKS = 512,     /* holders that are looked at for one probe */
    DEADLOCK_SPREAD = 16,     /* to pass a probe on counts as looking at this many */
    DEADLOCK_PIECE = 64,      /* probes that are sent in one turn */
    DEADLOCK_NOTES = 1 << 16, /* bytes of notes to a member: if there are as many, a probe is dropped */
    DEADLOCK_AGAIN = 5,       /* a wait sends its second probe after this many times the first delay */
    DEADLOCK_WHO_MAX = 95,
    DEADLOCK_UNDER_MAX = 64 /* locks under which a session runs; dibs lock runs no command under more of them */
};

/* A lock under which a session runs. */
struct deadlock_under {
    uint64_t fence;
    uint8_t name_len;
    char name[LOCK_NAME_MAX];
};

struct deadlocks {
    struct ring young;  /* sessions that wait and hold something, and have sent no probe for this wait, oldest first */
    struct ring old;    /* those that have sent a probe for it, in the order of their last probes */
    struct ring nested; /* sessions that wait, and run under locks */
    uint64_t probes;    /* sent so far, also for waits at other members */
    uint64_t victims;
};

/* A cycle, as the victim is told of it; the victim's wait comes first. Each client waits for `name`, which the next client holds. A parent
 * holds `name`, and the next client runs under it. */
struct deadlock_cycle {
    unsigned count;
    struct {
        char name[LOCK_NAME_MAX + 1], who[DEADLOCK_WHO_MAX + 1], member[LINK_NAME_MAX + 1];
        uint8_t name_len;
        bool is_parent;
    } hop[];
};

/* The cycle in words, for the victim or about it: "this client waits for ..". A lock that `sees` says no about has no name in them, nor have
 * clients that hold it; a null pointer sees all. */
struct dme_text;
typedef bool deadlock_sees(const void *user, const char *name, size_t len);
void deadlock_tell(const struct deadlock_cycle *cycle, deadlock_sees *sees, const void *user, struct dme_text *text);

void deadlocks_init(struct deadlocks *d);
/* The session begins to wait; it no longer waits. */
void deadlock_watch(struct session *s);
void deadlock_forget(struct session *s);
/* For node.c. */
void deadlocks_advance(struct node *node);
uint64_t deadlocks_due_ms(const struct node *node);
/* Receives DEADLOCK_PROBE or DEADLOCK_CONFIRM. Returns null, or what is wrong with it. */
const char *deadlock_hear(struct node *node, bool confirms, struct unpack *u);

#endif
