/* convert.h - a client changes the mode in which it holds a lock: from shared to exclusive (an *upgrade*), or from exclusive to shared (a
 * *downgrade*), and no client that cannot share the lock is granted it in between (I37). Used by lock.c and its parts alone.
 *
 * No algorithm lets a site change its mode inside its critical section. So members agree on such a change above the algorithm. A member can
 * *bar* a lock: it sends BAR to all others, and each of them answers BARRED. From its answer on, until the bar is lifted or the view ends, a
 * member grants the lock to no client (BAR_ALL), or only to clients that share it (BAR_WRITERS).
 *
 * Upgrade. The request is a claim, `upgrade`, that waits before all others in its member's queue; its `other` is the claim that is to become
 * exclusive. The member's site is inside in the shared mode, and the member bars the lock for all. A client is *in the way* if its claim of the
 * lock is held, lingers or is withdrawn. Each other member answers at once how many of its clients are in the way, and answers again when none is.
 * (An upgrade that only tries ends when a client is in the way.) When no client of another member is in the way, and the claim is the only
 * one at its own member, it is the only one in the cluster: it becomes exclusive. The site stays inside in the shared mode, and the bar stays
 * until the client has released the lock or shares it again. The answers carry fences, and so does the BAR that lifts the bar. So the new
 * fencing token is larger than all earlier ones of the lock, and smaller than all later ones.
 *
 * Two upgrades of one lock would wait for each other for ever, so the second one is refused. Its member knows that one of its own clients waits
 * to upgrade the lock, or that another member has barred the lock for all. If two members bar the lock for all at the same time, each receives
 * the BAR of the other; the member that comes later in the order of the view refuses its upgrade.
 *
 * Downgrade. The claim is shared at once. If the site is inside in the exclusive mode, the member bars the lock for writers. When all members
 * have answered, the site leaves its critical section, and requests it again in the shared mode. Meanwhile the claim is held although its site is
 * not inside: a site of another member may enter to write, but that member grants nothing. When the site is inside again, the bar is lifted. That
 * may take long, if other sites share the lock and a writer waits. So the stay that begins then counts as a continuation of the previous one:
 * clients that have come since the downgrade share the lock only if no client waits that cannot share (report.h).
 * - If the claim was upgraded before, the site is inside in the shared mode already, and the bar for all is lifted.
 * - If the claim is carried over, it goes on to encumber the lock as an exclusive one until its site has entered for it.
 *
 * If the session is kept, other members have records of the mode (node/keep_convert.c). An upgraded claim is exclusive at once, and its client
 * is told later. A downgrade begins here only when all members know of it.
 *
 * A view that ends takes all bars with it. What clients hold is carried over (carried.h), as exclusive or as shared as it is; an upgrade
 * that waits goes on in the next view. */
#ifndef DIBS_LOCK_CONVERT_H
#define DIBS_LOCK_CONVERT_H

#include "instance.h"

enum bar { BAR_NONE, BAR_WRITERS, BAR_ALL };

struct lock_convert {
    struct claim *upgrade; /* a request of a client of this member to upgrade the lock, which waits; or null */
    struct claim *alone;   /* the claim that is exclusive, and whose site is inside in the shared mode; or null */
    bool tries;            /* the upgrade does not wait for other clients */
    enum bar raised;       /* the bar of this member */
    uint64_t arrived;      /* lock.arrived when it sent its last BAR */
    uint32_t number;       /* of its last BAR */
    uint64_t unheard;      /* bit j: member j has not answered that BAR with: no client is in the way */
    uint64_t held;         /* bit j: the last answer of member j was: some clients are in the way */
    uint64_t all, writers; /* bit j: member j bars this lock for all; for writers */
    uint64_t owed;         /* bit j: member j waits for the answer that no client of this member is in the way */
    uint32_t of[];         /* by member: the number of that member's last BAR */
};

/* Does a change of the mode, by a client of this member or of another one, forbid to grant the lock in this mode now? */
bool convert_forbids(const struct lock *lock, uint32_t mode);
/* A site has entered to share the lock. Returns the arrival of the last client to which the lock is granted at once: the last that has come; or,
 * if the site left because a client has downgraded the lock, the last that had come by then. */
uint64_t convert_joins(const struct lock *lock);
/* Does a client, here or elsewhere, wait to upgrade the lock? */
bool convert_is_wanted(const struct lock *lock);
/* The request `upgrade` has begun to wait. */
void convert_begin(struct locks *l, struct lock *lock, struct claim *upgrade, bool tries);
/* A claim that is a request to upgrade another one no longer waits. */
void convert_unwait(struct claim *upgrade);
/* Unlinks a request to change a mode from the claim that it is about; `c` is one of the two. */
void convert_part(struct claim *c);
/* The claim `c` is about to be lost or released. If its client waits for a change of its mode, that is refused. */
void convert_lose(struct locks *l, struct claim *c, enum refusal why);
/* The claim is no longer among the holders of its lock. */
void convert_leave(struct claim *c);
/* The claim `c` is shared from now on. */
void convert_share(struct locks *l, struct claim *c);
/* Takes the next steps of a change of the mode by a client of this member. The lock has sites. Returns true if a site has left its critical
 * section, or a client was told: then other clients may be served. */
bool convert_work(struct locks *l, struct lock *lock);
/* Answers members that bar the lock, if no client of this member is in the way. */
void convert_answer(struct locks *l, struct lock *lock);
/* The view, or the epoch of the lock, has ended, and all bars with it. */
void convert_end(struct lock *lock);
/* Receives BAR or BARRED. Returns null, or what is wrong with it. */
const char *convert_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);
/* Returns null, or which invariant about a client that changes its mode does not hold. */
const char *convert_check(const struct locks *l, const struct lock *lock);

#endif
