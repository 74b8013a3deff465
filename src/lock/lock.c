/* lock.c - the queues of clients that wait for a member's locks, and which of them is granted a lock. See lock.h.
 *
 * instance.c runs the algorithm of a lock, names.c finds a lock by its name, and carried.c knows the carried-over
 * holders. This file decides which client is served next. It decides from the state, not from the event: after any
 * change, lock_work() does all that can be done. */
#include "lock.h"

#include "base/plain.h"
#include "carried.h"
#include "digest.h"
#include "instance.h"
#include "kind.h"
#include "link/link.h"
#include "names.h"
#include "report.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- claims */

const char *const lock_mode_name[LOCK_MODES] = {"exclusive", "shared", "group", "slot"};

const char *const loss_text[] = {"its TTL has run out",
                                 "it was taken away by force-unlock",
                                 "the daemon has lost touch with a majority of the members",
                                 "the other members have excluded the daemon",
                                 "the daemon is about to end",
                                 "its client has not confirmed it in time",
                                 "its connection has broken",
                                 "its session was not resumed in time"};
_Static_assert(sizeof loss_text / sizeof loss_text[0] == LOSS_ABANDONED + 1, "a loss has a text");
_Static_assert(LOCK_NAME_MAX <= UINT8_MAX, "the length of a name is one byte, here and in messages");

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

/* The lock has one claim more; one claim less. */
static void lock_gain(struct locks *l, struct lock *lock)
{
    l->used += lock->claims++ == 0;
}

static void lock_lose(struct locks *l, struct lock *lock)
{
    l->used -= --lock->claims == 0;
}

/* Takes the claim out of the queue. */
static void lock_unwait(struct locks *l, struct claim *c)
{
    ring_cut(&c->in_lock);
    c->lock->waiters--;
    c->lock->tries -= c->tries;
    lock_lose(l, c->lock);
}

/* The highest fence of this member's sites of the lock. */
static uint64_t lock_fence(const struct lock *lock)
{
    uint64_t highest = lock->site[0].node->fence;

    for (uint32_t s = 1; s < lock_sites(lock); s++)
        if (highest < lock->site[s].node->fence)
            highest = lock->site[s].node->fence;
    return highest;
}

/* Every granted claim gets a fencing token of its own, also if one stay serves several claims or the member has several
 * sites: a client can name a claim by the lock and the token. */
static void lock_grant(struct locks *l, struct lock *lock, uint32_t s, struct claim *c)
{
    struct lock_site *site = &lock->site[s];

    site->node->fence = lock_fence(lock);
    lock_unwait(l, c);
    lock_gain(l, lock);
    digest_gain(l, c);
    ring_push(&site->holders, &c->in_lock);
    site->held++;
    site->left--;
    c->site = s;
    c->fence = site->node->fence++;
    if (l->fence_granted < c->fence)
        l->fence_granted = c->fence;
    if (l->fence_seen < site->node->fence)
        l->fence_seen = site->node->fence;
    lock_settle(l, c, CLAIM_HELD);
}

struct claim *lock_next_holder(const struct lock *lock, const struct claim *after)
{
    uint32_t sites = lock->site ? lock_sites(lock) : 0, s = 0;
    const struct ring *next = NULL, *end = NULL;

    if (lock->old && (!after || after->site == LOCK_OLD)) {
        end = &lock->old->holders;
        next = after ? after->in_lock.next : end->next;
    } else if (after) {
        s = after->site + 1;
        end = &lock->site[after->site].holders;
        next = after->in_lock.next;
    }
    for (; next == end && s < sites; s++) {
        end = &lock->site[s].holders;
        next = end->next;
    }
    return next == end ? NULL : RING_OF((struct ring *)next, struct claim, in_lock);
}

uint32_t lock_count_holders(const struct lock *lock)
{
    uint32_t count = lock->old ? lock->old->held : 0;

    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        count += lock->site[s].held;
    return count - lock->withdrawn;
}

/* ---------------------------------------------------------------------------------------------------------- serving */

/* Is the next fencing token of the lock below the limit? */
static bool lock_has_fences(struct locks *l, const struct lock *lock)
{
    uint64_t highest = lock->site ? lock_fence(lock) : l->fence;

    if (highest >= l->fence_limit)
        l->fences_are_out = true;
    return highest < l->fence_limit;
}

/* The locks of all waiting clients will be worked on, from the next piece of work on. */
static void locks_serve_later(struct locks *l)
{
    if (ring_empty(&l->served))
        ring_push(l->waiting.next, &l->served);
    else
        l->serve_again = true;
}

