/* deadlock.c - see deadlock.h. */
#include "deadlock.h"

#include "admin.h"
#include "audit.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/plain.h"
#include "core/alg.h"
#include "core/text.h"
#include "link/registry.h"
#include "session.h"

#include <stdlib.h>

/* A hop of the path of a probe: usually a wait, and the lock that its session holds. Texts point into a session or a message. */
struct hop {
    enum hop_kind {
        HOP_HOLDS,  /* its session holds the lock for which the hop before waits, and waits */
        HOP_PARENT, /* its session holds that lock, and does not wait; `name` is this lock */
        HOP_CHILD,  /* its session runs under the lock of the hop before, a parent, and waits */
        HOP_KINDS
    } kind;
    uint64_t member, incarnation, number; /* which claim waits: this number of this process */
    uint64_t stamp;                       /* when it began to wait, in milliseconds of the time of day */
    /* The fence with which its session holds the lock for which the hop before waits. In the first hop: 0, until the cycle is found. */
    uint64_t fence;
    uint32_t slots, mode;
    const char *who, *name;
    size_t who_len, name_len;
};

struct path {
    uint64_t round; /* distinguishes the probes of one wait */
    unsigned count;
    unsigned looks; /* how many holders may still be looked at */
    struct hop hop[DEADLOCK_HOPS_MAX];
};

enum { HOP_BYTES_MAX = 1 + 5 * 8 + 2 + 4 + 1 + DEADLOCK_WHO_MAX + 1 + LOCK_NAME_MAX };
enum { PATH_BYTES_MAX = 1 + 8 + 1 + DEADLOCK_HOPS_MAX * HOP_BYTES_MAX };

void deadlocks_init(struct deadlocks *d)
{
    ring_init(&d->young);
    ring_init(&d->old);
    ring_init(&d->nested);
}

/* ------------------------------------------------------------------------------------------------------------ one hop */

static bool hop_is_same(const struct hop *a, const struct hop *b)
{
    return a->member == b->member && a->incarnation == b->incarnation && a->number == b->number;
}

/* Is wait `a` older than wait `b`? All members order all waits in the same way. */
static bool hop_is_older(const struct hop *a, const struct hop *b)
{
    if (a->stamp != b->stamp)
        return a->stamp < b->stamp;
    return a->member != b->member ? a->member < b->member : a->number < b->number;
}

static struct hop hop_of(const struct session *s, uint64_t fence)
{
    const struct node *node = s->node;
    const struct claim *c = s->waiting;

    return (struct hop){.member = node->view.member[node->place].id,
                        .incarnation = node->self.incarnation,
                        .number = c->number,
                        .stamp = node->conf.fence / 1000 + c->since_ms - node->began_ms,
                        .fence = fence,
                        .slots = c->slots,
                        .mode = c->mode,
                        .who = s->who,
                        .who_len = strlen(s->who),
                        .name = c->name,
                        .name_len = c->name_len};
}

static bool hop_is_here(const struct node *node, const struct hop *h)
{
    return h->member == node->view.member[node->place].id && h->incarnation == node->self.incarnation;
}

/* A hop for a session that holds a lock and does not wait. */
static struct hop hop_of_parent(const struct claim *holder)
{
    const struct session *s = holder->session;
    const struct node *node = s->node;

    return (struct hop){.kind = HOP_PARENT,
                        .member = node->view.member[node->place].id,
                        .incarnation = node->self.incarnation,
                        .fence = holder->fence,
                        .who = s->who,
                        .who_len = strlen(s->who),
                        .name = holder->name,
                        .name_len = holder->name_len};
}

/* Does the holder of the lock exclude the wait `h`? */
static bool hop_is_blocked_by(const struct hop *h, const struct claim *holder)
{
    return holder->state == CLAIM_HELD && holder != holder->session->waiting && holder->slots == h->slots &&
           (h->slots ? h->slots == 1 : !dme_compatible(holder->mode, h->mode));
}

static bool deadlock_waits(const struct session *s)
{
    return s->waiting && s->waiting->state == CLAIM_WAITING;
}

/* Does the session run under the lock of this parent? */
static bool deadlock_is_under(const struct session *s, const struct hop *parent)
{
    for (unsigned k = 0; k < s->unders; k++)
        if (s->under[k].fence == parent->fence && s->under[k].name_len == parent->name_len &&
            memcmp(s->under[k].name, parent->name, parent->name_len) == 0)
            return true;
    return false;
}

/* --------------------------------------------------------------------------------------------------------- the message */

