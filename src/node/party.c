/* party.c - see party.h. */
#include "party.h"

#include "base/memory.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void parties_init(struct parties *p)
{
    for (unsigned k = 0; k < PARTIES_TABLE; k++)
        ring_init(&p->table[k]);
}

static struct party *party_find(struct node *node, const char *label)
{
    size_t len = strlen(label);
    struct ring *list = &node->parties.table[XXH3_64bits(label, len) % PARTIES_TABLE];
    struct party *p;

    for (struct ring *r = list->next; r != list; r = r->next)
        if (strcmp(RING_OF(r, struct party, in_node)->label, label) == 0)
            return RING_OF(r, struct party, in_node);
    p = mem_new(sizeof *p + len + 1);
    memcpy(p->label, label, len);
    ring_push(list, &p->in_node);
    return p;
}

void party_count(struct session *s, int waiters, int locks)
{
    if (!s->party)
        return;
    s->party->waiters += (uint32_t)waiters;
    s->party->locks += (uint32_t)locks;
}

void party_promise(struct session *s, size_t locks)
{
    if (s->party)
        s->party->promised += (uint32_t)locks - s->promised;
    s->promised = (uint32_t)locks;
}

void party_disconnect(struct session *s)
{
    if (s->party)
        s->party->connections -= s->counted;
    s->counted = false;
}

void party_leave(struct session *s)
{
    struct party *p = s->party;

    if (!p)
        return;
    party_count(s, -(s->waiting != NULL), -(int)s->held);
    p->promised -= s->promised;
    party_disconnect(s);
    s->party = NULL;
    if (--p->sessions)
        return;
    ring_cut(&p->in_node);
    free(p);
}

void party_join(struct session *s, const char *label)
{
    struct party *p = party_find(s->node, label);

    p->sessions++; /* it may be the one that it leaves */
    party_leave(s);
    s->party = p;
    s->counted = !s->orphan;
    p->connections += s->counted;
    p->promised += s->promised;
    party_count(s, s->waiting != NULL, (int)s->held);
}

void party_join_as(struct session *s, const struct session *other)
{
    if (other->party)
        party_join(s, other->party->label);
}
