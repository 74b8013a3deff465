/* carried.h - locks that are held since before this view: *old* holders. Used by lock.c and kind.c alone.
 *
 * When a view begins, the instances of all algorithms begin anew, and know of no holder. Each member has sent all others a
 * digest of the names that its clients hold (digest.h). Members say nothing else about a lock until one of them wants it.
 *
 * A member that wants a lock, be it for a client or, as the home of the name, to say of which kind it is, *looks* first
 * which digests have the name. If none has, no client holds the lock since before this view. Otherwise the member asks the
 * members of those digests (INQUIRE), and does nothing about the lock until all of them have answered. The answer is how
 * many clients hold the lock since before this view (ENCUMBERED), or that none does (CLEAR). A member that has answered
 * ENCUMBERED also tells when some of these clients hold the lock no longer (FREED).
 *
 * A member that was asked, or another client of which wants the lock, makes its old holders ordinary ones: its site asks on
 * their behalf, and when it is inside by the algorithm, it takes them over, and they are old no more (FREED). So other
 * clients wait for the take-over, and not until an old holder leaves: with slots, they may be granted another slot. A lock
 * that no other client wants stays as it is, and costs nothing, for as long as it is held.
 *
 * Its kind. A member knows the kind of a lock that its clients hold since before this view, and the home of the name may
 * not. Before the member tells another member of the kind, or its site asks, it tells the home (ENCUMBERED, which has the
 * kind with it). If the last old holder leaves before that, the member forgets the kind, and asks the home when it wants
 * the lock again. The home says what a lock is only when it has looked. So if the name is in a digest, the home has heard
 * of the kind by then, or it has heard CLEAR from a member that has forgotten the kind: CLEAR comes behind ENCUMBERED, as
 * letters between two members come in order. */
#ifndef DIBS_LOCK_CARRIED_H
#define DIBS_LOCK_CARRIED_H

#include "instance.h"

/* A new view: all holders of the lock are old, and nothing is known of other members. */
void old_begin_view(struct locks *l, struct lock *lock);
/* So many of the own clients no longer hold it since before this view. */
void old_freed(struct locks *l, struct lock *lock, uint32_t count);
/* If nothing of it is needed any more, nothing is kept. */
void old_tidy(struct lock *lock);
/* A site is inside: it takes over whom it can. */
void old_take_over(struct locks *l, struct lock *lock, uint32_t s);
/* The lock is wanted: if it was not looked at in this view, this is done now. */
void old_look(struct locks *l, struct lock *lock);
/* Is the lock wanted, and some member has not yet said whether its clients hold it since before this view? */
static inline bool old_is_unclear(const struct lock *lock)
{
    return lock->old && lock->old->unheard;
}
/* Must this claim wait for those elsewhere who hold, or may hold, the lock since before this view? */
bool old_encumbers(const struct lock *lock, const struct claim *c);
/* The home gets to know of which kind the lock is. */
void old_tell_home(struct locks *l, struct lock *lock);
/* Another member wants to know. The lock is null if there is none of that name. */
void old_answer(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);
/* That member has answered. */
void old_heard(struct lock *lock, uint32_t from);
/* ENCUMBERED or FREED. Null, or what is wrong with that. */
const char *old_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m);
/* The home cannot answer a question for the kind yet. */
void old_defer_ask(struct locks *l, struct lock *lock, uint32_t from, uint32_t slots);

#endif