static void path_say(struct node *node, const struct path *p, uint32_t place, enum message_type type, unsigned at)
{
    uint8_t bytes[PATH_BYTES_MAX], *to = pack_number(bytes, type, 1);

    to = pack_number(pack_number(to, p->round, 8), at, 1);
    for (unsigned k = 0; k < p->count; k++) {
        const struct hop *h = &p->hop[k];

        to = pack_number(to, h->kind, 1);
        to = pack_number(pack_number(pack_number(to, h->member, 8), h->incarnation, 8), h->number, 8);
        to = pack_number(pack_number(to, h->stamp, 8), h->fence, 8);
        to = pack_number(pack_number(to, h->slots, 2), h->mode, 4);
        to = pack_text(pack_text(to, h->who, h->who_len), h->name, h->name_len);
    }
    if (admin_reaches(node, place) &&
        (type == DEADLOCK_CONFIRM || bytes_len(&admin_link(node, place)->notes) < DEADLOCK_NOTES))
        admin_say(node, place, bytes, (size_t)(to - bytes));
}

static bool path_read(struct unpack *u, struct path *p)
{
    while (u->at < u->end && !u->wrong && p->count < DEADLOCK_HOPS_MAX) {
        struct hop *h = &p->hop[p->count++];

        h->kind = (enum hop_kind)unpack_number(u, 1);
        h->member = unpack_number(u, 8);
        h->incarnation = unpack_number(u, 8);
        h->number = unpack_number(u, 8);
        h->stamp = unpack_number(u, 8);
        h->fence = unpack_number(u, 8);
        h->slots = (uint32_t)unpack_number(u, 2);
        h->mode = (uint32_t)unpack_number(u, 4);
        h->who = unpack_text(u, &h->who_len);
        h->name = unpack_text(u, &h->name_len);
        if (u->wrong || h->kind >= HOP_KINDS || h->who_len > DEADLOCK_WHO_MAX || h->name_len == 0 ||
            !plain_text(h->name, h->name_len) || !plain_text(h->who, h->who_len))
            return false;
    }
    return p->count && u->at == u->end && !u->wrong;
}

/* --------------------------------------------------------------------------------------------------- it is a deadlock */

static void deadlock_tell_hop(const struct deadlock_cycle *cycle, unsigned k, bool sees, struct dme_text *text)
{
    if (k == 0)
        dme_print(text, "this client");
    else if (!sees)
        dme_print(text, "another client");
    else
        dme_print(text, "%s at member %s", *cycle->hop[k].who ? cycle->hop[k].who : "a client", cycle->hop[k].member);
}

void deadlock_tell(const struct deadlock_cycle *cycle, deadlock_sees *sees, const void *user, struct dme_text *text)
{
    dme_print(text, "this client");
    for (unsigned k = 0; k < cycle->count; k++) {
        bool named = !sees || sees(user, cycle->hop[k].name, cycle->hop[k].name_len);
        const char *which = k && !cycle->hop[k - 1].is_parent ? ", which" : "";

        if (cycle->hop[k].is_parent)
            dme_print(text, ", under which ");
        else if (k == 0 || named)
            dme_print(text, "%s waits for \"%s\", held by ", which, cycle->hop[k].name);
        else
            dme_print(text, "%s waits for another lock, held by ", which);
        deadlock_tell_hop(cycle, (k + 1) % cycle->count, named, text);
        if (cycle->hop[k].is_parent)
            dme_print(text, k + 1 < cycle->count ? " runs and" : " runs");
    }
}

static void deadlock_end(struct session *s, const struct path *p)
{
    struct node *node = s->node;
    struct deadlock_cycle *cycle = mem_new(sizeof *cycle + p->count * sizeof cycle->hop[0]);
    const struct claim *c = s->waiting;
    char line[2048];
    struct dme_text text;

    cycle->count = p->count;
    for (unsigned k = 0; k < p->count; k++) {
        uint32_t place = view_find(&node->view, p->hop[k].member);

        cycle->hop[k].is_parent = p->hop[k].kind == HOP_PARENT;
        cycle->hop[k].name_len = (uint8_t)p->hop[k].name_len;
        memcpy(cycle->hop[k].name, p->hop[k].name, p->hop[k].name_len);
        memcpy(cycle->hop[k].who, p->hop[k].who, p->hop[k].who_len);
        if (place != VIEW_MEMBERS_MAX)
            memcpy(cycle->hop[k].member, node->view.member[place].name, LINK_NAME_MAX + 1);
    }
    free(s->cycle);
    s->cycle = cycle;
    node->deadlocks.victims++;
    dme_text_init(&text, line, sizeof line);
    dme_print(&text, "its wait has ended, the youngest of a cycle: ");
    deadlock_tell(cycle, NULL, NULL, &text);
    audit_tell(
        &(struct audit){.what = AUDIT_DEADLOCK, .session = s, .name = c->name, .name_len = c->name_len, .text = line});
    locks_time_out(&node->locks, s->waiting);
}

