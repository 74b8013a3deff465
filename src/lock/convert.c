/* convert.c - see convert.h. */
#include "convert.h"

#include "base/memory.h"
#include "lock_inside.h"

#include <stdlib.h>

static uint64_t convert_bit(uint32_t member)
{
    return (uint64_t)1 << member;
}

static uint64_t convert_others(const struct locks *l)
{
    return (l->view.n == 64 ? UINT64_MAX : convert_bit(l->view.n) - 1) & ~convert_bit(l->view.self);
}

static struct lock_convert *convert_of(struct lock *lock)
{
    if (!lock->convert)
        lock->convert = mem_new(sizeof *lock->convert + LOCK_MEMBERS_MAX * sizeof lock->convert->of[0]);
    return lock->convert;
}

static void convert_tidy(struct lock *lock)
{
    const struct lock_convert *v = lock->convert;

    if (v && !v->upgrade && !v->alone && !v->raised && !v->all && !v->writers) {
        free(lock->convert);
        lock->convert = NULL;
    }
}

bool convert_forbids(const struct lock *lock, uint32_t mode)
{
    const struct lock_convert *v = lock->convert;

    return v && (v->all || v->alone || v->upgrade || (v->writers && !dme_compatible(mode, LOCK_SHARED)));
}

bool convert_is_wanted(const struct lock *lock)
{
    return lock->convert && (lock->convert->upgrade || lock->convert->all);
}

uint64_t convert_joins(const struct lock *lock)
{
    const struct lock_convert *v = lock->convert;

    return v && v->raised == BAR_WRITERS ? v->arrived : lock->arrived;
}

/* How many clients of this member are in the way of an upgrade. */
static uint32_t convert_holders(const struct lock *lock)
{
    return lock->claims - lock->waiters;
}

/* ---------------------------------------------------------------------------------------------------------- the claims */

void convert_begin(struct locks *l, struct lock *lock, struct claim *upgrade, bool tries)
{
    struct lock_convert *v = convert_of(lock);

    (void)l;
    assert(!v->upgrade && upgrade->other->lock == lock);
    v->upgrade = upgrade;
    v->tries = tries;
}

void convert_unwait(struct claim *upgrade)
{
    assert(upgrade->lock->convert->upgrade == upgrade);
    upgrade->lock->convert->upgrade = NULL;
    upgrade->lock->convert->tries = false;
}

void convert_part(struct claim *c)
{
    if (c->other)
        c->other->other = NULL;
    c->other = NULL;
}

static void convert_refuse(struct locks *l, struct claim *upgrade, enum refusal why)
{
    convert_part(upgrade);
    if (upgrade->state == CLAIM_WAITING)
        lock_unwait(l, upgrade);
    upgrade->refusal = why;
    lock_set_outcome(l, upgrade, CLAIM_REFUSED);
}

void convert_lose(struct locks *l, struct claim *c, enum refusal why)
{
    struct claim *upgrade = c->other;

    if (!upgrade || c->state == CLAIM_WAITING || c->state == CLAIM_UPGRADED || c->state == CLAIM_DOWNGRADED)
        return;
    if (upgrade->state == CLAIM_UPGRADED) /* its client does not know the new token yet */
        c->fence = upgrade->fence;
    convert_refuse(l, upgrade, why);
}

void convert_leave(struct claim *c)
{
    if (c->lock->convert && c->lock->convert->alone == c)
        c->lock->convert->alone = NULL;
}

void convert_share(struct locks *l, struct claim *c)
{
    struct lock *lock = c->lock;

    (void)l;
    c->mode = LOCK_SHARED;
    if (lock->convert && lock->convert->alone == c) {
        lock->convert->alone = NULL;
        lock->site->joins = lock->arrived; /* as if the site had just entered */
    }
}

/* ------------------------------------------------------------------------------------------------------------ the bars */

static bool convert_is_inside(const struct lock_site *site, uint32_t mode)
{
    return site->node->phase == DME_INSIDE && site->node->mode == mode;
}

