/* token.c - operations: what a client asks for, name by name, at this member. See token.h.
 *
 * An operation goes through its names in order (token_go). For each, it requests the lock, or gives the owner an order
 * (token_owner.c), here or by letter. It waits in a ring of struct tokens, and ends in `done`. */
#include "token_inside.h"

#include "base/memory.h"
#include "base/pack.h"
#include "base/sha1.h"
#include "keep_inside.h"
#include "link/registry.h"
#include "protocol/resp.h"
#include "rules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { ASK_MAX = 1 + 8 + 1 + 16 + 8 + 4 + 1 + 1 + 1 + TOKEN_MAX };

struct keep_id token_id(const char *name, size_t len)
{
    uint8_t digest[SHA1_SIZE];
    struct unpack u = {.at = digest, .end = digest + sizeof digest};
    struct keep_id id;

    sha1_digest(name, len, digest);
    id.high = unpack_number(&u, 8);
    id.low = unpack_number(&u, 8);
    return id;
}

/* The fence of the lock that the session holds, as far as this member knows; 0: none. */
static uint64_t token_fence(const struct keep_session *e)
{
    const struct claim *c = e->session ? session_token_claim(e->session, 0) : NULL;

    if (e->session)
        return c ? c->fence : 0;
    return ring_empty(&e->records) ? 0 : RING_OF(e->records.next, struct keep_record, in_session)->fence;
}

/* A session that a token owns, of this name; or null. */
static struct keep_session *token_find(const struct node *node, struct keep_id id)
{
    struct keep_session *e = keep_find(&node->keep, id);

    return keep_is_token(e) && keep_value(e) && token_fence(e) ? e : NULL;
}

bool token_is_key(const struct node *node, const char *name, size_t len)
{
    const struct keep_session *e = token_find(node, token_id(name, len));

    return e && keep_value(e)->text[0] != TOKEN_OF_LOCK;
}

/* The length of the count at the end of a value, with the space before it; or 0. */
static size_t token_count_len(const char *value, size_t len)
{
    size_t digits = 0;

    while (digits + 1 < len && value[len - 1 - digits] >= '0' && value[len - 1 - digits] <= '9')
        digits++;
    return value[0] == TOKEN_WITH_COUNT && digits && value[len - 1 - digits] == ' ' ? digits + 1 : 0;
}

uint32_t token_count(const char *value, size_t len)
{
    size_t digits = token_count_len(value, len);
    uint32_t count = 0;

    for (size_t k = len - digits + 1; digits && k < len; k++)
        count = 10 * count + (uint32_t)(value[k] - '0');
    return digits ? count : 1;
}

/* Was the lock made by such commands? Those of Redis know locks with a count, too. */
static bool token_is_of_sort(const struct token_op *op, const struct keep_session *e)
{
    char sort = keep_value(e)->text[0];

    return sort == (char)op->wish.sort || (op->wish.sort == TOKEN_OF_REDIS && sort == TOKEN_WITH_COUNT);
}

enum node_state token_state(const struct node *node)
{
    enum node_state state = node_state(node);

    return state == NODE_DRAINS && node->locks.grants && node->locks.open ? NODE_GRANTS : state;
}

static bool token_owns(const struct token_op *op, const struct token_key *key, const struct keep_session *e)
{
    const struct lock_value *value = keep_value(e);
    size_t len = value->len - token_count_len(value->text, value->len);

    if (op->wish.any)
        return token_is_of_sort(op, e);
    return len == key->token_len && memcmp(value->text, key->token, len) == 0;
}

/* The value of the lock, for this key: its token, and the count if it has one. */
static void token_make_value(struct token_op *op, const struct token_key *key, uint32_t count)
{
    memcpy(op->value, key->token, key->token_len);
    op->value_len = (uint8_t)key->token_len;
    if (op->wish.sort == TOKEN_WITH_COUNT)
        op->value_len += (uint8_t)snprintf(op->value + key->token_len, sizeof op->value - key->token_len, " %u", count);
}

/* ----------------------------------------------------------------------------------------------------------- letters */

