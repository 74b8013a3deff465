/* session.c - see session.h. */
#include "session.h"

#include "base/memory.h"
#include "base/slab.h"
#include "drain.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONE_MS = 3600000 /* an hour */, LONE_SHORT_MS = 10000, LONE_LINGER_MS = 2000 };

static uint32_t session_piece(const struct node *node)
{
    return node->conf.piece ? node->conf.piece : SESSION_PIECE;
}

/* To be called when `held` or `orphan` has changed. */
static void session_note_holding(struct session *s)
{
    bool was = !ring_empty(&s->in_holding), is = s->held && !s->orphan;

    if (was && !is)
        ring_cut(&s->in_holding);
    else if (is && !was)
        ring_push(&s->node->holding, &s->in_holding);
    s->node->holding_count += (uint32_t)is - (uint32_t)was;
}

struct session *session_open(struct node *node, void *user)
{
    struct session *s = slab_new(sizeof *s);

    s->node = node;
    s->user = user;
    s->id = ++node->session_count;
    ring_init(&s->in_confirming);
    ring_init(&s->in_task);
    ring_init(&s->in_deadlock);
    ring_init(&s->in_nested);
    ring_init(&s->in_holding);
    ring_init(&s->in_resuming);
    ring_init(&s->in_news);
    ring_init(&s->claims);
    ring_init(&s->subscriptions);
    ring_push(&node->sessions, &s->in_node);
    return s;
}

static void session_tell_release(struct claim *c)
{
    struct node *node = c->session->node;

    node->stats.releases++;
    if (c->lock->waiters)
        c->lock->let_go_ms = node->now_ms + 1; /* 0 is never */
    watch_tell(node, WATCH_RELEASED, c);
}

/* The client is about to be told that it holds the lock. */
static void session_tell_grant(struct claim *c)
{
    struct node *node = c->session->node;

    node->stats.waiters--;
    node->stats.holders++;
    stats_add_time(&node->stats.wait, node->now_ms - c->since_ms);
    if (c->lock->let_go_ms)
        stats_add_time(&node->stats.handover, node->now_ms + 1 - c->lock->let_go_ms);
    c->lock->let_go_ms = 0;
    c->since_ms = node->now_ms;
    watch_tell(node, WATCH_GRANTED, c);
}

static void session_free(struct session *s)
{
    token_gone(s);
    party_leave(s);
    ring_cut(&s->in_resuming);
    ring_cut(&s->in_news);
    ring_cut(&s->in_confirming);
    ring_cut(&s->in_task);
    ring_cut(&s->in_deadlock);
    ring_cut(&s->in_nested);
    ring_cut(&s->in_node);
    free(s->under);
    free(s->cycle);
    slab_free(s);
}

static uint32_t session_claims(const struct session *s)
{
    return s->held + (s->waiting != NULL);
}

void session_set_value(struct claim *c, const char *value, size_t len)
{
    c->value = value_new(value, len);
    c->session->values += (uint32_t)len;
    c->session->node->values += len;
}

void session_free_claim(struct node *node, struct claim *c)
{
    node->values -= c->value ? c->value->len : 0;
    slab_free(c->value);
    free(c->by);
    slab_free(c);
}

/* Takes the claim out of its session. If the session discards its claims, its task is done with the last one, whether the task has taken that claim
 * out or not: the claim's time may have been over first. */
static void session_take_out(struct claim *c)
{
    struct session *s = c->session;

    if (c == s->waiting) {
        s->waiting = NULL;
        deadlock_forget(s);
        s->node->stats.waiters--;
        party_count(s, -1, 0);
    } else {
        s->held--;
        session_note_holding(s);
        party_count(s, 0, -1);
        s->node->stats.holders--;
        stats_add_time(&s->node->stats.hold, s->node->now_ms - c->since_ms);
    }
    if (s->left > session_claims(s))
        s->left = session_claims(s);
    s->values -= c->value ? c->value->len : 0;
    deadlines_clear(&s->node->due, c);
    ring_cut(&c->in_renewed);
    ring_cut(&c->in_session);
    if (s->task == SESSION_DISCARDS && ring_empty(&s->claims)) {
        s->task = SESSION_RELEASES;
        s->node->keep.discarding--;
    }
}

