/* Suzuki and Kasami, "A Distributed Mutual Exclusion Algorithm", ACM TOCS 3(4), 1985.
 *
 * Idea. Only the holder of the token goes in. Who wants it numbers the request and tells everyone. The token carries a
 * queue of sites to serve and, for every site, the number of its request that was served last: that is how the holder
 * tells a fresh request from one that was merely slow.
 *
 * Messages. REQUEST(number) to all and TOKEN(queue, served) once: n per entry, or 0 if the token is here already.
 *
 * Invariant SK1. There is one token, held or in flight.
 * Invariant SK2. A site is at most once in the token's queue; the queue of an idle holder is empty.
 * Invariant SK3. The number of a site's latest request is the one served last, or the next.
 *
 * Departures from the paper. A leaving holder looks for new requests from its right-hand neighbour onwards instead of
 * from site 0, which is as good and gives a definite order. Numbers are not bounded. */
#include "core/alg.h"
#include "core/line.h"

enum { REQUEST, TOKEN };

/* The token has a ticket for every site k: clock is the number served of site k, site is the k-th site of the queue. */
static const struct dme_kind sk_kinds[] = {{"REQUEST", 1, 0}, {"TOKEN", 0, 1}, {0}};

struct sk {
    uint32_t has;    /* the token is here */
    uint32_t queued; /* sites in its queue */
    struct {
        uint64_t asked;  /* highest request number known */
        uint64_t served; /* with the token: number of the request served last */
        dme_id queue;    /* with the token: slot of its queue */
        uint32_t stands; /* with the token: is this site in its queue? */
    } peer[];
};

static struct dme_line sk_queue(const struct dme *d, struct sk *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static void sk_push(const struct dme *d, struct sk *s, dme_id site)
{
    dme_line_push(sk_queue(d, s), site);
    s->peer[site].stands = 1;
}

static bool sk_fresh(const struct sk *s, dme_id j)
{
    return s->peer[j].asked == s->peer[j].served + 1;
}

static void sk_give(struct dme *d, struct sk *s, dme_id to)
{
    struct dme_msg *m = dme_send(d, to, TOKEN);

    s->has = 0;
    dme_line_pack(sk_queue(d, s), m->ticket);
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].served;
        s->peer[j].served = 0;
        s->peer[j].stands = 0;
    }
}

static void sk_take(struct dme *d, struct sk *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->has && dme_waiting(d));
    s->has = 1;
    for (dme_id k = 0; k < d->n; k++) {
        s->peer[k].served = m->ticket[k].clock;
        if (m->ticket[k].site != DME_NONE) {
            DME_EXPECT(d, k == s->queued && !s->peer[m->ticket[k].site].stands);
            sk_push(d, s, m->ticket[k].site);
        }
    }
    dme_enter(d);
}

static void sk_init(struct dme *d, void *state)
{
    struct sk *s = state;

    s->has = d->self == 0;
}

static void sk_request(struct dme *d, void *state)
{
    struct sk *s = state;

    if (s->has)
        dme_enter(d);
    else
        dme_send_others(d, REQUEST, dme_claim(d, ++s->peer[d->self].asked));
}

static void sk_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct sk *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        s->peer[m->from].asked = dme_max(s->peer[m->from].asked, m->ticket[0].clock);
        if (s->has && dme_idle(d) && sk_fresh(s, m->from))
            sk_give(d, s, m->from);
        break;
    case TOKEN:
        sk_take(d, s, m);
        break;
    }
}

static void sk_release(struct dme *d, void *state)
{
    struct sk *s = state;

    s->peer[d->self].served = s->peer[d->self].asked;
    for (dme_id j = dme_after(d, d->self); j != d->self; j = dme_after(d, j))
        if (sk_fresh(s, j) && !s->peer[j].stands)
            sk_push(d, s, j);
    if (s->queued)
        sk_give(d, s, dme_line_pop(sk_queue(d, s)));
}

static void sk_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct sk *s = state;

    dme_print_numbers(text, "asked", &s->peer[0].asked, sizeof s->peer[0], d->n);
    if (s->has) {
        dme_print_numbers(text, " token served", &s->peer[0].served, sizeof s->peer[0], d->n);
        dme_print_line(text, " queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
    }
}

const struct dme_alg suzuki_kasami = {
    .name = "suzuki-kasami",
    .family = DME_TOKEN,
    .paper = "I. Suzuki, T. Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985",
    .cost = "n messages, or 0 where the token is, delay T",
    .kinds = sk_kinds,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct sk),
    .peer_size = sizeof(((struct sk *)0)->peer[0]),
    .init = sk_init,
    .request = sk_request,
    .receive = sk_receive,
    .release = sk_release,
    .show = sk_show,
};