static void token_say_ask(struct member *m, uint64_t number, const struct token_order *o)
{
    uint8_t letter[ASK_MAX], *at = letter;

    at = pack_number(pack_number(at, TOKEN_ASK, 1), number | (o->again ? TOKEN_AGAIN : 0) | (o->down ? TOKEN_DOWN : 0),
                     8);
    at = pack_number(at, o->what, 1);
    at = pack_number(pack_number(at, o->id.high, 8), o->id.low, 8);
    at = pack_number(pack_number(at, o->fence, 8), o->ttl_ms, 4);
    at = pack_number(at, o->adds, 1);
    at = pack_text(at, o->value, o->value_len);
    memcpy(link_send(&m->link, (size_t)(at - letter)), letter, (size_t)(at - letter));
}

/* ---------------------------------------------------------------------------------------------------------- operations */

static void token_go(struct token_op *op);

static void token_finish(struct token_op *op)
{
    op->asked_view = 0;
    party_promise(op->session, 0);
    ring_cut(&op->in_node);
    ring_push(&op->session->node->tokens.done, &op->in_node);
}

static void token_fail(struct token_op *op, const char *code, const char *why)
{
    op->code = code;
    snprintf(op->why, sizeof op->why, "%s", why);
    token_finish(op);
}

static void token_fail_no_quorum(struct token_op *op)
{
    struct dme_text why;

    dme_text_init(&why, op->why, sizeof op->why);
    node_say_no_quorum(op->session->node, &why);
    op->code = "NOQUORUM";
    token_finish(op);
}

/* Releases the locks that were acquired: all or none are. This member is their owner. */
static void token_undo(struct token_op *op)
{
    uint64_t left_ms, letter;

    for (size_t k = 0; op->wish.what == TOKEN_ACQUIRE && op->good && k < op->at; k++) {
        struct token_order o = {.what = TOKEN_RELEASE, .id = op->key[k].id, .fence = op->key[k].fence};

        token_obey(op->session->node, &o, &left_ms, &letter);
    }
    op->good = 0;
}

/* The client has waited, and the rights may have changed meanwhile. */
static bool token_is_allowed(const struct token_op *op)
{
    bool allowed = true;

    for (size_t k = 0; op->ruled != op->session->node->rules.version && k < op->count; k++)
        allowed &= rules_allow(op->session, RIGHT_LOCK, op->key[k].name, op->key[k].name_len);
    return allowed;
}

void token_next(struct token_op *op, bool good)
{
    assert(op->at < op->count);
    op->asked_view = 0;
    op->good += good;
    op->key[op->at].good = good;
    if (!good)
        polls_note(op);
    if (good)
        op->fence = op->key[op->at].fence;
    if (!good && !op->wish.each && (op->wish.what == TOKEN_ACQUIRE || op->wish.what == TOKEN_EXTEND)) {
        token_undo(op);
        op->at = op->count;
    } else {
        op->at++;
    }
    if (op->at == op->count && op->wish.what == TOKEN_ACQUIRE && op->good && !token_is_allowed(op)) {
        token_fail(op, "NOPERM", "the rights have changed"); /* what the token has owned before it keeps */
        return;
    }
    if (op->at == op->count) {
        token_finish(op);
        return;
    }
    if (op->wish.what == TOKEN_ACQUIRE)
        party_promise(op->session, op->count - op->at);
    token_go(op);
}

/* The lock is requested, for a session that belongs to the token when it is granted. */
static void token_claim(struct token_op *op)
{
    struct node *node = op->session->node;
    const struct token_key *key = &op->key[op->at];
    struct session_wish wish = {.name = key->name,
                                .name_len = key->name_len,
                                .wait_ms = op->wish.wait_ms,
                                .ttl_ms = op->wish.ttl_ms,
                                .alone = true};
    struct session *s;
    struct dme_text why;
    const char *code;

    if (node->keep.claims >= KEEP_CLAIMS_MAX) {
        token_undo(op);
        token_fail(op, "BUSY", "kept sessions and tokens hold too many locks at this member");
        return;
    }
    s = session_open_orphan(node);
    memcpy(s->who, op->session->who, sizeof s->who);
    memcpy(s->from, op->session->from, sizeof s->from);
    party_join_as(s, op->session);
    s->serves = op; /* before it requests: the claim may follow one that is withdrawn (keep_follows) */
    dme_text_init(&why, op->why, sizeof op->why);
    code = session_lock(s, &wish, &why);
    if (code) {
        s->serves = NULL;
        session_end_orphan(s);
        token_undo(op);
        op->code = code;
        token_finish(op);
        return;
    }
    party_promise(op->session, op->count - op->at - 1);
    op->claimant = s;
    ring_cut(&op->in_node);
    ring_push(&node->tokens.claiming, &op->in_node);
}

