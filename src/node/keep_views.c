/* keep_views.c - see keep.h and README.md: which member owns a kept session, and how that changes when a view begins.
 *
 * A member that takes part walks over all sessions that it knows twice. First it tells the others (KEEP_TELLS): new
 * members of what its own sessions hold, all members of the records whose owner is gone or not certain. When it has
 * all MARKs, it chooses the owners of sessions that need one (KEEP_CHOOSES), and becomes the owner of some. Only then
 * it makes its digest. Both walks are made in pieces: one for each turn, of KEEP_PIECE sessions and locks, or a few
 * more, since a session is not divided (KEEP_HELD_MAX). A view may begin before the walk of the previous one has ended.
 * Then some sessions have been visited, and others not, as some members have passed the barrier of a view and others
 * not. README.md says why that does no harm: it argues for each session by itself. */
#include "keep_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ between owners */

/* This member becomes the owner of the session: its records become claims, held since before this view. Returns their
 * number. */
static uint32_t keep_adopt(struct node *node, struct keep_session *e)
{
    struct session *s = session_open_orphan(node);
    uint32_t count = e->count;

    while (!ring_empty(&e->records)) {
        struct keep_record *x = RING_OF(e->records.next, struct keep_record, in_session);
        struct claim *c = session_adopt(s, x->name, x->name_len);

        c->fence = x->fence;
        c->ttl_ms = x->ttl_ms;
        c->slots = x->slots;
        c->mode = x->mode;
        c->after = x->after;
        c->kept_id[0] = x->after_id.high;
        c->kept_id[1] = x->after_id.low;
        c->kept = 1; /* every member has the same records now, so all others have this one */
        if (x->value && keep_is_token(e))
            keep_set_value(&e->value, x->value->text, x->value->len);
        else if (x->value)
            session_set_value(c, x->value->text, x->value->len);
        node->keep.claims++;
        e->claims++;
        locks_adopt(&node->locks, c);
        keep_forget_record(&node->keep, e, x);
    }
    if (!e->handed)
        e->due_ms = UINT64_MAX;
    keep_own(node, e, s);
    if (e->handed && e->vouched_ms > node->now_ms) {
        s->vouched_ms = e->vouched_ms;
        keep_vouch(s);
    }
    ring_push(&node->keep.adopted, &e->in_adopted);
    return count;
}

static void keep_make_record(struct node *node, struct keep_session *e, struct claim *c)
{
    const struct lock_value *value = keep_claim_value(e, c);
    union {
        struct keep_record record;
        char bytes[sizeof(struct keep_record) + LOCK_NAME_MAX];
    } x = {.record = {.fence = c->fence,
                      .ttl_ms = (uint32_t)c->ttl_ms,
                      .slots = c->slots,
                      .mode = keep_mode(c),
                      .after_id = {c->after ? c->kept_id[0] : 0, c->after ? c->kept_id[1] : 0},
                      .after = c->after,
                      .name_len = c->name_len}};

    memcpy(x.record.name, c->name, c->name_len);
    keep_add_record(&node->keep, e, &x.record, value ? value->text : "", value ? value->len : 0, false);
    node->keep.claims--;
    e->claims--;
    session_discard(c);
}

/* This member is no longer the owner of the session, or is not certain to be: its claims become records. Returns the number of the
 * claims. */
static uint32_t keep_unadopt(struct node *node, struct keep_session *e)
{
    struct session *s = e->session;
    struct ring *r = s->claims.next;
    uint32_t count = s->held;

    assert(s->orphan);
    while (r != &s->claims) {
        struct claim *c = RING_OF(r, struct claim, in_session);

        r = r->next;
        if (c->state == CLAIM_HELD && keep_is_recorded(c))
            keep_make_record(node, e, c);
    }
    node->keep.moving -= e->moves_to != 0;
    e->wanted_by = e->home = 0;
    keep_drop_former(e);
    keep_disown(&node->keep, e);
    keep_set_value(&e->value, "", 0);
    session_release_all(s);
    s->kept = NULL;
    session_end_orphan(s);
    return count;
}