/* The session whose wait is hop `h`, if it still waits and runs under the lock of the parent; or null. */
static struct session *path_verify_child(struct node *node, const struct hop *h, const struct hop *parent)
{
    unsigned looks = DEADLOCK_LOOKS;

    for (struct ring *r = node->deadlocks.nested.next; r != &node->deadlocks.nested && looks--; r = r->next) {
        struct session *s = RING_OF(r, struct session, in_nested);

        if (deadlock_waits(s) && s->waiting->number == h->number && deadlock_is_under(s, parent))
            return s;
    }
    return NULL;
}

/* The session of hop `at`, if it still waits, and still holds the lock for which the hop before waits; or null. */
static struct session *path_verify(struct node *node, const struct path *p, unsigned at)
{
    const struct hop *h = &p->hop[at], *before = &p->hop[(at + p->count - 1) % p->count];
    const struct lock *lock = locks_find(&node->locks, before->name, before->name_len);
    unsigned looks = DEADLOCK_LOOKS;

    if (!hop_is_here(node, h) || (before->kind == HOP_PARENT) != (h->kind == HOP_CHILD))
        return NULL;
    if (h->kind == HOP_CHILD)
        return path_verify_child(node, h, before);
    for (struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c && looks--; c = lock_next_holder(lock, c))
        if (c->fence == h->fence && hop_is_blocked_by(before, c) &&
            (h->kind == HOP_PARENT || (deadlock_waits(c->session) && c->session->waiting->number == h->number)))
            return c->session;
    return NULL;
}

/* Verifies hops from hop `at` on, as long as they are at this member; another member continues. The first hop, whose wait is the
 * youngest, comes last. */
static void path_confirm(struct node *node, const struct path *p, unsigned at)
{
    struct session *s = NULL;

    for (; at <= p->count && hop_is_here(node, &p->hop[at % p->count]); at++)
        if (!(s = path_verify(node, p, at % p->count)))
            return;
    if (at > p->count) {
        deadlock_end(s, p);
    } else {
        uint32_t place = view_find(&node->view, p->hop[at % p->count].member);

        if (place != VIEW_MEMBERS_MAX)
            path_say(node, p, place, DEADLOCK_CONFIRM, at);
    }
}

/* ------------------------------------------------------------------------------------------------------------- search */

static void path_search(struct node *node, struct path *p);

/* Sends the path to all members: which sessions block its last hop, and wait? */
static void path_spread(struct node *node, struct path *p)
{
    for (uint32_t place = 0; place < node->view.count; place++)
        if (place != node->place)
            path_say(node, p, place, DEADLOCK_PROBE, 0);
    node->deadlocks.probes++;
    path_search(node, p);
}

/* The session `s` waits, and `h` is its hop. If the probe began with this wait, its path is a cycle. Otherwise the probe is passed on: once for
 * each wait, and only along older waits. A parent has no wait of its own. */
static void path_extend(struct node *node, struct path *p, struct session *s, const struct hop *h)
{
    const struct hop *first = &p->hop[0];
    uint64_t probe = (first->member * 0x9e3779b97f4a7c15 + first->number) * 0x9e3779b97f4a7c15 + p->round;

    if (h->kind != HOP_PARENT && hop_is_same(h, first)) {
        struct path found = *p;

        found.hop[0].kind = h->kind;
        found.hop[0].fence = h->fence;
        path_confirm(node, &found, 1);
        p->looks = 0; /* one cycle is enough */
        return;
    }
    if (p->count == DEADLOCK_HOPS_MAX || (h->kind != HOP_PARENT && !hop_is_older(h, first)) || s->probed == probe)
        return;
    s->probed = probe;
    p->looks -= p->looks < DEADLOCK_SPREAD ? p->looks : DEADLOCK_SPREAD;
    p->hop[p->count++] = *h;
    path_spread(node, p);
    p->count--;
}