/* Decides what the owner is asked to do with the present key. If it is asked again, in a later view, it is asked the same: the new
 * count is told, not the difference. */
static void token_decide(struct token_op *op, const struct keep_session *e)
{
    struct token_key *key = &op->key[op->at];
    bool counts = op->wish.sort == TOKEN_WITH_COUNT && !op->wish.any;
    uint32_t count = token_count(keep_value(e)->text, keep_value(e)->len);
    enum token_what what = op->wish.what == TOKEN_ACQUIRE ? TOKEN_EXTEND : op->wish.what;

    if (key->ordered)
        return;
    key->asked = false;
    key->count = count;
    op->value_len = 0;
    if (op->wish.renames)
        token_make_value(op, key, 1);
    if (counts && op->wish.what == TOKEN_ACQUIRE)
        token_make_value(op, key, count < TOKEN_COUNT_MAX ? count + 1 : count);
    if (counts && op->wish.what == TOKEN_RELEASE) {
        token_make_value(op, key, count - 1);
        what = count > 1 ? TOKEN_EXTEND : TOKEN_RELEASE;
    }
    key->ordered = (uint8_t)(1 + what);
}

/* The owner has not done it, since the lock has another count than this member knew when it asked. */
static bool token_is_miscounted(const struct token_op *op)
{
    const struct token_key *key = &op->key[op->at];
    const struct keep_session *e = token_find(op->session->node, key->id);

    return op->value_len && op->wish.sort == TOKEN_WITH_COUNT && e && token_fence(e) == key->fence &&
           token_owns(op, key, e) && token_count(keep_value(e)->text, keep_value(e)->len) != key->count;
}

static void token_hear_done(struct token_op *op, bool done)
{
    if (done || !token_is_miscounted(op)) {
        token_next(op, done);
        return;
    }
    op->asked_view = 0;
    op->key[op->at].ordered = 0;
    token_go(op);
}

/* Orders the owner to do the operation. */
static void token_order(struct token_op *op, const struct keep_session *e)
{
    struct node *node = op->session->node;
    uint32_t k = e->session ? VIEW_MEMBERS_MAX : view_find(&node->view, e->owner);
    struct token_order o = {
        .id = e->id, .fence = op->key[op->at].fence, .ttl_ms = op->wish.ttl_ms, .adds = op->wish.adds};
    uint64_t letter;
    bool good;

    token_decide(op, e);
    o.what = (enum token_what)(op->key[op->at].ordered - 1);
    o.again = op->key[op->at].asked;
    o.down = op->wish.what == TOKEN_RELEASE;
    o.value = op->value;
    o.value_len = op->value_len;
    ring_cut(&op->in_node);
    if (!e->session && (k == VIEW_MEMBERS_MAX || !keep_peer(node, k))) {
        ring_push(&node->tokens.open, &op->in_node); /* the next view has another owner */
        return;
    }
    op->asked_view = node->view.number;
    op->key[op->at].asked = true;
    ring_push(&node->tokens.asked, &op->in_node);
    if (!e->session) {
        token_say_ask(node->member[k], op->number, &o);
        return;
    }
    good = token_obey(node, &o, &op->left_ms, &letter);
    if (letter > node->keep.acked)
        keep_count_acks(node);
    if (letter > node->keep.acked)
        token_promise(node, (struct token_promise){.letter = letter,
                                                   .number = op->number,
                                                   .id = o.id,
                                                   .fence = o.fence,
                                                   .at = op->at,
                                                   .left_ms = op->left_ms});
    else
        token_hear_done(op, good);
}

/* Before an extension begins: are all keys there, and owned by the token? */
static bool token_owns_all(const struct token_op *op)
{
    for (size_t k = 0; k < op->count; k++) {
        const struct keep_session *e = token_find(op->session->node, op->key[k].id);

        if (!e || !token_owns(op, &op->key[k], e))
            return false;
    }
    return true;
}

/* The lock was granted to a session that waits in the client's place: now it belongs to the token. */
static void token_take_over(struct token_op *op, struct session *s)
{
    struct node *node = op->session->node;

    s->serves = op;
    op->claimant = s;
    ring_cut(&op->in_node);
    ring_push(&node->tokens.claiming, &op->in_node);
    if (!token_hear_outcome(s->waiting))
        keep_holds_back(s->waiting);
}

