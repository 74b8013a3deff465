/* instance.c - see instance.h.
 *
 * Sites. Member m, the r-th from the home of the name, has sites r*S .. r*S + S-1, where S is the number of slots, or
 * 1. Messages between sites of the same member use no link: they wait in locks.local until the step that sent them is
 * over, and are then delivered, before anything else happens. */
#include "instance.h"

#include "base/memory.h"
#include "base/pack.h"
#include "base/slab.h"
#include "core/wire.h"
#include "dormant.h"
#include "link/link.h"
#include "report.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- configuration */

enum dme_rule instance_rule(const struct dme_alg *algorithm)
{
    return algorithm->rules & 1u << DME_GROUP    ? DME_GROUP
           : algorithm->rules & 1u << DME_SHARED ? DME_SHARED
                                                 : DME_EXCLUSIVE;
}

static void instance_conf_for(const struct dme_alg *alg, uint32_t n, uint32_t slots, struct dme_conf *conf)
{
    enum dme_rule rule = slots ? DME_SLOTS : instance_rule(alg);

    dme_conf_init(conf, alg, slots ? n * slots : n, rule, slots ? slots : rule == DME_GROUP ? UINT32_MAX - 1 : 0);
}

/* Within a view, links are reliable and FIFO, and no member crashes (a member that does crash is excluded, and the view
 * ends). No delay is bounded. */
bool locks_can_run(const struct dme_alg *alg, bool slots, uint32_t n, struct dme_text *why)
{
    const uint32_t kept = DME_FIFO | DME_RELIABLE | DME_ALIVE;
    struct dme_conf conf;

    for (unsigned bit = 0; bit < DME_NEEDS; bit++)
        if (alg->needs & ~kept & 1u << bit) {
            dme_print(why, "%s needs %s, which a network does not promise", alg->name, dme_need_name(bit));
            return false;
        }
    if (alg->timer) {
        dme_print(why, "%s uses timers, which locks do not have", alg->name);
        return false;
    }
    if (alg->restless) {
        dme_print(why, "%s sends messages without end, also while no process asks", alg->name);
        return false;
    }
    if (alg->flaw) {
        dme_print(why, "%s is known to be wrong: %s", alg->name, alg->flaw);
        return false;
    }
    instance_conf_for(alg, n, slots ? LOCK_SLOTS_MAX : 0, &conf);
    if (!dme_conf_check(&conf, why))
        return false;
    if (dme_wire_max(&conf) > LINK_MESSAGE_MAX - 2 * LOCK_NAME_MAX) {
        dme_print(why, "%s sends messages that are too long with %u members", alg->name, n);
        return false;
    }
    return true;
}

uint64_t instance_fence(const struct locks *l, const struct lock *lock)
{
    uint64_t fence = l->fence;

    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        if (fence < lock->site[s].node->fence)
            fence = lock->site[s].node->fence;
    return fence;
}

/* Makes `buffer` at least `size` bytes long. */
static void *instance_buffer(void *buffer, size_t *room, size_t size)
{
    if (*room < size) {
        *room = size;
        buffer = mem_grow(buffer, size);
    }
    return buffer;
}

static void instance_forget_kind(struct lock_kind *kind)
{
    for (dme_id j = 0; kind->fresh && j < kind->conf.n; j++)
        free(kind->fresh[j].node);
    free(kind->fresh);
    *kind = (struct lock_kind){.made = false};
}

static size_t instance_size(const struct lock *lock)
{
    size_t size = 0;

    for (uint32_t s = 0; s < lock_sites(lock); s++)
        size += lock->site[s].size;
    return size;
}

static void instance_leave_recent(struct locks *l, struct lock *lock)
{
    if (lock->site && !ring_empty(&lock->site->in_recent)) {
        ring_cut(&lock->site->in_recent);
        l->recent_count--;
        l->recent_bytes -= instance_size(lock);
    }
}

