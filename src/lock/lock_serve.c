/* lock_serve.c - which waiting client is granted a lock, and when a site requests its critical section and leaves it. See
 * lock.h.
 *
 * The decision depends on the state, not on the event: after any change to a lock, lock_work() does all that can be done
 * for it at this member. */
#include "lock_inside.h"

#include "carried.h"
#include "convert.h"
#include "digest.h"
#include "instance.h"
#include "kind.h"
#include "link/link.h"
#include "names.h"
#include "report.h"

#include <assert.h>

/* The highest fence of this member's sites of the lock. */
static uint64_t lock_fence(const struct lock *lock)
{
    uint64_t highest = lock->site[0].node->fence;

    for (uint32_t s = 1; s < lock_sites(lock); s++)
        if (highest < lock->site[s].node->fence)
            highest = lock->site[s].node->fence;
    return highest;
}

uint64_t lock_take_fence(struct locks *l, struct lock_site *site)
{
    uint64_t fence;

    site->node->fence = lock_fence(site->lock);
    fence = site->node->fence++;
    assert(fence < l->fence_limit); /* I29 */
    if (l->fence_granted < fence)
        l->fence_granted = fence;
    if (l->fence_seen < site->node->fence)
        l->fence_seen = site->node->fence;
    return fence;
}

/* Every granted claim gets a fencing token of its own, also if one stay serves several claims or the member has several
 * sites: a client can name a claim by the lock and the token. */
static void lock_grant(struct locks *l, struct lock *lock, uint32_t s, struct claim *c)
{
    struct lock_site *site = &lock->site[s];

    assert(l->grants && site->node->phase == DME_INSIDE && site->left > 0); /* I3, I18 */
    lock_unwait(l, c);
    lock_gain(l, lock);
    digest_gain(l, c);
    ring_push(&site->holders, &c->in_lock);
    site->held++;
    site->left--;
    c->site = s;
    c->fence = lock_take_fence(l, site);
    lock_set_outcome(l, c, CLAIM_HELD);
}

bool lock_has_fences(struct locks *l, const struct lock *lock)
{
    uint64_t highest = lock->site ? lock_fence(lock) : l->fence;

    if (highest >= l->fence_limit)
        l->fences_are_out = true;
    return highest < l->fence_limit;
}

void locks_serve_later(struct locks *l)
{
    if (ring_empty(&l->served))
        ring_push(l->waiting.next, &l->served);
    else
        l->serve_again = true;
}

/* Grants the lock to a piece of the clients that waited when site `s` entered, and can share its mode. */
static void lock_join(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    struct ring *r = lock->waiting.next;

    while (r != &lock->waiting && l->grants && !convert_forbids(lock, site->node->mode) && lock_has_fences(l, lock)) {
        struct claim *c = RING_OF(r, struct claim, in_lock);

        r = r->next;
        if (claim_turn(c) > site->joins + LOCK_PRIORITY_STEP * LOCK_PRIORITY_MAX) /* all behind it came later, too */
            break;
        if (c->arrival > site->joins || c->mode != site->node->mode)
            continue;
        if (l->join_left == 0 && site->held) { /* a site that is inside for no client would leave */
            locks_serve_later(l);
            return;
        }
        l->join_left -= l->join_left > 0;
        lock_grant(l, lock, s, c);
    }
    site->joins = 0;
}

/* How many clients that want the lock for themselves are first in the queue: those that a stay serves, one after the other. */
static uint32_t lock_count_turn(const struct lock *lock)
{
    uint32_t count = 0;

    for (const struct ring *r = lock->waiting.next; r != &lock->waiting && count < LOCK_BATCH_MAX; r = r->next, count++)
        if (RING_OF((struct ring *)r, struct claim, in_lock)->mode != LOCK_ALONE)
            break;
    return count;
}

/* Site `s` has just entered: decides how many clients its stay will serve. All waiting clients that can share its mode
 * are granted the lock together, in pieces, wherever they are in the queue: that does not make the clients before them
 * wait longer. */
void lock_entered(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];

    assert(!site->joins);
    if (lock->slots) {
        site->left = 1;
        carried_take_over(l, lock, s);
        return;
    }
    carried_take_over(l, lock, s);
    if (site->node->mode == LOCK_ALONE) {
        site->left = lock_count_turn(lock);
    } else {
        site->left = UINT32_MAX;
        site->joins = convert_joins(lock);
        lock_join(l, lock, s);
    }
}

/* The lock can be held by one client at a time. Is it free for the claim `c`? A claim that is withdrawn may be followed by `c` (locks_conf.follows),
 * unless it was downgraded just before: then its site is about to leave (convert.h). */