/* To acquire a lock that no token owns is to request it. If another token owns it, the client is refused at once, unless it waits; if this token owns it,
 * see wish.again. Which of these holds is not certain before the view has opened: a token that owns the lock must not wait for itself. */
static void token_acquire(struct token_op *op, const struct keep_session *e)
{
    enum node_state state = token_state(op->session->node);
    bool grants = state == NODE_GRANTS, waits;
    struct session *s;

    if (op->wish.again && !grants && e && token_owns(op, &op->key[op->at], e) && state >= NODE_NO_QUORUM) {
        token_fail_no_quorum(op);
        return;
    }
    if (op->wish.again && state == NODE_STARTS) {
        ring_cut(&op->in_node);
        ring_push(&op->session->node->tokens.open, &op->in_node);
        return;
    }
    s = polls_take(op, &waits);
    if (s) {
        token_take_over(op, s);
        return;
    }
    if (waits) {
        token_next(op, false);
        return;
    }
    if (e && grants && op->wish.again && token_owns(op, &op->key[op->at], e))
        token_order(op, e);
    else if (e && grants && !op->wish.wait_ms)
        token_next(op, false);
    else
        token_claim(op);
}

static void token_look(struct token_op *op, const struct keep_session *e)
{
    op->found_len = keep_value(e)->len;
    memcpy(op->found, keep_value(e)->text, op->found_len);
    if (op->wish.here)
        token_next(op, true);
    else
        token_order(op, e);
}

/* Goes on with the present key. */
static void token_go(struct token_op *op)
{
    struct node *node = op->session->node;
    struct token_key *key = &op->key[op->at];
    struct keep_session *e = token_find(node, key->id);
    enum node_state state = token_state(node);
    bool before = key->fence != 0; /* it was found, and the owner asked */

    if (op->wish.what != TOKEN_ACQUIRE && state >= NODE_NO_QUORUM) {
        token_fail_no_quorum(op);
        return;
    }
    if (op->wish.what != TOKEN_ACQUIRE && state != NODE_GRANTS) {
        ring_cut(&op->in_node);
        ring_push(&node->tokens.open, &op->in_node);
        return;
    }
    if (before && op->wish.what != TOKEN_ACQUIRE &&
        (!e || token_fence(e) != key->fence)) { /* it is released, or its TTL is over, since */
        token_next(op, key->ordered == 1 + TOKEN_RELEASE);
        return;
    }
    if (!e || token_fence(e) != key->fence)
        key->ordered = 0; /* of another grant */
    key->fence = e ? token_fence(e) : 0;
    if (op->wish.what == TOKEN_ACQUIRE) {
        token_acquire(op, e);
    } else if (!e || !token_owns(op, key, e) ||
               (op->wish.what == TOKEN_EXTEND && !op->wish.each && op->at == 0 && !token_owns_all(op))) {
        op->missing |= !e || !token_is_of_sort(op, e);
        token_next(op, false);
    } else if (op->wish.what == TOKEN_LOOK) {
        token_look(op, e);
    } else {
        token_order(op, e);
    }
}

/* --------------------------------------------------------------------------------------------------------- for commands */

static int token_compare(const void *a, const void *b)
{
    const struct token_key *x = a, *y = b;
    size_t len = x->name_len < y->name_len ? x->name_len : y->name_len;
    int order = memcmp(x->name, y->name, len);

    return order ? order : x->name_len - y->name_len;
}

/* Copies a token behind its sort. Returns the end. */
static char *token_copy(char *to, enum token_sort sort, const char *token, size_t len)
{
    *to++ = (char)sort;
    if (len)
        memcpy(to, token, len);
    return to + len;
}