static void instance_forget_kinds(struct locks *l, uint32_t kinds)
{
    for (uint32_t k = 0; l->kind && k < kinds; k++)
        instance_forget_kind(&l->kind[k]);
}

void instance_begin_view(struct locks *l)
{
    uint32_t kinds = l->conf.policies + 1 + INSTANCE_SLOT_KINDS;

    trace_begin_view(&l->trace);
    instance_forget_kinds(l, kinds);
    if (!l->kind)
        l->kind = mem_new(kinds * sizeof *l->kind);
    while (!ring_empty(&l->recent)) /* at most INSTANCE_RECENT_MAX; their sites end when the lock enters this view */
        instance_leave_recent(l, RING_OF(l->recent.next, struct lock_site, in_recent)->lock);
}

void instance_free(struct locks *l)
{
    instance_forget_kinds(l, l->conf.policies + 1 + INSTANCE_SLOT_KINDS);
    free(l->kind);
}

/* Makes the kind, and room for what its steps send and for any of its messages. */
void instance_make_kind(struct locks *l, struct lock_kind *kind, uint8_t policy, uint32_t slots)
{
    const struct dme_alg *alg = slots ? l->policy[policy].slots_algorithm : l->policy[policy].algorithm;
    size_t out_size;
    uint32_t first;

    instance_forget_kind(kind);
    kind->made = true;
    kind->policy = policy;
    kind->slots = slots;
    kind->counts = dme_kinds(alg) <= STATS_KINDS_MAX ? stats_of_alg(&l->messages, alg) : NULL;
    instance_conf_for(alg, l->view.n, slots, &kind->conf);
    dme_modes(&kind->conf, &first, &kind->mode_max);
    out_size = dme_out_size(&kind->conf);
    if (l->out_size < out_size) {
        l->out = instance_buffer(l->out, &l->out_size, out_size);
        dme_out_init(l->out, out_size);
    }
    l->msg = instance_buffer(l->msg, &l->msg_size, dme_msg_size_max(&kind->conf));
    l->wire = instance_buffer(l->wire, &l->wire_size, dme_wire_max(&kind->conf));
    if (!slots && l->view.n)
        kind->fresh = mem_new(l->view.n * sizeof kind->fresh[0]);
}

static uint32_t instance_node_size(const struct lock_kind *kind, dme_id self)
{
    return kind->fresh && kind->fresh[self].node ? kind->fresh[self].size : (uint32_t)dme_node_size(&kind->conf, self);
}

/* The initial state of a site, with an arbitrary fence; valid until the next call. `talks`, if not null, is set to
 * whether the site begins by sending messages. */
static const struct dme_node *instance_fresh(struct locks *l, const struct lock_kind *kind, dme_id self, bool *talks)
{
    const struct dme_conf *conf = &kind->conf;
    struct dme_node **kept = kind->fresh ? &kind->fresh[self].node : NULL, *fresh = kept ? *kept : NULL;

    if (!fresh) {
        uint32_t size = (uint32_t)dme_node_size(conf, self);

        if (kept)
            fresh = *kept = mem_new(size);
        else
            fresh = l->fresh = instance_buffer(l->fresh, &l->fresh_size, size);
        dme_init(conf, fresh, self, l->out);
        if (kept) {
            kind->fresh[self].size = size;
            kind->fresh[self].talks = l->out->used > 0;
        }
    }
    if (talks)
        *talks = kept ? kind->fresh[self].talks : l->out->used > 0;
    return fresh;
}

/* --------------------------------------------------------------------------------------------------------- messages */

enum {
    SAY_HEAD = 1 + 1 + 2 + 4,
    SAY_SITES = 2 + 2,
    SAY_COUNT = 4 + 4,
    SAY_FOLLOW = 4 + 4,
    SAY_REPORT = 4 + 4 + 4 + 4,
    SAY_KIND = 4 + 8,
    SAY_BAR = 4 + 4 + 8
};

