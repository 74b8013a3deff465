/* kind.h - what a lock is: exclusive, shared and group in one, or K slots. Used by lock.c alone.
 *
 * Two members may use a new name at once, in two ways, so one place must decide: the home of the name. A member that has not
 * met the name asks the home (ASK). The home fixes the kind at the first question, or at its own first use, and says what
 * the lock is (IS). A policy may fix the kind as well: then nobody has to ask. A lock that a client holds since before this view
 * stays what it is: the home finds out first whether one does (carried.h).
 *
 * The kind of a lock that nobody uses can change. A member whose client asks for another kind than the lock has asks the
 * home as well. If the home finds the lock unused, it asks all members to freeze it (RETIRE). A member at which a client
 * holds the lock or waits for it, or a site of which is asking or inside, answers that it keeps the lock. Any other member
 * *freezes* it: until it hears from the home again, its sites ask for nothing, and clients that come are left waiting. When
 * all have answered (FROZEN), the home says what the lock is from now on (IS): what it was, if one member keeps it;
 * otherwise what was asked for, in a new *epoch*, with which all members end their sites and begin anew. Clients that
 * want the kind that the lock is not get an error that names the right one.
 *
 * Why states of two kinds never meet. When the last member has frozen the lock, all its sites are idle, and stay so, as no
 * site asks. So nothing is lost with their states and with the messages between them that are still under way. Every
 * letter about a lock carries its epoch; one of an earlier epoch is thrown away. One of a later epoch can come before the
 * home's word does: it has the kind with it, the receiver has frozen the lock, and begins the new epoch; but its sites ask for
 * nothing until the home's word has come.
 *
 * Fences. Each member says how far its fences have come when it freezes the lock, and the home's word has the largest of
 * them: the fences of the new epoch are larger. */
#ifndef DIBS_LOCK_KIND_H
#define DIBS_LOCK_KIND_H

#include "instance.h"

struct lock_retire {
    uint32_t slots; /* what the lock is to become */
    bool kept;      /* by some member */
    uint64_t heard; /* bit j: member j has answered */
    uint64_t fence; /* the largest so far */
};

/* Does no client of this member use the lock, or wait for it to be of the kind that it is? */
bool kind_is_unused(const struct lock *lock);
/* A client wants a lock of this kind, and it is not known to be one. */
void kind_want(struct locks *l, struct lock *lock, uint32_t slots);
/* ASK, IS, RETIRE or FROZEN. Null, or what is wrong with it. */
const char *kind_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);
/* Any other letter about the lock: is it of this epoch? Else it is to be ignored, or something is wrong. */
bool kind_is_current(struct locks *l, struct lock *lock, const struct instance_message *m, const char **wrong);
/* Another member has said whether its clients hold the lock since before this view: that may be what the home waited for. */
void kind_go_on(struct locks *l, struct lock *lock);
void kind_end_view(struct locks *l, struct lock *lock);

/* In lock.c: clients that want another kind than the lock has are refused. */
void lock_refuse_others(struct locks *l, struct lock *lock);

#endif