static uint32_t lock_piece(const struct locks *l, uint32_t usual)
{
    return l->conf.piece ? l->conf.piece : usual;
}

/* Grants the lock to a piece of the clients that waited when site `s` entered, and can share its mode. */
static void lock_join(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    struct ring *r = lock->waiting.next;

    while (r != &lock->waiting && l->grants && lock_has_fences(l, lock)) {
        struct claim *c = RING_OF(r, struct claim, in_lock);

        r = r->next;
        if (c->number > site->joins)
            break;
        if (c->mode != site->node->mode)
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

/* Site `s` has just entered: decides how many clients its stay will serve. All waiting clients that can share its mode
 * are granted the lock together, in pieces, wherever they are in the queue: the clients before them wait no longer for
 * that. */
void lock_entered(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    uint32_t mode = site->node->mode, alone = 0;
    struct ring *r = lock->waiting.next;

    assert(!site->joins);
    if (lock->slots) {
        site->left = 1;
        old_take_over(l, lock, s);
        return;
    }
    old_take_over(l, lock, s);
    if (mode == LOCK_ALONE) {
        for (; r != &lock->waiting && RING_OF(r, struct claim, in_lock)->mode == LOCK_ALONE && alone < LOCK_BATCH_MAX;
             r = r->next)
            alone++;
        site->left = alone;
    } else {
        site->left = UINT32_MAX;
        site->joins = l->claimed;
        lock_join(l, lock, s);
    }
}

/* Site `s` is inside: serves the clients that its stay can still serve. A client that arrives later can share the stay
 * if no client waits that cannot share. */
static void lock_serve(struct locks *l, struct lock *lock, uint32_t s)
{
    struct lock_site *site = &lock->site[s];
    bool shares = !lock->slots && site->node->mode != LOCK_ALONE;
    struct claim *c;

    if (site->joins)
        lock_join(l, lock, s);
    while (!site->joins && l->grants && (c = lock_first(lock)) && !old_encumbers(lock, c) && site->left &&
           (shares ? !report_has_rivals(l, lock, site->node->mode) : site->held == 0) &&
           (lock->slots || c->mode == site->node->mode) && lock_has_fences(l, lock)) {
        if (shares && l->join_left == 0 && site->held) {
            locks_serve_later(l);
            return;
        }
        l->join_left -= shares && l->join_left > 0;
        lock_grant(l, lock, s, c);
    }
}

/* Times out the clients that only try and would have to wait for a holder. Returns false if there were none. */
static bool lock_end_tries(struct locks *l, struct lock *lock)
{
    uint32_t tries = lock->tries;
    struct ring *r = &lock->waiting;

    /* The first of them. They are among the last, since none waits for long. */
    for (uint32_t left = tries; left && r->prev != &lock->waiting; left -= RING_OF(r, struct claim, in_lock)->tries)
        r = r->prev;
    while (lock->tries && r != &lock->waiting) {
        struct claim *c = RING_OF(r, struct claim, in_lock);

        r = r->next;
        if (c->tries && report_is_in_vain(l, lock, c)) {
            lock_unwait(l, c);
            lock_settle(l, c, CLAIM_TIMED_OUT);
        }
    }
    return lock->tries < tries;
}

/* Does an idle site have a reason to request, given that `asking` sites of this member already wait? */
static bool lock_wants_more(struct locks *l, const struct lock *lock, uint32_t asking)
{
    uint32_t old = lock->old ? lock->old->held : 0;
    bool served = l->grants && lock->waiters && !old_encumbers(lock, lock_first(lock)) && lock_has_fences(l, lock);

    return asking < (lock->slots ? old + (served ? lock->waiters : 0) : old || served);
}

/* Ends the state that the lock has of an earlier view. Its holders are carried over. */
static void lock_enter_view(struct locks *l, struct lock *lock)
{
    if (lock->view == l->number)
        return;
    lock->view = l->number;
    old_begin_view(l, lock);
    instance_end(l, lock);
    report_end(lock);
    lock->stays = 0;
    kind_end_view(l, lock);
}

/* Before the first waiting client can be served, this member must know the carried-over holders and the kind of the
 * lock. */
static void lock_prepare(struct locks *l, struct lock *lock)
{
    const struct claim *c = lock_first(lock);

    if (!l->open || !c)
        return;
    old_look(l, lock);
    if (!old_is_unclear(lock) && !lock->frozen && !(lock->known && lock->slots == c->slots))
        kind_want(l, lock, c->slots);
}

/* Is there a reason to have sites? Carried-over holders alone are none: only if a client waits, or another member has
 * been told of them. */
static bool lock_is_wanted(const struct lock *lock)
{
    return lock->waiters || lock->site || (lock->old && lock->old->told);
}

static void lock_work(struct locks *l, struct lock *lock)
{
    bool again;

    lock_enter_view(l, lock);
    lock_prepare(l, lock);
    again = l->open && lock->known && !lock->frozen && lock_is_wanted(lock);
    if (again)
        old_tell_home(l, lock);

    while (again) {
        uint32_t asking = 0, sites = lock_sites(lock);

        again = false;
        if (!lock->site)
            instance_begin(l, lock);
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
            if (site->node->phase == DME_IDLE && lock_wants_more(l, lock, asking)) {
                asking++;
                instance_request(l, lock, s,
                                 lock->slots                    ? LOCK_ALONE
                                 : lock->old && lock->old->held ? lock->old->mode
                                                                : lock_first(lock)->mode);
                again = true;
            }
        }
        if (!lock->site->joins) /* those that can join do not try in vain */
            again |= lock_end_tries(l, lock);
    }
    if (l->open && lock->known)
        report_update(l, lock);
    if (lock->waiters == 0 && lock->site)
        instance_rest(l, lock);
    /* The only member of a view can remove the lock: no other member knows its kind. */
    if (l->view.n == 1 && lock->waiters == 0 && !lock->site && !lock->rest && !lock->old)
        names_remove(l, lock);
}

/* ---------------------------------------------------------------------------------------------- what a lock is: kind
 */

void lock_refuse_others(struct locks *l, struct lock *lock)
{
    struct ring *r = lock->waiting.next;

    while (r != &lock->waiting) {
        struct claim *c = RING_OF(r, struct claim, in_lock);

        r = r->next;
        if (c->slots != lock->slots) {
            lock_unwait(l, c);
            lock_settle(l, c, CLAIM_REFUSED);
        }
    }
}

static void lock_print_kind(const struct lock_policy *policy, const char *name, size_t name_len, uint32_t slots,
                            struct dme_text *text)
{
    if (slots)
        dme_print(text, "\"%.*s\" is a lock with %u slots; ask for it with SLOTS %u (dibs lock --slots %u)",
                  (int)name_len, name, slots, slots, slots);
    else
        dme_print(text, "\"%.*s\" is %s lock; ask for it without SLOTS (--slots)", (int)name_len, name,
                  instance_rule(policy->algorithm) == DME_EXCLUSIVE ? "an exclusive" : "an exclusive or shared");
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
    *l = (struct locks){.conf = *conf, .fence_limit = UINT64_MAX};
    if (!l->conf.names_max)
        l->conf.names_max = LOCK_NAMES_MAX;
    l->policy = mem_new((conf->policies + 1) * sizeof *l->policy);
    for (uint32_t k = 0; k < conf->policies; k++)
        l->policy[k] = conf->policy[k];
    l->policy[conf->policies] = (struct lock_policy){
        .algorithm = conf->algorithm, .slots_algorithm = conf->slots_algorithm, .kind = LOCK_ANY_KIND};
    ring_init(&l->settled);
    ring_init(&l->waiting);
    ring_init(&l->served);
    ring_init(&l->recent);
    ring_init(&l->evicted);
    instance_begin_view(l);
    l->told = true;
    l->join_left = lock_piece(l, LOCK_SERVE);
}

void locks_free(struct locks *l)
{
    names_free(l);
    instance_free(l);
    for (uint32_t j = 0; j < LOCK_MEMBERS_MAX; j++)
        free(l->digest[j].at);
    free(l->held);
    free(l->policy);
    free(l->out);
    free(l->fresh);
    free(l->rest);
    free(l->msg);
    free(l->local);
}

static bool lock_leave(struct locks *l, struct claim *c);

/* Does one piece of the work of serving waiting clients: moves the marker on, and works on each lock at its first
 * claim. */
static void locks_serve(struct locks *l)
{
    for (uint32_t left = lock_piece(l, LOCK_SERVE); !ring_empty(&l->served) && left; left--) {
        struct ring *next = l->served.next;
        struct claim *c = RING_OF(next, struct claim, settled);

        ring_cut(&l->served);
        if (next != &l->waiting) {
            ring_push(next->next, &l->served);
            if (c == lock_first(c->lock)) /* once for each lock */
                lock_work(l, c->lock);
        } else if (l->serve_again) {
            l->serve_again = false;
            ring_push(l->waiting.next, &l->served);
        }
    }
}

static void locks_serve_all(struct locks *l)
{
    if (!l->open)
        return;
    locks_serve_later(l);
    locks_serve(l);
}

/* Takes one claim away. If this member has been excluded, the claim does not linger: no client believes in it any more,
 * since a member is excluded only when everything it vouched for has run out (I18). */
static void lock_lose_one(struct locks *l, struct claim *c)
{
    if (!c->kept)
        locks_take_away(l, c, l->loss);
    if (l->excluded && c->state == CLAIM_LINGERS) {
        lock_leave(l, c);
        c->state = CLAIM_LOST;
    }
}

/* Takes the next piece of claims away, from the end of the array to its beginning. When a claim leaves the array, the
 * last claim moves to its place: that one has been taken away before, and lingers. */
static void locks_lose(struct locks *l)
{
    if (l->losing > l->held_count)
        l->losing = l->held_count;
    for (uint32_t left = lock_piece(l, LOCK_LOSE); l->losing && left; left--)
        lock_lose_one(l, l->held[--l->losing].claim);
    l->excluded &= l->losing > 0 || l->view.n == 0;
}

static void locks_send_some_away(struct locks *l)
{
    ring_cut(&l->served);
    for (uint32_t left = lock_piece(l, LOCK_LOSE); left && !ring_empty(&l->waiting); left--)
        locks_time_out(l, RING_OF(l->waiting.next, struct claim, settled));
    l->sends_away = !ring_empty(&l->waiting);
}

static void locks_evict_some(struct locks *l)
{
    for (uint32_t left = lock_piece(l, LOCK_LOSE); left && !ring_empty(&l->evicted); left--) {
        struct claim *c = RING_OF(l->evicted.next, struct claim, settled);

        ring_cut(&c->settled);
        locks_take_away(l, c, c->loss);
    }
}

/* The digest of a member that was excluded and takes part again has none of the claims that it has still to lose: no
 * client believes in them, and other members may have granted the locks meanwhile. */
static void locks_digest(struct locks *l)
{
    if (l->losing)
        return;
    if (!l->digests)
        digest_begin(l);
    l->digests = true;
    digest_go_on(l, lock_piece(l, LOCK_DIGEST));
}

/* Removes the names of earlier views that no client uses, one piece for each call. */
static void locks_sweep(struct locks *l)
{
    for (uint32_t left = lock_piece(l, LOCK_SWEEP); l->swept < l->room && left; l->swept++, left--)
        for (struct lock *lock = l->table[l->swept], *next; lock; lock = next) {
            next = lock->next;
            if (lock->view != l->number && !lock->claims)
                names_remove(l, lock);
        }
}

void locks_go_on(struct locks *l)
{
    l->join_left = lock_piece(l, LOCK_SERVE);
    if (l->losing)
        locks_lose(l);
    locks_evict_some(l);
    if (l->sends_away)
        locks_send_some_away(l);
    if (!l->told && l->complete)
        locks_digest(l);
    else if (!ring_empty(&l->served))
        locks_serve(l);
    else
        locks_sweep(l);
}

bool locks_is_busy(const struct locks *l)
{
    return l->losing || l->put_off || (!l->told && l->complete) || !ring_empty(&l->served) || l->swept < l->room ||
           l->sends_away || !ring_empty(&l->evicted);
}

void locks_hear_fence(struct locks *l, uint64_t fence)
{
    if (l->fence < fence)
        l->fence = fence;
}

void locks_set_fence_limit(struct locks *l, uint64_t limit)
{
    bool more = limit > l->fence_limit;

    l->fence_limit = limit;
    if (more && l->fences_are_out) {
        l->fences_are_out = false;
        locks_serve_all(l);
    }
}

void locks_open(struct locks *l)
{
    l->open = true;
    locks_serve_all(l);
}

void locks_send_away(struct locks *l)
{
    locks_send_some_away(l);
}

bool locks_crowded(const struct locks *l)
{
    return l->swept == l->room && l->count - l->used > l->conf.names_max / 4;
}

void locks_lose_early(struct locks *l, struct claim *c)
{
    if (c->state == CLAIM_HELD && c->held_at < l->losing)
        lock_lose_one(l, c);
}

void locks_set_grants(struct locks *l, bool grants, enum loss why)
{
    l->put_off = grants && l->losing;
    if (l->grants == grants || l->put_off)
        return;
    l->grants = grants;
    if (grants) {
        locks_serve_all(l);
    } else {
        l->losing = l->held_count;
        l->loss = why;
        locks_lose(l);
    }
}

bool locks_gave_up(const struct locks *l)
{
    return !l->lingering && !l->losing;
}

/* True if the claim requests another kind than the lock has, or a kind or mode that its policy or algorithm does not
 * allow. */
static bool lock_is_other(struct locks *l, const struct lock *lock, struct claim *c, struct dme_text *why)
{
    uint8_t number = lock ? lock->policy : names_policy(l, c->name, c->name_len);
    const struct lock_policy *policy = &l->policy[number];
    const struct lock_kind *kind;
    bool fixed = policy->kind != LOCK_ANY_KIND, stays = lock && lock->known && !(l->open && kind_is_unused(lock));
    uint32_t slots = fixed ? (uint32_t)policy->kind : stays ? lock->slots : c->slots;

    if (fixed && !c->slots && c->mode == LOCK_ALONE)
        c->slots = slots; /* which the policy has said already */
    if (c->slots != slots) {
        lock_print_kind(policy, c->name, c->name_len, slots, why);
        return true;
    }
    kind = instance_kind(l, number, c->slots);
    if (!c->slots && c->mode > kind->mode_max) {
        dme_print(why, "\"%.*s\" is run by %s, which knows no %s", c->name_len, c->name, kind->conf.alg->name,
                  c->mode == LOCK_SHARED ? "sharing" : "groups");
        return true;
    }
    return false;
}

static const char *locks_objection(struct locks *l, const struct lock *lock, struct claim *c, struct dme_text *why)
{
    if (lock_is_other(l, lock, c, why))
        return "WRONGKIND";
    if (!lock && l->count >= l->conf.names_max) {
        dme_print(why, "this member remembers %zu names of locks, and takes no more", l->conf.names_max);
        return "BUSY";
    }
    for (uint32_t j = 0; j < l->view.n; j++)
        if (j != l->view.self && link_is_congested(l->view.link[j])) {
            dme_print(why, "too much is waiting to be sent to member %s; try again later", l->view.link[j]->peer);
            return "BUSY";
        }
    return NULL;
}

const char *locks_claim(struct locks *l, struct claim *c, struct dme_text *why)
{
    struct lock *lock = locks_find(l, c->name, c->name_len);
    const char *objection;

    assert(c->name_len >= 1 && c->slots <= LOCK_SLOTS_MAX);
    if (lock)
        lock_enter_view(l, lock);
    objection = locks_objection(l, lock, c, why);
    if (objection)
        return objection;
    if (!lock)
        lock = names_add(l, c->name, c->name_len);
    c->lock = lock;
    c->state = CLAIM_WAITING;
    c->number = ++l->claimed;
    ring_push(&lock->waiting, &c->in_lock);
    ring_push(&l->waiting, &c->settled);
    lock_gain(l, lock);
    lock->tries += c->tries;
    lock->waiters++;
    lock_work(l, lock);
    return NULL;
}

/* The claim no longer waits and is no longer held. Returns false if it did not wait and was not held before. */
static bool lock_leave(struct locks *l, struct claim *c)
{
    bool held = c->state == CLAIM_HELD || c->state == CLAIM_LINGERS || c->state == CLAIM_WITHDRAWN;

    if (c->state == CLAIM_WAITING) {
        lock_unwait(l, c);
        return true;
    }
    if (!held)
        return false;
    lock_enter_view(l, c->lock);
    digest_lose(l, c);
    lock_lose(l, c->lock);
    l->lingering -= c->state == CLAIM_LINGERS;
    c->lock->withdrawn -= c->state == CLAIM_WITHDRAWN;
    ring_cut(&c->in_lock);
    if (c->site == LOCK_OLD)
        old_freed(l, c->lock, 1);
    else
        c->lock->site[c->site].held--;
    return true;
}

void locks_drop(struct locks *l, struct claim *c)
{
    ring_cut(&c->settled);
    if (lock_leave(l, c))
        lock_work(l, c->lock);
}

void locks_withdraw(struct locks *l, struct claim *c)
{
    assert(c->state == CLAIM_HELD || c->state == CLAIM_LINGERS);
    ring_cut(&c->settled);
    l->lingering -= c->state == CLAIM_LINGERS;
    c->lock->withdrawn++;
    c->state = CLAIM_WITHDRAWN;
    lock_work(l, c->lock);
}

/* The claim is settled before lock_work() can grant the lock to another: the client that loses it is told first
 * (I17). */
static void lock_take(struct locks *l, struct claim *c, enum claim_state state)
{
    if (lock_leave(l, c)) {
        lock_settle(l, c, state);
        lock_work(l, c->lock);
    }
}

void locks_time_out(struct locks *l, struct claim *c)
{
    lock_take(l, c, CLAIM_TIMED_OUT);
}

void locks_take_away(struct locks *l, struct claim *c, enum loss why)
{
    if (c->state == CLAIM_LINGERS || c->state == CLAIM_WITHDRAWN)
        return;
    c->loss = why;
    if (c->state == CLAIM_HELD && l->conf.lingers && l->conf.lingers(c)) {
        l->lingering++;
        lock_settle(l, c, CLAIM_LINGERS);
    } else {
        lock_take(l, c, CLAIM_LOST);
    }
}

uint32_t locks_take_from_all(struct locks *l, struct lock *lock, uint64_t fence, enum loss why)
{
    uint32_t count = 0;

    /* Taking away one claim may grant another, and the lock may be removed with the last claim: collect them first. */
    for (struct claim *c = lock_next_holder(lock, NULL); c; c = lock_next_holder(lock, c)) {
        if (c->fence > fence || c->state == CLAIM_WITHDRAWN || c->uncertain)
            continue;
        count++;
        if (c->state != CLAIM_HELD)
            continue;
        c->loss = why;
        ring_cut(&c->settled); /* its client may not have been told that it holds the lock */
        ring_push(&l->evicted, &c->settled);
    }
    locks_evict_some(l);
    return count;
}

void locks_begin_view(struct locks *l, const struct locks_view *view)
{
    l->open = l->complete = l->told = l->digests = false;
    l->excluded = l->excluded && l->losing; /* if it comes back, it has still to lose what it had */
    l->number++;
    l->view = *view;
    l->swept = 0;
    l->serve_again = false;
    ring_cut(&l->served);
    instance_begin_view(l);
    locks_hear_fence(l, l->fence_seen);
    locks_hear_fence(l, view->fence);
    if (view->n == 0) {
        locks_set_grants(l, false, LOSS_EXCLUDED);
        l->losing = l->held_count; /* what lingers goes, too */
        l->loss = LOSS_EXCLUDED;
        l->excluded = true;
    }
    digest_forget(l);
}

void locks_adopt(struct locks *l, struct claim *c)
{
    struct lock *lock = locks_find(l, c->name, c->name_len);

    assert(!l->complete);
    if (!lock)
        lock = names_add(l, c->name, c->name_len);
    lock_enter_view(l, lock);
    c->lock = lock;
    c->state = CLAIM_HELD;
    c->uncertain = true;
    lock->slots = c->slots;
    lock->known = 1;
    lock_refuse_others(l, lock); /* clients may have asked for another kind when this member did not know the holder */
    lock_gain(l, lock);
    digest_gain(l, c);
    old_adopt(l, lock, c);
}

void locks_complete(struct locks *l)
{
    l->complete = true;
    locks_digest(l);
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

/* Receives a letter of this epoch. */
static const char *lock_hear(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    if (m->part == PART_STEP)
        return instance_receive(l, lock, from, m);
    if (m->part == PART_CARRIED)
        return old_hear(l, lock, from, m);
    report_hear(l, lock, from, m);
    return NULL;
}

const char *locks_receive(struct locks *l, uint32_t from, const uint8_t *bytes, size_t len)
{
    struct instance_message m;
    const char *wrong = instance_parse(bytes, len, &m);
    struct lock *lock;

    if (wrong)
        return wrong;
    lock = locks_find(l, m.name, m.name_len);
    if (!lock && !plain_text(m.name, m.name_len))
        return "a lock with an invalid name";
    if (!lock && m.type != INSTANCE_INQUIRE)
        lock = names_add(l, m.name, m.name_len);
    if (lock)
        lock_enter_view(l, lock);
    if (m.type == INSTANCE_ENCUMBERED || m.type == INSTANCE_CLEAR)
        old_heard(lock, from);
    if (m.type == INSTANCE_INQUIRE)
        old_answer(l, lock, from, &m);
    else if (m.part == PART_KIND)
        wrong = kind_hear(l, lock, from, &m);
    else if (m.type != INSTANCE_CLEAR && kind_is_current(l, lock, &m, &wrong))
        wrong = lock_hear(l, lock, from, &m);
    if (wrong || !lock)
        return wrong;
    kind_go_on(l, lock);
    lock_work(l, lock);
    return NULL;
}