/* ----------------------------------------------------------------------------------------------------------- to forget */

/* Sees to an own session that was forgotten: cuts its connection off, and discards its claims, in pieces. */
static void keep_forget_own(struct keep *k, struct keep_session *e)
{
    struct session *s = e->session;

    ring_cut(&e->in_own); /* own_count no longer counts it */
    keep_drop_former(e);
    keep_disown(k, e);
    s->kept = NULL;
    if (!s->orphan)
        keep_tell(s, KEEP_CUT);
    session_discard_later(s);
}

void keep_forget_now(struct session *s)
{
    if (session_is_forgotten(s))
        keep_forget_own(&s->node->keep, s->kept);
}

/* Visits no session: a hundred thousand would take some 12 ms. From now on all of them are of an earlier era, so none is kept. They are in no
 * ring that is walked through except `forgotten`. */
void keep_forget_all(struct node *node)
{
    struct keep *k = &node->keep;

    k->era++;
    ring_move(&k->forgotten, &k->own);
    ring_move(&k->parked, &k->adopted);
    ring_move(&k->parked, &k->vouched);
    ring_move(&k->parked, &k->pending);
    ring_move(&k->parked, &k->ready);
    ring_cut(&k->walk);
    keep_doom_all(k);
    k->own_count = 0;
    k->claims = 0;
    k->moving = k->looking = 0;
    k->passed = 0;
    k->phase = KEEP_PASSED;
    for (uint32_t j = 0; j < node->view.count; j++)
        if (node->member[j])
            node->member[j]->keep.tenure = 0;
    keep_count_acks(node);
}

bool keep_is_forgetting(const struct node *node)
{
    return node->keep.discarding || !ring_empty(&node->keep.forgotten);
}

/* Sees to a piece of the forgotten sessions. Returns false if there are none. */
static bool keep_forget_some(struct node *node)
{
    struct keep *k = &node->keep;
    bool some = !ring_empty(&k->forgotten);

    for (uint32_t left = keep_piece(node); left && !ring_empty(&k->forgotten); left--)
        keep_forget_own(k, RING_OF(k->forgotten.next, struct keep_session, in_own));
    return some;
}

/* Frees a piece of what was forgotten, when no session uses it any more. */
static void keep_free_some(struct node *node)
{
    struct keep *k = &node->keep;

    for (uint32_t left = keep_piece(node); left && !ring_empty(&k->doomed); left--) {
        struct keep_session *e = RING_OF(k->doomed.next, struct keep_session, in_all);

        assert(!e->session);
        if (ring_empty(&e->records))
            keep_free_session(e);
        else
            keep_forget_record(k, e, RING_OF(e->records.next, struct keep_record, in_session));
    }
}

/* ----------------------------------------------------------------------------------------------------- views: the barrier */

static void keep_begin_walk(struct keep *k, enum keep_phase phase)
{
    k->phase = phase;
    ring_cut(&k->walk);
    ring_push(k->all.next, &k->walk);
}

/* The next session of the walk, or null at its end. */
static struct keep_session *keep_walk(struct keep *k)
{
    struct ring *next = k->walk.next;

    ring_cut(&k->walk);
    if (next == &k->all)
        return NULL;
    ring_push(next->next, &k->walk);
    return RING_OF(next, struct keep_session, in_all);
}

/* Forgets what this member knows only by reports of a view whose barrier it has not passed (rule 4). Only at the barrier can
 * a member tell whether a report is outdated. And if the sender of a report is lost before it has sent the report to all,
 * the members that have it would differ from the others. */
static void keep_forget_unfinished(struct keep *k, struct keep_session *e)
{
    for (struct ring *r = e->records.next, *next; r != &e->records; r = next) {
        struct keep_record *x = RING_OF(r, struct keep_record, in_session);

        next = r->next;
        if (x->hearsay)
            keep_forget_record(k, e, x);
        else
            keep_recall_record(x);
    }
}

