/* watch.c - see watch.h. */
#include "watch.h"

#include "audit.h"
#include "base/glob.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/plain.h"
#include "base/slab.h"
#include "link/registry.h"
#include "session.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

enum { INTEREST_EVERY_MS = 1000, INTEREST_LASTS_MS = 3500, INTEREST_ITEMS_MAX = 64, INTEREST_COST_MAX = 4096 };
enum { WATCH_TABLE = 1 << 14, WATCH_TELLS = 64 /* steps: to tell a subscriber takes about half a microsecond */ };

const char *const watch_event_name[] = {"waiting", "granted", "released", "lost"};
_Static_assert(sizeof watch_event_name / sizeof watch_event_name[0] == WATCH_EVENTS, "an event has a name");

void watch_init(struct watch *w)
{
    ring_init(&w->notes);
    ring_init(&w->all);
    w->credit = WATCH_TURN;
}

static void watch_drop_note(struct watch *w, struct watch_note *note)
{
    ring_cut(&note->in_watch);
    w->note_count--;
    w->values -= note->value_len;
    w->stage = 0;
    w->next = NULL;
    slab_free(note);
}

void watch_free(struct watch *w)
{
    assert(w->count == 0);
    while (!ring_empty(&w->notes))
        watch_drop_note(w, RING_OF(w->notes.next, struct watch_note, in_watch));
    free(w->table);
}

/* ------------------------------------------------------------------------------------------------------------- finding */

/* The bucket with the subscriptions to this name, or to patterns with this prefix. It may have others, too. */
static struct ring *watch_bucket(const struct watch *w, bool pattern, const char *text, size_t len)
{
    return &w->table[XXH3_64bits_withSeed(text, len, pattern) % WATCH_TABLE];
}

static bool watch_matches(const struct subscription *s, const struct watch_note *note, uint64_t *cost)
{
    if (s->pattern)
        return glob_matches(s->text, s->text_len, note->name, note->name_len, cost);
    return s->text_len == note->name_len && memcmp(s->text, note->name, note->name_len) == 0;
}

/* Goes to the next stage that may have subscriptions: 0 is that of names, k + 1 that of patterns with a prefix of
 * length k. */
static bool watch_go_on(struct watch *w, const struct watch_note *note)
{
    w->next = NULL;
    while (w->stage++ <= note->name_len)
        if (w->prefixes[w->stage - 1])
            return true;
    return false;
}

