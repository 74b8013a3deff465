/* lock.c - the lines of clients at a member's locks, and what they are told. See lock.h.
 *
 * instance.c runs the algorithm of a lock; names.c finds a lock by its name; this file decides who is served. It does
 * so by looking at the state, not by following events: whatever has changed, lock_work() does all that can be done. */
#include "lock.h"

#include "instance.h"
#include "link.h"
#include "names.h"

#include "lab/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- claims */

static struct claim *lock_first(const struct lock *lock)
{
    return ring_empty(&lock->waiting) ? NULL : RING_OF(lock->waiting.next, struct claim, in_lock);
}

static void lock_settle(struct locks *l, struct claim *c, enum claim_state state)
{
    c->state = state;
    ring_cut(&c->settled);
    ring_push(&l->settled, &c->settled);
}

/* Each gets a number of its own, also where one stay of a site serves many. */
static void lock_grant(struct locks *l, struct lock *lock, uint32_t s, struct claim *c)
{
    struct lock_site *site = &lock->site[s];

    ring_cut(&c->in_lock);
    ring_push(&site->holders, &c->in_lock);
    lock->waiters--;
    site->held++;
    site->left--;
    c->site = s;
    c->fence = site->node->fence++;
    lock_settle(l, c, CLAIM_HELD);
}

struct claim *lock_next_holder(const struct lock *lock, const struct claim *after)
{
    uint32_t s = after ? after->site : 0;
    const struct ring *r = after ? after->in_lock.next : lock->site ? lock->site[0].holders.next : NULL;

    while (r && r == &lock->site[s].holders)
        r = ++s < lock_sites(lock) ? lock->site[s].holders.next : NULL;
    return r ? RING_OF(r, struct claim, in_lock) : NULL;
}

uint32_t lock_count_holders(const struct lock *lock)
{
    uint32_t count = 0;

    for (uint32_t k = 0; lock->site && k < lock_sites(lock); k++)
        count += lock->site[k].held;
    return count;
}

/* ---------------------------------------------------------------------------------------------------------- serving */

/* A site is inside, just now. How many will it serve? Those who may share are let in together, wherever in the line
 * they stand: nobody loses by it. */
void lock_entered(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    uint32_t mode = site->node->mode, alone = 0;
    struct ring *r = lock->waiting.next;

    if (lock->slots) {
        site->left = 1;
    } else if (mode == LOCK_ALONE) {
        for (; r != &lock->waiting && RING_OF(r, struct claim, in_lock)->mode == LOCK_ALONE; r = r->next)
            alone++;
        site->left = alone < LOCK_BATCH_MAX ? alone : LOCK_BATCH_MAX;
    } else {
        site->left = LOCK_BATCH_MAX;
        while (r != &lock->waiting && site->left) {
            struct claim *c = RING_OF(r, struct claim, in_lock);

            r = r->next;
            if (c->mode == mode)
                lock_grant(l, lock, s, c);
        }
    }
}

/* A site is inside: serve whom it can still serve. Who comes later may share with those inside, if nobody waits. */
static void lock_serve(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    bool shares = !lock->slots && site->node->mode != LOCK_ALONE;
    struct claim *c;

    while ((c = lock_first(lock)) && site->left && (shares || site->held == 0) &&
           (lock->slots || c->mode == site->node->mode))
        lock_grant(l, lock, s, c);
}

/* Does a site that is idle have a reason to ask, given that so many already do? */
static bool lock_wants_more(const struct lock *lock, uint32_t asking)
{
    return asking < (lock->slots ? lock->waiters : lock->waiters > 0);
}