/* Takes the claim out of everything and frees it. An orphan that no client can resume is freed with its last claim. Dropping the
 * claim may grant other claims. */
static void session_forget(struct claim *c)
{
    struct session *s = c->session;
    bool discards = s->task == SESSION_DISCARDS; /* its records are forgotten: there is no letter to wait for */

    if (c != s->waiting && c->state == CLAIM_HELD)
        session_tell_release(c);
    session_take_out(c);
    if (discards || !keep_withdraws(c)) {
        locks_drop(&s->node->locks, c);
        session_free_claim(s->node, c);
    }
    if (!s->orphan || !ring_empty(&s->claims))
        return;
    if (keep_is_token(session_kept(s)) && s->kept->session == s)
        keep_end_token(s->kept);
    if (!s->kept)
        session_free(s);
}

void session_discard(struct claim *c)
{
    struct node *node = c->session->node;

    session_take_out(c);
    locks_drop(&node->locks, c);
    session_free_claim(node, c);
}

void session_release_all(struct session *s)
{
    while (!ring_empty(&s->claims))
        session_forget(RING_OF(s->claims.next, struct claim, in_session));
}

void session_withdraw(struct session *s)
{
    session_forget(s->waiting);
}

/* A kept session goes on without its client. Claims that it has lost end, or linger if the client may still believe in
 * them. */
static void session_detach(struct session *s, bool proved)
{
    struct ring *r = s->claims.next;

    if (proved)
        s->vouched_ms = 0;
    while (r != &s->claims) {
        struct claim *c = RING_OF(r, struct claim, in_session);

        r = r->next;
        if (c->state != CLAIM_HELD && (c->state != CLAIM_LINGERS || !c->due_slot || proved))
            session_forget(c);
        else if (c->state == CLAIM_LINGERS)
            ring_cut(&c->in_list);
    }
    keep_lose_client(s);
}

/* Ends one claim of a connection that has broken. Returns true if the claim lingers. */
static bool session_orphan_claim(struct claim *c)
{
    struct node *node = c->session->node;

    if (c->state == CLAIM_HELD && c->session->vouched_ms > node->now_ms) {
        locks_take_away(&node->locks, c, LOSS_BROKEN);
        node->losses++;
        watch_tell(node, WATCH_LOST, c);
    }
    ring_cut(&c->in_list); /* there is no client to be told */
    return c->state == CLAIM_LINGERS && c->due_slot;
}

void session_discard_later(struct session *s)
{
    if (s->waiting)
        session_discard(s->waiting);
    if (!ring_empty(&s->claims)) {
        s->task = SESSION_DISCARDS;
        s->left = session_claims(s);
        s->node->keep.discarding++;
        ring_cut(&s->in_task);
        ring_push(&s->node->tasks, &s->in_task);
    } else if (s->orphan) {
        session_free(s);
    }
}

/* Does the task for one claim. The session may be gone afterwards, as an orphan is with the last of its claims. */
static void session_do_one(struct session *s, struct claim *c)
{
    bool stays = s->task == SESSION_LAPSES || (s->task == SESSION_BREAKS && session_orphan_claim(c));

    s->left--;
    if (s->task == SESSION_DISCARDS) {
        session_discard(c);
        if (s->orphan && ring_empty(&s->claims))
            session_free(s);
        return;
    }
    if (!stays) {
        session_forget(c);
        return;
    }
    ring_cut(&c->in_session);
    ring_push(&s->claims, &c->in_session);
    if (s->task == SESSION_LAPSES && c->state == CLAIM_HELD && c != s->waiting && c->since_ms <= s->lapsed_ms)
        locks_take_away(&s->node->locks, c, LOSS_UNCONFIRMED);
}