static uint8_t *instance_letter(struct locks *l, const struct lock *lock, enum message_type type, uint32_t to,
                                size_t len)
{
    uint8_t *at = link_send(l->view.link[to], SAY_HEAD + lock->name_len + len);

    at = pack_number(at, type, 1);
    at = pack_text(at, lock->name, lock->name_len);
    return pack_number(pack_number(at, lock->slots, 2), lock->epoch, 4);
}

void instance_say_kind(struct locks *l, const struct lock *lock, enum message_type type, uint32_t to, uint32_t number,
                       uint64_t fence)
{
    pack_number(pack_number(instance_letter(l, lock, type, to, SAY_KIND), number, 4), fence, 8);
}

void instance_say_carried(struct locks *l, const struct lock *lock, enum message_type type, uint32_t to, uint32_t count)
{
    uint8_t *at = instance_letter(l, lock, type, to, SAY_COUNT);

    pack_number(pack_number(at, lock->carried->mode, 4), count, 4);
}

void instance_say_clear(struct locks *l, uint32_t to, const char *name, size_t name_len)
{
    uint8_t *at = link_send(l->view.link[to], SAY_HEAD + name_len);

    pack_number(pack_text(pack_number(at, INSTANCE_CLEAR, 1), name, name_len), 0, 2 + 4);
}

void instance_say_follow(struct locks *l, const struct lock *lock, uint32_t to, uint32_t number, uint32_t what)
{
    uint8_t *at = instance_letter(l, lock, INSTANCE_FOLLOW, to, SAY_FOLLOW);

    pack_number(pack_number(at, number, 4), what, 4);
}

void instance_say_report(struct locks *l, const struct lock *lock, uint32_t to, uint32_t number,
                         const struct report *report)
{
    uint8_t *at = instance_letter(l, lock, INSTANCE_REPORT, to, SAY_REPORT);

    at = pack_number(pack_number(at, number, 4), report->held_mode, 4);
    pack_number(pack_number(at, report->held, 4), report->waits, 4);
}

void instance_say_bar(struct locks *l, const struct lock *lock, enum message_type type, uint32_t to, uint32_t number,
                      uint32_t count)
{
    uint8_t *at = instance_letter(l, lock, type, to, SAY_BAR);

    pack_number(pack_number(pack_number(at, number, 4), count, 4), instance_fence(l, lock), 8);
}

const char *instance_parse(const uint8_t *bytes, size_t len, struct instance_message *m)
{
    struct unpack u = {.at = bytes, .end = bytes + len};

    m->type = (enum message_type)unpack_number(&u, 1);
    m->part = registry[m->type].part;
    m->name = unpack_text(&u, &m->name_len);
    m->slots = (uint32_t)unpack_number(&u, 2);
    m->epoch = (uint32_t)unpack_number(&u, 4);
    m->fence = 0;
    m->from = m->to = m->mode = m->count = m->number = m->waits = 0;
    switch (m->part) {
    case PART_STEP:
        m->from = m->slots ? (uint32_t)unpack_number(&u, 2) : 0;
        m->to = m->slots ? (uint32_t)unpack_number(&u, 2) : 0;
        break;
    case PART_KIND:
        m->number = (uint32_t)unpack_number(&u, 4);
        m->fence = unpack_number(&u, 8);
        break;
    case PART_CARRIED:
        m->mode = m->type == INSTANCE_CLEAR ? 0 : (uint32_t)unpack_number(&u, 4);
        m->count = m->type == INSTANCE_CLEAR ? 0 : (uint32_t)unpack_number(&u, 4);
        break;
    case PART_REPORT:
        m->number = (uint32_t)unpack_number(&u, 4);
        m->mode = (uint32_t)unpack_number(&u, 4);
        m->count = m->type == INSTANCE_FOLLOW ? 0 : (uint32_t)unpack_number(&u, 4);
        m->waits = m->type == INSTANCE_FOLLOW ? 0 : (uint32_t)unpack_number(&u, 4);
        break;
    case PART_CONVERT:
        m->number = (uint32_t)unpack_number(&u, 4);
        m->count = (uint32_t)unpack_number(&u, 4);
        m->fence = unpack_number(&u, 8);
        break;
    default:
        return "a letter that is not about a lock";
    }
    m->step = u.at;
    m->step_len = (size_t)(u.end - u.at);
    if (u.wrong || m->name_len == 0 || m->slots > LOCK_SLOTS_MAX ||
        (m->type == INSTANCE_ASK && m->number > LOCK_SLOTS_MAX) ||
        (m->slots && (m->from >= m->slots || m->to >= m->slots)))
        return "an invalid message about a lock";
    return NULL;
}