static void lock_work(struct locks *l, struct lock *lock)
{
    bool again = l->open && lock->known && (lock->waiters || lock->site);

    while (again) {
        uint32_t asking = 0;

        again = false;
        if (!lock->site)
            instance_begin(l, lock);
        for (uint32_t s = 0; s < lock_sites(lock); s++)
            asking += lock->site[s].node->phase == DME_WAITING;
        for (uint32_t s = 0; s < lock_sites(lock); s++) {
            struct lock_site *site = &lock->site[s];

            if (site->node->phase == DME_INSIDE)
                lock_serve(l, lock, s);
            if (site->node->phase == DME_INSIDE && site->held == 0) {
                instance_release(l, lock, s);
                again = true;
            }
            if (site->node->phase == DME_IDLE && lock_wants_more(lock, asking)) {
                asking++;
                instance_request(l, lock, s, lock->slots ? LOCK_ALONE : lock_first(lock)->mode);
                again = true;
            }
        }
    }
    if (lock->waiters == 0 && lock->site && instance_is_fresh(l, lock))
        instance_end(l, lock);
    /* Alone in the world, a member may forget a lock altogether: nobody else remembers its kind. */
    if (l->conf.n == 1 && lock->waiters == 0 && !lock->site)
        names_remove(l, lock);
}

/* ---------------------------------------------------------------------------------------------- what a lock is: kind
 */

/* The kind of the lock is known from now on. Who asked for another one has to ask again. */
static void lock_is(struct locks *l, struct lock *lock, uint32_t slots)
{
    struct ring *r = lock->waiting.next;

    lock->slots = slots;
    lock->known = 1;
    while (r != &lock->waiting) {
        struct claim *c = RING_OF(r, struct claim, in_lock);

        r = r->next;
        if (c->slots != slots) {
            ring_cut(&c->in_lock);
            lock->waiters--;
            lock_settle(l, c, CLAIM_REFUSED);
        }
    }
}

/* The first use of this name here. */
static void lock_learn(struct locks *l, struct lock *lock, uint32_t slots)
{
    if (instance_home(l, lock) == l->conf.self)
        lock_is(l, lock, slots);
    else
        instance_say(l, lock, INSTANCE_ASK, slots, instance_home(l, lock));
}

static void lock_print_kind(const struct lock_policy *policy, const char *name, size_t name_len, uint32_t slots,
                            struct dme_text *text)
{
    if (slots)
        dme_print(text, "\"%.*s\" is a lock with %u slots; ask for it with SLOTS %u", (int)name_len, name, slots,
                  slots);
    else
        dme_print(text, "\"%.*s\" is %s lock; ask for it without SLOTS", (int)name_len, name,
                  instance_rule(policy->modes) == DME_EXCLUSIVE ? "an exclusive" : "an exclusive or shared");
}

void lock_describe(const struct locks *l, const struct lock *lock, struct dme_text *text)
{
    lock_print_kind(lock_policy(l, lock), lock->name, lock->name_len, lock->slots, text);
}

/* ------------------------------------------------------------------------------------------------------- from outside
 */

void locks_init(struct locks *l, const struct locks_conf *conf)
{
    assert(conf->policies <= LOCK_POLICIES_MAX);
    *l = (struct locks){.conf = *conf, .fence = conf->fence};
    l->policy = mem_new((conf->policies + 1) * sizeof *l->policy);
    for (uint32_t k = 0; k < conf->policies; k++)
        l->policy[k] = conf->policy[k];
    l->policy[conf->policies] = (struct lock_policy){.modes = conf->modes, .slots = conf->slots, .kind = LOCK_ANY_KIND};
    ring_init(&l->settled);
}

void locks_free(struct locks *l)
{
    names_free(l);
    free(l->policy);
    free(l->out);
    free(l->fresh);
    free(l->msg);
    free(l->local);
}

void locks_open(struct locks *l)
{
    l->open = true;
    for (size_t k = 0; k < l->room; k++)
        for (struct lock *lock = l->table[k], *next; lock; lock = next) {
            next = lock->next; /* this one may be forgotten */
            if (lock->waiters && !lock->known)
                lock_learn(l, lock, lock_first(lock)->slots);
            lock_work(l, lock);
        }
}

