/* session.c - see session.h. */
#include "session.h"

#include "lab/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct session *session_open(struct node *node, void *user)
{
    struct session *s = mem_new(sizeof *s);

    s->node = node;
    s->user = user;
    s->id = ++node->session_count;
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

/* Out of everything, and gone. Dropping it may grant other claims. */
static void session_forget(struct claim *c)
{
    struct session *s = c->session;

    if (c == s->waiting) {
        s->waiting = NULL;
        s->node->stats.waiters--;
    } else {
        s->held--;
        s->node->stats.holders--;
        stats_add_time(&s->node->stats.hold, s->node->now_ms - c->since_ms);
        if (c->state == CLAIM_HELD)
            session_tell_release(c);
    }
    due_clear(&s->node->due, c);
    ring_cut(&c->in_session);
    locks_drop(&s->node->locks, c);
    free(c);
}

void session_close(struct session *s)
{
    question_end(s);
    watch_end(s);
    while (!ring_empty(&s->claims))
        session_forget(RING_OF(s->claims.next, struct claim, in_session));
    ring_cut(&s->in_node);
    free(s);
}

/* The claim by which the session holds this lock, or null. */
static struct claim *session_find(const struct session *s, const char *name, size_t name_len)
{
    const struct lock *lock = locks_find(&s->node->locks, name, name_len);

    for (struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c))
        if (c->session == s)
            return c;
    return NULL;
}

static void session_set_due(struct claim *c, uint64_t span_ms)
{
    uint64_t now_ms = c->session->node->now_ms;

    if (span_ms < UINT64_MAX - now_ms) {
        c->due_ms = now_ms + span_ms;
        due_set(&c->session->node->due, c);
    }
}

const char *session_lock(struct session *s, const struct session_wish *wish, struct dme_text *why)
{
    const char *objection;
    struct claim *c;

    assert(!s->waiting);
    if (wish->name_len < 1 || wish->name_len > LOCK_NAME_MAX) {
        dme_print(why, "the name of a lock has 1 to %d bytes", LOCK_NAME_MAX);
        return "ERR";
    }
    if (session_find(s, wish->name, wish->name_len)) {
        dme_print(why, "this connection holds \"%.*s\" already", (int)wish->name_len, wish->name);
        return "ERR";
    }
    if (node_state(s->node) >= NODE_NO_QUORUM) {
        dme_print(why, "locks are not granted just now; %s", node_state_name(s->node) + 4);
        return "NOQUORUM";
    }
    if (s->held >= SESSION_HELD_MAX) {
        dme_print(why, "this connection holds %d locks; it must release some first", SESSION_HELD_MAX);
        return "ERR";
    }
    c = mem_new(sizeof *c + wish->name_len);
    *c = (struct claim){.session = s,
                        .slots = wish->slots,
                        .mode = wish->mode,
                        .ttl_ms = wish->ttl_ms,
                        .name_len = (uint8_t)wish->name_len};
    memcpy(c->name, wish->name, wish->name_len);
    ring_init(&c->settled);
    if ((objection = locks_claim(&s->node->locks, c, why))) {
        free(c);
        return objection;
    }
    ring_push(&s->claims, &c->in_session);
    s->waiting = c;
    s->node->stats.waiters++;
    c->since_ms = s->node->now_ms;
    if (c->state == CLAIM_WAITING) {
        session_set_due(c, wish->wait_ms);
        watch_tell(s->node, WATCH_WAITING, c);
    }
    return NULL;
}

void session_settle(struct claim *c)
{
    struct session *s = c->session;

    if (c->state != CLAIM_HELD) {
        s->node->stats.timeouts += c->state == CLAIM_TIMED_OUT;
        s->node->stats.refusals += c->state == CLAIM_REFUSED;
        if (c->state == CLAIM_LOST && c != s->waiting)
            watch_tell(s->node, WATCH_LOST, c);
        session_forget(c);
        return;
    }
    session_tell_grant(c);
    s->waiting = NULL;
    s->held++;
    due_clear(&s->node->due, c);
    if (c->ttl_ms)
        session_set_due(c, c->ttl_ms);
}

bool session_unlock(struct session *s, const char *name, size_t name_len)
{
    struct claim *c = session_find(s, name, name_len);

    if (!c || c == s->waiting)
        return false;
    session_forget(c);
    return true;
}

bool session_renew(struct session *s, const char *name, size_t name_len, uint64_t ttl_ms)
{
    struct claim *c = session_find(s, name, name_len);

    if (!c || c == s->waiting)
        return false;
    due_clear(&s->node->due, c);
    c->ttl_ms = ttl_ms;
    if (ttl_ms)
        session_set_due(c, ttl_ms);
    return true;
}

uint32_t session_evict(struct node *node, const char *name, size_t name_len, uint64_t fence)
{
    struct lock *lock = locks_find(&node->locks, name, name_len);
    struct claim **evicted = NULL;
    uint32_t count = 0;

    /* Taking one away may grant another, and the lock may be gone with the last: first see who there is. */
    for (struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c)) {
        if (c->fence > fence)
            continue;
        evicted = mem_grow(evicted, (count + 1) * sizeof *evicted);
        evicted[count++] = c;
    }
    for (uint32_t k = 0; k < count; k++) {
        due_clear(&node->due, evicted[k]);
        locks_take_away(&node->locks, evicted[k], CLAIM_LOST);
    }
    free(evicted);
    return count;
}