/* Does a piece of the task of this session; the rest is done in later turns. Returns the size of the piece, which is at most
 * `piece`. */
static uint32_t session_do_some(struct session *s, uint32_t piece)
{
    struct node *node = s->node;
    uint32_t count = piece < s->left ? piece : s->left;

    ring_cut(&s->in_task);
    if (count < s->left)
        ring_push(&node->tasks, &s->in_task);
    for (uint32_t left = count; left; left--)
        session_do_one(s, RING_OF(s->claims.next, struct claim, in_session));
    return count;
}

void session_go_on(struct node *node)
{
    for (uint32_t left = session_piece(node); left && !ring_empty(&node->tasks);)
        left -= session_do_some(RING_OF(node->tasks.next, struct session, in_task), left);
}

/* The driver has forgotten the session. Its wait is withdrawn; its locks are released, or linger. */
static void session_end(struct session *s, enum session_task task)
{
    query_end(s);
    drain_end(s);
    token_end(s);
    watch_end(s);
    keep_part(s, task == SESSION_RELEASES);
    if (s->waiting)
        session_forget(s->waiting);
    s->user = NULL;
    s->orphan = true;
    session_note_holding(s);
    party_promise(s, 0);
    party_disconnect(s);
    ring_cut(&s->in_confirming);
    if (s->kept) {
        session_detach(s, task == SESSION_RELEASES);
        return;
    }
    if (s->task == SESSION_DISCARDS) /* that task goes on */
        return;
    s->task = task;
    s->left = session_claims(s);
    if (ring_empty(&s->claims))
        session_free(s);
    else
        session_do_some(s, session_piece(s->node));
}

void session_close(struct session *s)
{
    session_end(s, SESSION_RELEASES);
}

void session_break(struct session *s)
{
    session_end(s, SESSION_BREAKS);
}

void session_forget_orphans(struct node *node)
{
    struct ring *r = node->sessions.next;

    while (r != &node->sessions) {
        struct session *s = RING_OF(r, struct session, in_node);

        r = r->next;
        if (s->orphan) {
            s->orphan = false;
            session_note_holding(s);
            session_release_all(s);
            session_free(s);
        }
    }
}

struct session *session_open_orphan(struct node *node)
{
    struct session *s = session_open(node, NULL);

    s->orphan = true;
    return s;
}

void session_end_orphan(struct session *s)
{
    if (ring_empty(&s->claims))
        session_free(s);
}

struct claim *session_adopt(struct session *s, const char *name, size_t name_len)
{
    struct claim *c = session_new_claim(s, name, name_len);

    c->since_ms = s->node->now_ms;
    ring_push(&s->claims, &c->in_session);
    s->held++;
    session_note_holding(s);
    party_count(s, 0, 1);
    s->node->stats.holders++;
    return c;
}

void session_lose_all(struct session *s, enum loss why)
{
    for (struct ring *r = s->claims.next; r != &s->claims; r = r->next)
        if (RING_OF(r, struct claim, in_session) != s->waiting)
            locks_take_away(&s->node->locks, RING_OF(r, struct claim, in_session), why);
}

void session_pass_all(struct session *from, struct session *to)
{
    if (from->waiting)
        session_forget(from->waiting);
    while (!ring_empty(&from->claims)) {
        struct claim *c = RING_OF(from->claims.next, struct claim, in_session);

        ring_cut(&c->in_session);
        ring_push(&to->claims, &c->in_session);
        c->session = to;
    }
    party_count(from, 0, -(int)from->held);
    party_count(to, 0, (int)from->held);
    to->held += from->held;
    from->held = 0;
    to->values += from->values;
    from->values = 0;
    session_note_holding(from);
    session_note_holding(to);
    to->vouched_ms = from->vouched_ms;
    from->vouched_ms = 0;
    if (!*to->who)
        memcpy(to->who, from->who, sizeof to->who);
    ring_cut(&from->in_confirming);
}

/* Iterates over the claims of the session, or over the holders of the lock, whichever are fewer: a lock may have many holders, and a
 * session many locks. Returns the claim after `after`. */
