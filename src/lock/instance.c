/* instance.c - see instance.h.
 *
 * Sites. Member m, the r-th from the home of the name, has sites r*S .. r*S + S-1, where S is the number of slots, or
 * 1. Messages between sites of the same member use no link: they wait in locks.local until the step that sent them is
 * over, and are then delivered, before anything else happens. */
#include "instance.h"

#include "base/memory.h"
#include "base/pack.h"
#include "core/wire.h"
#include "dormant.h"
#include "link/link.h"
#include "report.h"

#include <assert.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- configuration */

enum dme_rule instance_rule(const struct dme_alg *modes)
{
    return modes->rules & 1u << DME_GROUP ? DME_GROUP : modes->rules & 1u << DME_SHARED ? DME_SHARED : DME_EXCLUSIVE;
}

static void instance_conf_for(const struct dme_alg *alg, uint32_t n, uint32_t slots, struct dme_conf *conf)
{
    enum dme_rule rule = slots ? DME_SLOTS : instance_rule(alg);

    dme_conf_init(conf, alg, slots ? n * slots : n, rule, slots ? slots : rule == DME_GROUP ? UINT32_MAX - 1 : 0);
}

void instance_conf_of(const struct locks *l, const struct lock_policy *policy, uint32_t slots, struct dme_conf *conf)
{
    instance_conf_for(slots ? policy->slots : policy->modes, l->view.n, slots, conf);
}

static void instance_conf(const struct locks *l, const struct lock *lock, struct dme_conf *conf)
{
    instance_conf_of(l, lock_policy(l, lock), lock->slots, conf);
}

/* Within a view, links are reliable and FIFO, and no member crashes (a member that does is excluded, and the view
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

uint32_t lock_sites(const struct lock *lock)
{
    return lock->slots ? lock->slots : 1;
}

uint32_t instance_home(const struct locks *l, const struct lock *lock)
{
    return (uint32_t)((lock->hash >> 32) % l->view.n);
}

static dme_id instance_site(const struct locks *l, const struct lock *lock, uint32_t member, uint32_t s)
{
    return (member + l->view.n - instance_home(l, lock)) % l->view.n * lock_sites(lock) + s;
}

static uint32_t instance_member(const struct locks *l, const struct lock *lock, dme_id site)
{
    return (site / lock_sites(lock) + instance_home(l, lock)) % l->view.n;
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

static struct dme_out *instance_out(struct locks *l, const struct dme_conf *conf)
{
    size_t size = dme_out_size(conf);

    if (l->out_size < size) {
        l->out = instance_buffer(l->out, &l->out_size, size);
        dme_out_init(l->out, size);
    }
    return l->out;
}

/* --------------------------------------------------------------------------------------------------------- messages */

enum {
    SAY_HEAD = 1 + 1 + 2 + 4,
    SAY_SITES = 2 + 2,
    SAY_COUNT = 4 + 4,
    SAY_FOLLOW = 4 + 4,
    SAY_REPORT = 4 + 4 + 4 + 4,
    SAY_KIND = 4 + 8
};

static uint8_t *instance_letter(struct locks *l, const struct lock *lock, enum instance_type type, uint32_t to,
                                size_t len)
{
    uint8_t *at = link_send(l->view.link[to], SAY_HEAD + lock->name_len + len);

    at = pack_number(at, type, 1);
    at = pack_text(at, lock->name, lock->name_len);
    return pack_number(pack_number(at, lock->slots, 2), lock->epoch, 4);
}

void instance_say_kind(struct locks *l, const struct lock *lock, enum instance_type type, uint32_t to, uint32_t number,
                       uint64_t fence)
{
    pack_number(pack_number(instance_letter(l, lock, type, to, SAY_KIND), number, 4), fence, 8);
}

