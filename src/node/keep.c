/* keep.c - see keep.h and README.md: sessions of this member, and how clients resume them. */
#include "keep_inside.h"

#include "base/slab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_AGAIN_MS = 500, LOOK_AGAIN_MS = 50 };

static uint64_t keep_earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ------------------------------------------------------------------------------------------------------ own sessions */

void keep_tell(struct session *s, enum keep_news news)
{
    s->keep_news = news;
    ring_cut(&s->in_news);
    ring_push(&s->node->keep.news, &s->in_news);
}

void keep_begin_time(struct node *node, struct keep_session *e)
{
    e->due_ms = keep_is_token(e) ? UINT64_MAX : node->now_ms + promise_stretch_ms(e->keep_ms);
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
    keep_set_value(&s->kept->value, value, len);
}

void keep_end_token(struct keep_session *e)
{
    struct node *node = e->session->node;

    e->session->kept = NULL;
    keep_remove(&node->keep, e);
}

struct keep_id keep_secret(const struct node *node)
{
    struct keep_id id = {.high = 0};

    if (node->conf.random) {
        id.high = node->conf.random(node->conf.user);
        id.low = node->conf.random(node->conf.user);
    }
    return id;
}

const char *keep_begin(struct session *s, struct keep_id id, uint32_t keep_ms, const char **why)
{
    struct node *node = s->node;

    *why = s->kept                      ? "this connection has a kept session already"
           : s->held                    ? "a session is kept from its beginning: ask for that before the first lock"
           : s->confirms                ? "a session is kept from its beginning: ask for that before CONFIRM"
           : !node->conf.random         ? "this member has no source of secrets"
           : keep_find(&node->keep, id) ? "this id is in use; ask again"
                                        : NULL;
    if (*why)
        return "ERR";
    if (node->keep.own_count >= KEEP_OWN_MAX) {
        *why = "this member keeps too many sessions; try again later, or at another member";
        return "BUSY";
    }
    keep_begin_own(s, id, keep_ms);
    return NULL;
}

bool keep_is_full(const struct session *s)
{
    return s->kept && (s->held >= KEEP_HELD_MAX || s->node->keep.claims >= KEEP_CLAIMS_MAX);
}

void keep_end(struct session *s)
{
    struct keep_session *e = session_kept(s);

    if (!e)
        return;
    session_release_all(s);
    s->kept = NULL;
    keep_remove(&s->node->keep, e);
    keep_stir(s->node);
}

/* Does the session end at once because there are many sessions, and this one has no client and holds nothing? */
static bool keep_is_surplus(const struct node *node, const struct session *s)
{
    return node->keep.own_count > KEEP_MANY && s->orphan && ring_empty(&s->claims);
}

void keep_lose_client(struct session *s)
{
    keep_begin_time(s->node, s->kept);
    s->node->keep.stirred |= keep_is_surplus(s->node, s);
    s->node->keep.stirred |= s->kept->wanted_by != 0;
    keep_stir(s->node);
}

/* The session goes on without its client. The client is told to end its connection, and has time for that until it can no longer
 * believe in its locks. */
static void keep_cut_off(struct keep_session *e)
{
    struct session *s = e->session, *heir = session_open_orphan(s->node);

    session_pass_all(s, heir);
    s->kept = NULL;
    keep_own(s->node, e, heir);
    s->cut = e;
    e->former = s;
    keep_begin_time(s->node, e);
    keep_tell(s, KEEP_PART);
}

void keep_drop_former(struct keep_session *e)
{
    if (!e->former)
        return;
    keep_tell(e->former, KEEP_CUT);
    e->former->cut = NULL;
    e->former = NULL;
}

void keep_part(struct session *s, bool proved)
{
    struct keep_session *e = s->cut;

    ring_cut(&s->in_resuming);
    ring_cut(&s->in_news);
    if (!e)
        return;
    s->cut = NULL;
    e->former = NULL;
    if (proved) {
        e->session->vouched_ms = 0;
        keep_begin_time(s->node, e);
    }
    s->node->keep.stirred = true;
}

/* No client has resumed the session in time. */
static void keep_expire(struct node *node, struct keep_session *e)
{
    struct session *s = e->session;

    session_lose_all(s, LOSS_ABANDONED);
    s->kept = NULL;
    keep_drop_former(e);
    keep_remove(&node->keep, e);
    session_end_orphan(s);
}

/* The client's connection is attached to the session. */
static void keep_attach(struct keep_session *e, struct session *s)
{
    struct session *before = e->session;

    session_pass_all(before, s);
    before->kept = NULL;
    keep_drop_former(e);
    e->wanted_by = e->home = 0;
    keep_own(s->node, e, s);
    session_end_orphan(before);
    keep_tell(s, KEEP_RESUMED);
}

