/* lock_pieces.c - work for many locks, in pieces, and the events that cause it: a view begins or opens, the member may grant
 * or no longer may, an operator sends clients away. See lock.h.
 *
 * An event only notes what is to be done, and does the first piece of it. locks_go_on() does one more piece at each call, so
 * that no turn of the daemon takes long, however many locks there are (I31). */
#include "lock_inside.h"

#include "digest.h"
#include "instance.h"
#include "names.h"

#include <assert.h>

/* ---------------------------------------------------------------------------------------------------------- pieces */

/* Does one piece of the work of serving waiting clients: moves the marker on, and works on each lock at its first
 * claim. */
static void locks_serve(struct locks *l)
{
    for (uint32_t left = lock_piece(l, LOCK_SERVE); !ring_empty(&l->served) && left; left--) {
        struct ring *next = l->served.next;
        struct claim *c = RING_OF(next, struct claim, in_list);

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
 * last claim moves to its place. That place has been visited, so the moved claim is not visited again. */
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
        locks_time_out(l, RING_OF(l->waiting.next, struct claim, in_list));
    l->sends_away = !ring_empty(&l->waiting);
}

static void locks_evict_some(struct locks *l)
{
    for (uint32_t left = lock_piece(l, LOCK_LOSE); left && !ring_empty(&l->evicted); left--) {
        struct claim *c = RING_OF(l->evicted.next, struct claim, in_list);

        ring_cut(&c->in_list);
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
    if (!locks_is_busy(l))
        return;
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

/* ---------------------------------------------------------------------------------------------------------- events */

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
        ring_cut(&c->in_list); /* from `outcomes`, if its client has not been told of the grant yet */
        ring_push(&l->evicted, &c->in_list);
    }
    locks_evict_some(l);
    return count;
}

void locks_begin_view(struct locks *l, const struct locks_view *view)
{
    l->open = l->complete = l->told = l->digests = false;
    l->excluded = l->excluded && l->losing; /* a member that takes part again has still to lose the claims of before */
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
        l->losing = l->held_count; /* claims that linger are taken away, too */
        l->loss = LOSS_EXCLUDED;
        l->excluded = true;
    }
    digest_forget(l);
}

void locks_complete(struct locks *l)
{
    l->complete = true;
    locks_digest(l);
}