static struct claim *session_next(const struct session *s, const struct lock *lock, const struct claim *after)
{
    const struct ring *r = after ? after->in_session.next : s->claims.next;

    if (session_claims(s) >= lock->claims)
        return lock_next_holder(lock, after);
    return r == &s->claims ? NULL : RING_OF((struct ring *)r, struct claim, in_session);
}

struct claim *session_find(struct session *s, const char *name, size_t name_len, uint64_t fence)
{
    const struct lock *lock = ring_empty(&s->claims) ? NULL : locks_find(&s->node->locks, name, name_len);
    struct claim *found = NULL;

    for (struct claim *c = lock ? session_next(s, lock, NULL) : NULL; c; c = session_next(s, lock, c), s->steps++)
        if (c->session == s && c->lock == lock && c != s->waiting &&
            (!fence || fence == c->fence || (c->other && fence == c->other->fence)) &&
            (c->state == CLAIM_HELD || c->state == CLAIM_LINGERS)) {
            found = c;
            if (c->state == CLAIM_HELD)
                break;
        }
    return found;
}

bool session_holds(struct session *s, const char *name, size_t name_len, uint64_t fence)
{
    const struct claim *c = session_find(s, name, name_len, fence);

    return c && c->state == CLAIM_HELD;
}

static void session_set_due(struct claim *c, uint64_t span_ms)
{
    uint64_t now_ms = c->session->node->now_ms;

    if (span_ms < UINT64_MAX - now_ms) {
        c->due_ms = now_ms + span_ms;
        deadlines_set(&c->session->node->due, c);
    }
}

/* Begins the TTL. The client of a token counts the TTL on its own clock, and is not told when it ends: so it lasts for at
 * least as long here as on every clock. */
void session_begin_ttl(struct claim *c, uint64_t ttl_ms)
{
    if (c->due_slot)
        deadlines_clear(&c->session->node->due, c);
    if (ttl_ms)
        session_set_due(c, keep_is_token(c->session->kept) ? promise_stretch_ms(ttl_ms) : ttl_ms);
}

/* How long a client that only tries may wait. It is answered when its member knows whether there is a holder, which
 * takes a round of messages, or a change of the view if a member has just failed. */
static uint64_t session_try_ms(const struct node *node)
{
    return node->conf.lease_ms                         ? 3 * node->conf.lease_ms
           : node->view.count > 1 || !node->locks.open ? SESSION_FOREVER
                                                       : 0;
}

struct claim *session_new_claim(struct session *s, const char *name, size_t name_len)
{
    struct claim *c = slab_new(sizeof *c + name_len);

    *c = (struct claim){.session = s, .name_len = (uint8_t)name_len};
    memcpy(c->name, name, name_len);
    ring_init(&c->in_list);
    ring_init(&c->in_renewed);
    return c;
}

void session_begin_wait(struct claim *c, uint64_t wait_ms)
{
    struct session *s = c->session;

    ring_push(&s->claims, &c->in_session);
    s->waiting = c;
    s->node->stats.waiters++;
    if (s->party)
        party_count(s, 1, 0);
    c->since_ms = s->node->now_ms;
    free(s->cycle);
    s->cycle = NULL;
    if (c->state == CLAIM_WAITING) {
        deadlock_watch(s);
        session_set_due(c, wait_ms ? wait_ms : session_try_ms(s->node));
        watch_tell(s->node, WATCH_WAITING, c);
    }
}

