/* kind.h - what a lock is: exclusive, shared and group in one, or K slots. Used by lock.c alone.
 *
 * The kind of a lock is decided in one place, the home of the name, since two members may use a new name at the same
 * time in two ways. A member that does not know the kind asks the home (ASK). The home fixes the kind at the first
 * question, or at its own first use, and tells the member (IS). A lock that a client has held since an earlier view keeps
 * its kind: the home finds out first whether there is such a client (carried.h).
 *
 * A policy may fix the kind. Then a lock gets that kind and no other one, and no member asks the home for it, unless a digest has the
 * name: such a lock may have been held since an earlier view, in which the policies were others. A member that finds the name in no digest of
 * another member, and has no carried-over holder itself, knows that there is none. If there is one, all other members find the
 * name in its member's digest. So either all members begin with the kind of the policy, or all of them with the kind that the home tells: that of
 * the carried-over holder, or that of the policy, if the digest has the name by chance. A lock that has kept another kind gets that of
 * the policy as described below, when a client requests it and no client uses it.
 *
 * A client that has said neither a mode nor a number of slots gets the lock as it is, if the policy gives it slots.
 *
 * The kind of a lock that no client uses can change. A member whose client requests another kind asks the home (ASK).
 * If the home finds the lock unused, it asks all members to freeze the lock (RETIRE). A member keeps the lock if one of
 * its clients holds the lock or waits for it, or if one of its sites waits or is inside. Any other member *freezes* the
 * lock: until the home has decided, its sites make no request, and new clients wait. Each member answers whether it
 * keeps the lock (FROZEN). When all members have answered, the home tells all of them the kind (IS). If a member keeps
 * the lock, the kind stays. Otherwise it becomes the requested one, in a new *epoch*: every member ends its sites and
 * begins new ones. Clients that want the other kind get an error that names the right one.
 *
 * Which clients may wait for another kind. A member does not ask the home before it knows all carried-over holders. Until then, if no client of
 * the member uses the lock, a client may begin to wait for another kind than the known one; later clients may wait for the known kind, and may
 * pass the first one by their priorities. The member remembers that kinds may differ (lock.mixed), and serves no client until it knows all
 * holders. Then the first client of the queue decides. If it wants another kind, the member asks the home, whose answer refuses the clients
 * that wait for other kinds. If it wants the known kind, the member itself refuses the others.
 *
 * Why states of two kinds never meet (I16). When the last member has frozen the lock, all its sites are idle. They stay
 * idle, since no site makes a request. So the states of the sites, and the messages that are still in flight between
 * them, can be discarded. Every letter about a lock carries the epoch of its sender. A letter of an earlier epoch is
 * discarded. A letter of a later epoch can arrive before the home's IS. In that case the receiver has frozen the lock,
 * takes the kind from the letter and begins the new epoch, but its sites make no request until IS has arrived.
 *
 * Fences. FROZEN carries the highest fence of its sender, and IS the maximum of all of them: the fences of the new
 * epoch are larger. */
#ifndef DIBS_LOCK_KIND_H
#define DIBS_LOCK_KIND_H

#include "instance.h"

struct lock_retire {
    uint32_t slots; /* the requested kind */
    bool kept;      /* a member has answered that it keeps the lock */
    uint64_t heard; /* bit j: member j has answered */
    uint64_t fence; /* the maximum of the answers so far */
};

/* True if no client of this member holds the lock, or waits for it as the present kind, no site of the member waits
 * or is inside, and no carried-over holder is known. Clients that wait while the lock is frozen do not count. */
bool kind_is_unused(const struct lock *lock);
/* This member has looked for carried-over holders. If no digest has the name and the policy fixes the kind, that is the kind. */
void kind_fix(struct locks *l, struct lock *lock);
/* A client requests the lock with `slots` slots, and this member does not know it to be of that kind: asks the home. */
void kind_want(struct locks *l, struct lock *lock, uint32_t slots);
/* Receives ASK, IS, RETIRE or FROZEN. Returns null, or what is wrong with the message. */
const char *kind_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);
/* Does the letter `m`, of any other type, belong to the lock's epoch? If not, the caller ignores the letter, unless
 * `*wrong` says what is wrong with it. */
bool kind_is_current(struct locks *l, struct lock *lock, const struct instance_message *m, const char **wrong);
/* The usual case of kind_is_current. */
static inline bool kind_is_same(const struct lock *lock, const struct instance_message *m)
{
    return lock->known && lock->epoch == m->epoch && lock->slots == m->slots;
}
/* To be called after a letter from another member. If this member is the home and now knows all carried-over holders,
 * it answers the ASKs that it has deferred. */
void kind_go_on(struct locks *l, struct lock *lock);
void kind_end_view(struct lock *lock);

/* In lock.c: refuses the waiting clients that requested another kind. */
void lock_refuse_others(struct locks *l, struct lock *lock);

#endif
