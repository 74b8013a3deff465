/* step.c - one event into one node: the engine under every algorithm.
 *
 * Three things are done here once, so that no algorithm has to know of them:
 *
 * Fencing tokens. Every node keeps a number, every message carries its sender's, a receiver takes the larger, and an
 * entry adds one. In a safe exclusive algorithm a chain of messages leads from every exit to the next entry, so the
 * number strictly grows from holder to holder (I6): it is a Lamport clock that ticks on entry. (Where silence means
 * consent, under DME_BOUNDED_DELAY, there is no such chain, and two entries may carry the same number.)
 *
 * Messages to oneself. They are received inside the same step, in the order of sending, behind the handler that sent
 * them. Algorithms in which a site votes for itself then read as in their papers.
 *
 * Phases (I3). idle -> waiting -> inside -> idle, with the mode of the claim while it lasts. */
#include "alg.h"

#include <assert.h>
#include <string.h>

unsigned dme_kinds(const struct dme_alg *alg)
{
    unsigned k = 0;

    while (alg->kinds[k].name)
        k++;
    return k;
}

uint32_t dme_records(const struct dme_conf *conf, dme_id self)
{
    return conf->alg->records ? conf->alg->records(conf, self) : conf->n;
}

size_t dme_node_size(const struct dme_conf *conf, dme_id self)
{
    size_t size = sizeof(struct dme_node) + conf->alg->state_size;

    if (conf->alg->peer_size)
        size += (size_t)dme_records(conf, self) * conf->alg->peer_size;
    return (size + 7) / 8 * 8;
}

uint32_t dme_tickets(const struct dme_conf *conf, unsigned kind)
{
    return conf->alg->kinds[kind].fixed + conf->n * conf->alg->kinds[kind].per_site;
}

size_t dme_msg_size(const struct dme_conf *conf, unsigned kind)
{
    return sizeof(struct dme_msg) + dme_tickets(conf, kind) * sizeof(struct dme_ticket);
}

size_t dme_msg_size_max(const struct dme_conf *conf)
{
    size_t max = sizeof(struct dme_msg); /* drivers write sender and receiver, also if there are no kinds */

    for (unsigned k = 0; conf->alg->kinds[k].name; k++)
        if (max < dme_msg_size(conf, k))
            max = dme_msg_size(conf, k);
    return max;
}

size_t dme_out_size(const struct dme_conf *conf)
{
    size_t small = sizeof(struct dme_msg);

    for (unsigned k = 0; conf->alg->kinds[k].name; k++)
        if (!conf->alg->kinds[k].per_site && small < dme_msg_size(conf, k))
            small = dme_msg_size(conf, k);
    if (conf->alg->wide)
        small = dme_msg_size_max(conf);
    return sizeof(struct dme_out) + (2 * (size_t)conf->n + 2) * small + 2 * dme_msg_size_max(conf);
}

void dme_out_init(struct dme_out *out, size_t size)
{
    assert(size >= sizeof *out);
    memset(out, 0, sizeof *out);
    out->size = size - sizeof *out;
}

/* Receive what the site sent itself, and what that made it send itself, and so on. */
static void step_receive_own(struct dme *d, void *state)
{
    for (size_t at = 0; at < d->out->used && !d->out->fault;) {
        const struct dme_msg *m = (const struct dme_msg *)(d->out->bytes + at);

        at += dme_msg_bytes(m);
        if (m->to == d->self)
            d->conf->alg->receive(d, state, m);
    }
}

static struct dme step_begin(const struct dme_conf *conf, struct dme_node *node, struct dme_out *out)
{
    out->used = 0;
    out->fault = NULL;
    out->started = out->stopped = out->entered = 0;
    return (struct dme){.conf = conf, .node = node, .out = out, .self = node->self, .n = conf->n};
}

void dme_init(const struct dme_conf *conf, struct dme_node *node, dme_id self, struct dme_out *out)
{
    struct dme d;

    assert(self < conf->n);
    memset(node, 0, dme_node_size(conf, self));
    node->self = self;
    d = step_begin(conf, node, out);
    if (conf->alg->init)
        conf->alg->init(&d, dme_state(node));
    step_receive_own(&d, dme_state(node));
}

void dme_crash(struct dme_node *node)
{
    node->phase = DME_IDLE;
    node->mode = 0;
    node->armed = 0;
    node->down = 1;
}

/* Without its memory, and without a handler, a site begins as it did at first: what comes of that is worth watching. */
static void step_restart(struct dme *d, void *state, bool remembers)
{
    struct dme_node *node = d->node;

    assert(node->down);
    node->down = 0;
    node->incarnation++;
    if (!remembers) {
        node->fence = 0;
        memset(state, 0, dme_node_size(d->conf, d->self) - sizeof *node);
    }
    if (d->conf->alg->restart)
        d->conf->alg->restart(d, state, remembers);
    else if (!remembers && d->conf->alg->init)
        d->conf->alg->init(d, state);
}