static bool lock_is_free(const struct locks *l, const struct lock *lock, const struct lock_site *site, struct claim *c)
{
    const struct claim *holder = site->held ? RING_OF(site->holders.next, struct claim, in_lock) : NULL;

    if (site->held != 1 || holder->state != CLAIM_WITHDRAWN || holder->mode != LOCK_ALONE || lock->slots ||
        !l->conf.follows)
        return site->held == 0;
    return l->conf.follows(c, holder);
}

/* A site that has served the clients of its stay leaves, except that a withdrawn claim keeps it inside for a while. If no other member
 * waits, as far as this one knows, the stay begins anew instead: a client need not wait until all members have acknowledged the
 * withdrawal (lock_is_free). None starves by that. The site has sent nothing since it was idle, so no other site can know that it is inside.
 * If a site of another member waits, it would be served although this one did nothing but to answer messages (I5): so a message comes, and
 * the stay does not begin anew any more. */
static bool lock_begins_anew(const struct lock *lock, const struct lock_site *site)
{
    return lock->alone && lock->withdrawn && site->node->mode == LOCK_ALONE;
}

/* Site `s` is inside: serves the clients that its stay can still serve. A client that arrives during the stay can share it
 * if no client waits that cannot share. */
static void lock_serve(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    bool shares = !lock->slots && site->node->mode != LOCK_ALONE;
    struct claim *c;

    if (site->joins)
        lock_join(l, lock, s);
    while (!site->joins && l->grants && (c = lock_first(lock)) && !carried_encumbers(lock, c) &&
           !(lock->convert && convert_forbids(lock, c->mode)) && (site->left || lock_begins_anew(lock, site)) &&
           (lock->slots || c->mode == site->node->mode) && lock_has_fences(l, lock) &&
           (shares ? !report_has_rivals(l, lock, site->node->mode) : lock_is_free(l, lock, site, c))) {
        if (shares && l->join_left == 0 && site->held) {
            locks_serve_later(l);
            return;
        }
        l->join_left -= shares && l->join_left > 0;
        if (!site->left)
            site->left = lock_count_turn(lock);
        lock_grant(l, lock, s, c);
    }
}

/* Times out the clients that only try and would have to wait for a holder. Returns false if there were none. */
static bool lock_end_tries(struct locks *l, struct lock *lock)
{
    uint32_t tries = lock->tries;
    struct ring *r = &lock->waiting;

    /* Goes back to the first of them. They are near the end of the queue, since none of them waits for long. */
    for (uint32_t left = tries; left && r->prev != &lock->waiting; left -= RING_OF(r, struct claim, in_lock)->tries)
        r = r->prev;
    while (lock->tries && r != &lock->waiting) {
        struct claim *c = RING_OF(r, struct claim, in_lock);

        r = r->next;
        if (c->tries && report_is_in_vain(l, lock, c)) {
            lock_unwait(l, c);
            lock_set_outcome(l, c, CLAIM_TIMED_OUT);
        }
    }
    return lock->tries < tries;
}

/* Does the algorithm of the lock support this mode? If not, the policy was another one when the client made its request. */
static bool lock_knows_mode(struct locks *l, const struct lock *lock, uint32_t mode)
{
    return lock->slots || mode <= instance_kind(l, lock->policy, 0)->mode_max;
}

/* Does an idle site have a reason to request, given that `asking` sites of this member already wait? */
static bool lock_wants_more(struct locks *l, const struct lock *lock, uint32_t asking)
{
    uint32_t carried = lock->carried ? lock->carried->held : 0;
    bool served = l->grants && lock->waiters && !carried_encumbers(lock, lock_first(lock)) &&
                  !(lock->convert && convert_forbids(lock, lock_first(lock)->mode)) && lock_has_fences(l, lock);

    /* The carried-over holders cannot be taken over. Waiting clients cannot share with them, and wait for the release. */
    if (carried && !lock_knows_mode(l, lock, lock->carried->mode))
        return false;
    return asking < (lock->slots ? carried + (served ? lock->waiters : 0) : carried || served);
}

/* The policies have changed. A waiting client that has said nothing of the kind gets the kind of the new policy. A client that waits
 * for a mode that the new algorithm does not support is refused. */
