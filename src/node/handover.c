/* handover.c - see handover.h. */
#include "handover.h"

#include "base/memory.h"
#include "base/pack.h"
#include "keep_inside.h"

#include <assert.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const char handover_title[] = "dibs handover 2";

enum { SUM = 8, LOCK_MIN = 8 + 4 + 2 + 4 + 1 + 2 };

bool handover_is_needed(const struct node *node)
{
    return node->view.count == 1 && node->place == 0;
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static void handover_add_text(struct bytes *to, const char *text)
{
    pack_text(bytes_add(to, 1 + strlen(text)), text, strlen(text));
}

static void handover_add_number(struct bytes *to, uint64_t number, unsigned bytes)
{
    pack_number(bytes_add(to, bytes), number, bytes);
}

/* Does the claim hold a lock of which the client was told, or may be told when it has resumed the session? A lock that was taken
 * away, and in which the client may still believe, counts: the next process must not grant it to another client before. */
static bool handover_has(const struct claim *c)
{
    return (c->state == CLAIM_HELD && keep_is_recorded(c)) || (c->state == CLAIM_LINGERS && c->kept && c->due_slot);
}

/* How many locks the session holds. If this process has taken the session over and not made its claims yet, they are its
 * records. */
static uint32_t handover_count(const struct keep_session *e)
{
    const struct session *s = e->session;
    uint32_t count = 0;

    if (!s)
        return e->handed ? e->count : 0;
    for (const struct ring *r = s->claims.next; r != &s->claims; r = r->next)
        count += handover_has(RING_OF((struct ring *)r, struct claim, in_session));
    return count;
}

static void handover_add_lock(struct bytes *to, uint64_t fence, uint64_t ttl_ms, uint32_t slots, uint32_t mode,
                              const char *name, uint8_t name_len, const struct lock_value *value)
{
    size_t value_len = value ? value->len : 0;
    uint8_t *at = bytes_add(to, 8 + 4 + 2 + 4 + 1 + (size_t)name_len + 2 + value_len);

    at = pack_number(pack_number(at, fence, 8), ttl_ms, 4);
    at = pack_text(pack_number(pack_number(at, slots, 2), mode, 4), name, name_len);
    pack_long(at, value ? value->text : "", value_len);
}

/* The end of the session's time. If the process ends before it has told a client (a second signal, or the time for that is over), the keep
 * time begins now: that client does not know yet, and comes back, too. */
static uint64_t handover_due_ms(const struct node *node, const struct keep_session *e, uint64_t vouched_ms)
{
    bool has_client = e->session && !e->session->orphan;
    uint64_t due_ms = e->keep_ms && (has_client || e->due_ms == UINT64_MAX)
                          ? node->now_ms + promise_stretch_ms(e->keep_ms)
                          : e->due_ms;

    return due_ms < vouched_ms ? vouched_ms : due_ms;
}

static void handover_add_session(struct bytes *to, const struct node *node, const struct keep_session *e)
{
    const struct session *s = e->session;
    uint64_t vouched_ms = s ? s->vouched_ms : e->vouched_ms;
    const struct lock_value *value = keep_value(e);
    size_t value_len = value ? value->len : 0;

    handover_add_number(to, e->id.high, 8);
    handover_add_number(to, e->id.low, 8);
    handover_add_number(to, e->keep_ms, 4);
    pack_text(bytes_add(to, 1 + value_len), value ? value->text : "", value_len);
    handover_add_number(to, handover_due_ms(node, e, vouched_ms), 8);
    handover_add_number(to, vouched_ms, 8);
    handover_add_number(to, handover_count(e), 4);
    for (const struct ring *r = s ? s->claims.next : NULL; s && r != &s->claims; r = r->next) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_session);

        if (handover_has(c))
            handover_add_lock(to, c->fence, c->ttl_ms, c->slots, keep_mode(c), c->name, c->name_len, c->value);
    }
    for (const struct ring *r = e->records.next; !s && r != &e->records; r = r->next) {
        const struct keep_record *x = RING_OF((struct ring *)r, struct keep_record, in_session);

        handover_add_lock(to, x->fence, x->ttl_ms, x->slots, x->mode, x->name, x->name_len,
                          e->keep_ms ? x->value : NULL);
    }
}

/* Iterates over all sessions that the member knows: the one after `e`, or the first if it is null. */
static const struct keep_session *handover_next(const struct keep *k, const struct keep_session *e)
{
    const struct ring *r = e ? e->in_all.next : k->all.next;

    if (r == &k->walk)
        r = r->next;
    return r == &k->all ? NULL : RING_OF((struct ring *)r, struct keep_session, in_all);
}

uint32_t handover_write(const struct node *node, const char *boot, struct bytes *to)
{
    const struct locks *l = &node->locks;
    uint64_t fence = l->fence_granted > l->fence_seen ? l->fence_granted : l->fence_seen;
    size_t start = bytes_len(to);
    uint32_t count = 0;

    if (!node->agree && fence < node->conf.fence)
        fence = node->conf.fence; /* this process has granted none */
    for (const struct keep_session *e = NULL; (e = handover_next(&node->keep, e));)
        count += handover_count(e) > 0;
    if (!handover_is_needed(node) || !count)
        return 0;
    handover_add_text(to, handover_title);
    handover_add_text(to, node->conf.name);
    handover_add_text(to, boot);
    handover_add_number(to, node->now_ms, 8);
    handover_add_number(to, fence, 8);
    handover_add_number(to, count, 4);
    for (const struct keep_session *e = NULL; (e = handover_next(&node->keep, e));)
        if (handover_count(e))
            handover_add_session(to, node, e);
    handover_add_number(to, XXH3_64bits(to->at + to->start + start, bytes_len(to) - start), 8);
    return count;
}

