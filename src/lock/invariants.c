/* invariants.c - see invariants.h. Everything that is counted is counted again. */
#include "invariants.h"

#include "convert.h"
#include "digest.h"
#include "names.h"

/* The claims of all locks together. */
struct claims_seen {
    size_t names, used, waiting, holding, lingering;
};

/* A claim that holds, lingers or is withdrawn, of this site or (LOCK_CARRIED) of none. */
static const char *invariants_lock_holder(const struct locks *l, const struct lock *lock, const struct claim *c,
                                          uint32_t site, struct claims_seen *n)
{
    n->holding++;
    n->lingering += c->state == CLAIM_LINGERS;
    if (c->state != CLAIM_HELD && c->state != CLAIM_LINGERS && c->state != CLAIM_WITHDRAWN)
        return "I3: a claim is among the holders, and has another outcome";
    if (c->lock != lock || c->site != site)
        return "I3: a holder is in another place than it says";
    if (c->held_at >= l->held_count || l->held[c->held_at].claim != c || l->held[c->held_at].hash != lock->hash)
        return "I24: a holder is not among those of which a digest is made";
    if (c->slots != lock->slots)
        return "I16: a claim of another kind than its lock holds it";
    return NULL;
}

static const char *invariants_lock_site(const struct locks *l, const struct lock *lock, uint32_t s,
                                        struct claims_seen *n)
{
    const struct lock_site *site = &lock->site[s];
    uint32_t held = 0, withdrawn = 0;
    const char *wrong;

    for (const struct ring *r = site->holders.next; r != &site->holders; r = r->next, held++) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_lock);

        withdrawn += c->state == CLAIM_WITHDRAWN;
        if ((wrong = invariants_lock_holder(l, lock, c, s, n)))
            return wrong;
        if (!lock->slots && c->mode != site->node->mode && c->mode != LOCK_SHARED &&
            !(lock->convert && lock->convert->alone == c))
            return "I4: a claim of another mode than its site's holds the lock";
    }
    if (held != site->held)
        return "I3: a site has miscounted its holders";
    if (held && site->node->phase != DME_INSIDE &&
        !(lock->convert && lock->convert->raised == BAR_WRITERS && !lock->convert->unheard))
        return "I3: a client holds a lock, and its site is not inside";
    if (held - withdrawn > 1 && (lock->slots || site->node->mode == LOCK_ALONE))
        return "I4: two clients hold what can be held by one";
    return NULL;
}

static const char *invariants_lock_holders(const struct locks *l, const struct lock *lock, struct claims_seen *n)
{
    const struct lock_carried *carried = lock->carried;
    uint32_t held = 0, withdrawn = 0;
    const char *wrong = convert_check(l, lock);

    if (wrong)
        return wrong;
    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        if ((wrong = invariants_lock_site(l, lock, s, n)))
            return wrong;
    for (const struct ring *r = carried ? carried->holders.next : NULL; carried && r != &carried->holders;
         r = r->next, held++) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_lock);

        withdrawn += c->state == CLAIM_WITHDRAWN;
        if ((wrong = invariants_lock_holder(l, lock, c, LOCK_CARRIED, n)))
            return wrong;
    }
    if (carried && held - withdrawn > 1 && !lock->slots && carried->mode == LOCK_ALONE)
        return "I4: two clients have held since an earlier view what can be held by one";
    return carried && held != carried->held ? "I24: a lock has miscounted its carried-over holders" : NULL;
}

static const char *invariants_lock_waiters(const struct lock *lock, struct claims_seen *n)
{
    uint32_t waiters = 0, tries = 0;
    uint64_t turn = 0;

    for (const struct ring *r = lock->waiting.next; r != &lock->waiting; r = r->next) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_lock);

        if (c->state != CLAIM_WAITING || c->lock != lock)
            return "I3: a claim is in a queue, and does not wait";
        if (claim_turn(c) < turn || c->arrival > lock->arrived)
            return "I5: a claim waits at another place than its turn";
        turn = claim_turn(c);
        waiters++;
        tries += c->tries;
    }
    n->waiting += waiters;
    return waiters != lock->waiters || tries != lock->tries ? "I3: a lock has miscounted its waiters" : NULL;
}

/* I16: a client waits for another kind than its lock has only while this member does not know the carried-over holders, or the home is asked. */
static const char *invariants_lock_kinds(const struct locks *l, const struct lock *lock)
{
    if (lock->view != l->number || !lock->known || lock->frozen)
        return NULL;
    for (const struct ring *r = lock->waiting.next; r != &lock->waiting && !lock->mixed; r = r->next)
        if (RING_OF((struct ring *)r, struct claim, in_lock)->slots != lock->slots)
            return "I16: a client waits for another kind than its lock has, and its member has not noticed that";
    if (lock->mixed && lock->waiters && l->open && lock->looked && !(lock->carried && lock->carried->unheard) &&
        !locks_is_busy(l))
        return "I16: a client waits for another kind than its lock has, and is neither refused nor asked for";
    return NULL;
}

/* I5, as far as one member can see it: if its clients wait, and nothing is in the way, one of its sites has requested. */
static const char *invariants_lock_asks(const struct locks *l, const struct lock *lock)
{
    if (!l->open || !l->grants || locks_is_busy(l) || l->fences_are_out || !lock->waiters || !lock->known ||
        lock->frozen || lock->view != l->number || lock->carried ||
        convert_forbids(lock, RING_OF(lock->waiting.next, struct claim, in_lock)->mode))
        return NULL;
    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        if (lock->site[s].node->phase != DME_IDLE)
            return NULL;
    return "I5: a client waits, and its member has not requested the lock";
}

/* I24: what is in the digest of this member so far, if it is being made, are the holders from `undigested` on. */
static const char *invariants_lock_digest(const struct locks *l)
{
    for (size_t k = l->undigested; !l->told && l->digest[l->view.self].bits && k < l->held_count; k++)
        if (!digest_has(l, l->view.self, l->held[k].hash))
            return "I24: a holder is missing in the digest that its member is about to send";
    return NULL;
}

const char *locks_check(const struct locks *l)
{
    struct claims_seen n = {0};
    const char *wrong;
    size_t waiting = 0;

    for (size_t place = 0; place < l->room; place++)
        for (const struct lock *lock = l->table[place]; lock; lock = lock->next) {
            size_t before = n.waiting + n.holding;

            n.names++;
            n.used += lock->claims > 0;
            if (lock->view == l->number && !l->told && lock->known && !(lock->carried && lock->carried->held))
                return "I16: a member knows the kind of a lock that no client of it holds, before it has sent its "
                       "digest";
            if (lock->view == l->number && lock->policy != names_policy(l, lock->name, lock->name_len))
                return "I16: a lock is run by another policy than the one of its name";
            if ((wrong = invariants_lock_waiters(lock, &n)) || (wrong = invariants_lock_holders(l, lock, &n)) ||
                (wrong = invariants_lock_kinds(l, lock)) || (wrong = invariants_lock_asks(l, lock)))
                return wrong;
            if (n.waiting + n.holding - before != lock->claims)
                return "I3: a lock has miscounted its claims";
        }
    for (const struct ring *r = l->waiting.next; r != &l->waiting; r = r->next)
        waiting += r != &l->served;
    if (n.names != l->count || n.used != l->used)
        return "I19: a member has miscounted the names that it remembers";
    if (waiting != n.waiting)
        return "I5: a claim waits, and is not in the line in which waiting claims are served";
    if (n.holding != l->held_count || n.lingering != l->lingering)
        return "I24: a member has miscounted the claims that its clients hold";
    return invariants_lock_digest(l);
}
