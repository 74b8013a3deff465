/* alg.h - what the handlers of an algorithm may do. See any file in src/alg for how it looks in use. */
#ifndef DIBS_CORE_ALG_H
#define DIBS_CORE_ALG_H

#include "dme.h"
#include "text.h"

/* What a handler works with. */
struct dme {
    const struct dme_conf *conf;
    struct dme_node *node;
    struct dme_out *out;
    dme_id self;
    uint32_t n;
};

/* Send a message of this kind. The tickets come back empty ({0, 0, DME_NONE}), to be filled in at once. A message to
 * oneself is received within the same step, after the handler that sent it, and counts as no message. */
struct dme_msg *dme_send(struct dme *d, dme_id to, uint8_t kind);
/* Send a message whose first ticket is this one. */
void dme_send_ticket(struct dme *d, dme_id to, uint8_t kind, struct dme_ticket ticket);
/* The same to every other site, each its own message. */
void dme_send_others(struct dme *d, uint8_t kind, struct dme_ticket ticket);

/* The user of this site may go in. Once for every request; also from within the request. */
void dme_enter(struct dme *d);

/* Starts a timer (again) that fires strictly later than `bounds` times the bound T on delays; or stops it. */
void dme_start(struct dme *d, unsigned timer, uint32_t bounds);
void dme_stop(struct dme *d, unsigned timer);

/* The event contradicts the protocol: this node is not to be used any further. The first fault is kept. */
void dme_fault(struct dme *d, const char *fact);

/* In a handler: unless the fact holds, the message or event contradicts the protocol, and the handler ends here. */
#define DME_EXPECT(d, fact)                                                                                            \
    do {                                                                                                               \
        if (!(fact)) {                                                                                                 \
            dme_fault(d, #fact);                                                                                       \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

/* In a `malformed` handler: unless the fact holds, the state is malformed. */
#define DME_HOLDS(fact)                                                                                                \
    do {                                                                                                               \
        if (!(fact))                                                                                                   \
            return #fact;                                                                                              \
    } while (0)

/* Priority: the older claim first, of two equally old ones that of the lower site. */
static inline bool dme_before(struct dme_ticket a, struct dme_ticket b)
{
    return a.clock != b.clock ? a.clock < b.clock : a.site < b.site;
}

static inline uint64_t dme_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A claim of this site, in the mode it asks for. */
static inline struct dme_ticket dme_claim(const struct dme *d, uint64_t clock)
{
    return (struct dme_ticket){.clock = clock, .mode = d->node->mode, .site = d->self};
}

/* The site after j, and round again: for (j = dme_after(d, d->self); j != d->self; j = dme_after(d, j)) */
static inline dme_id dme_after(const struct dme *d, dme_id j)
{
    return j + 1 == d->n ? 0 : j + 1;
}

static inline bool dme_idle(const struct dme *d)
{
    return d->node->phase == DME_IDLE;
}

static inline bool dme_waiting(const struct dme *d)
{
    return d->node->phase == DME_WAITING;
}

static inline bool dme_inside(const struct dme *d)
{
    return d->node->phase == DME_INSIDE;
}

/* Is this the mistake that is made? Never so in an algorithm without a flaw. Which: its place in alg->mistakes. */
static inline bool dme_mistake(const struct dme *d, unsigned which)
{
    return d->conf->alg->mistakes && d->conf->mistake == which;
}

/* For invariants: how many messages of this kind are in flight, from this site or any (DME_NONE), to this one or any.
 */
static inline uint32_t dme_in_flight(const struct dme_moment *now, unsigned kind, dme_id from, dme_id to)
{
    uint32_t count = 0;

    for (size_t k = 0; k < now->msgs; k++)
        count += now->msg[k]->kind == kind && (from == DME_NONE || now->msg[k]->from == from) &&
                 (to == DME_NONE || now->to[k] == to);
    return count;
}

static inline uint64_t dme_option(const struct dme *d, unsigned which)
{
    return d->conf->option[which];
}

#endif