void token_ask(struct session *s, const struct token_wish *wish, const struct resp_word *names, size_t count)
{
    size_t size = sizeof(struct token_op) + count * sizeof(struct token_key), bytes = 1 + wish->token_len;
    struct tokens *t = &s->node->tokens;
    struct token_op *op;
    char *at;

    assert(!s->asks && count <= TOKEN_KEYS_MAX && wish->token_len <= TOKEN_MAX);
    for (size_t k = 0; k < count; k++)
        bytes += names[k].len + (wish->tokens ? 1 + wish->tokens[k].len : 0);
    op = mem_new(size + bytes);
    op->session = s;
    op->wish = *wish;
    op->count = count;
    op->number = ++t->last_number;
    op->ruled = s->node->rules.version;
    op->next = t->table[op->number % TOKEN_PLACES];
    t->table[op->number % TOKEN_PLACES] = op;
    at = (char *)op + size;
    op->wish.token = at;
    op->wish.token_len = 1 + wish->token_len;
    at = token_copy(at, wish->sort, wish->token, wish->token_len);
    for (size_t k = 0; k < count; k++) {
        struct token_key *key = &op->key[k];

        *key = (struct token_key){.id = token_id(names[k].at, names[k].len),
                                  .name_len = (uint8_t)names[k].len,
                                  .name = memcpy(at, names[k].at, names[k].len),
                                  .token = op->wish.token,
                                  .token_len = op->wish.token_len,
                                  .place = (uint8_t)k};
        at += names[k].len;
        if (wish->tokens) {
            key->token = at;
            key->token_len = 1 + wish->tokens[k].len;
            at = token_copy(at, wish->sort, wish->tokens[k].at, wish->tokens[k].len);
        }
    }
    op->wish.tokens = NULL;
    if (count > 1)
        qsort(op->key, count, sizeof op->key[0], token_compare);
    s->asks = op;
    if (wish->what == TOKEN_ACQUIRE)
        party_promise(s, count);
    ring_push(&t->open, &op->in_node);
    token_go(op);
}

/* Gives up the claim that waits for this operation. A lock that is granted, but not known to all members yet,
 * stays until its TTL is over. */
static void token_give_up(struct token_op *op)
{
    struct session *s = op->claimant;

    if (!s)
        return;
    op->claimant = NULL;
    s->serves = NULL;
    if (!s->kept)
        session_withdraw(s);
}

void token_end(struct session *s)
{
    struct token_op *op = s->asks, **at;

    if (!op)
        return;
    s->asks = NULL;
    party_promise(s, 0);
    at = &s->node->tokens.table[op->number % TOKEN_PLACES];
    while (*at != op)
        at = &(*at)->next;
    *at = op->next;
    token_give_up(op);
    ring_cut(&op->in_node);
    free(op);
}

/* ------------------------------------------------------------------------------------------------------------- claims */

void token_gone(struct session *s)
{
    struct token_op *op = s->serves;

    if (!op)
        return;
    s->serves = NULL;
    op->claimant = NULL;
    if (op->code)
        token_finish(op);
    else
        token_fail(
            op, "LOST",
            "an operator took the lock away, or this member was excluded, before all members knew of it; ask again");
}

bool token_hear_outcome(struct claim *c)
{
    struct session *s = c->session;
    struct token_op *op = s->serves;
    struct node *node = s->node;

    if (s->poll)
        return poll_hear_outcome(c);
    if (!op || s->kept || c != s->waiting)
        return false;
    if (c->state == CLAIM_HELD && !keep_find(&node->keep, op->key[op->at].id) && token_is_allowed(op)) {
        token_make_value(op, &op->key[op->at], 1);
        keep_begin_token(s, op->key[op->at].id, op->value, op->value_len);
        op->key[op->at].fence = c->fence;
        return false; /* keep_holds_back does the rest */
    }
    s->serves = NULL;
    op->claimant = NULL;
    if (c->state == CLAIM_REFUSED) {
        const struct lock *lock = locks_find(&node->locks, c->name, c->name_len);
        struct dme_text why;

        dme_text_init(&why, op->why, sizeof op->why);
        if (lock)
            lock_describe(&node->locks, lock, &why);
        token_undo(op);
        op->code = "WRONGKIND";
        token_finish(op);
    } else if (c->state == CLAIM_HELD && !token_is_allowed(op)) {
        token_undo(op);
        token_fail(op, "NOPERM", "the rights have changed");
    } else if (node_state(node) >= NODE_NO_QUORUM) {
        token_undo(op);
        token_fail_no_quorum(op);
    } else {
        token_next(op, false);
    }
    if (c->state == CLAIM_HELD) {
        session_withdraw(s);
        return true;
    }
    return false; /* the claim ends in the usual way */
}

