/* keep_records.c - see keep.h: which kept sessions this member knows, its own and those of which it has records, and which member
 * owns a session. */
#include "keep_inside.h"

#include "base/memory.h"
#include "base/slab.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FEW = 8 /* records that need no table */ };

/* ---------------------------------------------------------------------------------------------------------- the table */

static uint64_t keep_hash(const struct keep *k, struct keep_id id)
{
    return id.low ^ id.low * k->secret >> 32;
}

static struct keep_session **keep_of(const struct keep *k, struct keep_id id)
{
    size_t place = keep_hash(k, id) & (2 * k->half - 1);

    return &k->table[place < k->room ? place : place - k->half];
}

struct keep_session *keep_find(const struct keep *k, struct keep_id id)
{
    struct keep_session *e = k->room ? *keep_of(k, id) : NULL;

    while (e && (e->id.low != id.low || e->id.high != id.high))
        e = e->next;
    return e;
}

static void keep_link(struct keep *k, struct keep_session *e)
{
    struct keep_session **at = keep_of(k, e->id);

    e->next = *at;
    *at = e;
}

/* The table grows by one place at a time, as that of the names does (lock/names.c): there may be a million records. */
static void keep_grow(struct keep *k)
{
    struct keep_session *e, *next;

    if (k->room == k->table_room) {
        k->table_room = k->room ? 2 * k->room : 64;
        k->table = mem_grow(k->table, k->table_room * sizeof(struct keep_session *));
    }
    k->half = k->room == 2 * k->half ? k->room + (k->room == 0) : k->half;
    k->table[k->room++] = NULL;
    if (k->room == 1)
        return;
    e = k->table[k->room - 1 - k->half];
    k->table[k->room - 1 - k->half] = NULL;
    for (; e; e = next) {
        next = e->next;
        keep_link(k, e);
    }
}

struct keep_session *keep_add(struct keep *k, struct keep_id id, uint32_t keep_ms)
{
    struct keep_session *e = slab_new(sizeof *e);

    if (k->count >= k->room)
        keep_grow(k);
    e->id = id;
    e->era = k->era;
    e->keep_ms = keep_ms;
    ring_init(&e->in_own);
    ring_init(&e->in_adopted);
    ring_init(&e->in_vouched);
    ring_init(&e->records);
    ring_push(&k->all, &e->in_all);
    keep_link(k, e);
    k->count++;
    return e;
}

void keep_set_value(struct lock_value **value, const char *text, size_t len)
{
    slab_free(*value);
    *value = value_new(text, len);
}

/* Takes the session out of the table. */
static void keep_unlink(struct keep *k, struct keep_session *e)
{
    struct keep_session **at = keep_of(k, e->id);

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    k->count--;
}

void keep_free_session(struct keep_session *e)
{
    assert(!e->former);
    ring_cut(&e->in_all);
    free(e->table);
    slab_free(e->value);
    slab_free(e);
}

void keep_remove(struct keep *k, struct keep_session *e)
{
    keep_unlink(k, e);
    k->moving -= e->session && e->moves_to;
    keep_disown(k, e);
    while (!ring_empty(&e->records))
        keep_forget_record(k, e, RING_OF(e->records.next, struct keep_record, in_session));
    keep_free_session(e);
}

void keep_doom_all(struct keep *k)
{
    free(k->table);
    k->table = NULL;
    k->table_room = k->room = k->half = k->count = 0;
    ring_move(&k->doomed, &k->all);
}

void keep_own(struct node *node, struct keep_session *e, struct session *s)
{
    assert(ring_empty(&s->in_confirming)); /* a connection that was vouched for before is refused */
    e->session = s;
    s->kept = e;
    node->keep.own_count += ring_empty(&e->in_own);
    ring_cut(&e->in_own);
    ring_push(&node->keep.own, &e->in_own);
}

void keep_disown(struct keep *k, struct keep_session *e)
{
    k->own_count -= !ring_empty(&e->in_own);
    ring_cut(&e->in_own);
    ring_cut(&e->in_adopted);
    ring_cut(&e->in_vouched);
    e->session = NULL;
}

/* ---------------------------------------------------------------------------------------------------------- records */

/* Records are in the order in which they came; if there are more than a few, they are also in a table of the session. A session has a bounded
 * number of records, so to let this table grow at once is not long work. */
static struct keep_record **keep_place(const struct keep_session *e, const char *name, size_t len, uint64_t fence)
{
    return &e->table[XXH3_64bits_withSeed(name, len, fence) & (e->room - 1)];
}

static void keep_enter(struct keep_session *e, struct keep_record *x)
{
    struct keep_record **place = keep_place(e, x->name, x->name_len, x->fence);

    x->next = *place;
    *place = x;
}

