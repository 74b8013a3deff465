/* carried.c - see carried.h. */
#include "carried.h"

#include "base/memory.h"
#include "digest.h"

#include <stdlib.h>

static uint64_t carried_bit(uint32_t member)
{
    return (uint64_t)1 << member;
}

static struct lock_carried *carried_of(const struct locks *l, struct lock *lock)
{
    if (!lock->carried) {
        lock->carried = mem_new(sizeof *lock->carried + l->view.n * sizeof lock->carried->of[0]);
        ring_init(&lock->carried->holders);
    }
    return lock->carried;
}

void carried_tidy(struct lock *lock)
{
    const struct lock_carried *carried = lock->carried;

    if (carried && carried->held == 0 && carried->elsewhere == 0 && !carried->unheard && carried->asks == 0) {
        free(lock->carried);
        lock->carried = NULL;
    }
}

void carried_adopt(struct locks *l, struct lock *lock, struct claim *c)
{
    struct lock_carried *carried = carried_of(l, lock);

    ring_push(&carried->holders, &c->in_lock);
    c->site = LOCK_CARRIED;
    carried->mode = c->mode;
    carried->held++;
}

static void carried_make_all(struct locks *l, struct lock *lock, struct ring *holders)
{
    while (!ring_empty(holders)) {
        struct claim *c = RING_OF(holders->next, struct claim, in_lock);

        ring_cut(&c->in_lock);
        carried_adopt(l, lock, c);
    }
}

void carried_begin_view(struct locks *l, struct lock *lock)
{
    struct lock_carried *former = lock->carried;

    lock->carried = NULL;
    lock->looked = 0;
    if (former)
        carried_make_all(l, lock, &former->holders);
    free(former);
    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        carried_make_all(l, lock, &lock->site[s].holders);
}

/* ------------------------------------------------------------------------------------------------------- this member's */

static void carried_tell(struct locks *l, struct lock *lock, uint32_t to)
{
    struct lock_carried *carried = lock->carried;

    if (to == l->view.self || carried->told & carried_bit(to))
        return;
    carried->told |= carried_bit(to);
    instance_say_carried(l, lock, INSTANCE_ENCUMBERED, to, carried->held);
}

void carried_tell_home(struct locks *l, struct lock *lock)
{
    if (lock->carried && lock->carried->held)
        carried_tell(l, lock, instance_home(l, lock));
}

/* The last carried-over holder of this member has gone: the member forgets the kind if it has not told the home. Before its digest is sent, no
 * other member knows of the holder, so even the home forgets the kind: the others may assume the one of the policy (kind.h). */
static void carried_forget_kind(const struct locks *l, struct lock *lock)
{
    uint32_t home = l->view.n ? instance_home(l, lock) : l->view.self;
    bool told = l->told && (home == l->view.self || lock->carried->told & carried_bit(home));

    if (!told && !lock->site && !lock->dormant)
        lock->known = 0;
}

void carried_freed(struct locks *l, struct lock *lock, uint32_t count)
{
    struct lock_carried *carried = lock->carried;

    carried->held -= count;
    for (uint32_t to = 0; to < l->view.n; to++)
        if (carried->told & carried_bit(to))
            instance_say_carried(l, lock, INSTANCE_FREED, to, count);
    if (carried->held == 0) {
        carried_forget_kind(l, lock);
        carried->told = 0;
    }
    carried_tidy(lock);
}

void carried_take_over(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    uint32_t count = 0;

    if (!lock->carried || (!lock->slots && lock->carried->mode != site->node->mode))
        return;
    while (!ring_empty(&lock->carried->holders) && !(lock->slots && count)) {
        struct claim *c = RING_OF(lock->carried->holders.next, struct claim, in_lock);

        ring_cut(&c->in_lock);
        ring_push(&site->holders, &c->in_lock);
        c->site = s;
        site->held++;
        count++;
    }
    if (lock->slots)
        site->left -= count;
    if (count)
        carried_freed(l, lock, count);
}

void carried_answer(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    if (!lock || !lock->carried || !lock->carried->held) {
        instance_say_clear(l, from, m->name, m->name_len);
        return;
    }
    carried_tell_home(l, lock);  /* first, so that this member cannot forget the kind after it has told `from` (I16) */
    carried_tell(l, lock, from); /* if `from` was told before, that letter is the answer */
}

/* ------------------------------------------------------------------------------------------------------------- others' */

void carried_look(struct locks *l, struct lock *lock)
{
    if (lock->looked)
        return;
    lock->looked = LOCK_IN_NO_DIGEST;
    for (uint32_t j = 0; j < l->view.n; j++) {
        if (j == l->view.self || !digest_has(l, j, lock->hash))
            continue;
        lock->looked = LOCK_IN_A_DIGEST;
        if (carried_of(l, lock)->of[j].held == 0) {
            lock->carried->unheard |= carried_bit(j);
            instance_say_carried(l, lock, INSTANCE_INQUIRE, j, 0);
        }
    }
}

void carried_heard(struct lock *lock, uint32_t from)
{
    if (lock->carried) {
        lock->carried->unheard &= ~carried_bit(from);
        carried_tidy(lock);
    }
}

const char *carried_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    struct lock_carried *carried = carried_of(l, lock);
    bool more = m->type == INSTANCE_ENCUMBERED;

    if (more ? carried->of[from].held > 0 || m->count == 0 : carried->of[from].held < m->count)
        return "an impossible number of carried-over holders";
    if (more && carried->held + carried->elsewhere && carried->mode != m->mode)
        return "a lock that was held in two ways at once";
    carried->mode = m->mode;
    carried->of[from].held += more ? m->count : -m->count;
    carried->elsewhere += more ? m->count : -m->count;
    carried_tidy(lock);
    return NULL;
}

void carried_defer_ask(struct locks *l, struct lock *lock, uint32_t from, uint32_t slots)
{
    struct lock_carried *carried = carried_of(l, lock);

    carried->asks += carried->of[from].asks == 0;
    carried->of[from].asks = slots + 1;
}
