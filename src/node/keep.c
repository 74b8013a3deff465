/* keep.c - see keep.h and README.md: sessions of this member, how they are resumed, how they change their owner in a new view. */
#include "keep_inside.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_AGAIN_MS = 500, LOOK_AGAIN_MS = 50 };

static uint64_t keep_earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ------------------------------------------------------------------------------------------------------ own sessions */

static void keep_tell(struct session *s, enum keep_news news)
{
    s->keep_news = news;
    ring_cut(&s->in_news);
    ring_push(&s->node->keep.news, &s->in_news);
}

static void keep_own(struct node *node, struct keep_session *e, struct session *s)
{
    e->session = s;
    s->kept = e;
    ring_cut(&e->in_own);
    ring_push(&node->keep.own, &e->in_own);
}

/* It has no client from now on. */
static void keep_begin_time(struct node *node, struct keep_session *e)
{
    e->due_ms = keep_is_token(e) ? UINT64_MAX : node->now_ms + node_stretch_ms(e->keep_ms);
    if (e->due_ms < e->session->vouched_ms)
        e->due_ms = e->session->vouched_ms;
    if (node->keep.due_ms > e->due_ms)
        node->keep.due_ms = e->due_ms;
}

/* This member is the owner of a session that begins. */
static void keep_begin_own(struct session *s, struct keep_id id, uint32_t keep_ms)
{
    struct node *node = s->node;

    keep_own(node, keep_add(&node->keep, id, keep_ms), s);
    s->kept->owner = node->place < node->view.count ? keep_self(node) : 0;
    s->kept->owner_tenure = node->takes_part ? keep_tenure(&node->view.member[node->place]) : 0;
}

void keep_begin_token(struct session *s, struct keep_id id, const char *value, size_t len)
{
    keep_begin_own(s, id, 0);
    s->kept->due_ms = UINT64_MAX;
    keep_set_value(s->kept, value, len);
}

void keep_end_token(struct keep_session *e)
{
    struct node *node = e->session->node;

    e->session->kept = NULL;
    keep_remove(&node->keep, e);
}

const char *keep_begin(struct session *s, uint32_t keep_ms, const char **why)
{
    struct node *node = s->node;
    struct keep_id id;

    *why = s->kept              ? "this connection has a kept session already"
           : s->held            ? "a session is kept from its beginning: ask for that before the first lock"
           : !node->conf.random ? "this member has no source of secrets"
                                : NULL;
    if (*why)
        return "ERR";
    do {
        id.high = node->conf.random(node->conf.user);
        id.low = node->conf.random(node->conf.user);
    } while (keep_find(&node->keep, id));
    keep_begin_own(s, id, keep_ms);
    ring_cut(&s->in_confirming);
    return NULL;
}

bool keep_is_full(const struct session *s)
{
    return s->kept && (s->held >= KEEP_HELD_MAX || s->node->keep.claims >= KEEP_CLAIMS_MAX);
}

void keep_end(struct session *s)
{
    struct keep_session *e = s->kept;

    if (!e)
        return;
    session_release_all(s);
    s->kept = NULL;
    keep_remove(&s->node->keep, e);
    keep_stir(s->node);
}

void keep_lose_client(struct session *s)
{
    keep_begin_time(s->node, s->kept);
    s->node->keep.stirred |= s->kept->wanted_by != 0;
    keep_stir(s->node);
}

/* The session goes on without its client, whose connection is told so and ends. */
static void keep_cut_off(struct keep_session *e)
{
    struct session *s = e->session, *heir = session_open_orphan(s->node);

    session_pass_all(s, heir);
    s->kept = NULL;
    keep_own(s->node, e, heir);
    s->cut = e->id;
    e->former = s;
    keep_begin_time(s->node, e);
    keep_tell(s, KEEP_CUT);
}

void keep_part(struct session *s, bool proved)
{
    struct keep_session *e;

    ring_cut(&s->in_resuming);
    ring_cut(&s->in_news);
    if (!s->cut.high && !s->cut.low)
        return;
    e = keep_find(&s->node->keep, s->cut);
    if (e && e->former == s) {
        e->former = NULL;
        if (proved)
            e->session->vouched_ms = 0;
        s->node->keep.stirred = true;
    }
}

/* No client has resumed the session in time. */
static void keep_expire(struct node *node, struct keep_session *e)
{
    struct session *s = e->session;

    session_lose_all(s, LOSS_ABANDONED);
    s->kept = NULL;
    keep_remove(&node->keep, e);
    session_end_orphan(s);
}

