/* token_owner.c - what the owner of a token's lock does with it, for its own clients and for other members. See token.h.
 *
 * The owner has the claim. An *order* says what is to be done: to release the lock, to extend it, or to tell how much time is
 * left. If an extension has to be known to all members before the client may rely on it, the answer is a *promise*: it is
 * given when all members have acknowledged the letter with the new TTL. */
#include "token_inside.h"

#include "base/memory.h"
#include "keep_inside.h"

#include <assert.h>
#include <stdlib.h>

/* The claim of this member that a token owns, with this fence; or null. */
static struct claim *token_held(struct node *node, struct keep_id id, uint64_t fence)
{
    struct keep_session *e = keep_find(&node->keep, id);

    return keep_is_token(e) && e->session && keep_may_act(node, e) ? session_token_claim(e->session, fence) : NULL;
}

/* The time that is left for the client, on its own clock. */
static uint64_t token_left_ms(const struct claim *c)
{
    uint64_t now_ms = c->session->node->now_ms;

    if (!c->due_slot)
        return UINT64_MAX;
    return c->due_ms > now_ms ? (c->due_ms - now_ms - 1) * 19 / 21 : 0; /* see promise_stretch_ms */
}

/* The TTL that the order asks for; 0 is for ever. */
static uint64_t token_ttl_ms(const struct claim *c, const struct token_order *o)
{
    uint64_t left = token_left_ms(c);

    if (!o->adds)
        return o->ttl_ms;
    return left == UINT64_MAX ? 0 : left + o->ttl_ms ? left + o->ttl_ms : 1;
}

/* Extends the lock. Returns the number of the last letter about it: all other members must have acknowledged it before the client is
 * told, also if an earlier extension has sent that letter (I33). */
static uint64_t token_extend(struct claim *c, const struct token_order *o)
{
    uint64_t before = c->ttl_ms, made;
    bool renamed = o->value_len != 0;

    session_set_ttl(c, token_ttl_ms(c, o));
    if (renamed)
        keep_set_value(&c->session->kept->value, o->value, o->value_len);
    if (c->ttl_ms != before || renamed)
        keep_record_claim(c);
    made = c->session->node->keep.made; /* a claim that was adopted has no letter: all members know of it */
    return c->kept < made ? c->kept : made;
}

/* Does the count that is asked for follow from the one that the lock has? If not, the member that asks did not know that one. */
static bool token_counts_on(const struct claim *c, const struct token_order *o)
{
    const struct lock_value *value = keep_value(c->session->kept);
    uint32_t now, next;

    if (!o->value_len || o->value[0] != TOKEN_WITH_COUNT)
        return true;
    now = token_count(value->text, value->len);
    next = token_count(o->value, o->value_len);
    return next + o->down == now + !o->down || (next == now && (o->again || now == TOKEN_COUNT_MAX));
}

bool token_obey(struct node *node, const struct token_order *o, uint64_t *left_ms, uint64_t *letter)
{
    struct claim *c = token_held(node, o->id, o->fence);

    *letter = *left_ms = 0;
    if (!c || (o->what == TOKEN_EXTEND && token_ttl_ms(c, o) > TOKEN_TTL_MS_MAX) || !token_counts_on(c, o))
        return false;
    if (o->what == TOKEN_EXTEND)
        *letter = token_extend(c, o);
    *left_ms = token_left_ms(c);
    if (o->what == TOKEN_RELEASE)
        session_unlock(c->session, c->name, c->name_len, c->fence);
    return true;
}

void token_promise(struct node *node, struct token_promise terms)
{
    struct token_promise *p = mem_new(sizeof *p);

    assert(terms.letter > node->keep.acked);
    *p = terms;
    p->view = node->view.number;
    ring_push(&node->tokens.promises, &p->in_node);
}

static void token_say_answer(struct member *m, uint64_t number, bool done, uint64_t left_ms)
{
    uint8_t letter[1 + 8 + 1 + 4], *at = letter;

    at = pack_number(pack_number(pack_number(at, TOKEN_ANSWER, 1), number, 8), done, 1);
    at = pack_number(at, left_ms < UINT32_MAX ? left_ms : UINT32_MAX, 4);
    memcpy(link_send(&m->link, (size_t)(at - letter)), letter, (size_t)(at - letter));
}

static struct token_promise *token_first_promise(const struct node *node)
{
    struct ring *first = node->tokens.promises.next;
    struct token_promise *p = RING_OF(first, struct token_promise, in_node);

    return first != &node->tokens.promises && p->letter <= node->keep.acked ? p : NULL;
}

void tokens_keep_promises(struct node *node)
{
    struct token_promise *p;

    for (uint32_t left = keep_piece(node); left && (p = token_first_promise(node)); left--) {
        uint32_t k = p->member ? view_find(&node->view, p->member) : VIEW_MEMBERS_MAX;
        struct token_op *op = p->member ? NULL : token_of(node, p->number);
        bool held = token_held(node, p->id, p->fence) != NULL, waits = op && op->at == p->at;

        if (p->view == node->view.number && k != VIEW_MEMBERS_MAX && keep_peer(node, k))
            token_say_answer(node->member[k], p->number, held, p->left_ms);
        ring_cut(&p->in_node);
        /* This member may have been excluded, and have forgotten what others still know; or it has no lease, and the rights of clients may
         * have changed since the client made its request (I34). */
        if (waits && ((!held && p->view != node->view.number) ||
                      (op->wish.what == TOKEN_ACQUIRE && token_state(node) != NODE_GRANTS))) {
            op->asked_view = 0;
            ring_cut(&op->in_node);
            ring_push(&node->tokens.open, &op->in_node);
        } else if (waits) {
            op->left_ms = p->left_ms;
            token_next(op, held);
        }
        free(p);
    }
}

const char *token_hear_ask(struct node *node, uint32_t k, struct unpack *u)
{
    uint64_t number = unpack_number(u, 8), what = unpack_number(u, 1), left_ms, letter;
    struct token_order o = {.what = (enum token_what)what,
                            .again = number & TOKEN_AGAIN,
                            .down = number & TOKEN_DOWN,
                            .id.high = unpack_number(u, 8)};
    bool done;

    o.id.low = unpack_number(u, 8);
    o.fence = unpack_number(u, 8);
    o.ttl_ms = unpack_number(u, 4);
    o.adds = unpack_number(u, 1);
    o.value = unpack_text(u, &o.value_len);
    if (what == TOKEN_ACQUIRE || what >= TOKEN_WHATS || !o.fence)
        return "an invalid question about a token";
    done = token_obey(node, &o, &left_ms, &letter);
    if (letter > node->keep.acked)
        token_promise(node, (struct token_promise){.letter = letter,
                                                   .member = node->view.member[k].id,
                                                   .number = number,
                                                   .id = o.id,
                                                   .fence = o.fence,
                                                   .left_ms = left_ms});
    else
        token_say_answer(node->member[k], number, done, left_ms);
    return NULL;
}

bool tokens_have_promises(const struct node *node)
{
    return token_first_promise(node) != NULL;
}

void tokens_free_promises(struct node *node)
{
    while (!ring_empty(&node->tokens.promises)) {
        struct token_promise *p = RING_OF(node->tokens.promises.next, struct token_promise, in_node);

        ring_cut(&p->in_node);
        free(p);
    }
}
