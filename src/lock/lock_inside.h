/* lock_inside.h - what the files of lock.h share: lock.c (claims), lock_serve.c (which client is served next) and
 * lock_pieces.c (work for many locks). */
#ifndef DIBS_LOCK_LOCK_INSIDE_H
#define DIBS_LOCK_LOCK_INSIDE_H

#include "lock.h"

#include <assert.h>

static inline struct claim *lock_first(const struct lock *lock)
{
    return ring_empty(&lock->waiting) ? NULL : RING_OF(lock->waiting.next, struct claim, in_lock);
}

/* Does the lock need sites at this member? It does if a client waits, or if another member was told of carried-over holders.
 * Carried-over holders alone are no reason. */
static inline bool lock_is_wanted(const struct lock *lock)
{
    return lock->waiters || lock->site || (lock->carried && lock->carried->told);
}

/* The lock has one claim more; one claim less (locks.used counts locks with claims). */
static inline void lock_gain(struct locks *l, struct lock *lock)
{
    l->used += lock->claims++ == 0;
}

static inline void lock_lose(struct locks *l, struct lock *lock)
{
    assert(lock->claims > 0);
    l->used -= --lock->claims == 0;
}

/* The size of a piece of work. */
static inline uint32_t lock_piece(const struct locks *l, uint32_t usual)
{
    return l->conf.piece ? l->conf.piece : usual;
}

/* ---- lock.c */
/* The claim has an outcome, of which its client has to be told. */
void lock_set_outcome(struct locks *l, struct claim *c, enum claim_state state);
/* Takes the claim out of the queue. */
void lock_unwait(struct locks *l, struct claim *c);
/* The claim no longer waits and is no longer held. Returns false if it did not wait and was not held before. */
bool lock_leave(struct locks *l, struct claim *c);

/* ---- lock_serve.c */
/* Is the next fencing token of the lock below the limit? */
bool lock_has_fences(struct locks *l, const struct lock *lock);
/* The next fencing token, which a client gets by this site. */
uint64_t lock_take_fence(struct locks *l, struct lock_site *site);
/* Ends the state that the lock has of an earlier view. Its holders are carried over. */
void lock_begin_view(struct locks *l, struct lock *lock);
static inline void lock_enter_view(struct locks *l, struct lock *lock)
{
    if (lock->view != l->number)
        lock_begin_view(l, lock);
}
/* Does all that can be done for the lock. It may be gone afterwards. */
void lock_work(struct locks *l, struct lock *lock);
/* The locks of all waiting clients will be worked on, from the next piece of work on. */
void locks_serve_later(struct locks *l);

#endif