const char *session_lock(struct session *s, const struct session_wish *wish, struct dme_text *why)
{
    const char *objection;
    struct claim *c = session_find(s, wish->name, wish->name_len, 0);

    assert(!s->waiting);
    if (c)
        locks_lose_early(&s->node->locks, c); /* a client that CONFIRM has told of no majority knows that it is lost */
    if (wish->name_len < 1 || wish->name_len > LOCK_NAME_MAX) {
        dme_print(why, "the name of a lock has 1 to %d bytes", LOCK_NAME_MAX);
        return "ERR";
    }
    if (c && c->state == CLAIM_HELD) {
        dme_print(why, "this connection holds \"%.*s\" already", (int)wish->name_len, wish->name);
        return "ERR";
    }
    if (node_is_over(s->node) || (wish->wait_ms == 0 && node_state(s->node) >= NODE_NO_QUORUM)) {
        node_say_no_quorum(s->node, why);
        return "NOQUORUM";
    }
    if (s->kept && keep_is_full(s)) {
        dme_print(why, "kept sessions hold too many locks: at most %d in one session, and %d at one member",
                  KEEP_HELD_MAX, KEEP_CLAIMS_MAX);
        return "BUSY";
    }
    if (s->held >= SESSION_HELD_MAX) {
        dme_print(why, "this connection holds %d locks; it must release some first", SESSION_HELD_MAX);
        return "ERR";
    }
    if (wish->value_len && (s->values + wish->value_len > SESSION_VALUES_MAX ||
                            s->node->values + wish->value_len > SESSION_ALL_VALUES_MAX)) {
        dme_print(why, "too many values: those of one client have at most %d bytes together, those of one member %d",
                  SESSION_VALUES_MAX, SESSION_ALL_VALUES_MAX);
        return "BUSY";
    }
    c = session_new_claim(s, wish->name, wish->name_len);
    c->slots = wish->slots;
    c->mode = wish->mode;
    c->unsaid = !wish->slots && wish->mode == LOCK_ALONE && !wish->alone;
    c->ttl_ms = wish->ttl_ms;
    c->priority = wish->priority;
    c->tries = wish->wait_ms == 0;
    session_set_value(c, wish->value, wish->value_len);
    if ((objection = locks_claim(&s->node->locks, c, why))) {
        s->values -= (uint32_t)wish->value_len;
        session_free_claim(s->node, c);
        return objection;
    }
    session_begin_wait(c, wish->wait_ms);
    return NULL;
}

/* May the claim be held once more as the client wishes? A claim that is exclusive may be requested as shared. A claim of a slot is one slot. */
static const char *session_objects_to(const struct claim *c, const struct session_wish *wish)
{
    if (c->session->kept)
        return "the members do not keep how often a session holds a lock; count in the client, as libdibs does";
    if ((c->slots != wish->slots && (wish->slots || wish->mode || !c->unsaid)) || (c->mode != wish->mode && c->mode))
        return "this connection holds it in another mode";
    return c->again == SESSION_AGAIN_MAX - 1 ? "this connection holds it 10000 times" : NULL;
}

uint32_t session_hold_again(struct session *s, const struct session_wish *wish, uint64_t *fence, const char **code,
                            struct dme_text *why)
{
    struct claim *c = session_find(s, wish->name, wish->name_len, 0);
    const char *objection;

    *code = NULL;
    if (c)
        locks_lose_early(&s->node->locks, c); /* as in session_lock */
    if (!c || c->state != CLAIM_HELD)
        return 0;
    if ((objection = session_objects_to(c, wish))) {
        dme_print(why, "\"%.*s\": %s", (int)wish->name_len, wish->name, objection);
        *code = "ERR";
        return 0;
    }
    if (wish->ttl_ms)
        session_renew(s, wish->name, wish->name_len, c->fence, wish->ttl_ms);
    *fence = c->fence;
    return ++c->again + 1u;
}

bool session_cancel(struct session *s)
{
    if (!s->waiting || s->waiting->state != CLAIM_WAITING)
        return false;
    locks_time_out(&s->node->locks, s->waiting);
    return true;
}

/* The client has confirmed, or was granted a lock: its time to confirm again begins now. */
static void session_hear(struct session *s)
{
    if (!s->remote || s->relayed || !s->confirms || s->kept)
        return;
    s->heard_ms = s->node->now_ms;
    ring_cut(&s->in_confirming);
    ring_push(&s->node->confirming, &s->in_confirming);
}