static void step_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    assert(m->to == d->self || m->to == DME_ALL);
    if (d->node->fence < m->fence)
        d->node->fence = m->fence;
    if (m->kind >= DME_NEWS)
        d->conf->alg->news(d, state, m->kind, m->from);
    else
        d->conf->alg->receive(d, state, m);
}

void dme_step(const struct dme_conf *conf, struct dme_node *node, const struct dme_event *event, struct dme_out *out)
{
    struct dme d = step_begin(conf, node, out);
    void *state = dme_state(node);

    assert(!node->down || event->type == DME_RESTART);
    switch (event->type) {
    case DME_REQUEST:
        assert(node->phase == DME_IDLE);
        node->phase = DME_WAITING;
        node->mode = event->arg;
        conf->alg->request(&d, state);
        break;
    case DME_RELEASE:
        assert(node->phase == DME_INSIDE);
        node->phase = DME_IDLE;
        conf->alg->release(&d, state);
        node->mode = 0;
        break;
    case DME_RECEIVE:
        step_receive(&d, state, event->msg);
        break;
    case DME_TIMER:
        assert(event->arg < DME_TIMERS && (node->armed & 1u << event->arg));
        node->armed &= (uint8_t) ~(1u << event->arg);
        conf->alg->timer(&d, state, event->arg);
        break;
    case DME_RESTART:
        step_restart(&d, state, event->arg);
        break;
    case DME_JOIN:
        conf->alg->join(&d, state);
        break;
    case DME_LEAVE:
        assert(node->phase == DME_IDLE);
        conf->alg->leave(&d, state);
        break;
    default:
        assert(!"an event type");
    }
    if (out->used)
        step_receive_own(&d, state);
}

const char *dme_malformed(const struct dme_conf *conf, const struct dme_node *node)
{
    struct dme d = {.conf = conf, .node = (struct dme_node *)node, .self = node->self, .n = conf->n};

    return conf->alg->malformed ? conf->alg->malformed(&d, dme_state(node)) : NULL;
}

const struct dme_msg *dme_next(const struct dme_out *out, dme_id self, const struct dme_msg *last)
{
    size_t at = last ? (size_t)((const unsigned char *)last - out->bytes) + dme_msg_bytes(last) : 0;

    while (at < out->used) {
        const struct dme_msg *m = (const struct dme_msg *)(out->bytes + at);

        if (m->to != self)
            return m;
        at += dme_msg_bytes(m);
    }
    return NULL;
}

struct dme_msg *dme_send(struct dme *d, dme_id to, uint8_t kind)
{
    struct dme_msg *m = (struct dme_msg *)(d->out->bytes + d->out->used);
    uint32_t count = dme_tickets(d->conf, kind);
    size_t size = sizeof *m + count * sizeof m->ticket[0];

    assert(to < d->n || (to == DME_ALL && d->conf->alg->needs & DME_BROADCAST));
    assert(size <= d->out->size - d->out->used); /* I9 */
    d->out->used += size;
    *m = (struct dme_msg){.fence = d->node->fence, .from = d->self, .to = to, .count = count, .kind = kind};
    for (uint32_t k = 0; k < count; k++)
        m->ticket[k] = (struct dme_ticket){.site = DME_NONE};
    return m;
}

void dme_send_ticket(struct dme *d, dme_id to, uint8_t kind, struct dme_ticket ticket)
{
    assert(d->conf->alg->kinds[kind].fixed ||
           d->conf->alg->kinds[kind].per_site); /* a kind without tickets has no room for one */
    dme_send(d, to, kind)->ticket[0] = ticket;
}

void dme_send_others(struct dme *d, uint8_t kind, struct dme_ticket ticket)
{
    for (dme_id j = 0; j < d->n; j++)
        if (j != d->self)
            dme_send_ticket(d, j, kind, ticket);
}

void dme_enter(struct dme *d)
{
    DME_EXPECT(d, dme_waiting(d));
    d->node->phase = DME_INSIDE;
    d->node->fence++;
    d->out->entered = 1;
}

void dme_start(struct dme *d, unsigned timer, uint32_t bounds)
{
    assert(timer < DME_TIMERS && d->conf->alg->timer);
    d->node->armed |= (uint8_t)(1u << timer);
    d->out->started |= (uint8_t)(1u << timer);
    d->out->stopped &= (uint8_t) ~(1u << timer);
    d->out->bounds[timer] = bounds;
}

void dme_stop(struct dme *d, unsigned timer)
{
    assert(timer < DME_TIMERS);
    d->node->armed &= (uint8_t) ~(1u << timer);
    d->out->started &= (uint8_t) ~(1u << timer);
    d->out->stopped |= (uint8_t)(1u << timer);
}

void dme_fault(struct dme *d, const char *fact)
{
    if (!d->out->fault)
        d->out->fault = fact;
}
