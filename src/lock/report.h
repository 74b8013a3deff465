/* report.h - what a member knows about the claims of other members' clients on a lock. Used by lock.c alone.
 *
 * An algorithm tells a site when it may enter, and no more: the site does not learn that another site waits, nor in
 * which mode the lock is held. Two features need that knowledge.
 *
 * Sharing. While a site is inside in a mode that can be shared, its member also grants the lock to clients that arrive
 * later, but only while no client of any member waits that cannot share. Otherwise an unbroken series of readers would
 * starve a writer.
 *
 * Trying. A client that does not want to wait is answered as soon as it is granted the lock, or as soon as its member
 * knows that it would have to wait for a holder.
 *
 * For both, a member can *follow* a lock. It sends FOLLOW to all others. Each of them *reports* the claims of its
 * clients: at once, unless there are none, and whenever they change. A member whose site shares follows only the
 * *rivals* of its mode, clients that wait and cannot share it, until the view ends; that is one bit. A member with a
 * client that tries follows all claims, until no client tries any more. A FOLLOW has a number, and a report repeats it:
 * a report that answers an earlier FOLLOW is ignored. Mutual exclusion does not depend on reports. */
#ifndef DIBS_LOCK_REPORT_H
#define DIBS_LOCK_REPORT_H

#include "instance.h"

/* `followed` is a mode: report whether clients wait that cannot share it. Or it is one of these. */
enum { REPORT_NOTHING = LOCK_ALONE };
#define REPORT_EVERYTHING UINT32_MAX
/* `waits` is the mode in which clients wait. Or it is one of these, which are no group's mode. */
#define REPORT_NONE UINT32_MAX
#define REPORT_SEVERAL (UINT32_MAX - 1)

struct report {
    uint32_t held;      /* number of clients that hold the lock */
    uint32_t held_mode; /* the mode in which they hold it */
    uint32_t waits;
};

struct lock_reports {
    uint32_t followed, number; /* what this member follows, and the number of its last FOLLOW */
    uint32_t followers;        /* number of members that follow the lock at this member */
    struct {
        uint32_t followed, number; /* what that member follows, and the number of its last FOLLOW */
        struct report said, heard; /* the last report to that member, and from it */
    } of[];                        /* by member */
};

/* Does a client of another member wait that cannot share `mode`, according to the reports? */
bool report_has_rivals(const struct locks *l, const struct lock *lock, uint32_t mode);
/* Does this member know that claim `c`, which waits, would have to wait for a holder? */
bool report_is_in_vain(const struct locks *l, const struct lock *lock, const struct claim *c);
/* Reports changes to the followers, and sends FOLLOW if this member needs to follow something else than before. */
void report_update(struct locks *l, struct lock *lock);
/* Could report_update have something to do? If not: no member follows the lock, and this one has no reason to follow it. */
static inline bool report_is_needed(const struct lock *lock)
{
    return lock->reports || lock->tries || lock->convert ||
           (lock->site && !lock->slots && lock->site->node->phase == DME_INSIDE &&
            lock->site->node->mode != LOCK_ALONE);
}
void report_end(struct lock *lock);
/* Receives FOLLOW or REPORT. */
void report_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);

#endif