/* ----------------------------------------------------------------------------------------------------------- resuming */

const char *keep_resume(struct session *s, struct keep_id id, struct keep_id other, const char **why)
{
    *why = s->kept       ? "this connection has a kept session already"
           : s->held     ? "this connection holds locks; resume a session before the first lock"
           : s->confirms ? "this connection was vouched for; resume a session before CONFIRM"
                         : NULL;
    if (*why)
        return "ERR";
    s->resumes = id;
    s->resumes_else = other;
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

/* Asks the owner for the session. This is repeated: another connection that resumes it may come first. */
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

/* Rule 6: can the client of the earlier connection believe in no lock of the session any more? */
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

    if (!e && (s->resumes_else.high || s->resumes_else.low))
        e = keep_find(&node->keep, s->resumes_else);
    if (state >= NODE_NO_QUORUM)
        keep_answer(s, KEEP_NO_QUORUM);
    else if (state != NODE_GRANTS)
        return;
    else if (!e || keep_is_token(e))
        keep_answer(s, KEEP_UNKNOWN);
    else if (!e->session)
        keep_ask(s, e);
    else if (keep_may_act(node, e) && !e->moves_to && keep_is_free(e) && e->changed <= node->keep.acked) {
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
    keep_say_move(node, e, number);
    node->next_beat_ms = node->now_ms; /* the leader shall know at once that a new view is wanted */
}

bool keep_wants_view(const struct node *node)
{
    return node->keep.moving > 0;
}

/* -------------------------------------------------------------------------------------------------- acknowledgements */

/* Computes which letters all others have acknowledged. */
void keep_count_acks(struct node *node)
{
    struct keep *k = &node->keep;
    uint64_t acked[NODE_MEMBERS_MAX];
    uint32_t others = 0;

    for (uint32_t j = 0; j < node->view.count; j++)
        if (keep_peer(node, j))
            acked[others++] = keep_peer(node, j)->keep.acked;
    k->acked = owner_acked(k->made, acked, others);
    while (!ring_empty(&k->pending)) {
        struct claim *c = RING_OF(k->pending.next, struct claim, in_list);

        if (c->kept > k->acked)
            break;
        ring_cut(&c->in_list);
        ring_push(&k->ready, &c->in_list);
    }
}

static bool keep_can_drop(const struct keep *k)
{
    return !ring_empty(&k->withdrawn) && RING_OF(k->withdrawn.next, struct claim, in_session)->kept <= k->acked;
}

/* Finishes a piece of the withdrawals that all others have acknowledged. */
static void keep_drop_some(struct node *node)
{
    for (uint32_t left = keep_piece(node); left && keep_can_drop(&node->keep); left--) {
        struct claim *c = RING_OF(node->keep.withdrawn.next, struct claim, in_session);

        ring_cut(&c->in_session);
        locks_drop(&node->locks, c);
        session_free_claim(node, c);
    }
}

/* Not while owners change: the session may be about to move. */
static bool keep_can_renew(const struct keep *k)
{
    return k->phase == KEEP_PASSED && !ring_empty(&k->renewed) &&
           RING_OF(k->renewed.next, struct claim, in_renewed)->kept <= k->acked;
}

/* Tells the others a piece of the new TTLs. */
static void keep_renew_some(struct node *node)
{
    for (uint32_t left = keep_piece(node); left && keep_can_renew(&node->keep); left--)
        keep_renew_claim(RING_OF(node->keep.renewed.next, struct claim, in_renewed));
}

bool keep_holds_back(struct claim *c)
{
    struct keep *k = &c->session->node->keep;

    if ((c->state != CLAIM_HELD && c->state != CLAIM_UPGRADED) || c != c->session->waiting || !c->session->kept)
        return false;
    if (c->state == CLAIM_HELD && !c->kept)
        keep_record_claim(c);
    assert(ring_empty(&c->in_list)); /* locks_next_outcome has taken it out */
    ring_push(&k->pending, &c->in_list);
    keep_count_acks(c->session->node);
    return true;
}

struct claim *keep_take_ready(struct node *node)
{
    struct claim *c;

    if (ring_empty(&node->keep.ready) || !node->locks.grants)
        return NULL;
    c = RING_OF(node->keep.ready.next, struct claim, in_list);
    ring_cut(&c->in_list);
    return c;
}

bool keep_withdraws(struct claim *c)
{
    struct node *node = c->session->node;
    const struct keep_session *e = session_kept(c->session);
    bool passes; /* another claim may follow it */

    if (c->state == CLAIM_DOWNGRADED && c->other && c->other->shares) /* its client no longer waits */
        keep_renew_claim(c->other);
    keep_free_claim(c);
    if (!c->kept || node->keep.over || (c->state != CLAIM_HELD && c->state != CLAIM_LINGERS))
        return false;
    keep_count_acks(node);
    if (c->kept <= node->keep.acked)
        return false;
    passes = e && !c->uncertain;
    c->kept_id[0] = passes ? e->id.high : 0;
    c->kept_id[1] = passes ? e->id.low : 0;
    c->session = NULL;
    ring_push(&node->keep.withdrawn, &c->in_session);
    locks_withdraw(&node->locks, c);
    return true;
}

/* Rule 2, one exchange: may the waiting claim `c` be granted the lock while `withdrawn` is not acknowledged? The record of `c`
 * is sent after the withdrawal, and is acknowledged with it or after it. So when the client of `c` is told, no member has the
 * withdrawn record. If the owner is lost before that, some members may have one record and some the other: see
 * keep_forget_followers. The withdrawn claim is the only one in the lock, so no member has a third record. */
bool keep_follows(struct claim *c, const struct claim *withdrawn)
{
    const struct session *s = c->session;
    bool kept = s->kept ? !s->kept->moves_to && !keep_is_unsure(s->node, s->kept) : s->serves && !s->poll;

    if (!kept || (!withdrawn->kept_id[0] && !withdrawn->kept_id[1]) || s->node->keep.phase != KEEP_PASSED)
        return false;
    memcpy(c->kept_id, withdrawn->kept_id, sizeof c->kept_id);
    c->after = withdrawn->after;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- as it goes */

void keep_init(struct node *node)
{
    struct keep *k = &node->keep;

    ring_init(&k->all);
    ring_init(&k->walk);
    ring_init(&k->own);
    ring_init(&k->adopted);
    ring_init(&k->vouched);
    ring_init(&k->forgotten);
    ring_init(&k->parked);
    ring_init(&k->doomed);
    ring_init(&k->tried);
    ring_init(&k->resuming);
    ring_init(&k->news);
    ring_init(&k->pending);
    ring_init(&k->ready);
    ring_init(&k->withdrawn);
    ring_init(&k->renewed);
    k->due_ms = UINT64_MAX;
    k->secret = node->conf.secret;
}

void keep_free(struct node *node)
{
    struct keep *k = &node->keep;

    k->over = true;
    k->phase = KEEP_PASSED;
    keep_forget_all(node);
    while (keep_views_busy(node) || !ring_empty(&node->tasks)) {
        keep_views_go_on(node);
        session_go_on(node);
    }
    k->acked = UINT64_MAX; /* no other member hears of them */
    while (keep_can_drop(k))
        keep_drop_some(node);
}

void keep_mind_lease(struct node *node, bool grants)
{
    struct keep *k = &node->keep;

    if (grants) {
        k->lapsed_ms = 0;
        k->stirred |= !node->locks.grants && !node->conf.patient; /* clients that resume have waited for this */
    } else if (node->locks.grants) {
        /* The lease was valid at granted_ms, and no member excludes this one before lease_end_ms. */
        k->lapsed_ms = node->lease_end_ms > node->granted_ms ? node->lease_end_ms : node->granted_ms;
        k->due_ms = k->due_ms < k->lapsed_ms + KEEP_MS_MIN ? k->due_ms : k->lapsed_ms + KEEP_MS_MIN;
    }
}

void keep_leave(struct node *node)
{
    node->keep.stirred = true; /* see keep_look_at */
}

void keep_vouch(struct session *s)
{
    ring_cut(&s->kept->in_vouched);
    ring_push(&s->node->keep.vouched, &s->kept->in_vouched);
}

/* The first session in `vouched` whose client may still believe, or the ring itself. */
static struct ring *keep_believed(const struct node *node)
{
    const struct ring *vouched = &node->keep.vouched;
    struct ring *r = vouched->next;

    while (r != vouched && RING_OF(r, struct keep_session, in_vouched)->session->vouched_ms <= node->now_ms)
        r = r->next;
    return r;
}

bool keep_is_believed(const struct node *node)
{
    return keep_believed(node) != &node->keep.vouched;
}

/* Looks at one session, as time passes. Returns when to look at it again. */
static uint64_t keep_look_at(struct node *node, struct keep_session *e)
{
    uint64_t lost_ms = UINT64_MAX, due = UINT64_MAX;

    if (node->leaves && !e->session->orphan)
        keep_cut_off(e);
    if (e->former && e->session->vouched_ms <= node->now_ms)
        keep_drop_former(e);
    if (e->wanted_by && !e->claims)
        e->wanted_by = 0; /* other members do not know it any more */
    if (e->wanted_by && node->keep.phase == KEEP_PASSED && keep_is_free(e))
        keep_begin_move(node, e);
    if (e->wanted_by || e->former || node->leaves || node->dropped)
        due = e->session->vouched_ms > node->now_ms ? e->session->vouched_ms : UINT64_MAX;
    if (!e->session->orphan) {
        /* The client counts the keep time from its last question that was answered by vouching, before the lease was gone. Its clock may
         * be slow, and ours fast: so the owner counts 21/19 of it (rule 8). */
        if (node->keep.lapsed_ms)
            lost_ms = node->keep.lapsed_ms + promise_stretch_ms(e->keep_ms);
        if (lost_ms <= node->now_ms)
            session_lose_all(e->session, LOSS_NO_MAJORITY);
        return keep_earlier(due, lost_ms > node->now_ms ? lost_ms : UINT64_MAX);
    }
    if (keep_is_unsure(node, e) || e->moves_to)
        return due;
    if (e->due_ms <= node->now_ms || (keep_is_surplus(node, e->session) && !e->former && !e->wanted_by)) {
        keep_expire(node, e);
        return UINT64_MAX;
    }
    return keep_earlier(due, e->due_ms);
}

static void keep_begin_look(struct node *node)
{
    struct keep *k = &node->keep;

    k->stirred = false;
    k->looked_ms = node->now_ms;
    k->due_ms = UINT64_MAX;
    ring_push(k->resuming.next, &k->tried);
    k->looking = k->own_count;
}

static bool keep_is_looking(const struct keep *k)
{
    return !ring_empty(&k->tried) || k->looking;
}

/* Looks at a piece of the own sessions. A session that has been looked at goes to the end of the ring. */
static void keep_look(struct node *node)
{
    struct keep *k = &node->keep;
    uint32_t left = keep_piece(node);

    for (; left && !ring_empty(&k->tried); left--) {
        struct ring *next = k->tried.next;

        ring_cut(&k->tried);
        if (next != &k->resuming) {
            ring_push(next->next, &k->tried);
            keep_try_resume(RING_OF(next, struct session, in_resuming));
        }
    }
    while (left && k->looking && !ring_empty(&k->own)) {
        struct keep_session *e = RING_OF(k->own.next, struct keep_session, in_own);
        uint32_t work = 1 + e->session->held;

        k->looking--;
        left -= work < left ? work : left;
        keep_own(node, e, e->session);
        k->due_ms = keep_earlier(k->due_ms, keep_look_at(node, e));
    }
    if (ring_empty(&k->own))
        k->looking = 0;
}

bool keep_next(struct node *node, struct node_event *event)
{
    struct ring *news = &node->keep.news;

    if (ring_empty(news))
        return false;
    event->session = RING_OF(news->next, struct session, in_news);
    keep_forget_now(event->session); /* whatever it was to be told */
    event->keep = event->session->keep_news;
    ring_cut(&event->session->in_news);
    if (event->keep == KEEP_NO_QUORUM) {
        struct dme_text why;

        dme_text_init(&why, event->why, sizeof event->why);
        node_say_no_quorum(node, &why);
    }
    return true;
}

bool keep_has_parted(const struct node *node)
{
    return !node->leaves || !(node->keep.stirred || keep_is_looking(&node->keep));
}

bool keep_is_busy(const struct node *node)
{
    const struct keep *k = &node->keep;

    return keep_is_looking(k) || !keep_has_parted(node) || keep_can_drop(k) || keep_can_renew(k) ||
           keep_views_busy(node);
}

uint64_t keep_due_ms(const struct node *node)
{
    const struct keep *k = &node->keep;

    return ring_empty(&k->resuming) ? k->due_ms : keep_earlier(k->due_ms, k->looked_ms + LOOK_AGAIN_MS);
}

static void keep_acknowledge(struct node *node)
{
    node->keep.owes = false;
    for (uint32_t j = 0; j < node->view.count; j++) {
        struct member *m = node->member[j];

        if (m && m->keep.seen != m->keep.told && m->keep.synced && keep_peer(node, j)) {
            keep_say_number(m, KEEP_ACK, m->keep.seen);
            m->keep.told = m->keep.seen;
        }
        node->keep.owes |= m && m->keep.seen != m->keep.told;
    }
}

void keep_go_on(struct node *node)
{
    struct keep *k = &node->keep;
    bool idle = keep_is_idle(k);

    if (!idle) {
        keep_views_go_on(node);
        for (struct ring *first = keep_believed(node); k->vouched.next != first;)
            ring_cut(k->vouched.next);
    }
    if (k->owes)
        keep_acknowledge(node);
    if (idle)
        return;
    keep_drop_some(node);
    keep_renew_some(node);
    if (!keep_is_looking(k) && (k->stirred || keep_due_ms(node) <= node->now_ms))
        keep_begin_look(node);
    keep_look(node);
}
