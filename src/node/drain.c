/* drain.c - see drain.h. */
#include "drain.h"

#include "session.h"

struct session *drain_next(const struct node *node, const struct session *s)
{
    struct ring *r = s ? s->in_node.next : node->sessions.next;

    for (; r != &node->sessions; r = r->next) {
        struct session *next = RING_OF(r, struct session, in_node);

        if (!next->orphan && next->held)
            return next;
    }
    return NULL;
}

/* Some of the requests that wait are withdrawn. Their clients are told that no lock is granted here. */
static void drain_withdraw(struct node *node)
{
    uint32_t left = node->conf.piece ? node->conf.piece : SESSION_PIECE;

    for (struct ring *r = node->sessions.next; left && r != &node->sessions; r = r->next) {
        struct claim *c = RING_OF(r, struct session, in_node)->waiting;

        if (c && c->state == CLAIM_WAITING) {
            locks_time_out(&node->locks, c);
            left--;
        }
    }
}

uint32_t drain_go_on(struct session *s)
{
    struct node *node = s->node;
    uint32_t count = 0;

    node->drainer = s;
    drain_withdraw(node);
    for (const struct session *x = drain_next(node, NULL); x; x = drain_next(node, x))
        count++;
    node->drained |= count == 0;
    return count;
}

void drain_end(struct session *s)
{
    if (s->node->drainer == s)
        s->node->drainer = NULL;
}