/* ------------------------------------------------------------------------------------------------------------- reading */

static bool handover_is(struct unpack *u, const char *text)
{
    size_t len;
    const char *at = unpack_text(u, &len);

    return !u->wrong && len == strlen(text) && memcmp(at, text, len) == 0;
}

/* The locks that were read, by name. */
struct handover_lock {
    uint64_t hash; /* 0: there is none */
    uint32_t slots, mode, count;
};

struct handover_locks {
    size_t room; /* more than there are locks in the bytes: each has LOCK_MIN bytes at least */
    struct handover_lock at[];
};

/* May this lock be held beside those that were read before it (I4, I16)? */
static bool handover_admits(struct handover_locks *all, const struct keep_record *x)
{
    uint64_t hash = XXH3_64bits(x->name, x->name_len) | 1;
    struct handover_lock *l = &all->at[hash / 2 % all->room];

    while (l->hash && l->hash != hash)
        l = l == all->at + all->room - 1 ? all->at : l + 1;
    if (!l->hash)
        *l = (struct handover_lock){.hash = hash, .slots = x->slots, .mode = x->mode};
    l->count++;
    return l->slots == x->slots &&
           (x->slots ? l->count <= x->slots : l->count == 1 || dme_compatible(l->mode, x->mode));
}

/* Reads one session. Returns false if the bytes are not valid. With node null, only checks them. */
static bool handover_take_session(struct unpack *u, struct node *node, struct handover_locks *all, uint64_t now_ms,
                                  uint32_t *taken)
{
    struct keep_id id = {.high = unpack_number(u, 8)};
    uint64_t due_ms, vouched_ms;
    uint32_t keep_ms, locks;
    struct keep_session *e = NULL;
    const char *value;
    size_t value_len;

    id.low = unpack_number(u, 8);
    keep_ms = (uint32_t)unpack_number(u, 4);
    value = unpack_text(u, &value_len);
    due_ms = unpack_number(u, 8);
    vouched_ms = unpack_number(u, 8);
    locks = (uint32_t)unpack_number(u, 4);
    if (u->wrong || (keep_ms && keep_ms < KEEP_MS_MIN) || keep_ms > KEEP_MS_MAX || (keep_ms == 0) != (value_len > 0) ||
        vouched_ms > due_ms || !locks || locks > (keep_ms ? KEEP_HELD_MAX : 1))
        return false;
    if (node && due_ms > now_ms) {
        if (keep_find(&node->keep, id))
            return false;
        e = keep_add(&node->keep, id, keep_ms);
        e->handed = true;
        e->due_ms = due_ms;
        e->vouched_ms = vouched_ms;
        ++*taken;
    }
    for (; locks; locks--) {
        union keep_buffer b;
        size_t own_len = 0;
        const char *own = keep_unpack_lock(u, &b) ? unpack_long(u, &own_len) : NULL;

        if (!own || u->wrong || own_len > (keep_ms ? VALUE_MAX : 0) || (!node && !handover_admits(all, &b.record)))
            return false;
        if (e)
            keep_add_record(&node->keep, e, &b.record, keep_ms ? own : value, keep_ms ? own_len : value_len, false);
    }
    return true;
}

static const char *handover_object(const struct node *node, const char *boot, uint64_t now_ms, struct unpack *u,
                                   uint64_t *fence, uint32_t *count)
{
    if ((size_t)(u->end - u->at) < SUM || XXH3_64bits(u->at, (size_t)(u->end - u->at) - SUM) !=
                                              unpack_number(&(struct unpack){.at = u->end - SUM, .end = u->end}, SUM))
        return "it is damaged";
    u->end -= SUM;
    if (!handover_is(u, handover_title))
        return "it was written by another version of dibs";
    if (!handover_is(u, node->conf.name))
        return "it is of another member";
    if (!handover_is(u, boot))
        return "the machine has been started again since";
    if (unpack_number(u, 8) > now_ms)
        return "it was written later than now";
    *fence = unpack_number(u, 8);
    *count = (uint32_t)unpack_number(u, 4);
    return u->wrong ? "it is damaged" : NULL;
}

uint32_t handover_read(struct node *node, const char *boot, uint64_t now_ms, const uint8_t *bytes, size_t len,
                       const char **wrong)
{
    struct unpack u = {.at = bytes, .end = bytes + len};
    struct handover_locks *all;
    uint32_t count = 0, taken = 0;
    uint64_t fence = 0;
    bool good = true;

    assert(!node->view.count && !node->keep.count);
    *wrong = handover_object(node, boot, now_ms, &u, &fence, &count);
    if (*wrong)
        return 0;
    all = mem_new(sizeof *all + (2 + len / LOCK_MIN * 2) * sizeof all->at[0]);
    all->room = 2 + len / LOCK_MIN * 2;
    for (unsigned pass = 0; good && pass < 2;
         pass++) { /* the first pass only checks, so that all sessions are taken over or none */
        struct unpack each = u;

        for (uint32_t k = 0; good && k < count; k++)
            good = handover_take_session(&each, pass ? node : NULL, all, now_ms, &taken);
        good = good && each.at == each.end;
    }
    free(all);
    if (!good) {
        *wrong = "it is damaged";
        keep_forget_all(node);
        return 0;
    }
    if (node->now_ms < now_ms)
        node->now_ms = now_ms; /* times that begin with the first view begin now */
    if (node->conf.fence <= fence)
        node->conf.fence = fence + 1;
    return taken;
}