/* Has the site holders that share the lock, although it is not inside in that mode? It has after a downgrade. */
static bool convert_is_between(const struct lock_site *site)
{
    return site->held && RING_OF(site->holders.next, struct claim, in_lock)->mode == LOCK_SHARED &&
           !convert_is_inside(site, LOCK_SHARED);
}

/* The bar that this member needs now. */
static enum bar convert_wish(const struct lock *lock)
{
    const struct lock_convert *v = lock->convert;

    if (v && (v->alone || (v->upgrade && v->upgrade->other->site != LOCK_CARRIED && lock->site->held &&
                           convert_is_inside(lock->site, LOCK_SHARED))))
        return BAR_ALL;
    return convert_is_between(lock->site) ? BAR_WRITERS : BAR_NONE;
}

static void convert_raise(struct locks *l, struct lock *lock, enum bar bar)
{
    struct lock_convert *v = convert_of(lock);

    v->raised = bar;
    v->arrived = lock->arrived;
    v->number = ++l->bars;
    v->unheard = bar ? convert_others(l) : 0;
    v->held = 0;
    for (uint32_t j = 0; j < l->view.n; j++)
        if (j != l->view.self)
            instance_say_bar(l, lock, INSTANCE_BAR, j, v->number, bar);
}

/* Is the claim to be upgraded the only one in the cluster, and does it stay the only one (I37)? */
static bool convert_may_upgrade(struct locks *l, const struct lock *lock)
{
    const struct lock_convert *v = lock->convert;

    return v && v->upgrade && l->grants && v->raised == BAR_ALL && !v->unheard && convert_holders(lock) == 1 &&
           v->upgrade->other->state == CLAIM_HELD && lock_has_fences(l, lock);
}

static void convert_upgrade(struct locks *l, struct lock *lock)
{
    struct lock_convert *v = lock->convert;
    struct claim *upgrade = v->upgrade, *c = upgrade->other;

    assert(l->grants && c->site == 0 && lock->site->held == 1);
    upgrade->fence = c->fence;
    c->fence = lock_take_fence(l, lock->site);
    c->mode = LOCK_ALONE;
    v->alone = c;
    lock->site->joins = 0;
    lock_unwait(l, upgrade);
    lock_set_outcome(l, upgrade, CLAIM_UPGRADED);
    if (l->conf.upgraded)
        l->conf.upgraded(c, upgrade);
}

/* Is a client in the way of an upgrade that only tries? */
static bool convert_is_in_vain(const struct lock *lock)
{
    const struct lock_convert *v = lock->convert;

    return v && v->upgrade && v->tries && (v->held || convert_holders(lock) > 1);
}

bool convert_work(struct locks *l, struct lock *lock)
{
    enum bar wish;
    bool again = false;

    if (lock->slots || (!lock->convert && !convert_is_between(lock->site)))
        return false;
    if (convert_is_in_vain(lock)) {
        struct claim *upgrade = lock->convert->upgrade;

        convert_part(upgrade);
        lock_unwait(l, upgrade);
        lock_set_outcome(l, upgrade, CLAIM_TIMED_OUT);
        again = true;
    }
    wish = convert_wish(lock);
    if (wish != (lock->convert ? lock->convert->raised : BAR_NONE)) {
        convert_raise(l, lock, wish);
        again |= wish == BAR_NONE; /* clients that the bar has kept waiting may be served */
    }
    if (convert_may_upgrade(l, lock)) {
        convert_upgrade(l, lock);
        again = true;
    }
    if (wish == BAR_WRITERS && !lock->convert->unheard && lock->site->node->phase == DME_INSIDE) {
        instance_release(l, lock, 0);
        instance_request(l, lock, 0, LOCK_SHARED);
        again = true;
    }
    return again;
}

/* ---------------------------------------------------------------------------------------------------------- the others' */