/* Does an adopted session move back to its lost owner in this view? It does if that member takes part again and no client has
 * resumed the session meanwhile: its client will probably resume it there (rule 6). */
static bool keep_goes_home(const struct node *node, const struct keep_session *e)
{
    return e->session && e->home && !e->moves_to && !e->wanted_by && e->claims && keep_takes_part(node, e->home, 0);
}

/* Reports of the previous view have named another owner, and this member did not pass the barrier of that view. It goes back to
 * the owner that it knew before these reports, because its records are from that owner: the members that named the other
 * owner may have received more letters of the earlier one. No view has opened since (README.md, steps 4 and 5). */
static void keep_recall_owner(struct keep_session *e)
{
    if (!e->before.owner)
        return;
    e->owner = e->before.owner;
    e->owner_tenure = e->before.tenure;
    e->chosen = e->before.chosen;
    e->unsure_in = e->before.unsure_in;
    memset(&e->before, 0, sizeof e->before);
}

/* Tells the other members what they have to know of this session when a view begins. Returns the amount of work, for KEEP_PIECE. */
static uint32_t keep_tell_of(struct node *node, struct keep_session *e)
{
    uint32_t work = 1;

    keep_recall_owner(e);
    if (e->session && keep_is_unsure(node, e)) {
        work += keep_unadopt(node, e);
    } else if (!e->session) {
        work += e->count;
        keep_forget_unfinished(&node->keep, e);
        if (ring_empty(&e->records)) {
            keep_remove(&node->keep, e);
            return work;
        }
    }
    if (e->session) {
        keep_set_owner(node, e, keep_self(node)); /* in the first view that this member takes part in */
        work += keep_greet(node, e);
    }
    if (keep_goes_home(node, e)) {
        assert(e->session->orphan && e->session->vouched_ms <= node->now_ms);
        e->moves_to = e->home;
        node->keep.moving++;
    }
    e->leaves = e->session && e->moves_to && e->claims;
    if (e->leaves)
        session_suspend(e->session);
    if (e->session && e->moves_to)
        keep_say_move(node, e, 0);
    else
        e->moves_to = 0; /* if its owner takes part, the owner tells all members again in this view */
    e->ownerless = !e->session && !keep_takes_part(node, e->owner, e->owner_tenure);
    if (!e->session && (e->ownerless || keep_is_unsure(node, e)))
        work += keep_report(node, e);
    return work;
}

/* Processes letters that had to wait. */
static void keep_hear_late(struct node *node)
{
    for (uint32_t k = 0; k < node->view.count; k++)
        node->late_again |= node->member[k] && bytes_len(&node->member[k]->late);
}

static void keep_end_telling(struct node *node)
{
    struct keep *k = &node->keep;

    for (uint32_t j = 0; j < node->view.count; j++) {
        struct member *m = keep_peer(node, j);

        if (!m)
            continue;
        if (!m->keep.greeted)
            keep_say_number(m, KEEP_SYNC, k->made);
        m->keep.greeted = true;
        keep_say_mark(m, node->view.number, k->opened);
    }
    k->phase = KEEP_AWAITS;
    keep_hear_late(node);
}

/* Rule 9: is a record outdated? It is one that this member knows only by reports of members that were not sure of the owner.
 * It is outdated in two cases. Another report names an owner that was chosen in a later view. Or the owner, another member,
 * has opened the view in which it was chosen: then it has told every member that was admitted later what its sessions hold
 * (keep_greet), and the report may be about a lock that has been released since. Otherwise the owner has done nothing with
 * the session yet. */
static bool keep_is_outdated(const struct node *node, const struct keep_session *e, const struct keep_record *x)
{
    uint32_t k = view_find(&node->view, e->owner);
    const struct member *owner = k != VIEW_MEMBERS_MAX ? node->member[k] : NULL;

    return owner_is_outdated(x->reported, e->ownerless, e->chosen, owner ? owner->keep.opened : 0);
}