/* The client's connection is attached to the session. */
static void keep_attach(struct keep_session *e, struct session *s)
{
    struct session *before = e->session;

    session_pass_all(before, s);
    before->kept = NULL;
    e->former = NULL;
    e->wanted_by = 0;
    keep_own(s->node, e, s);
    session_end_orphan(before);
    keep_tell(s, KEEP_RESUMED);
}

/* ----------------------------------------------------------------------------------------------------------- resuming */

const char *keep_resume(struct session *s, struct keep_id id, const char **why)
{
    *why = s->kept   ? "this connection has a kept session already"
           : s->held ? "this connection holds locks; resume a session before the first lock"
                     : NULL;
    if (*why)
        return "ERR";
    s->resumes = id;
    s->asked_view = 0;
    ring_push(&s->node->keep.resuming, &s->in_resuming);
    s->node->keep.stirred = true;
    return NULL;
}

static void keep_answer(struct session *s, enum keep_news news)
{
    ring_cut(&s->in_resuming);
    keep_tell(s, news);
}

/* The owner is asked, again and again: it may be that another connection comes first. */
static void keep_ask(struct session *s, const struct keep_session *e)
{
    struct node *node = s->node;
    uint32_t k = view_find(&node->view, e->owner);

    if ((s->asked_view == node->view.number && node->now_ms < s->asked_ms + ASK_AGAIN_MS) || k == VIEW_MEMBERS_MAX ||
        !keep_peer(node, k))
        return;
    s->asked_view = node->view.number;
    s->asked_ms = node->now_ms;
    keep_say_ask(node->member[k], e->id);
}

/* Nothing that was vouched for to the former client can be believed any more. */
static bool keep_is_free(struct keep_session *e)
{
    if (!e->session->orphan)
        keep_cut_off(e);
    return e->session->vouched_ms <= e->session->node->now_ms;
}

static void keep_try_resume(struct session *s)
{
    struct node *node = s->node;
    struct keep_session *e = keep_find(&node->keep, s->resumes);
    enum node_state state = node_state(node);

    if (state >= NODE_NO_QUORUM)
        keep_answer(s, KEEP_NO_QUORUM);
    else if (state != NODE_GRANTS)
        return;
    else if (!e || keep_is_token(e))
        keep_answer(s, KEEP_UNKNOWN);
    else if (!e->session)
        keep_ask(s, e);
    else if (!e->unsure && !e->moves_to && keep_is_free(e)) {
        ring_cut(&s->in_resuming);
        keep_attach(e, s);
    } else if (e->session->vouched_ms > node->now_ms) {
        node->keep.due_ms = keep_earlier(node->keep.due_ms, e->session->vouched_ms);
    }
}

/* The session is to move in the next view, to the member that wants it. */
static void keep_begin_move(struct node *node, struct keep_session *e)
{
    uint64_t number = ++node->keep.made;

    e->moves_to = e->wanted_by;
    e->wanted_by = 0;
    node->keep.moving++;
    for (uint32_t k = 0; k < node->view.count; k++)
        if (keep_peer(node, k))
            keep_say_id(keep_peer(node, k), KEEP_MOVE, number, e->id, e->moves_to);
    node->next_beat_ms = node->now_ms; /* the leader shall know at once that a new view is wanted */
}

bool keep_wants_view(const struct node *node)
{
    return node->keep.moving > 0;
}

/* -------------------------------------------------------------------------------------------------- acknowledgements */

/* What all others know. */
void keep_count_acks(struct node *node)
{
    struct keep *k = &node->keep;
    uint64_t acked = k->made;

    for (uint32_t j = 0; j < node->view.count; j++)
        if (keep_peer(node, j) && keep_peer(node, j)->keep.acked < acked)
            acked = keep_peer(node, j)->keep.acked;
    k->acked = acked;
    while (!ring_empty(&k->pending)) {
        struct claim *c = RING_OF(k->pending.next, struct claim, settled);

        if (c->kept > acked)
            break;
        ring_cut(&c->settled);
        ring_push(&k->ready, &c->settled);
    }
    while (!ring_empty(&k->withdrawn)) {
        struct claim *c = RING_OF(k->withdrawn.next, struct claim, in_session);

        if (c->kept > acked)
            break;
        ring_cut(&c->in_session);
        locks_drop(&node->locks, c);
        free(c->by);
        free(c);
    }
}