void convert_answer(struct locks *l, struct lock *lock)
{
    struct lock_convert *v = lock->convert;

    for (uint32_t j = 0; v && v->owed && !convert_holders(lock) && j < l->view.n; j++)
        if (v->owed & convert_bit(j)) {
            instance_say_bar(l, lock, INSTANCE_BARRED, j, v->of[j], 0);
            v->owed &= ~convert_bit(j);
        }
    convert_tidy(lock);
}

void convert_end(struct lock *lock)
{
    struct lock_convert *v = lock->convert;

    if (!v)
        return;
    v->alone = NULL; /* it is carried over as exclusive */
    v->raised = BAR_NONE;
    v->unheard = v->held = v->all = v->writers = v->owed = 0;
    convert_tidy(lock);
}

static void convert_hear_fence(struct locks *l, struct lock *lock, uint64_t fence)
{
    if (lock->site && lock->site->node->fence < fence)
        lock->site->node->fence = fence;
    if (!lock->site && l->fence < fence)
        l->fence = fence;
    if (l->fence_seen < fence)
        l->fence_seen = fence;
}

/* Member `from` has barred the lock for all. The upgrade of this member's client, if there is one, is the second if this member has not barred
 * the lock for all, or comes later in the order of the view. */
static void convert_yield(struct locks *l, struct lock *lock, uint32_t from)
{
    struct lock_convert *v = lock->convert;

    if (v->upgrade && (v->raised != BAR_ALL || from < l->view.self))
        convert_refuse(l, v->upgrade, REFUSAL_DEADLOCK);
}

static void convert_hear_bar(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    struct lock_convert *v = convert_of(lock);
    uint64_t bit = convert_bit(from);
    uint32_t holders = m->count == BAR_ALL ? convert_holders(lock) : 0;

    v->all &= ~bit;
    v->writers &= ~bit;
    v->owed &= ~bit;
    v->of[from] = m->number;
    v->all |= m->count == BAR_ALL ? bit : 0;
    v->writers |= m->count == BAR_WRITERS ? bit : 0;
    v->owed |= holders ? bit : 0;
    if (m->count)
        instance_say_bar(l, lock, INSTANCE_BARRED, from, m->number, holders);
    if (m->count == BAR_ALL)
        convert_yield(l, lock, from);
}

const char *convert_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    struct lock_convert *v = lock->convert;

    if (lock->slots || (m->type == INSTANCE_BAR && m->count > BAR_ALL))
        return "a lock that cannot be barred";
    convert_hear_fence(l, lock, m->fence);
    if (m->type == INSTANCE_BAR) {
        convert_hear_bar(l, lock, from, m);
    } else if (v && v->number == m->number && v->unheard & convert_bit(from)) {
        v->held = m->count ? v->held | convert_bit(from) : v->held & ~convert_bit(from);
        v->unheard = m->count ? v->unheard : v->unheard & ~convert_bit(from);
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- invariants */

/* I37. While the site of a downgraded claim is still inside alone, it keeps all others out, and BAR_WRITERS is not needed yet. It must be raised
 * nevertheless, unless the lock is frozen, since convert_work does nothing then. */
const char *convert_check(const struct locks *l, const struct lock *lock)
{
    const struct lock_convert *v = lock->convert;
    const struct lock_site *site = lock->site;

    if (v && v->upgrade && (v->upgrade->state != CLAIM_WAITING || !v->upgrade->other))
        return "I5: the upgrade of a lock does not wait, or upgrades no claim";
    if (v && v->alone &&
        (!site || site->held != 1 || v->alone->mode != LOCK_ALONE || v->alone->site != 0 || v->raised != BAR_ALL ||
         v->unheard || !convert_is_inside(site, LOCK_SHARED)))
        return "I37: a client has upgraded a lock, and others may share it";
    if (!site || lock->slots || lock->view != l->number || !convert_is_between(site) || !l->open)
        return NULL;
    if (site->node->phase == DME_INSIDE ? !lock->frozen && (!v || v->raised != BAR_WRITERS)
                                        : !v || v->raised != BAR_WRITERS || v->unheard)
        return "I37: a client has downgraded a lock, and others may write";
    return NULL;
}
