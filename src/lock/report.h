/* report.h - what a member knows of the claims that other members' clients have on a lock. Used by lock.c alone.
 *
 * An algorithm tells a site when it may enter, and no more: the site does not learn that another site waits, nor in which
 * mode the lock is held. Two things need that knowledge.
 *
 * Sharing. A site that is inside in a mode that can be shared lets clients in that come later, but only while no client of
 * any member waits that cannot share: otherwise readers that follow each other would keep a writer out for as long as
 * they come.
 *
 * Trying. A client that does not want to wait is answered as soon as it is granted the lock, or as soon as it is known that
 * it would have to wait for a holder.
 *
 * So a member may *follow* a lock. It sends FOLLOW to all others, and each of them *reports* what claims its clients have:
 * at once, unless there are none, and whenever that changes. A member that shares follows the rivals of its mode only,
 * which is one bit, and goes on to the end of the view. A member with a client that tries follows everything, until no
 * client tries any more. A FOLLOW has a number, and a report repeats it: a report that answers an earlier FOLLOW is
 * ignored. Nothing of this is needed for mutual exclusion. */
#ifndef DIBS_LOCK_REPORT_H
#define DIBS_LOCK_REPORT_H

#include "instance.h"

/* What is followed: the clients that wait and cannot share this mode; or one of these. */
enum { REPORT_NOTHING = LOCK_ALONE };
#define REPORT_EVERYTHING UINT32_MAX
/* The mode in which clients wait; or one of these. No group has such a mode. */
#define REPORT_NONE UINT32_MAX
#define REPORT_SEVERAL (UINT32_MAX - 1)

struct report {
    uint32_t held;      /* how many clients hold the lock */
    uint32_t held_mode; /* and in which mode */
    uint32_t waits;
};

struct lock_reports {
    uint32_t followed, number; /* what this member follows, and the number of its last FOLLOW */
    uint32_t followers;        /* members that follow this one */
    struct {
        uint32_t followed, number; /* what that member follows */
        struct report said, heard; /* to it, by it */
    } of[];                        /* by member */
};

/* Does a client of another member wait that cannot share this mode, as far as is known? */
bool report_has_rivals(const struct locks *l, const struct lock *lock, uint32_t mode);
/* Is it known that this claim, which waits, would have to wait for a holder? */
bool report_is_in_vain(const struct locks *l, const struct lock *lock, const struct claim *c);
/* Something may have changed: the followers are told, and what there is a reason to follow is followed. */
void report_update(struct locks *l, struct lock *lock);
void report_end(struct lock *lock);
/* FOLLOW or REPORT. */
void report_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);

#endif