void instance_say_old(struct locks *l, const struct lock *lock, enum instance_type type, uint32_t to, uint32_t count)
{
    uint8_t *at = instance_letter(l, lock, type, to, SAY_COUNT);

    pack_number(pack_number(at, lock->old->mode, 4), count, 4);
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

const char *instance_parse(const uint8_t *bytes, size_t len, struct instance_message *m)
{
    struct unpack u = {.at = bytes, .end = bytes + len};

    m->type = (enum instance_type)unpack_number(&u, 1);
    m->name = unpack_text(&u, &m->name_len);
    m->slots = (uint32_t)unpack_number(&u, 2);
    m->epoch = (uint32_t)unpack_number(&u, 4);
    m->fence = 0;
    m->from = m->to = m->mode = m->count = m->number = m->waits = 0;
    if (m->type == INSTANCE_STEP && m->slots) {
        m->from = (uint32_t)unpack_number(&u, 2);
        m->to = (uint32_t)unpack_number(&u, 2);
    }
    if (m->type == INSTANCE_ENCUMBERED || m->type == INSTANCE_FREED || m->type == INSTANCE_INQUIRE) {
        m->mode = (uint32_t)unpack_number(&u, 4);
        m->count = (uint32_t)unpack_number(&u, 4);
    }
    if (m->type == INSTANCE_FOLLOW || m->type == INSTANCE_REPORT) {
        m->number = (uint32_t)unpack_number(&u, 4);
        m->mode = (uint32_t)unpack_number(&u, 4);
    }
    if (m->type == INSTANCE_REPORT) {
        m->count = (uint32_t)unpack_number(&u, 4);
        m->waits = (uint32_t)unpack_number(&u, 4);
    }
    if (instance_is_about_kind(m->type)) {
        m->number = (uint32_t)unpack_number(&u, 4);
        m->fence = unpack_number(&u, 8);
    }
    m->step = u.at;
    m->step_len = (size_t)(u.end - u.at);
    if (u.wrong || m->type < INSTANCE_ASK || m->type >= INSTANCE_TYPES || (m->type != INSTANCE_STEP && m->step_len))
        return "a message about a lock that is cut short or of no known type";
    if (m->name_len == 0 || m->slots > LOCK_SLOTS_MAX || (m->type == INSTANCE_ASK && m->number > LOCK_SLOTS_MAX) ||
        (m->slots && (m->from >= m->slots || m->to >= m->slots)))
        return "a message about a lock that cannot be";
    return NULL;
}

static const struct dme_alg *instance_alg(const struct locks *l, const struct lock *lock)
{
    return lock->slots ? lock_policy(l, lock)->slots : lock_policy(l, lock)->modes;
}

static void instance_post(struct locks *l, const struct lock *lock, const struct dme_msg *m)
{
    uint32_t to = instance_member(l, lock, m->to), sites = lock_sites(lock);
    uint8_t *at;

    if (to != l->view.self) {
        at = instance_letter(l, lock, INSTANCE_STEP, to, (lock->slots ? SAY_SITES : 0) + dme_wire_size(m));
        if (lock->slots)
            at = pack_number(pack_number(at, m->from % sites, 2), m->to % sites, 2);
        dme_encode(m, at);
        stats_add_message(&l->messages, instance_alg(l, lock), m->kind, true);
        return;
    }
    while (l->local_size < l->local_used + dme_msg_bytes(m))
        l->local = instance_buffer(l->local, &l->local_size, 2 * l->local_size + 1024);
    memcpy(l->local + l->local_used, m, dme_msg_bytes(m));
    l->local_used += dme_msg_bytes(m);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void instance_post_all(struct locks *l, const struct lock *lock, const struct dme_node *node)
{
    for (const struct dme_msg *m = NULL; (m = dme_next(l->out, node->self, m));)
        instance_post(l, lock, m);
}

static const char *instance_step_one(struct locks *l, struct lock *lock, uint32_t s, const struct dme_event *event)
{
    struct dme_node *node = lock->site[s].node;
    struct dme_conf conf;

    instance_conf(l, lock, &conf);
    dme_step(&conf, node, event, instance_out(l, &conf));
    if (l->out->fault)
        return l->out->fault;
    if (l->fence_seen < node->fence)
        l->fence_seen = node->fence;
    instance_post_all(l, lock, node);
    if (l->out->entered)
        lock_entered(l, lock, s);
    return NULL;
}

/* Feeds one event to one site, and delivers all messages between sites of this member that follow from it. */
static const char *instance_step(struct locks *l, struct lock *lock, uint32_t s, const struct dme_event *event)
{
    const char *fault = instance_step_one(l, lock, s, event);
    size_t at = 0;

    while (!fault && at < l->local_used) {
        size_t len = dme_msg_bytes((const struct dme_msg *)(l->local + at));

        /* The step may send more local messages, which may move the buffer: so the message is copied. */
        l->msg = instance_buffer(l->msg, &l->msg_size, len);
        memcpy(l->msg, l->local + at, len);
        at += len;
        fault = instance_step_one(l, lock, l->msg->to % lock_sites(lock),
                                  &(struct dme_event){.type = DME_RECEIVE, .msg = l->msg});
    }
    l->local_used = 0;
    return fault;
}

void instance_request(struct locks *l, struct lock *lock, uint32_t s, uint32_t mode)
{
    const char *fault = instance_step(l, lock, s, &(struct dme_event){.type = DME_REQUEST, .arg = mode});

    assert(!fault);
    (void)fault;
}

void instance_release(struct locks *l, struct lock *lock, uint32_t s)
{
    const char *fault = instance_step(l, lock, s, &(struct dme_event){.type = DME_RELEASE});

    assert(!fault);
    (void)fault;
}

const char *instance_receive(struct locks *l, struct lock *lock, uint32_t from, const struct instance_message *m)
{
    struct dme_conf conf;
    struct dme_msg *msg;
    const char *wrong;

    if (!lock->site)
        instance_begin(l, lock);
    instance_conf(l, lock, &conf);
    l->msg = msg = instance_buffer(l->msg, &l->msg_size, dme_msg_size_max(&conf));
    wrong = dme_decode(&conf, instance_site(l, lock, from, m->from), lock->site[m->to].node->self, m->step, m->step_len,
                       msg);
    if (wrong)
        return wrong;
    stats_add_message(&l->messages, conf.alg, msg->kind, false);
    return instance_step(l, lock, m->to, &(struct dme_event){.type = DME_RECEIVE, .msg = msg});
}

/* ------------------------------------------------------------------------------------------------- begin and the end
 */

void instance_begin(struct locks *l, struct lock *lock)
{
    uint32_t sites = lock_sites(lock);
    size_t size = sites * sizeof *lock->site;
    const uint8_t *rest = lock->rest;
    struct dme_conf conf;
    char *at;

    instance_conf(l, lock, &conf);
    for (uint32_t s = 0; s < sites; s++)
        size += dme_node_size(&conf, instance_site(l, lock, l->view.self, s));
    lock->site = mem_new(size);
    at = (char *)(lock->site + sites);
    for (uint32_t s = 0; s < sites; s++) {
        struct lock_site *site = &lock->site[s];
        dme_id self = instance_site(l, lock, l->view.self, s);

        site->node = (struct dme_node *)at;
        at += dme_node_size(&conf, self);
        ring_init(&site->holders);
        ring_init(&site->in_large);
        site->lock = lock;
        dme_init(&conf, site->node, self, instance_out(l, &conf));
        if (rest) {
            rest = rest_unpack(rest, site->node, dme_node_size(&conf, self));
        } else {
            lock->stays |= l->out->used > 0;
            instance_post_all(l, lock, site->node);
        }
        site->node->fence = l->fence;
    }
    free(lock->rest);
    lock->rest = NULL;
    assert(l->local_used == 0); /* no algorithm sends a message to a site of the same member when it begins */
}

static void instance_leave_large(struct locks *l, struct lock *lock)
{
    if (lock->site && !ring_empty(&lock->site->in_large)) {
        ring_cut(&lock->site->in_large);
        l->large_count--;
    }
}

void instance_end(struct locks *l, struct lock *lock)
{
    instance_leave_large(l, lock);
    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++)
        if (l->fence < lock->site[s].node->fence)
            l->fence = lock->site[s].node->fence;
    free(lock->site);
    lock->site = NULL;
    free(lock->rest);
    lock->rest = NULL;
}

/* The initial state of the site of `node`, with the fence of `node`. The result is in a buffer of `l`. */
static const struct dme_node *instance_fresh(struct locks *l, const struct dme_conf *conf, const struct dme_node *node)
{
    l->fresh = instance_buffer(l->fresh, &l->fresh_size, dme_node_size(conf, node->self));
    dme_init(conf, l->fresh, node->self, instance_out(l, conf));
    l->fresh->fence = node->fence;
    return l->fresh;
}

static bool instance_is_fresh(struct locks *l, const struct lock *lock, const struct dme_conf *conf)
{
    bool fresh = !lock->stays;

    for (uint32_t s = 0; fresh && l->view.n > 1 && s < lock_sites(lock); s++) {
        const struct dme_node *node = lock->site[s].node;

        fresh = memcmp(instance_fresh(l, conf, node), node, dme_node_size(conf, node->self)) == 0;
    }
    return fresh;
}

static size_t instance_size(const struct lock *lock, const struct dme_conf *conf)
{
    size_t size = 0;

    for (uint32_t s = 0; s < lock_sites(lock); s++)
        size += dme_node_size(conf, lock->site[s].node->self);
    return size;
}

/* Packs how the sites differ from their initial state, without their fences. */
static uint8_t *instance_pack(struct locks *l, const struct lock *lock, const struct dme_conf *conf)
{
    uint8_t *at;
    size_t len;

    l->rest = at = instance_buffer(l->rest, &l->rest_size, rest_room(instance_size(lock, conf)));
    for (uint32_t s = 0; s < lock_sites(lock); s++) {
        const struct dme_node *node = lock->site[s].node;

        at = rest_pack(at, node, instance_fresh(l, conf, node), dme_node_size(conf, node->self));
    }
    len = (size_t)(at - l->rest);
    return memcpy(mem_new(len), l->rest, len);
}

static bool instance_is_idle(const struct lock *lock)
{
    for (uint32_t s = 0; s < lock_sites(lock); s++)
        if (lock->site[s].node->phase != DME_IDLE)
            return false;
    return true;
}

static void instance_put_away(struct locks *l, struct lock *lock, const struct dme_conf *conf)
{
    uint8_t *rest = instance_pack(l, lock, conf);

    instance_end(l, lock);
    lock->rest = rest;
}

/* Makes the large sites dormant that have been idle for longest, if they are still idle. */
static void instance_put_away_large(struct locks *l)
{
    struct lock *lock = RING_OF(l->large.next, struct lock_site, in_large)->lock;
    struct dme_conf conf;

    instance_leave_large(l, lock);
    instance_conf(l, lock, &conf);
    if (instance_is_idle(lock))
        instance_put_away(l, lock, &conf);
}

void instance_rest(struct locks *l, struct lock *lock)
{
    struct dme_conf conf;

    if (!instance_is_idle(lock))
        return;
    instance_conf(l, lock, &conf);
    if (instance_is_fresh(l, lock, &conf)) {
        instance_end(l, lock);
    } else if (instance_size(lock, &conf) <= INSTANCE_REST_MAX) {
        instance_put_away(l, lock, &conf);
    } else {
        instance_leave_large(l, lock);
        ring_push(&l->large, &lock->site->in_large);
        if (++l->large_count > INSTANCE_LARGE_MAX)
            instance_put_away_large(l);
    }
}
