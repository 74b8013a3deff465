/* convert.h - a client changes the mode in which it holds a lock: from shared to exclusive (an *upgrade*), or from exclusive to shared (a
 * *downgrade*), and no client that cannot share the lock is granted it in between (I37). Used by lock.c and its parts alone.
 *
 * No algorithm lets a site change its mode inside its critical section. So members agree about it above the algorithm. A member can *bar* a
 * lock: it sends BAR to all others, and each of them answers BARRED. From its answer on, until the bar is lifted or the view ends, a member
 * grants the lock to no client (BAR_ALL), or only to clients that share it (BAR_WRITERS).
 *
 * Upgrade. The request is a claim of its own, `upgrade`, that waits before all others in its member's queue; its `other` is the claim
 * that is to be exclusive. The member, whose site is inside in the shared mode, bars the lock for all. Each other member answers at once
 * how many of its clients hold the lock (so an upgrade that only tries ends), and again when none does any more. When none of any member
 * does, the claim is the only one in the cluster: it becomes exclusive. The site stays inside in the shared mode, and the bar stays until the
 * client has released the lock or shares it again. The answers, and the BAR that lifts the bar, carry fences: so the new fencing token is
 * larger than all before, and smaller than all after.
 *
 * Two upgrades of a lock would wait for each other for ever. The second is refused: the member knows that one of its own clients, or
 * another member, waits. If two members have barred the lock for all at the same time, each hears of the other; the one that comes later in
 * the order of the view gives up.
 *
 * Downgrade. The claim is shared at once. If the site is inside for this claim alone, the member bars the lock for writers. When all
 * have answered, the site leaves its critical section, and requests it again, shared. The claim is held meanwhile, though its site is not
 * inside: another site may enter to write, but its member grants nothing. When the site is inside again, the bar is lifted. That may take
 * long, if other sites share the lock and a writer waits. So the site is not taken for one that has just entered: clients that have come since
 * the downgrade share the lock only if no client waits that cannot (report.h). If the claim was
 * upgraded before, the site is inside in the shared mode already, and the bar for all is lifted. If it is carried over, it goes on to
 * encumber the lock as an exclusive one until its site has entered for it.
 *
 * If the session is kept, other members have records of the mode (node/keep_convert.c). An upgraded claim is exclusive at once, and its client
 * is told later. A downgrade begins here when all members know of it.
 *
 * A view that ends takes all bars with it. What clients hold is carried over (carried.h), as exclusive or as shared as it is; an upgrade
 * that waits goes on in the next view. */
#ifndef DIBS_LOCK_CONVERT_H
#define DIBS_LOCK_CONVERT_H

#include "instance.h"

enum bar { BAR_NONE, BAR_WRITERS, BAR_ALL };

struct lock_convert {
    struct claim *upgrade; /* of a client of this member, that waits; or null */
    struct claim *alone;   /* the claim that is exclusive, and whose site is inside in the shared mode; or null */
    bool tries;            /* the upgrade does not wait for other clients */
    enum bar raised;       /* what this member bars, */
    uint64_t arrived;      /* the arrival of the last client that had come to this member by then, */
    uint32_t number;       /* the number of its last BAR, */
    uint64_t unheard;      /* bit j: and member j has not answered that none of its clients is in the way; */
    uint64_t held;         /* bit j: it has answered that some are */
    uint64_t all, writers; /* bit j: member j bars this lock */
    uint64_t owed;         /* bit j: and waits for the answer that no client of this member is in the way */
    uint32_t of[];         /* by member: the number of its last BAR */
};

/* May this client not be granted the lock now, since a client of this member or another one changes its mode? */
bool convert_forbids(const struct lock *lock, uint32_t mode);
/* The site has entered to share the lock: the arrival of the last client that it is granted to at once. If the site has left before, for a
 * client that has downgraded the lock, that is the last that had come then. */
uint64_t convert_joins(const struct lock *lock);
/* Does a client, here or elsewhere, wait to upgrade the lock? */
bool convert_is_wanted(const struct lock *lock);
/* The request `upgrade` has begun to wait. */
void convert_begin(struct locks *l, struct lock *lock, struct claim *upgrade, bool tries);
/* A claim that is a request to upgrade another one no longer waits. */
void convert_unwait(struct claim *upgrade);
/* The two claims have nothing to do with each other any more. */
void convert_part(struct claim *c);
/* The claim `c` is about to be lost or released. If its client waits for a change of its mode, that is refused. */
void convert_lose(struct locks *l, struct claim *c, enum refusal why);
/* The claim is no longer among the holders of its lock. */
void convert_leave(struct claim *c);
/* The claim `c` is shared from now on. */
void convert_share(struct locks *l, struct claim *c);
/* Does what can be done for clients of this member that change their mode. The lock has sites. Returns true if a site has left its critical
 * section, or a client was told. */
bool convert_work(struct locks *l, struct lock *lock);
/* Answers members that bar the lock, if no client of this member is in the way any more. */
void convert_answer(struct locks *l, struct lock *lock);
/* The view, or the epoch of the lock, has ended, and all bars with it. */
void convert_end(struct lock *lock);
/* Receives BAR or BARRED. Returns null, or what is wrong with it. */
const char *convert_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);
/* Returns null, or which invariant about a client that changes its mode does not hold. */
const char *convert_check(const struct locks *l, const struct lock *lock);

#endif
