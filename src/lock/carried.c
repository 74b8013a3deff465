/* carried.c - see carried.h. */
#include "carried.h"

#include "base/memory.h"
#include "digest.h"

#include <stdlib.h>

static uint64_t old_bit(uint32_t member)
{
    return (uint64_t)1 << member;
}

static struct lock_old *old_of(const struct locks *l, struct lock *lock)
{
    if (!lock->old) {
        lock->old = mem_new(sizeof *lock->old + l->view.n * sizeof lock->old->of[0]);
        ring_init(&lock->old->holders);
    }
    return lock->old;
}

void old_tidy(struct lock *lock)
{
    const struct lock_old *old = lock->old;

    if (old && old->held == 0 && old->elsewhere == 0 && !old->unheard && old->asks == 0) {
        free(lock->old);
        lock->old = NULL;
    }
}

void old_adopt(struct locks *l, struct lock *lock, struct claim *c)
{
    struct lock_old *old = old_of(l, lock);

    ring_push(&old->holders, &c->in_lock);
    c->site = LOCK_OLD;
    old->mode = c->mode;
    old->held++;
}

static void old_make_all(struct locks *l, struct lock *lock, struct ring *holders)
{
    while (!ring_empty(holders)) {
        struct claim *c = RING_OF(holders->next, struct claim, in_lock);

        ring_cut(&c->in_lock);
        old_adopt(l, lock, c);
    }
}

void old_begin_view(struct locks *l, struct lock *lock)
{
    struct lock_old *former = lock->old;

    lock->old = NULL;
    lock->looked = 0;
    if (former)
        old_make_all(l, lock, &former->holders);
    free(former);
    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        old_make_all(l, lock, &lock->site[s].holders);
}

/* ------------------------------------------------------------------------------------------------------- this member's */

static void old_tell(struct locks *l, struct lock *lock, uint32_t to)
{
    struct lock_old *old = lock->old;

    if (to == l->view.self || old->told & old_bit(to))
        return;
    old->told |= old_bit(to);
    instance_say_old(l, lock, INSTANCE_ENCUMBERED, to, old->held);
}

void old_tell_home(struct locks *l, struct lock *lock)
{
    if (lock->old && lock->old->held)
        old_tell(l, lock, instance_home(l, lock));
}

/* The last carried-over holder of this member has gone: the member forgets the kind if it has not told the home. Before its digest is sent, no
 * other member knows of the holder, so even the home forgets the kind: the others may assume the one of the policy (kind.h). */
static void old_forget_kind(const struct locks *l, struct lock *lock)
{
    uint32_t home = l->view.n ? instance_home(l, lock) : l->view.self;
    bool told = l->told && (home == l->view.self || lock->old->told & old_bit(home));

    if (!told && !lock->site && !lock->rest)
        lock->known = 0;
}

void old_freed(struct locks *l, struct lock *lock, uint32_t count)
{
    struct lock_old *old = lock->old;

    old->held -= count;
    for (uint32_t to = 0; to < l->view.n; to++)
        if (old->told & old_bit(to))
            instance_say_old(l, lock, INSTANCE_FREED, to, count);
    if (old->held == 0) {
        old_forget_kind(l, lock);
        old->told = 0;
    }
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

void old_answer(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    if (!lock || !lock->old || !lock->old->held) {
        instance_say_clear(l, from, m->name, m->name_len);
        return;
    }
    old_tell_home(l, lock);  /* first, so that this member cannot forget the kind after it has told `from` (I16) */
    old_tell(l, lock, from); /* if `from` was told before, that letter is the answer */
}

/* ------------------------------------------------------------------------------------------------------------- others' */

void old_look(struct locks *l, struct lock *lock)
{
    if (lock->looked)
        return;
    lock->looked = LOCK_IN_NO_DIGEST;
    for (uint32_t j = 0; j < l->view.n; j++) {
        if (j == l->view.self || !digest_has(l, j, lock->hash))
            continue;
        lock->looked = LOCK_IN_A_DIGEST;
        if (old_of(l, lock)->of[j].held == 0) {
            lock->old->unheard |= old_bit(j);
            instance_say_old(l, lock, INSTANCE_INQUIRE, j, 0);
        }
    }
}

void old_heard(struct lock *lock, uint32_t from)
{
    if (lock->old) {
        lock->old->unheard &= ~old_bit(from);
        old_tidy(lock);
    }
}

const char *old_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    struct lock_old *old = old_of(l, lock);
    bool more = m->type == INSTANCE_ENCUMBERED;

    if (more ? old->of[from].held > 0 || m->count == 0 : old->of[from].held < m->count)
        return "an impossible number of carried-over holders";
    if (more && old->held + old->elsewhere && old->mode != m->mode)
        return "a lock that was held in two ways at once";
    old->mode = m->mode;
    old->of[from].held += more ? m->count : -m->count;
    old->elsewhere += more ? m->count : -m->count;
    old_tidy(lock);
    return NULL;
}

void old_defer_ask(struct locks *l, struct lock *lock, uint32_t from, uint32_t slots)
{
    struct lock_old *old = old_of(l, lock);

    old->asks += old->of[from].asks == 0;
    old->of[from].asks = slots + 1;
}