bool keep_holds_back(struct claim *c)
{
    struct keep *k = &c->session->node->keep;

    if (c->state != CLAIM_HELD || c != c->session->waiting || !c->session->kept)
        return false;
    if (!c->kept)
        keep_record_claim(c);
    ring_push(&k->pending, &c->settled);
    keep_count_acks(c->session->node);
    return true;
}

struct claim *keep_take_ready(struct node *node)
{
    struct claim *c;

    if (ring_empty(&node->keep.ready) || !node->locks.grants)
        return NULL;
    c = RING_OF(node->keep.ready.next, struct claim, settled);
    ring_cut(&c->settled);
    return c;
}

bool keep_withdraws(struct claim *c)
{
    struct node *node = c->session->node;

    keep_free_claim(c);
    if (!c->kept || node->keep.over || (c->state != CLAIM_HELD && c->state != CLAIM_LINGERS))
        return false;
    keep_count_acks(node);
    if (c->kept <= node->keep.acked)
        return false;
    c->session = NULL;
    ring_push(&node->keep.withdrawn, &c->in_session);
    locks_withdraw(&node->locks, c);
    return true;
}

/* ------------------------------------------------------------------------------------------------------ between owners */

/* The session is made of its records: its locks are held since before this view. */
static void keep_adopt(struct node *node, struct keep_session *e)
{
    struct session *s = session_open_orphan(node);

    while (!ring_empty(&e->records)) {
        struct keep_record *x = RING_OF(e->records.next, struct keep_record, in_session);
        struct claim *c = session_adopt(s, x->name, x->name_len);

        c->fence = x->fence;
        c->ttl_ms = x->ttl_ms;
        c->slots = x->slots;
        c->mode = x->mode;
        c->kept = 1; /* all others have the record: every member has the same ones now */
        node->keep.claims++;
        locks_adopt(&node->locks, c);
        keep_forget_record(&node->keep, x);
    }
    e->due_ms = UINT64_MAX;
    keep_own(node, e, s);
}

/* The opposite: another member is the owner, or may be. */
static void keep_release(struct node *node, struct keep_session *e)
{
    struct session *s = e->session;
    struct ring *r = s->claims.next;

    assert(s->orphan);
    while (r != &s->claims) {
        struct claim *c = RING_OF(r, struct claim, in_session);

        r = r->next;
        if (c->state == CLAIM_HELD && keep_is_recorded(c)) {
            struct keep_record *x = mem_new(sizeof *x + c->name_len);

            *x = (struct keep_record){.fence = c->fence,
                                      .ttl_ms = (uint32_t)c->ttl_ms,
                                      .slots = c->slots,
                                      .mode = c->mode,
                                      .name_len = c->name_len};
            memcpy(x->name, c->name, c->name_len);
            ring_push(&e->records, &x->in_session);
            node->keep.records++;
            node->keep.claims--;
            session_discard(c);
        }
    }
    e->wanted_by = 0;
    e->former = NULL;
    e->session = NULL;
    ring_cut(&e->in_own);
    session_release_all(s);
    s->kept = NULL;
    session_end_orphan(s);
}

void keep_forget_all(struct node *node)
{
    struct keep *k = &node->keep;
    struct keep_session *e, *next = NULL;
    size_t at = 0;

    while ((e = keep_each(k, &at, &next))) {
        struct session *s = e->session;

        if (s) {
            session_discard_all(s);
            s->kept = NULL;
            if (s->orphan)
                session_end_orphan(s);
            else
                keep_tell(s, KEEP_CUT);
        }
        keep_remove(k, e);
    }
    while (!ring_empty(&k->withdrawn)) {
        struct claim *c = RING_OF(k->withdrawn.next, struct claim, in_session);

        ring_cut(&c->in_session);
        locks_drop(&node->locks, c);
        free(c->by);
        free(c);
    }
    k->claims = 0;
    k->made = k->acked = k->passed = k->opened = 0;
    k->barrier = false;
    for (uint32_t j = 0; j < node->view.count; j++)
        if (node->member[j])
            node->member[j]->keep.tenure = 0;
}

/* ----------------------------------------------------------------------------------------------------- views: the barrier */

/* A record that this member has only by reports, and whose owner takes part: has the owner opened the view in which it was
 * chosen? Then it has told every member that came later what its sessions hold (keep_greet), and the report may be about a
 * lock that has been released since. Otherwise the owner has not done anything yet. */