/* Returns how many records there were. */
static uint32_t keep_forget_outdated(struct node *node, struct keep_session *e)
{
    uint32_t count = e->count;

    for (struct ring *r = e->records.next, *next; r != &e->records; r = next) {
        struct keep_record *x = RING_OF(r, struct keep_record, in_session);

        next = r->next;
        if (keep_is_outdated(node, e, x))
            keep_forget_record(&node->keep, e, x);
        else
            keep_trust_record(x);
    }
    return count;
}

/* The record `x` names another claim: one that was withdrawn before the claim of `x` was granted, or the one of which the claim of `x` is the upgrade.
 * Does this member still have a record of the named claim, or has it adopted that claim? Then `x` is to be forgotten. */
static bool keep_has_former(const struct node *node, const struct keep_record *x)
{
    const struct keep_session *e = keep_find(&node->keep, x->after_id);
    const struct lock *lock = e && e->session ? locks_find(&node->locks, x->name, x->name_len) : NULL;
    const struct keep_record *former = e && !e->session ? keep_find_record(e, x->name, x->name_len, x->after) : NULL;
    bool own = false;

    for (const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c))
        own |= c->session == e->session && c->fence == x->after;
    return owner_forgets_follower(own, former, former && keep_is_outdated(node, e, former));
}

/* Rules 2, 4 and 11. If a claim was granted after a withdrawn one, or is an upgrade, its client is told only when no member has
 * a record of the previous claim any more. So, if a member has such a record, the owner is lost and the client was not told.
 * Then the record of the later claim is forgotten; otherwise both claims would be held. All members have the same reports,
 * so all forget it. A member that has not passed the barrier at which others forgot the record reports it once more, also
 * in a view in which the next owner is known. So this does not depend on which member is the owner. */
static void keep_forget_followers(struct node *node, struct keep_session *e)
{
    for (struct ring *r = e->records.next, *next; r != &e->records; r = next) {
        struct keep_record *x = RING_OF(r, struct keep_record, in_session);

        next = r->next;
        if (x->after && keep_has_former(node, x))
            keep_forget_record(&node->keep, e, x);
    }
}

/* At the barrier: all reports of this view have come, and all members have the same ones, so they choose the same owner.
 * Returns the amount of work, for KEEP_PIECE. */
static uint32_t keep_choose_for(struct node *node, struct keep_session *e)
{
    bool moves = !e->ownerless && keep_takes_part(node, e->moves_to, 0), suspended = e->leaves;
    uint64_t lost = e->ownerless && !keep_is_token(e) ? e->owner : 0;
    uint32_t work = 1 + keep_forget_outdated(node, e);

    keep_forget_followers(node, e);
    if (!e->session && ring_empty(&e->records)) {
        keep_remove(&node->keep, e);
        return work;
    }
    if (owner_changes(e->ownerless, moves, e->session != NULL, e->leaves)) {
        keep_set_owner(node, e, moves ? e->moves_to : owner_choose(&node->view, e->id.high));
        e->chosen = node->view.number;
        e->unsure_in = node->view.number;
    }
    node->keep.moving -= e->session && e->moves_to;
    e->moves_to = 0;
    e->ownerless = e->leaves = false;
    memset(&e->before, 0, sizeof e->before);
    if (e->session && !keep_is_own(node, e))
        work += keep_unadopt(node, e);
    else if (!e->session && keep_is_own(node, e)) {
        work += keep_adopt(node, e);
        e->home = lost == keep_self(node) || node->conf.patient ? 0 : lost;
    } else if (
        suspended) { /* it does not move: the member to which it was to move does not take part, or is this one */
        ring_cut(&e->in_adopted);
        ring_push(&node->keep.adopted, &e->in_adopted);
    }
    return work;
}

static void keep_pass_barrier(struct node *node)
{
    node->keep.phase = KEEP_PASSED;
    node->keep.passed = node->view.number;
    keep_hear_late(node);
    locks_complete(&node->locks);
}

static bool keep_has_all_marks(const struct node *node)
{
    for (uint32_t k = 0; k < node->view.count; k++)
        if (keep_peer(node, k) && !keep_peer(node, k)->keep.marked)
            return false;
    return true;
}