static void lock_find_policy(struct locks *l, struct lock *lock)
{
    struct ring *r = lock->waiting.next;
    uint32_t mode_max;

    lock->policy = names_policy(l, lock->name, lock->name_len);
    mode_max = instance_kind(l, lock->policy, 0)->mode_max;
    while (r != &lock->waiting) {
        struct claim *c = RING_OF(r, struct claim, in_lock);

        r = r->next;
        if (c->unsaid) {
            lock->mixed = 1;
            c->slots = lock_policy(l, lock)->kind > 0 ? (uint32_t)lock_policy(l, lock)->kind : 0;
        }
        if (!c->slots && (c->arrival ? c->mode : c->other->mode) > mode_max) {
            convert_part(c);
            lock_unwait(l, c);
            lock_set_outcome(l, c, CLAIM_REFUSED);
        }
    }
}

void lock_begin_view(struct locks *l, struct lock *lock)
{
    if (lock->view < l->policies_since)
        lock_find_policy(l, lock);
    lock->view = l->number;
    names_find_home(l, lock);
    carried_begin_view(l, lock);
    instance_end(l, lock);
    report_end(lock);
    convert_end(lock);
    lock->stays = lock->alone = 0;
    kind_end_view(lock);
}

/* Before the first waiting client can be served, this member must know the carried-over holders and the kind of the
 * lock. If the first client wants another kind, the home is asked (I16). The queue may have clients that want different
 * kinds (`mixed`; kind.h). */
static void lock_prepare(struct locks *l, struct lock *lock)
{
    const struct claim *c;

    if (!lock->looked)
        carried_look(l, lock);
    kind_fix(l, lock);
    c = lock_first(lock);
    if (!c || carried_is_unclear(lock) || lock->frozen)
        return;
    if (!lock->known || lock->slots != c->slots)
        kind_want(l, lock, c->slots);
    else if (lock->mixed)
        lock_refuse_others(l, lock);
}

/* Site `s` requests its critical section for the first client that waits, or for carried-over holders. */
static void lock_request(struct locks *l, struct lock *lock, uint32_t s)
{
    uint32_t mode = lock->slots                            ? LOCK_ALONE
                    : lock->carried && lock->carried->held ? lock->carried->mode
                                                           : lock_first(lock)->mode;

    lock->alone = !lock->slots;
    instance_request(l, lock, s, mode); /* a message for another member shows that it is not */
    lock->alone &= lock->site[s].node->phase == DME_INSIDE;
}

/* A client waits, perhaps at another member, until all members have acknowledged that a claim is withdrawn. */
static void lock_hurry(struct locks *l, const struct lock *lock)
{
    for (uint32_t j = 0; (lock->waiters || !lock->alone) && j < l->view.n; j++)
        if (j != l->view.self)
            link_hurry(l->view.link[j]);
}

void lock_work(struct locks *l, struct lock *lock)
{
    bool again;

    lock_enter_view(l, lock);
    if (l->open && lock->waiters &&
        !(lock->looked && lock->known && !lock->mixed && lock_first(lock)->slots == lock->slots))
        lock_prepare(l, lock);
    again = l->open && lock->known && !lock->frozen && lock_is_wanted(lock);
    if (again && lock->carried)
        carried_tell_home(l, lock);

    while (again) {
        uint32_t asking = 0, sites = lock_sites(lock);

        if (!lock->site)
            instance_begin(l, lock);
        /* If a bar is to be lifted, other members are told before the site leaves. */
        again = (lock->convert || lock->site->held) && convert_work(l, lock);
        for (uint32_t s = 0; s < sites; s++)
            asking += lock->site[s].node->phase == DME_WAITING;
        for (uint32_t s = 0; s < sites; s++) {
            struct lock_site *site = &lock->site[s];

            if (site->node->phase == DME_INSIDE)
                lock_serve(l, lock, s);
            if (site->node->phase == DME_INSIDE && site->held == 0) {
                instance_release(l, lock, s);
                again = true;
            }
            if (site->node->phase == DME_IDLE && (lock->waiters || lock->carried) && lock_wants_more(l, lock, asking)) {
                asking++;
                lock_request(l, lock, s);
                again = true;
            }
        }
        if (lock->tries && !lock->site->joins) /* clients that can still join are about to be granted the lock */
            again |= lock_end_tries(l, lock);
    }
    if (lock->withdrawn)
        lock_hurry(l, lock);
    if (lock->convert)
        convert_answer(l, lock);
    if (l->open && lock->known && report_is_needed(lock))
        report_update(l, lock);
    if (lock->waiters == 0 && lock->site && lock->site->node->phase == DME_IDLE)
        instance_rest(l, lock);
    /* The only member of a view can remove the lock: no other member knows its kind. */
    if (l->view.n == 1 && lock->waiters == 0 && !lock->site && !lock->dormant && !lock->carried && !lock->convert)
        names_remove(l, lock);
}