uint64_t session_lapse_ms(const struct node *node)
{
    uint64_t span_ms = promise_stretch_ms(node->conf.lease_ms ? node_longest_lease_ms(node) : LONE_SHORT_MS);

    return ring_empty(&node->confirming)
               ? UINT64_MAX
               : RING_OF(node->confirming.next, struct session, in_confirming)->heard_ms + span_ms;
}

void session_lapse(struct node *node)
{
    for (uint32_t left = session_piece(node); left && node->now_ms >= session_lapse_ms(node);) {
        struct session *s = RING_OF(node->confirming.next, struct session, in_confirming);
        uint32_t count;

        assert(s->vouched_ms <= node->now_ms);
        ring_cut(&s->in_confirming);
        s->task = SESSION_LAPSES;
        s->lapsed_ms = node->now_ms;
        s->left = session_claims(s);
        count = session_do_some(s, left);
        left -= count ? count : 1;
    }
}

void session_note_outcome(struct claim *c)
{
    struct session *s = c->session;

    if (c->state != CLAIM_HELD) {
        if (c->state == CLAIM_UPGRADED || c->state == CLAIM_DOWNGRADED)
            session_note_change(c);
        s->node->stats.timeouts += c->state == CLAIM_TIMED_OUT;
        s->node->stats.refusals += c->state == CLAIM_REFUSED;
        if (c->state >= CLAIM_LOST && c != s->waiting)
            watch_tell(s->node, WATCH_LOST, c);
        if (c->state != CLAIM_LINGERS || !c->due_slot) /* its time may be over by now */
            session_forget(c);
        return;
    }
    session_tell_grant(c);
    session_hear(s);
    s->waiting = NULL;
    deadlock_forget(s);
    s->held++;
    session_note_holding(s);
    if (s->party)
        party_count(s, -1, 1);
    session_begin_ttl(c, c->ttl_ms);
}

bool session_unlock(struct session *s, const char *name, size_t name_len, uint64_t fence)
{
    struct claim *c = session_find(s, name, name_len, fence);
    bool held = c && c->state == CLAIM_HELD;

    /* A client that holds the lock several times gives one of these up. If it does not know that the lock is lost, it still believes that it
     * holds the lock by the others: so the claim goes on lingering (I20). */
    if (c && c->again)
        c->again--;
    else if (c)
        session_forget(c);
    return held;
}

bool session_renew(struct session *s, const char *name, size_t name_len, uint64_t fence, uint64_t ttl_ms)
{
    struct claim *c = session_find(s, name, name_len, fence);
    bool changes = c && c->ttl_ms != ttl_ms;

    if (!c || c->state != CLAIM_HELD)
        return false;
    c->ttl_ms = ttl_ms;
    session_begin_ttl(c, ttl_ms);
    if (changes)
        keep_renew_claim(c);
    return true;
}

struct claim *session_token_claim(const struct session *s, uint64_t fence)
{
    struct claim *c = ring_empty(&s->claims) ? NULL : RING_OF(s->claims.next, struct claim, in_session);

    return c && c != s->waiting && c->state == CLAIM_HELD && (!fence || c->fence == fence) ? c : NULL;
}

void session_set_ttl(struct claim *c, uint64_t ttl_ms)
{
    if (c->ttl_ms && (!ttl_ms || ttl_ms > c->ttl_ms))
        c->ttl_ms = ttl_ms;
    session_begin_ttl(c, ttl_ms);
}

/* For how long a daemon alone vouches. It has no lease, so it loses no lock by itself. It vouches for LONE_MS to clients of
 * its own machine, whose connections cannot break. When it has to take a lock away (FORCE-UNLOCK, TTL) from a client that is
 * stopped, it waits for LONE_LINGER_MS only. If its process is replaced while the client of a kept session is stopped, the
 * session cannot be resumed before its validity is over; so this validity is short, too. */
static uint64_t session_lone_ms(const struct session *s)
{
    return s->remote || s->kept ? LONE_SHORT_MS : LONE_MS;
}

