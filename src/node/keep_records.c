/* keep_records.c - see keep.h: which kept sessions this member knows, its own and those of which it has records, and which member
 * owns a session. */
#include "keep_inside.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- the table */

struct keep_session *keep_find(const struct keep *k, struct keep_id id)
{
    struct keep_session *e = k->room ? k->table[id.low % k->room] : NULL;

    while (e && (e->id.low != id.low || e->id.high != id.high))
        e = e->next;
    return e;
}

static void keep_link(struct keep *k, struct keep_session *e)
{
    struct keep_session **at = &k->table[e->id.low % k->room];

    e->next = *at;
    *at = e;
}

static void keep_grow(struct keep *k)
{
    struct keep_session **before = k->table;
    size_t room = k->room;

    k->room = room ? 2 * room : 64;
    k->table = mem_new(k->room * sizeof(struct keep_session *));
    for (size_t j = 0; j < room; j++)
        while (before[j]) {
            struct keep_session *e = before[j];

            before[j] = e->next;
            keep_link(k, e);
        }
    free(before);
}

struct keep_session *keep_add(struct keep *k, struct keep_id id, uint32_t keep_ms)
{
    struct keep_session *e = mem_new(sizeof *e);

    if (k->count == k->room)
        keep_grow(k);
    e->id = id;
    e->keep_ms = keep_ms;
    ring_init(&e->in_own);
    ring_init(&e->records);
    keep_link(k, e);
    k->count++;
    return e;
}

void keep_set_value(struct keep_session *e, const char *value, size_t len)
{
    free(e->value);
    e->value = NULL;
    if (!len)
        return;
    e->value = mem_new(sizeof *e->value + len);
    e->value->len = (uint8_t)len;
    memcpy(e->value->text, value, len);
}

void keep_forget_record(struct keep *k, struct keep_record *r)
{
    ring_cut(&r->in_session);
    k->records--;
    free(r);
}

/* Of one lock a session has one record. */
void keep_add_record(struct keep *k, struct keep_session *e, const struct keep_record *x, bool reported)
{
    struct keep_record *own;

    for (struct ring *r = e->records.next; r != &e->records; r = r->next) {
        struct keep_record *y = RING_OF(r, struct keep_record, in_session);

        if (y->fence == x->fence && y->name_len == x->name_len && memcmp(y->name, x->name, x->name_len) == 0) {
            if (x->reported < y->reported)
                y->reported = x->reported;
            if (!reported || (y->ttl_ms && (!x->ttl_ms || x->ttl_ms > y->ttl_ms)))
                y->ttl_ms = x->ttl_ms;
            return;
        }
    }
    own = mem_new(sizeof *own + x->name_len);
    memcpy(own, x, sizeof *x + x->name_len);
    ring_push(&e->records, &own->in_session);
    k->records++;
}

void keep_remove(struct keep *k, struct keep_session *e)
{
    struct keep_session **at = &k->table[e->id.low % k->room];

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    k->count--;
    k->moving -= e->session && e->moves_to;
    ring_cut(&e->in_own);
    while (!ring_empty(&e->records))
        keep_forget_record(k, RING_OF(e->records.next, struct keep_record, in_session));
    free(e->value);
    free(e);
}

/* All sessions that are known, one after the other; the one after this may be removed meanwhile. */
struct keep_session *keep_each(const struct keep *k, size_t *at, struct keep_session **next)
{
    struct keep_session *e = *next;

    while (!e && *at < k->room)
        e = k->table[(*at)++];
    *next = e ? e->next : NULL;
    return e;
}

bool keep_knows(const struct node *node, struct keep_id id)
{
    return keep_find(&node->keep, id) != NULL;
}

/* ------------------------------------------------------------------------------------------------------------ members */

uint64_t keep_self(const struct node *node)
{
    return node->view.member[node->place].id;
}

/* The other member at this place, if it takes part as this one does; or null. */
struct member *keep_peer(const struct node *node, uint32_t k)
{
    return node->takes_part && node->view.member[k].incarnation ? node->member[k] : NULL;
}

/* A number for the time in which an incarnation takes part without a break. It may have been excluded for a view or two and not
 * have noticed; then it is not the owner of anything any more. */
uint64_t keep_tenure(const struct view_member *m)
{
    return m->incarnation * 0x9e3779b97f4a7c15 + m->since;
}

bool keep_takes_part(const struct node *node, uint64_t id, uint64_t tenure)
{
    uint32_t k = id ? view_find(&node->view, id) : VIEW_MEMBERS_MAX;

    return k != VIEW_MEMBERS_MAX && node->view.member[k].incarnation &&
           (!tenure || keep_tenure(&node->view.member[k]) == tenure);
}

void keep_set_owner(const struct node *node, struct keep_session *e, uint64_t id)
{
    e->owner = id;
    e->owner_tenure = keep_tenure(&node->view.member[view_find(&node->view, id)]);
}

bool keep_is_own(const struct node *node, const struct keep_session *e)
{
    return e->owner == keep_self(node) && e->owner_tenure == keep_tenure(&node->view.member[node->place]);
}

/* The same for all members that know this view. */
uint64_t keep_choose(const struct node *node, const struct keep_session *e)
{
    uint64_t nth = e->id.high % view_taking_part(&node->view);
    uint32_t k = 0;

    for (;; k++)
        if (node->view.member[k].incarnation && nth-- == 0)
            return node->view.member[k].id;
}