/* Does the next piece of the walks of this view. */
static void keep_walk_on(struct node *node)
{
    struct keep *k = &node->keep;
    uint32_t left = keep_piece(node);

    if (k->phase == KEEP_TELLS && keep_is_forgetting(node)) /* the claims of an earlier incarnation are still there */
        return;
    while (left && (k->phase == KEEP_TELLS || k->phase == KEEP_CHOOSES)) {
        struct keep_session *e = keep_walk(k);
        uint32_t work = 0;

        if (e)
            work = k->phase == KEEP_TELLS ? keep_tell_of(node, e) : keep_choose_for(node, e);
        else if (k->phase == KEEP_TELLS)
            keep_end_telling(node);
        else
            keep_pass_barrier(node);
        if (k->phase == KEEP_AWAITS && keep_has_all_marks(node)) /* of no other member, if there is none */
            keep_begin_walk(k, KEEP_CHOOSES);
        left -= work < left ? work : left;
    }
}

void keep_try_barrier(struct node *node)
{
    if (node->keep.phase != KEEP_AWAITS || !keep_has_all_marks(node))
        return;
    keep_begin_walk(&node->keep, KEEP_CHOOSES);
    keep_walk_on(node);
}

/* Rule 3: a grant whose client has not been told yet waits for the acknowledgement of a new member, too, even if all other
 * members have acknowledged it. */
static void keep_doubt_ready(struct keep *k)
{
    struct ring *before = k->pending.next;

    while (!ring_empty(&k->ready)) {
        struct ring *r = k->ready.next;

        ring_cut(r);
        ring_push(before, r);
    }
}

void keep_begin_view(struct node *node)
{
    if (!node->takes_part) {
        locks_complete(&node->locks);
        return;
    }
    for (uint32_t k = 0; k < node->view.count; k++) {
        struct member *m = keep_peer(node, k);

        if (m && m->keep.tenure != keep_tenure(&node->view.member[k]))
            m->keep = (struct keep_peer){.tenure = keep_tenure(&node->view.member[k])};
        if (m)
            m->keep.marked = false;
    }
    keep_doubt_ready(&node->keep);
    keep_count_acks(node);
    keep_begin_walk(&node->keep, KEEP_TELLS);
    keep_walk_on(node);
}

void keep_open(struct node *node)
{
    node->keep.opened = node->view.number;
    node->keep.stirred = true;
}

/* ----------------------------------------------------------------------------------------------------------- in pieces */

static struct keep_session *keep_first_adopted(const struct node *node)
{
    const struct ring *adopted = &node->keep.adopted;
    struct keep_session *e = ring_empty(adopted) ? NULL : RING_OF(adopted->next, struct keep_session, in_adopted);

    return e && !keep_is_unsure(node, e) ? e : NULL;
}

bool keep_may_act(struct node *node, struct keep_session *e)
{
    if (keep_is_unsure(node, e))
        return false;
    if (!ring_empty(&e->in_adopted)) {
        ring_cut(&e->in_adopted);
        if (!e->handed)
            keep_begin_time(node, e);
        e->handed = false;
        session_act(e->session);
    }
    return true;
}

/* The view in which these sessions began here has opened: their times begin. */
static void keep_begin_times(struct node *node)
{
    struct keep_session *e;
    uint32_t left = keep_piece(node);

    while (left && (e = keep_first_adopted(node))) {
        uint32_t work = 1 + e->session->held;

        keep_may_act(node, e);
        left -= work < left ? work : left;
    }
}

bool keep_views_busy(const struct node *node)
{
    const struct keep *k = &node->keep;

    return (k->phase == KEEP_TELLS && !keep_is_forgetting(node)) || k->phase == KEEP_CHOOSES ||
           !ring_empty(&k->forgotten) || !ring_empty(&k->doomed) || keep_first_adopted(node);
}

void keep_views_go_on(struct node *node)
{
    bool forgets = keep_forget_some(node);

    keep_walk_on(node);
    keep_begin_times(node);
    if (!forgets)
        keep_free_some(node);
}
