/* carried.c - see carried.h. */
#include "carried.h"

#include "base/memory.h"

#include <stdlib.h>

static struct lock_old *old_of(struct lock *lock)
{
    if (!lock->old) {
        lock->old = mem_new(sizeof *lock->old);
        ring_init(&lock->old->holders);
    }
    return lock->old;
}

void old_tidy(struct lock *lock)
{
    if (lock->old && lock->old->held == 0 && lock->old->elsewhere == 0) {
        free(lock->old);
        lock->old = NULL;
    }
}

void old_make(struct lock *lock, struct claim *c)
{
    struct lock_old *old = old_of(lock);

    ring_cut(&c->in_lock);
    ring_push(&old->holders, &c->in_lock);
    c->site = LOCK_OLD;
    old->mode = c->mode;
    old->held++;
}

void old_freed(struct locks *l, struct lock *lock, uint32_t count)
{
    lock->old->held -= count;
    instance_announce(l, lock, INSTANCE_FREED, count);
    old_tidy(lock);
}

void old_take_over(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    uint32_t count = 0;

    if (!lock->old || (!lock->slots && lock->old->mode != site->node->mode))
        return;
    while (!ring_empty(&lock->old->holders) && !(lock->slots && count)) {
        struct claim *c = RING_OF(lock->old->holders.next, struct claim, in_lock);

        ring_cut(&c->in_lock);
        ring_push(&site->holders, &c->in_lock);
        c->site = s;
        site->held++;
        count++;
    }
    if (lock->slots)
        site->left -= count;
    if (count)
        old_freed(l, lock, count);
}

bool old_encumbers(const struct lock *lock, const struct claim *c)
{
    return lock->old && lock->old->elsewhere && (lock->slots || !dme_compatible(c->mode, lock->old->mode));
}

const char *old_hear(struct lock *lock, uint32_t from, const struct instance_message *m)
{
    struct lock_old *old = old_of(lock);
    bool more = m->type == INSTANCE_ENCUMBERED;

    if (more ? old->of[from] > 0 || m->count == 0 : old->of[from] < m->count)
        return "holders of a former view that cannot be";
    if (more && old->held + old->elsewhere && old->mode != m->mode)
        return "a lock that was held in two ways at once";
    old->mode = m->mode;
    old->of[from] += more ? m->count : -m->count;
    old->elsewhere += more ? m->count : -m->count;
    old_tidy(lock);
    return NULL;
}