static bool keep_is_outdated(const struct node *node, const struct keep_session *e, const struct keep_record *x)
{
    uint32_t k = view_find(&node->view, e->owner);

    return x->reported && !e->orphaned && k != VIEW_MEMBERS_MAX && node->member[k] &&
           node->member[k]->keep.opened >= x->reported;
}

static void keep_forget_outdated(struct node *node, struct keep_session *e)
{
    for (struct ring *r = e->records.next, *next; r != &e->records; r = next) {
        struct keep_record *x = RING_OF(r, struct keep_record, in_session);

        next = r->next;
        if (keep_is_outdated(node, e, x))
            keep_forget_record(&node->keep, x);
        else
            x->reported = 0;
    }
}

/* All reports of this view are there, and all members have the same: they choose the same owners. */
static void keep_pass_barrier(struct node *node)
{
    struct keep *k = &node->keep;
    struct keep_session *e, *next = NULL;
    size_t at = 0;

    k->barrier = false;
    k->passed = node->view.number;
    while ((e = keep_each(k, &at, &next))) {
        bool moves = keep_takes_part(node, e->moves_to, 0), recorded = !ring_empty(&e->records);

        keep_forget_outdated(node, e);
        if (recorded && ring_empty(&e->records)) {
            keep_remove(k, e);
            continue;
        }
        if (e->orphaned || (moves && (!e->session || e->leaves))) {
            keep_set_owner(node, e, moves ? e->moves_to : keep_choose(node, e));
            e->chosen = node->view.number;
            e->unsure = true;
        }
        if (e->session && !keep_is_own(node, e))
            keep_release(node, e);
        else if (!e->session && keep_is_own(node, e))
            keep_adopt(node, e);
        e->moves_to = 0;
        e->orphaned = e->leaves = false;
    }
    k->moving = 0;
    locks_complete(&node->locks);
}

void keep_try_barrier(struct node *node)
{
    if (!node->keep.barrier)
        return;
    for (uint32_t k = 0; k < node->view.count; k++)
        if (keep_peer(node, k) && !keep_peer(node, k)->keep.marked)
            return;
    keep_pass_barrier(node);
}

/* Members that begin to take part are told all of the own sessions. */
static void keep_greet(struct node *node)
{
    for (uint32_t k = 0; k < node->view.count; k++) {
        struct member *m = keep_peer(node, k);

        if (!m)
            continue;
        if (m->keep.tenure != keep_tenure(&node->view.member[k])) {
            m->keep = (struct keep_peer){.tenure = keep_tenure(&node->view.member[k])};
            keep_send_all(node, m);
        }
        m->keep.marked = false;
    }
}

void keep_begin_view(struct node *node)
{
    struct keep *k = &node->keep;
    struct keep_session *e, *next = NULL;
    size_t at = 0;

    if (!node->takes_part) {
        locks_complete(&node->locks);
        return;
    }
    while ((e = keep_each(k, &at, &next)))
        if (e->session && e->unsure)
            keep_release(node, e);
        else if (e->session)
            keep_set_owner(node, e, keep_self(node)); /* at the very first */
    keep_greet(node);
    at = 0;
    while ((e = keep_each(k, &at, &next))) {
        e->leaves = e->session && e->moves_to && session_has_kept(e->session);
        e->orphaned = !keep_takes_part(node, e->owner, e->owner_tenure);
        if (e->orphaned || e->unsure)
            keep_report(node, e);
    }
    for (uint32_t j = 0; j < node->view.count; j++)
        if (keep_peer(node, j))
            keep_say_mark(keep_peer(node, j), node->view.number, k->opened);
    k->barrier = true;
    keep_count_acks(node);
    keep_try_barrier(node);
}

void keep_open(struct node *node)
{
    struct keep_session *e, *next = NULL;
    size_t at = 0;

    while ((e = keep_each(&node->keep, &at, &next))) {
        if (e->unsure && e->session) {
            keep_begin_time(node, e);
            session_begin_ttls(e->session);
        }
        e->unsure = false;
    }
    node->keep.opened = node->view.number;
    node->keep.stirred = true;
}

/* ---------------------------------------------------------------------------------------------------------- as it goes */

void keep_init(struct node *node)
{
    struct keep *k = &node->keep;

    ring_init(&k->own);
    ring_init(&k->resuming);
    ring_init(&k->news);
    ring_init(&k->pending);
    ring_init(&k->ready);
    ring_init(&k->withdrawn);
    k->due_ms = UINT64_MAX;
}