void token_granted(struct claim *c)
{
    struct session *s = c->session;
    struct token_op *op = s->serves;

    s->node->grants++;
    session_note_outcome(c);
    s->serves = NULL;
    if (!op)
        return;
    op->claimant = NULL;
    op->left_ms = op->wish.ttl_ms;
    if (token_is_allowed(op)) {
        token_next(op, true);
        return;
    }
    op->good++;
    op->at++;
    token_undo(op);
    token_fail(op, "NOPERM", "the rights have changed");
}

/* ---------------------------------------------------------------------------------------------------------- as it goes */

void tokens_init(struct node *node)
{
    ring_init(&node->tokens.open);
    ring_init(&node->tokens.asked);
    ring_init(&node->tokens.claiming);
    ring_init(&node->tokens.done);
    ring_init(&node->tokens.promises);
    ring_init(&node->tokens.polls);
    node->tokens.poll_due_ms = UINT64_MAX;
}

void tokens_free(struct node *node)
{
    polls_free(node);
    tokens_free_promises(node);
}

struct token_op *token_of(const struct node *node, uint64_t number)
{
    struct token_op *op = node->tokens.table[number % TOKEN_PLACES];

    while (op && op->number != number)
        op = op->next;
    return op && op->asked_view ? op : NULL;
}

/* The view has changed. If this member can act in the new one, it asks the owners again. If it cannot act for long, it tells the
 * clients so. */
static void tokens_follow_view(struct node *node, enum node_state state)
{
    struct tokens *t = &node->tokens;

    if (state == NODE_STARTS || (state == NODE_GRANTS && t->view == node->view.number))
        return;
    t->view = state == NODE_GRANTS ? node->view.number : 0;
    for (struct ring *r = t->asked.next, *next; r != &t->asked; r = next) {
        struct token_op *op = RING_OF(r, struct token_op, in_node);

        next = r->next;
        if (op->asked_view == t->view)
            continue;
        op->asked_view = 0;
        ring_cut(&op->in_node);
        ring_push(&t->open, &op->in_node);
    }
}

/* Goes on with a piece of the operations that have waited for this member. An operation that still has to wait goes behind the others. */
static void tokens_try_open(struct node *node)
{
    struct tokens *t = &node->tokens;
    struct ring end = {0}; /* those behind it have been tried */
    uint32_t left = keep_piece(node);

    ring_push(&t->open, &end);
    while (left && t->open.next != &end) {
        struct token_op *op = RING_OF(t->open.next, struct token_op, in_node);
        uint32_t work = (uint32_t)(op->count - op->at);

        left -= work < left ? work : left;
        token_go(op);
    }
    t->more = t->open.next != &end;
    ring_cut(&end);
}

void tokens_go_on(struct node *node)
{
    struct tokens *t = &node->tokens;
    enum node_state state;

    t->more = false;
    if (t->poll_due_ms <= node->now_ms)
        polls_go_on(node);
    if (!ring_empty(&t->promises))
        tokens_keep_promises(node);
    if (!ring_empty(&t->open) || !ring_empty(&t->asked)) {
        state = token_state(node);
        tokens_follow_view(node, state);
        if (state != NODE_STARTS && !ring_empty(&t->open))
            tokens_try_open(node);
    }
    t->more |= !ring_empty(&t->promises) && tokens_have_promises(node);
}

bool tokens_next(struct node *node, struct node_event *event)
{
    struct ring *done = &node->tokens.done;

    if (ring_empty(done))
        return false;
    event->token = RING_OF(done->next, struct token_op, in_node);
    event->session = event->token->session;
    ring_cut(&event->token->in_node);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- hearing */

static const char *token_hear_answer(struct node *node, struct unpack *u)
{
    uint64_t number = unpack_number(u, 8) & ~(TOKEN_AGAIN | TOKEN_DOWN), done = unpack_number(u, 1),
             left_ms = unpack_number(u, 4);
    struct token_op *op = token_of(node, number);

    if (done > 1)
        return "an invalid answer about a token";
    if (!op || op->asked_view != node->view.number)
        return NULL;
    op->left_ms = left_ms == UINT32_MAX ? UINT64_MAX : left_ms;
    token_hear_done(op, done);
    return NULL;
}

const char *token_hear(struct node *node, uint32_t k, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes, .end = bytes + len};

    return unpack_number(&u, 1) == TOKEN_ASK ? token_hear_ask(node, k, &u) : token_hear_answer(node, &u);
}
