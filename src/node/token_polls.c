/* token_polls.c - clients that poll for a lock are served first come, first served. See token.h.
 *
 * A Redis lock library does not wait: it repeats SET NX until it succeeds. A client that asks for the same lock with the
 * same token a second time, within POLL_MS, *polls*. From then on this member waits for the lock in its place, as for any
 * client, in a session without a client. When the lock is granted, it is reserved for the token until the client asks again.
 * If the client has not asked for twice the time between its last two requests, its place is given up. */
#include "token.h"

#include "base/memory.h"
#include "protocol/resp.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum { POLL_MS = 5000, POLL_LATE_MS = 50, POLLS_MAX = 256 };

struct token_poll {
    struct ring in_node; /* the one that asked longest ago first */
    struct keep_id id;
    uint64_t asked_ms, every_ms; /* when it asked last, and the time since the request before; 0: there was none */
    struct session *claimant;    /* that waits in its place; or null */
    uint8_t value_len;
    char value[];
};

static uint64_t poll_end_ms(const struct token_poll *p)
{
    return p->asked_ms + (p->every_ms ? 2 * p->every_ms + POLL_LATE_MS : POLL_MS);
}

/* Does the client with this token poll for this lock? `sort` is the first byte of the value, before the token. */
static bool poll_is(const struct token_poll *p, struct keep_id id, char sort, const char *token, size_t len)
{
    return p->id.low == id.low && p->id.high == id.high && p->value_len == 1 + len && p->value[0] == sort &&
           memcmp(p->value + 1, token, len) == 0;
}

static struct token_poll *poll_find(const struct node *node, struct keep_id id, char sort, const char *token,
                                    size_t len)
{
    const struct ring *polls = &node->tokens.polls;

    for (struct ring *r = polls->next; r != polls; r = r->next)
        if (poll_is(RING_OF(r, struct token_poll, in_node), id, sort, token, len))
            return RING_OF(r, struct token_poll, in_node);
    return NULL;
}

/* The client does not poll any more. */
static void poll_end(struct node *node, struct token_poll *p)
{
    struct session *s = p->claimant;

    ring_cut(&p->in_node);
    node->tokens.poll_count--;
    free(p);
    if (s) {
        s->poll = NULL;
        session_withdraw(s);
    }
}

/* Only a library of Redis polls, for one lock. */
static bool poll_may(const struct token_wish *wish, size_t count)
{
    return wish->what == TOKEN_ACQUIRE && wish->sort != TOKEN_OF_LOCK && !wish->wait_ms && count == 1;
}

/* What the client of this operation polls for; or null. */
static struct token_poll *poll_of(const struct token_op *op)
{
    return poll_may(&op->wish, op->count) ? poll_find(op->session->node, op->key[0].id, op->wish.token[0],
                                                      op->wish.token + 1, op->wish.token_len - 1)
                                          : NULL;
}

bool polls_wait(const struct session *s, const struct token_wish *wish, const struct resp_word *names, size_t count)
{
    const struct token_poll *p = poll_may(wish, count) ? poll_find(s->node, token_id(names[0].at, names[0].len),
                                                                   (char)wish->sort, wish->token, wish->token_len)
                                                       : NULL;

    return p && p->claimant && p->claimant->party == s->party;
}

/* This member waits for the lock in the client's place. */
static void poll_wait(struct token_poll *p, const struct token_op *op)
{
    const struct token_key *key = &op->key[0];
    struct session_wish wish = {.name = key->name,
                                .name_len = key->name_len,
                                .wait_ms = SESSION_FOREVER,
                                .ttl_ms = op->wish.ttl_ms,
                                .alone = true};
    struct session *s = session_open_orphan(op->session->node);
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    memcpy(s->who, op->session->who, sizeof s->who);
    party_join_as(s, op->session);
    if (session_lock(s, &wish, &why)) {
        session_end_orphan(s);
        return;
    }
    s->poll = p;
    p->claimant = s;
}

void polls_note(struct token_op *op)
{
    struct node *node = op->session->node;
    struct tokens *t = &node->tokens;
    struct token_poll *p = poll_of(op);

    if (!poll_may(&op->wish, op->count))
        return;
    if (p) {
        p->every_ms = node->now_ms - p->asked_ms + 1;
        ring_cut(&p->in_node);
    } else {
        if (t->poll_count == POLLS_MAX)
            poll_end(node, RING_OF(t->polls.next, struct token_poll, in_node));
        p = mem_new(sizeof *p + op->wish.token_len);
        p->id = op->key[0].id;
        p->value_len = (uint8_t)op->wish.token_len;
        memcpy(p->value, op->wish.token, op->wish.token_len);
        t->poll_count++;
    }
    p->asked_ms = node->now_ms;
    ring_push(&t->polls, &p->in_node);
    if (p->every_ms && !p->claimant)
        poll_wait(p, op);
    if (t->poll_due_ms > poll_end_ms(p))
        t->poll_due_ms = poll_end_ms(p);
}

struct session *polls_take(struct token_op *op, bool *waits)
{
    struct node *node = op->session->node;
    struct token_poll *p = poll_of(op);
    struct session *s = p ? p->claimant : NULL;

    /* If the claim is still in a list, this member has not looked at the grant yet, or takes it away: the client asks again. */
    *waits =
        s && (s->waiting->state != CLAIM_HELD || !ring_empty(&s->waiting->in_list) || node_state(node) != NODE_GRANTS);
    if (!s || *waits)
        return NULL;
    s->waiting->ttl_ms = op->wish.ttl_ms;
    s->poll = NULL;
    p->claimant = NULL;
    poll_end(node, p);
    return s;
}

bool poll_hear_outcome(struct claim *c)
{
    struct session *s = c->session;

    if (!s->poll || c->state == CLAIM_HELD)
        return s->poll != NULL;
    s->poll->claimant = NULL;
    s->poll = NULL;
    return false;
}

void polls_go_on(struct node *node)
{
    struct tokens *t = &node->tokens;

    if (t->poll_due_ms > node->now_ms)
        return;
    t->poll_due_ms = UINT64_MAX;
    for (struct ring *r = t->polls.next, *next; r != &t->polls; r = next) {
        struct token_poll *p = RING_OF(r, struct token_poll, in_node);

        next = r->next;
        if (poll_end_ms(p) <= node->now_ms)
            poll_end(node, p);
        else if (t->poll_due_ms > poll_end_ms(p))
            t->poll_due_ms = poll_end_ms(p);
    }
}

void polls_free(struct node *node)
{
    while (!ring_empty(&node->tokens.polls))
        poll_end(node, RING_OF(node->tokens.polls.next, struct token_poll, in_node));
}
