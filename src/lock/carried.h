/* carried.h - carried-over holders: clients that have held a lock since an earlier view (I24). Used by lock.c and kind.c
 * alone.
 *
 * When a view begins, the instances of all algorithms begin anew and know of no holder. Each member sends all others a
 * digest of the names that its clients hold (digest.h). Members say nothing else about a lock until a client of one of
 * them wants it.
 *
 * A member *looks* for carried-over holders of a lock before it requests the lock for a client, and, as the home of the
 * name, before it tells a member the lock's kind. It looks up the name in the digests. If no digest has the name, the
 * lock has no carried-over holder at another member. Otherwise the member asks the senders of those digests (INQUIRE),
 * and does nothing about the lock until all of them have answered. An answer says how many clients of that member have
 * held the lock since an earlier view (ENCUMBERED), or that none has (CLEAR). A member that has answered ENCUMBERED also
 * reports when some of these clients have released the lock or have been taken over (FREED).
 *
 * A member turns its carried-over holders into ordinary ones if another member has asked about the lock, or if another
 * client of its own wants it. Its site requests the critical section on their behalf. When the site has entered, the
 * member takes the holders over into that stay and reports that they are no longer carried over (FREED). So other
 * clients wait only for the take-over, not for the release by a carried-over holder; with slots, they can be granted
 * another slot. A lock that no other client wants stays carried over, at no cost, for as long as it is held.
 *
 * The kind. A member knows the kind of a lock that its clients have held since an earlier view. The home of the name may
 * not know it. The member therefore sends the home ENCUMBERED, which carries the kind, before it tells another member
 * the kind and before its site makes a request. If the last carried-over holder releases the lock before that, the
 * member forgets the kind, and asks the home when it wants the lock again. The home fixes a kind only when it has
 * looked. So, if the name is in a member's digest, the home has received one of two answers from that member:
 * ENCUMBERED with the kind, or CLEAR. CLEAR means that the member does not know the kind (any more), or has told it in
 * an earlier ENCUMBERED, which CLEAR cannot overtake, since letters between two members arrive in order (I15, I16). */
#ifndef DIBS_LOCK_CARRIED_H
#define DIBS_LOCK_CARRIED_H

#include "instance.h"

/* Begins a new view: all holders of the lock at this member become carried-over holders, and nothing is known of those of other members. */
void carried_begin_view(struct locks *l, struct lock *lock);
/* Client `c` of this member is one more carried-over holder of the lock. */
void carried_adopt(struct locks *l, struct lock *lock, struct claim *c);
/* `count` clients of this member are no longer carried-over holders of the lock. */
void carried_freed(struct locks *l, struct lock *lock, uint32_t count);
/* Frees lock->carried if it has no content. */
void carried_tidy(struct lock *lock);
/* Site `s` has entered: takes over the carried-over holders that its stay can have. */
void carried_take_over(struct locks *l, struct lock *lock, uint32_t s);
/* Looks for carried-over holders at other members, unless that has been done in this view. */
void carried_look(struct locks *l, struct lock *lock);
/* Has this member asked for carried-over holders, and is an answer missing? */
static inline bool carried_is_unclear(const struct lock *lock)
{
    return lock->carried && lock->carried->unheard;
}
/* Must claim `c` wait for clients of other members that are, or may be, carried-over holders? */
static inline bool carried_encumbers(const struct lock *lock, const struct claim *c)
{
    const struct lock_carried *carried = lock->carried;

    return carried &&
           (carried->unheard || (carried->elsewhere && (lock->slots || !dme_compatible(c->mode, carried->mode))));
}
/* If this member has carried-over holders, tells the home of the name about them and the kind. */
void carried_tell_home(struct locks *l, struct lock *lock);
/* Answers the INQUIRE `m` of member `from`. `lock` is null if this member does not know the name. */
void carried_answer(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);
/* Member `from` has answered the INQUIRE of this member. */
void carried_heard(struct lock *lock, uint32_t from);
/* Receives ENCUMBERED or FREED. Returns null, or what is wrong with the message. */
const char *carried_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);
/* This member is the home. It remembers the ASK of member `from` until it knows all carried-over holders. */
void carried_defer_ask(struct locks *l, struct lock *lock, uint32_t from, uint32_t slots);

#endif