/* Returns the next subscription that matches the first note, or null if there is none or the credit is used up. */
static struct subscription *watch_find_next(struct watch *w, const struct watch_note *note)
{
    do {
        bool pattern = w->stage > 0;
        struct ring *bucket = watch_bucket(w, pattern, note->name, pattern ? w->stage - 1 : note->name_len);

        for (w->next = w->next ? w->next : bucket->next; w->next != bucket;) {
            struct subscription *s = RING_OF(w->next, struct subscription, in_watch);
            uint64_t cost = 8;
            bool here =
                s->pattern == pattern && (!pattern || s->prefix == w->stage - 1) && watch_matches(s, note, &cost);

            if (w->credit == 0)
                return NULL;
            cost += here ? WATCH_TELLS + note->value_len : 0;
            w->credit -= cost < w->credit ? cost : w->credit;
            w->next = w->next->next;
            if (here)
                return s;
        }
    } while (watch_go_on(w, note));
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- what happens */

static void watch_add_note(struct watch *w, const struct watch_note *note)
{
    struct watch_note *copy;

    if (w->note_count == WATCH_NOTES_MAX || !w->count || w->values + note->value_len > WATCH_VALUES_MAX)
        return;
    copy = slab_new(sizeof *copy + note->value_len);
    *copy = *note;
    if (note->value_len)
        memcpy(copy + 1, note->value, note->value_len);
    copy->value = (const char *)(copy + 1);
    w->values += note->value_len;
    ring_push(&w->notes, &copy->in_watch);
    w->note_count++;
}

/* Does the other member have a subscription that matches the event? */
static bool watch_heeds(const struct watch_interest *i, uint64_t now_ms, const struct watch_note *note)
{
    uint64_t cost = 0;
    struct unpack u = unpack_bytes(&i->list);

    while (now_ms < i->until_ms && u.at < u.end) {
        bool pattern = unpack_number(&u, 1);
        size_t len;
        const char *at = unpack_text(&u, &len);

        if (pattern ? glob_matches(at, len, note->name, note->name_len, &cost)
                    : len == note->name_len && memcmp(at, note->name, len) == 0)
            return true;
        if (cost > INTEREST_COST_MAX) /* then the event is sent, and the other member finds its subscribers */
            return true;
    }
    return false;
}

static void watch_say(struct node *node, uint32_t member, const struct watch_note *note)
{
    uint8_t bytes[2 + 2 * 8 + 1 + 2 * 256 + 2 + VALUE_MAX], *at = bytes;

    at = pack_number(pack_number(at, ADMIN_EVENT, 1), note->event, 1);
    at = pack_number(pack_number(at, note->client, 8), note->fence, 8);
    at = pack_number(at, note->mode, 1);
    at = pack_text(at, note->name, note->name_len);
    at = pack_text(at, note->who, strlen(note->who));
    at = pack_long(at, note->value, note->value_len);
    admin_say(node, member, bytes, (size_t)(at - bytes));
}

void watch_tell(struct node *node, enum watch_event event, const struct claim *c)
{
    struct watch *w = &node->admin.watch;
    struct watch_note note;

    if (event == WATCH_LOST || (event != WATCH_WAITING && node->conf.audit_locks))
        audit_claim(event, c);
    if (w->count == 0 && node->now_ms >= w->heed_ms)
        return;
    note = (struct watch_note){.event = event,
                               .client = c->session->id,
                               .fence = event == WATCH_WAITING ? 0 : c->fence,
                               .mode = claim_mode(c),
                               .name_len = c->name_len,
                               .value = c->value ? c->value->text : "",
                               .value_len = c->value ? c->value->len : 0};
    memcpy(note.name, c->name, c->name_len);
    memcpy(note.who, c->session->who, sizeof c->session->who);
    memcpy(note.member, node->self.name, strlen(node->self.name));
    watch_add_note(w, &note);
    for (uint32_t k = 0; k < admin_members(node); k++)
        if (admin_reaches(node, k) && watch_heeds(&node->member[k]->interest, node->now_ms, &note))
            watch_say(node, k, &note);
}

const char *watch_hear_event(struct node *node, uint32_t from, struct unpack *u)
{
    struct watch_note note = {.event = (enum watch_event)unpack_number(u, 1)};
    const char *name, *who;
    size_t name_len, who_len, value_len;

    note.client = unpack_number(u, 8);
    note.fence = unpack_number(u, 8);
    note.mode = (uint8_t)unpack_number(u, 1);
    name = unpack_text(u, &name_len);
    who = unpack_text(u, &who_len);
    note.value = unpack_long(u, &value_len);
    if (u->wrong || u->at != u->end || note.event >= WATCH_EVENTS || note.mode >= LOCK_MODES ||
        !plain_text(name, name_len) || who_len > SESSION_WHO_MAX || !plain_text(who, who_len) || value_len > VALUE_MAX)
        return "an invalid event of a lock";
    note.name_len = (uint8_t)name_len;
    note.value_len = (uint16_t)value_len;
    memcpy(note.name, name, name_len);
    memcpy(note.who, who, who_len);
    memcpy(note.member, admin_name(node, from), strlen(admin_name(node, from)));
    watch_add_note(&node->admin.watch, &note);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- interest */

static void watch_list(const struct node *node, struct bytes *to)
{
    const struct ring *all = &node->admin.watch.all;

    for (const struct ring *r = all->next; r != all; r = r->next) {
        const struct subscription *s = RING_OF(r, struct subscription, in_all);

        pack_text(pack_number(bytes_add(to, 2 + (size_t)s->text_len), s->pattern, 1), s->text, s->text_len);
    }
}

/* Announces the subscriptions of this member's clients to all others: if they are too many, as one pattern for all
 * names. */
static void watch_tell_interest(struct node *node)
{
    struct watch *w = &node->admin.watch;
    struct bytes message = {0};

    pack_number(bytes_add(&message, 1), ADMIN_INTEREST, 1);
    if (w->count > INTEREST_ITEMS_MAX)
        pack_text(pack_number(bytes_add(&message, 3), 1, 1), "*", 1);
    else
        watch_list(node, &message);
    for (uint32_t k = 0; k < admin_members(node); k++)
        if (admin_reaches(node, k))
            admin_say(node, k, message.at, bytes_len(&message));
    bytes_free(&message);
    w->tell_ms = node->now_ms + INTEREST_EVERY_MS;
    w->changed = false;
}

bool watch_next(struct node *node, struct node_event *event)
{
    struct watch *w = &node->admin.watch;

    if (w->changed)
        watch_tell_interest(node);
    while (!ring_empty(&w->notes) && w->credit) {
        struct watch_note *note = RING_OF(w->notes.next, struct watch_note, in_watch);
        struct subscription *s = w->table ? watch_find_next(w, note) : NULL;

        if (s) {
            event->session = s->session;
            event->watched = s;
            event->note = note;
            return true;
        }
        if (w->credit)
            watch_drop_note(w, note);
    }
    return false;
}

const char *watch_hear_interest(struct node *node, uint32_t from, struct unpack *u)
{
    struct watch *w = &node->admin.watch;
    struct watch_interest *i = &node->member[from]->interest;
    struct unpack items = *u;

    for (unsigned count = 0; items.at < items.end; count++) {
        size_t len;
        const char *text;

        if (unpack_number(&items, 1) > 1 || count == INTEREST_ITEMS_MAX)
            items.wrong = true;
        text = unpack_text(&items, &len);
        if (items.wrong || !plain_text(text, len))
            return "an invalid announcement of subscriptions";
    }
    bytes_free(&i->list);
    if (u->at < u->end)
        memcpy(bytes_add(&i->list, (size_t)(u->end - u->at)), u->at, (size_t)(u->end - u->at));
    i->until_ms = node->now_ms + INTEREST_LASTS_MS;
    if (u->at < u->end && w->heed_ms < i->until_ms)
        w->heed_ms = i->until_ms;
    return NULL;
}

void watch_advance(struct node *node)
{
    if (node->now_ms >= watch_due_ms(node))
        watch_tell_interest(node);
}

uint64_t watch_due_ms(const struct node *node)
{
    const struct watch *w = &node->admin.watch;

    return w->count && admin_members(node) > 1 ? w->tell_ms : UINT64_MAX;
}

/* ------------------------------------------------------------------------------------------------------ subscriptions */

static struct subscription *watch_find(const struct session *s, const struct watch_topic *t)
{
    for (struct ring *r = s->subscriptions.next; r != &s->subscriptions; r = r->next) {
        struct subscription *x = RING_OF(r, struct subscription, in_session);

        if (x->pattern == t->pattern && x->text_len == t->len && memcmp(x->text, t->text, t->len) == 0 &&
            x->channel_len == t->channel_len &&
            (!t->channel || memcmp(watch_channel(x), t->channel, t->channel_len) == 0))
            return x;
    }
    return NULL;
}

/* Subscriptions have changed. If they are few, they are announced soon, in one announcement for all that a client subscribes to at the same
 * time. If they are many, the other members know already that this member wants all events. */
static void watch_changed(struct node *node)
{
    node->admin.watch.changed |= node->admin.watch.count <= INTEREST_ITEMS_MAX + 1;
}

const char *watch_subscribe(struct session *s, const struct watch_topic *t)
{
    struct watch *w = &s->node->admin.watch;
    struct subscription *x;

    assert(t->len <= LOCK_NAME_MAX && t->channel_len <= LOCK_NAME_MAX);
    if (watch_find(s, t))
        return NULL;
    if (s->subscribed == WATCH_PER_SESSION_MAX)
        return "this connection has too many subscriptions";
    if (w->count == WATCH_MAX)
        return "this member has too many subscriptions";
    if (!w->table) {
        w->table = mem_new(WATCH_TABLE * sizeof *w->table);
        for (unsigned k = 0; k < WATCH_TABLE; k++)
            ring_init(&w->table[k]);
    }
    x = slab_new(sizeof *x + t->len + 1 + t->channel_len);
    x->session = s;
    x->pattern = t->pattern;
    x->text_len = (uint8_t)t->len;
    x->prefix = t->pattern ? (uint8_t)glob_prefix(t->text, t->len) : 0;
    memcpy(x->text, t->text, t->len);
    x->channel_len = (uint8_t)t->channel_len;
    if (t->channel)
        memcpy(x->text + t->len + 1, t->channel, t->channel_len);
    ring_push(&s->subscriptions, &x->in_session);
    ring_push(&w->all, &x->in_all);
    ring_push(watch_bucket(w, t->pattern, t->text, t->pattern ? x->prefix : t->len), &x->in_watch);
    w->prefixes[x->prefix] += t->pattern;
    s->subscribed++;
    w->count++;
    watch_changed(s->node);
    return NULL;
}

static void watch_forget(struct subscription *x)
{
    struct watch *w = &x->session->node->admin.watch;

    if (w->next == &x->in_watch)
        w->next = x->in_watch.next;
    ring_cut(&x->in_watch);
    ring_cut(&x->in_session);
    ring_cut(&x->in_all);
    w->prefixes[x->prefix] -= x->pattern;
    w->count--;
    x->session->subscribed--;
    slab_free(x);
}

struct subscription *watch_first(const struct session *s, bool pattern)
{
    for (struct ring *r = s->subscriptions.next; r != &s->subscriptions; r = r->next)
        if (RING_OF(r, struct subscription, in_session)->pattern == pattern)
            return RING_OF(r, struct subscription, in_session);
    return NULL;
}

void watch_unsubscribe(struct session *s, const struct watch_topic *topic)
{
    struct subscription *x = watch_find(s, topic);

    if (!x)
        return;
    watch_forget(x);
    watch_changed(s->node);
}

void watch_end(struct session *s)
{
    bool any = !ring_empty(&s->subscriptions);

    while (!ring_empty(&s->subscriptions))
        watch_forget(RING_OF(s->subscriptions.next, struct subscription, in_session));
    if (any)
        watch_changed(s->node);
}