/* The clocks of clients drift as much as those of members. */
uint64_t session_confirm(struct session *s)
{
    uint64_t ms = node_vouches_ms(s->node), until;

    if (ms == UINT64_MAX)
        ms = session_lone_ms(s);
    until = s->node->now_ms + promise_stretch_ms(ms);
    if (ms && s->vouched_ms < until)
        s->vouched_ms = until;
    s->confirms |= ms > 0;
    if (ms && s->kept)
        keep_vouch(s);
    if (ms && s->left &&
        s->task == SESSION_LAPSES) { /* the client keeps the locks that session_lapse has not taken away yet */
        s->left = 0;
        ring_cut(&s->in_task);
    }
    session_hear(s);
    return ms;
}

/* Does the claim linger when it is taken away? A client does not believe in a lock before it is told of the grant. */
bool session_lingers(struct claim *c)
{
    struct node *node = c->session->node;

    if (c->kept) {
        deadlines_clear(&node->due, c);
        keep_free_claim(c);
    }
    if (c == c->session->waiting || c->session->vouched_ms <= node->now_ms)
        return c->kept; /* until its record is withdrawn */
    c->due_ms = c->session->vouched_ms;
    /* A client of this machine is told at once, or is stopped. One whose kept session has no connection cannot be told. */
    if (!node->conf.lease_ms && !c->session->remote && !(c->session->kept && c->session->orphan) &&
        c->due_ms > node->now_ms + LONE_LINGER_MS)
        c->due_ms = node->now_ms + LONE_LINGER_MS;
    deadlines_set(&node->due, c);
    return true;
}

static void session_due(struct claim *c)
{
    struct node *node = c->session->node;

    deadlines_clear(&node->due, c);
    if (c->state == CLAIM_WAITING)
        locks_time_out(&node->locks, c);
    else if (c == c->session->waiting || !ring_empty(&c->in_list)) /* its client will be told of its outcome */
        return;
    else if (c->state == CLAIM_HELD)
        locks_take_away(&node->locks, c, LOSS_TTL);
    else
        session_forget(c);
}

void session_all_due(struct node *node)
{
    struct claim *c;

    for (uint32_t left = session_piece(node); left && (c = deadlines_first(&node->due)) && c->due_ms <= node->now_ms;
         left--)
        session_due(c);
}

void session_describe(const struct session *s, char text[LOSS_BY_MAX + 1])
{
    snprintf(text, LOSS_BY_MAX + 1, "%s%s%s%sat member %s", s->who, *s->who ? ", " : "", s->from, *s->from ? ", " : "",
             s->node->self.name);
}

uint32_t session_evict(struct node *node, const char *name, size_t name_len, uint64_t fence, const char *by)
{
    struct lock *lock = locks_find(&node->locks, name, name_len);

    for (struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c))
        if (c->fence <= fence && c->state == CLAIM_HELD && !c->by) {
            c->by = mem_new(strlen(by) + 1);
            memcpy(c->by, by, strlen(by));
        }
    return lock ? locks_take_from_all(&node->locks, lock, fence, LOSS_FORCED) : 0;
}

void session_suspend(struct session *s)
{
    for (struct ring *r = s->claims.next; r != &s->claims; r = r->next) {
        struct claim *c = RING_OF(r, struct claim, in_session);

        c->uncertain = true;
        if (c->state == CLAIM_HELD) /* a claim that lingers keeps its deadline */
            deadlines_clear(&s->node->due, c);
    }
}

void session_act(struct session *s)
{
    for (struct ring *r = s->claims.next, *next; r != &s->claims; r = next) {
        struct claim *c = RING_OF(r, struct claim, in_session);

        next = r->next;
        c->uncertain = false;
        if (c->state == CLAIM_HELD)
            session_begin_ttl(c, c->ttl_ms);
        if (c->by && c->state == CLAIM_HELD) /* an operator has given the order to evict it, see session_evict */
            locks_take_away(&s->node->locks, c, LOSS_FORCED);
    }
}