void keep_free(struct node *node)
{
    node->keep.over = true;
    keep_forget_all(node);
    free(node->keep.table);
}

void keep_mind_lease(struct node *node, bool grants)
{
    struct keep *k = &node->keep;

    if (grants)
        k->lapsed_ms = 0;
    else if (node->locks.grants) {
        /* It was valid when the time was told last; and no member excludes this one before it is over. */
        k->lapsed_ms = node->lease_end_ms > node->granted_ms ? node->lease_end_ms : node->granted_ms;
        k->due_ms = k->due_ms < k->lapsed_ms + KEEP_MS_MIN ? k->due_ms : k->lapsed_ms + KEEP_MS_MIN;
    }
}

void keep_leave(struct node *node)
{
    for (struct ring *r = node->keep.own.next, *next; r != &node->keep.own; r = next) {
        struct keep_session *e = RING_OF(r, struct keep_session, in_own);

        next = r->next;
        if (!e->session->orphan)
            keep_cut_off(e); /* and is the last */
    }
}

bool keep_is_believed(const struct node *node)
{
    for (struct ring *r = node->keep.own.next; r != &node->keep.own; r = r->next)
        if (RING_OF(r, struct keep_session, in_own)->session->vouched_ms > node->now_ms)
            return true;
    return false;
}

/* One session, as time passes. When to look at it again. */
static uint64_t keep_look_at(struct node *node, struct keep_session *e)
{
    uint64_t lost_ms = node->keep.lapsed_ms ? node->keep.lapsed_ms + e->keep_ms : UINT64_MAX, due = UINT64_MAX;

    if (e->wanted_by && !session_has_kept(e->session))
        e->wanted_by = 0; /* other members do not know it any more */
    if (e->wanted_by && !node->keep.barrier && keep_is_free(e))
        keep_begin_move(node, e);
    if (e->wanted_by || node->leaves || node->dropped)
        due = e->session->vouched_ms > node->now_ms ? e->session->vouched_ms : UINT64_MAX;
    if (!e->session->orphan) {
        /* Other members may have excluded this one since: then they keep the session for as long, counted from
         * later. */
        if (lost_ms <= node->now_ms)
            session_lose_all(e->session, LOSS_NO_MAJORITY);
        return keep_earlier(due, lost_ms > node->now_ms ? lost_ms : UINT64_MAX);
    }
    if (e->unsure || e->moves_to)
        return due;
    if (e->due_ms <= node->now_ms) {
        keep_expire(node, e);
        return UINT64_MAX;
    }
    return keep_earlier(due, e->due_ms);
}

static void keep_look(struct node *node)
{
    struct keep *k = &node->keep;

    k->looked_ms = node->now_ms;
    k->due_ms = UINT64_MAX;
    for (struct ring *r = k->resuming.next, *next; r != &k->resuming; r = next) {
        next = r->next;
        keep_try_resume(RING_OF(r, struct session, in_resuming));
    }
    for (struct ring *r = k->own.next, *next; r != &k->own; r = next) {
        next = r->next;
        k->due_ms = keep_earlier(k->due_ms, keep_look_at(node, RING_OF(r, struct keep_session, in_own)));
    }
}

bool keep_next(struct node *node, struct node_event *event)
{
    struct ring *news = &node->keep.news;

    if (ring_empty(news))
        return false;
    event->session = RING_OF(news->next, struct session, in_news);
    event->keep = event->session->keep_news;
    ring_cut(&event->session->in_news);
    if (event->keep == KEEP_NO_QUORUM) {
        struct dme_text why;

        dme_text_init(&why, event->why, sizeof event->why);
        node_say_no_quorum(node, &why);
    }
    return true;
}

uint64_t keep_due_ms(const struct node *node)
{
    const struct keep *k = &node->keep;

    return ring_empty(&k->resuming) ? k->due_ms : keep_earlier(k->due_ms, k->looked_ms + LOOK_AGAIN_MS);
}

void keep_go_on(struct node *node)
{
    struct keep *k = &node->keep;

    for (uint32_t j = 0; j < node->view.count; j++) {
        struct member *m = keep_peer(node, j);

        if (m && m->keep.seen != m->keep.told) {
            keep_say_number(m, KEEP_ACK, m->keep.seen);
            m->keep.told = m->keep.seen;
        }
    }
    if (k->stirred || keep_due_ms(node) <= node->now_ms) {
        k->stirred = false;
        keep_look(node);
    }
}
