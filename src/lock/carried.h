/* carried.h - locks that are held since before this view. Used by lock.c alone.
 *
 * When a view begins, the instances of all algorithms begin anew, and know of no holder. So who holds a lock then is old: each
 * member announces how many of its clients do, nobody enters beside them who could not have before, and as soon as a site
 * of the member is inside by the algorithm, it takes them over, and all are told that they are old no more. */
#ifndef DIBS_LOCK_CARRIED_H
#define DIBS_LOCK_CARRIED_H

#include "instance.h"

/* This holder is. */
void old_make(struct lock *lock, struct claim *c);
/* So many of the own clients no longer hold it since before this view. */
void old_freed(struct locks *l, struct lock *lock, uint32_t count);
/* If there are none any more, nothing is kept of them. */
void old_tidy(struct lock *lock);
/* A site is inside: it takes over whom it can. */
void old_take_over(struct locks *l, struct lock *lock, uint32_t s);
/* Must this claim wait for those elsewhere who hold the lock since before this view? */
bool old_encumbers(const struct lock *lock, const struct claim *c);
/* Another member says how many of its clients do, or no longer do so. Null, or what is wrong with that. */
const char *old_hear(struct lock *lock, uint32_t from, const struct instance_message *m);

#endif