/* What was asked for is not what the lock is, or what its policy or its algorithm allows. */
static bool lock_is_other(struct locks *l, const struct lock *lock, const struct claim *c, struct dme_text *why)
{
    const struct lock_policy *policy = &l->policy[lock ? lock->policy : names_policy(l, c->name, c->name_len)];
    uint32_t first, last;
    struct dme_conf conf;

    if (lock && lock->known ? lock->slots != c->slots
                            : policy->kind != LOCK_ANY_KIND && (uint32_t)policy->kind != c->slots) {
        lock_print_kind(policy, c->name, c->name_len, lock ? lock->slots : (uint32_t)policy->kind, why);
        return true;
    }
    instance_conf_of(l, policy, c->slots, &conf);
    dme_modes(&conf, &first, &last);
    if (!c->slots && c->mode > last) {
        dme_print(why, "\"%.*s\" is run by %s, which knows no %s", c->name_len, c->name, conf.alg->name,
                  c->mode == LOCK_SHARED ? "sharing" : "groups");
        return true;
    }
    return false;
}

static const char *locks_objection(struct locks *l, const struct lock *lock, const struct claim *c,
                                   struct dme_text *why)
{
    if (lock_is_other(l, lock, c, why))
        return "WRONGKIND";
    if (!lock && l->count >= LOCK_NAMES_MAX) {
        dme_print(why, "this member remembers %d names of locks, and takes no more", LOCK_NAMES_MAX);
        return "BUSY";
    }
    for (uint32_t j = 0; j < l->conf.n; j++)
        if (j != l->conf.self && link_is_congested(&l->conf.link[j])) {
            dme_print(why, "too much is waiting to be sent to member %s; try again later", l->conf.link[j].peer);
            return "BUSY";
        }
    return NULL;
}

const char *locks_claim(struct locks *l, struct claim *c, struct dme_text *why)
{
    struct lock *lock = locks_find(l, c->name, c->name_len);
    const char *objection = locks_objection(l, lock, c, why);

    assert(c->name_len >= 1 && c->slots <= LOCK_SLOTS_MAX);
    if (objection)
        return objection;
    if (!lock)
        lock = names_add(l, c->name, c->name_len);
    c->lock = lock;
    c->state = CLAIM_WAITING;
    ring_push(&lock->waiting, &c->in_lock);
    ring_init(&c->settled);
    if (lock->waiters++ == 0 && !lock->known && l->open)
        lock_learn(l, lock, c->slots);
    lock_work(l, lock);
    return NULL;
}

/* Neither waiting nor holding any more. False: it did neither. */
static bool lock_leave(struct claim *c)
{
    if (c->state == CLAIM_WAITING)
        c->lock->waiters--;
    else if (c->state == CLAIM_HELD)
        c->lock->site[c->site].held--;
    else
        return false;
    ring_cut(&c->in_lock);
    return true;
}

void locks_drop(struct locks *l, struct claim *c)
{
    ring_cut(&c->settled);
    if (lock_leave(c))
        lock_work(l, c->lock);
}

void locks_take_away(struct locks *l, struct claim *c, enum claim_state state)
{
    if (lock_leave(c)) {
        lock_settle(l, c, state); /* who loses it hears of it before who gets it */
        lock_work(l, c->lock);
    }
}

struct claim *locks_settled(struct locks *l)
{
    struct claim *c;

    if (ring_empty(&l->settled))
        return NULL;
    c = RING_OF(l->settled.next, struct claim, settled);
    ring_cut(&c->settled);
    return c;
}

const char *locks_receive(struct locks *l, uint32_t from, const uint8_t *bytes, size_t len)
{
    struct instance_message m;
    const char *wrong = instance_parse(bytes, len, &m);
    struct lock *lock;

    if (wrong)
        return wrong;
    lock = locks_find(l, m.name, m.name_len);
    if (!lock)
        lock = names_add(l, m.name, m.name_len);
    if ((m.type == INSTANCE_ASK && instance_home(l, lock) != l->conf.self) ||
        (m.type == INSTANCE_IS && instance_home(l, lock) != from))
        return "a question or an answer about a lock that is at home elsewhere";
    if (!lock->known)
        lock_is(l, lock, m.slots);
    else if (lock->slots != m.slots && m.type != INSTANCE_ASK)
        return "a lock of the same name and another kind";
    if (m.type == INSTANCE_ASK)
        instance_say(l, lock, INSTANCE_IS, lock->slots, from);
    if (m.type == INSTANCE_STEP)
        wrong = instance_receive(l, lock, from, &m);
    if (!wrong)
        lock_work(l, lock);
    return wrong;
}