static void keep_grow_records(struct keep_session *e)
{
    free(e->table);
    e->room = e->room ? 2 * e->room : 2 * FEW;
    e->table = mem_new(e->room * sizeof *e->table);
    for (struct ring *r = e->records.next; r != &e->records; r = r->next)
        keep_enter(e, RING_OF(r, struct keep_record, in_session));
}

static bool keep_is_record(const struct keep_record *x, const char *name, size_t len, uint64_t fence)
{
    return x->fence == fence && x->name_len == len && memcmp(x->name, name, len) == 0;
}

struct keep_record *keep_find_record(const struct keep_session *e, const char *name, size_t len, uint64_t fence)
{
    struct keep_record *x;

    if (!e->table) {
        for (struct ring *r = e->records.next; r != &e->records; r = r->next)
            if (keep_is_record(RING_OF(r, struct keep_record, in_session), name, len, fence))
                return RING_OF(r, struct keep_record, in_session);
        return NULL;
    }
    x = *keep_place(e, name, len, fence);
    while (x && !keep_is_record(x, name, len, fence))
        x = x->next;
    return x;
}

void keep_trust_record(struct keep_record *x)
{
    if (x->told) {
        slab_free(x->told->value);
        slab_free(x->told);
    }
    x->told = NULL;
    x->hearsay = false;
    x->reported = 0;
}

void keep_recall_record(struct keep_record *x)
{
    struct keep_told now;

    if (!x->told)
        return;
    now = *x->told;
    *x->told = (struct keep_told){.value = x->value};
    x->value = now.value;
    x->ttl_ms = now.ttl_ms;
    x->mode = now.mode;
    keep_trust_record(x);
}

void keep_forget_record(struct keep *k, struct keep_session *e, struct keep_record *x)
{
    struct keep_record **at = e->table ? keep_place(e, x->name, x->name_len, x->fence) : NULL;

    while (at && *at != x)
        at = &(*at)->next;
    if (at)
        *at = x->next;
    ring_cut(&x->in_session);
    e->count--;
    k->records--;
    keep_trust_record(x);
    slab_free(x->value);
    slab_free(x);
}

static bool keep_is_less(const struct lock_value *a, const char *text, size_t len)
{
    return a && (a->len < len || (a->len == len && memcmp(a->text, text, len) < 0));
}

static void keep_note_told(struct keep_record *x)
{
    x->told = slab_new(sizeof *x->told);
    *x->told = (struct keep_told){.ttl_ms = x->ttl_ms, .mode = x->mode};
    if (x->value)
        keep_set_value(&x->told->value, x->value->text, x->value->len);
}

/* The session has a record of this lock and fence already, and a letter tells of it again. */
static void keep_change_record(struct keep_record *own, const struct keep_record *x, const char *value, size_t len,
                               bool reported)
{
    bool ttl = !reported || (own->ttl_ms && (!x->ttl_ms || x->ttl_ms > own->ttl_ms));
    bool other = !reported || keep_is_less(own->value, value, len);
    bool mode = !reported || (x->mode == LOCK_ALONE && own->mode != LOCK_ALONE);

    if (!reported)
        keep_trust_record(own);
    else if (!own->hearsay && !own->told && (ttl || other || mode))
        keep_note_told(own);
    own->reported = owner_names(own->reported, x->reported);
    if (ttl)
        own->ttl_ms = x->ttl_ms;
    if (other)
        keep_set_value(&own->value, value, len);
    if (mode) /* x is exclusive: its owner is lost, and no other client has shared the lock yet (rule 11) */
        own->mode = x->mode;
}

/* A session has one record of each grant of a lock. */
void keep_add_record(struct keep *k, struct keep_session *e, const struct keep_record *x, const char *value, size_t len,
                     bool reported)
{
    struct keep_record *own = keep_find_record(e, x->name, x->name_len, x->fence);

    if (own) {
        if (owner_amends(own->reported, x->reported, e->ownerless, k->passed))
            keep_change_record(own, x, value, len, reported);
        return;
    }
    own = slab_new(sizeof *own + x->name_len);
    memcpy(own, x, sizeof *x + x->name_len);
    own->value = NULL;
    own->hearsay = reported;
    keep_set_value(&own->value, value, len);
    ring_push(&e->records, &own->in_session);
    k->records++;
    if (++e->count > (e->table ? e->room : FEW))
        keep_grow_records(e);
    else if (e->table)
        keep_enter(e, own);
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

/* The other member at this place, if both members take part; or null. */
struct member *keep_peer(const struct node *node, uint32_t k)
{
    return node->takes_part && node->view.member[k].incarnation ? node->member[k] : NULL;
}

/* The *tenure* of a member identifies the time in which an incarnation takes part without a break. An incarnation may have been excluded for a
 * view or two without noticing; then it no longer owns anything. */
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