static void instance_post(struct locks *l, struct lock *lock, struct lock_kind *kind, const struct dme_msg *m)
{
    uint32_t to = instance_member(l, lock, m->to), sites = lock_sites(lock);
    size_t len;
    uint8_t *at;

    if (to != l->view.self) {
        lock->alone = 0;
        len = dme_encode(m, l->wire);
        assert(len <= l->wire_size);
        at = instance_letter(l, lock, INSTANCE_STEP, to, (lock->slots ? SAY_SITES : 0) + len);
        if (lock->slots)
            at = pack_number(pack_number(at, m->from % sites, 2), m->to % sites, 2);
        memcpy(at, l->wire, len);
        trace_send(&l->trace, to);
        if (kind->counts)
            kind->counts->sent[m->kind]++;
        return;
    }
    while (l->local_size < l->local_used + dme_msg_bytes(m))
        l->local = instance_buffer(l->local, &l->local_size, 2 * l->local_size + 1024);
    memcpy(l->local + l->local_used, m, dme_msg_bytes(m));
    l->local_used += dme_msg_bytes(m);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void instance_mark(struct locks *l, const struct lock *lock, const struct lock_kind *kind);

static void instance_post_all(struct locks *l, struct lock *lock, struct lock_kind *kind, dme_id self)
{
    for (const struct dme_msg *m = NULL; (m = dme_next(l->out, self, m));)
        instance_post(l, lock, kind, m);
}

/* Feeds the event to site `s`. If it is a message of a site of member `from`, `m` is its letter; null: it comes from this member. */
static const char *instance_step_one(struct locks *l, struct lock *lock, struct lock_kind *kind, uint32_t s,
                                     const struct dme_event *event, uint32_t from, const struct instance_message *m)
{
    struct dme_node *node = lock->site[s].node;

    trace_step(&l->trace);
    dme_step(&kind->conf, node, event, l->out);
    if (l->out->fault)
        return l->out->fault;
    if (l->fence_seen < node->fence)
        l->fence_seen = node->fence;
    if (l->out->used)
        instance_post_all(l, lock, kind, node->self);
    trace_stepped(&l->trace, s, event, from, event->msg ? event->msg->from % lock_sites(lock) : 0, l->out->entered,
                  m ? m->step : NULL, m ? m->step_len : 0);
    if (l->out->entered)
        lock_entered(l, lock, s);
    return NULL;
}

/* Feeds one event to one site, and delivers all messages between sites of this member that follow from it. If the event is a message of
 * member `from`, `m` is its letter; else null. */
static const char *instance_step(struct locks *l, struct lock *lock, struct lock_kind *kind, uint32_t s,
                                 const struct dme_event *event, uint32_t from, const struct instance_message *m)
{
    const char *fault;
    size_t at = 0;

    if (trace_wants_mark(&l->trace, lock, l->number))
        instance_mark(l, lock, kind);
    fault = instance_step_one(l, lock, kind, s, event, from, m);

    while (!fault && at < l->local_used) {
        size_t len = dme_msg_bytes((const struct dme_msg *)(l->local + at));

        /* The step may send more local messages, which may move the buffer: so the message is copied. */
        assert(len <= l->msg_size);
        memcpy(l->msg, l->local + at, len);
        at += len;
        fault = instance_step_one(l, lock, kind, l->msg->to % lock_sites(lock),
                                  &(struct dme_event){.type = DME_RECEIVE, .msg = l->msg}, l->view.self, NULL);
    }
    l->local_used = 0;
    return fault;
}

void instance_request(struct locks *l, struct lock *lock, uint32_t s, uint32_t mode)
{
    const char *fault = instance_step(l, lock, instance_kind(l, lock->policy, lock->slots), s,
                                      &(struct dme_event){.type = DME_REQUEST, .arg = mode}, 0, NULL);

    assert(!fault);
    (void)fault;
}

void instance_release(struct locks *l, struct lock *lock, uint32_t s)
{
    const char *fault = instance_step(l, lock, instance_kind(l, lock->policy, lock->slots), s,
                                      &(struct dme_event){.type = DME_RELEASE}, 0, NULL);

    assert(!fault);
    (void)fault;
}

const char *instance_receive(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    struct lock_kind *kind = instance_kind(l, lock->policy, lock->slots);
    const char *wrong;

    if (!lock->site)
        instance_begin(l, lock);
    wrong = dme_decode(&kind->conf, instance_site(l, lock, from, m->from), lock->site[m->to].node->self, m->step,
                       m->step_len, l->msg);
    if (wrong)
        return wrong;
    if (kind->counts)
        kind->counts->received[l->msg->kind]++;
    return instance_step(l, lock, kind, m->to, &(struct dme_event){.type = DME_RECEIVE, .msg = l->msg}, from, m);
}

/* ------------------------------------------------------------------------------------------------- begin and the end
 */

/* The fence is the first field of a node, and no part of the dormant state. */
_Static_assert(offsetof(struct dme_node, fence) == 0, "the fence of a node is its first field");
enum { INSTANCE_FENCE = sizeof(uint64_t) };

/* Starts one site: in the dormant state at `packed` or, if that is null, in its initial state. Returns the end of what it has
 * read. */
static const uint8_t *instance_begin_site(struct locks *l, struct lock *lock, struct lock_kind *kind,
                                          struct lock_site *site, dme_id self, const uint8_t *packed)
{
    bool talks;
    const struct dme_node *fresh = instance_fresh(l, kind, self, &talks);

    ring_init(&site->holders);
    ring_init(&site->in_recent);
    site->lock = lock;
    memcpy(site->node, fresh, site->size);
    if (packed) {
        packed = dormant_unpack(packed, (char *)site->node + INSTANCE_FENCE, site->size - INSTANCE_FENCE);
    } else if (talks) {
        lock->stays = 1;
        dme_init(&kind->conf, site->node, self, l->out);
        instance_post_all(l, lock, kind, self);
    }
    site->node->fence = l->fence;
    return packed;
}

void instance_begin(struct locks *l, struct lock *lock)
{
    struct lock_kind *kind = instance_kind(l, lock->policy, lock->slots);
    uint32_t sites = lock_sites(lock);
    dme_id first = instance_site(l, lock, l->view.self, 0);
    size_t size = sites * sizeof *lock->site;
    const uint8_t *packed = lock->dormant;
    char *at;

    for (uint32_t s = 0; s < sites; s++)
        size += instance_node_size(kind, first + s);
    lock->site = slab_new(size);
    at = (char *)(lock->site + sites);
    for (uint32_t s = 0; s < sites; s++) {
        struct lock_site *site = &lock->site[s];

        site->node = (struct dme_node *)at;
        site->size = instance_node_size(kind, first + s);
        at += site->size;
        packed = instance_begin_site(l, lock, kind, site, first + s, packed);
    }
    slab_free(lock->dormant);
    lock->dormant = NULL;
    assert(l->local_used == 0); /* no algorithm begins by talking to itself */
}

void instance_end(struct locks *l, struct lock *lock)
{
    instance_leave_recent(l, lock);
    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        if (l->fence < lock->site[s].node->fence)
            l->fence = lock->site[s].node->fence;
    slab_free(lock->site);
    lock->site = NULL;
    slab_free(lock->dormant);
    lock->dormant = NULL;
}

/* Is the site in its initial state, except for its fence? */
static bool instance_site_is_fresh(struct locks *l, const struct lock_kind *kind, const struct lock_site *site)
{
    const struct dme_node *fresh = instance_fresh(l, kind, site->node->self, NULL);

    return memcmp((const char *)fresh + INSTANCE_FENCE, (const char *)site->node + INSTANCE_FENCE,
                  site->size - INSTANCE_FENCE) == 0;
}

static bool instance_is_fresh(struct locks *l, const struct lock *lock, const struct lock_kind *kind)
{
    bool fresh = !lock->stays;

    for (uint32_t s = 0; fresh && l->view.n > 1 && s < lock_sites(lock); s++)
        fresh = instance_site_is_fresh(l, kind, &lock->site[s]);
    return fresh;
}

/* How the sites differ from their initial states, except for their fences: `len` bytes in l->packed. */
static void instance_pack(struct locks *l, const struct lock *lock, const struct lock_kind *kind, size_t *len)
{
    uint8_t *at;

    l->packed = at = instance_buffer(l->packed, &l->packed_size, dormant_room(instance_size(lock)));
    for (uint32_t s = 0; s < lock_sites(lock); s++) {
        const struct lock_site *site = &lock->site[s];
        const struct dme_node *fresh = instance_fresh(l, kind, site->node->self, NULL);

        at = dormant_pack(at, (const char *)site->node + INSTANCE_FENCE, (const char *)fresh + INSTANCE_FENCE,
                          site->size - INSTANCE_FENCE);
    }
    *len = (size_t)(at - l->packed);
}

/* The trace of the lock goes on from its present state. */
static void instance_mark(struct locks *l, const struct lock *lock, const struct lock_kind *kind)
{
    bool fresh = true;
    size_t len = 0;

    for (uint32_t s = 0; fresh && s < lock_sites(lock); s++)
        fresh = instance_site_is_fresh(l, kind, &lock->site[s]);
    if (!fresh)
        instance_pack(l, lock, kind, &len);
    trace_mark(&l->trace, l->view.n, l->packed, len);
}

static bool instance_is_idle(const struct lock *lock)
{
    for (uint32_t s = 0; s < lock_sites(lock); s++)
        if (lock->site[s].node->phase != DME_IDLE)
            return false;
    return true;
}

static void instance_put_away(struct locks *l, struct lock *lock)
{
    size_t len;

    instance_pack(l, lock, instance_kind(l, lock->policy, lock->slots), &len);
    instance_end(l, lock);
    lock->dormant = memcpy(slab_new(len), l->packed, len);
}

static bool instance_has_many_recent(const struct locks *l)
{
    return l->recent_count > (l->conf.recent ? l->conf.recent : INSTANCE_RECENT_MAX) ||
           (l->recent_count > INSTANCE_RECENT_MIN && l->recent_bytes > INSTANCE_RECENT_BYTES);
}

/* Takes the lock that has been idle for longest out of the recent ones. If it is still idle, its sites become dormant. */
static void instance_put_away_oldest(struct locks *l)
{
    struct lock *lock = RING_OF(l->recent.next, struct lock_site, in_recent)->lock;

    instance_leave_recent(l, lock);
    if (instance_is_idle(lock))
        instance_put_away(l, lock);
}

void instance_rest(struct locks *l, struct lock *lock)
{
    if (!instance_is_idle(lock))
        return;
    if (instance_is_fresh(l, lock, instance_kind(l, lock->policy, lock->slots))) {
        instance_end(l, lock);
        return;
    }
    if (l->recent.prev == &lock->site->in_recent) /* it is the newest one already */
        return;
    instance_leave_recent(l, lock);
    ring_push(&l->recent, &lock->site->in_recent);
    l->recent_count++;
    l->recent_bytes += instance_size(lock);
    while (instance_has_many_recent(l))
        instance_put_away_oldest(l);
}