/* Extends the path by sessions of this member that run under the lock of the last hop, a parent, and wait. */
static void path_search_children(struct node *node, struct path *p)
{
    const struct hop parent = p->hop[p->count - 1];

    for (struct ring *r = node->deadlocks.nested.next, *next; r != &node->deadlocks.nested && p->looks; r = next) {
        struct session *s = RING_OF(r, struct session, in_nested);
        struct hop h;

        next = r->next;
        p->looks--;
        if (!deadlock_waits(s) || !deadlock_is_under(s, &parent))
            continue;
        h = hop_of(s, parent.fence);
        h.kind = HOP_CHILD;
        path_extend(node, p, s, &h);
    }
}

static void path_search(struct node *node, struct path *p)
{
    const struct hop last = p->hop[p->count - 1];
    const struct lock *lock = locks_find(&node->locks, last.name, last.name_len);

    if (last.kind == HOP_PARENT) {
        path_search_children(node, p);
        return;
    }
    for (struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL, *next; c && p->looks; c = next) {
        struct hop h;

        next = lock_next_holder(lock, c);
        p->looks--;
        if (!hop_is_blocked_by(&last, c))
            continue;
        h = deadlock_waits(c->session) ? hop_of(c->session, c->fence) : hop_of_parent(c);
        if (c->other && hop_is_same(&h, &last)) /* the claim that this session itself waits to upgrade */
            continue;
        path_extend(node, p, c->session, &h);
    }
}

const char *deadlock_hear(struct node *node, bool confirms, struct unpack *u)
{
    struct path p = {.round = unpack_number(u, 8), .looks = DEADLOCK_LOOKS};
    unsigned at = (unsigned)unpack_number(u, 1);

    if (!path_read(u, &p) || (confirms ? at < 1 || at > p.count : at))
        return "an invalid probe for deadlocks";
    if (node->place == NODE_MEMBERS_MAX)
        return NULL;
    if (confirms)
        path_confirm(node, &p, at);
    else
        path_search(node, &p);
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------------- time */

void deadlock_watch(struct session *s)
{
    if (!s->node->conf.deadlock_ms || (!s->held && !s->unders))
        return;
    ring_push(&s->node->deadlocks.young, &s->in_deadlock);
    if (s->unders)
        ring_push(&s->node->deadlocks.nested, &s->in_nested);
}

void deadlock_forget(struct session *s)
{
    ring_cut(&s->in_deadlock);
    ring_cut(&s->in_nested);
    s->probed = s->probed_ms = 0;
}

static uint64_t deadlock_young_ms(const struct session *s)
{
    return s->waiting->since_ms + s->node->conf.deadlock_ms;
}

static uint64_t deadlock_old_ms(const struct session *s)
{
    return s->probed_ms + DEADLOCK_AGAIN * s->node->conf.deadlock_ms;
}

uint64_t deadlocks_due_ms(const struct node *node)
{
    const struct deadlocks *d = &node->deadlocks;
    uint64_t young = UINT64_MAX, old = UINT64_MAX, due;

    if (!ring_empty(&d->young))
        young = deadlock_young_ms(RING_OF(d->young.next, struct session, in_deadlock));
    if (!ring_empty(&d->old))
        old = deadlock_old_ms(RING_OF(d->old.next, struct session, in_deadlock));
    due = young < old ? young : old;
    return due > node->now_ms ? due : node->now_ms + 1; /* there were more than a piece */
}

/* Sends the probe of this wait. */
static void deadlock_begin(struct session *s)
{
    struct path p = {.round = s->node->now_ms, .count = 1, .looks = DEADLOCK_LOOKS, .hop = {hop_of(s, 0)}};

    ring_cut(&s->in_deadlock);
    ring_push(&s->node->deadlocks.old, &s->in_deadlock);
    s->probed_ms = s->node->now_ms;
    if (s->node->place != NODE_MEMBERS_MAX && s->waiting->state == CLAIM_WAITING)
        path_spread(s->node, &p);
}

void deadlocks_advance(struct node *node)
{
    struct deadlocks *d = &node->deadlocks;

    for (unsigned left = DEADLOCK_PIECE; left; left--) {
        struct session *young = RING_OF(d->young.next, struct session, in_deadlock),
                       *old = RING_OF(d->old.next, struct session, in_deadlock);

        if (!ring_empty(&d->young) && deadlock_young_ms(young) <= node->now_ms)
            deadlock_begin(young);
        else if (!ring_empty(&d->old) && deadlock_old_ms(old) <= node->now_ms)
            deadlock_begin(old);
        else
            break;
    }
}
