/* drain.c - see drain.h. */
#include "drain.h"

#include "session.h"

struct session *drain_next(const struct node *node, const struct session *s)
{
    struct ring *next = s ? s->in_holding.next : node->holding.next;

    return next == &node->holding ? NULL : RING_OF(next, struct session, in_holding);
}

/* Withdraws a piece of the waiting requests. Their clients are told that no lock is granted here. Each request is taken from the
 * beginning of the line, since its end may grant or refuse others. */
static void drain_withdraw(struct node *node)
{
    struct locks *l = &node->locks;

    for (uint32_t left = node->conf.piece ? node->conf.piece : SESSION_PIECE; left; left--) {
        struct ring *first = l->waiting.next == &l->served ? l->served.next : l->waiting.next;

        if (first == &l->waiting)
            return;
        locks_time_out(l, RING_OF(first, struct claim, in_list));
    }
}

uint32_t drain_go_on(struct session *s)
{
    struct node *node = s->node;

    node->drainer = s;
    drain_withdraw(node);
    node->drained |= node->holding_count == 0;
    return node->holding_count;
}

void drain_end(struct session *s)
{
    if (s->node->drainer == s)
        s->node->drainer = NULL;
}
