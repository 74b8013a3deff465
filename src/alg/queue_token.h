/* queue_token.h - the token of Suzuki and Kasami, and of those who build on it.
 *
 * The token carries a queue of sites to serve and, for every site, the number of its request that was served last: that
 * is how the holder tells a fresh request from one that was merely slow. A site is at most once in the queue, and the
 * queue of an idle holder is empty. */
#ifndef DIBS_ALG_QUEUE_TOKEN_H
#define DIBS_ALG_QUEUE_TOKEN_H

#include "clocks.h"
#include "core/line.h"

enum { REQUEST, TOKEN };

/* The token has a ticket for every site k: clock is the number served of site k, site is the k-th site of the queue. */
static const struct dme_kind qt_kinds[] = {{"REQUEST", 1, 0}, {"TOKEN", 0, 1}, {0}};
static const char *const qt_fields[] = {NULL, "LN,,Q"};

struct qt {
    uint32_t has;    /* the token is here */
    uint32_t queued; /* sites in its queue */
    struct {
        uint64_t asked;     /* highest request number known */
        uint64_t served;    /* with the token: number of the request served last */
        dme_id queue;       /* with the token: slot of its queue */
        uint8_t stands;     /* with the token: is this site in its queue? */
        uint8_t known;      /* chang-singhal-liu: it is in the request set */
        uint8_t told, zero; /* chang-singhal-liu: the latest request has gone to it */
    } peer[];
};

static inline struct dme_line qt_queue(const struct dme *d, struct qt *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static inline void qt_push(const struct dme *d, struct qt *s, dme_id site)
{
    dme_line_push(qt_queue(d, s), site);
    s->peer[site].stands = 1;
}

/* Has the site asked for the token since it had it last? */
static inline bool qt_fresh(const struct qt *s, dme_id j)
{
    return s->peer[j].asked > s->peer[j].served;
}

static inline void qt_give(struct dme *d, struct qt *s, dme_id to)
{
    struct dme_msg *m = dme_send(d, to, TOKEN);

    s->has = 0;
    dme_line_pack(qt_queue(d, s), m->ticket);
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].served;
        s->peer[j].served = s->peer[j].stands = 0;
    }
}

static inline void qt_take(struct dme *d, struct qt *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->has && dme_waiting(d));
    s->has = 1;
    for (dme_id k = 0; k < d->n; k++) {
        s->peer[k].served = m->ticket[k].clock;
        if (m->ticket[k].site != DME_NONE) {
            DME_EXPECT(d, k == s->queued && !s->peer[m->ticket[k].site].stands);
            qt_push(d, s, m->ticket[k].site);
        }
    }
    dme_enter(d);
}

/* The holder leaves: its request is served, and every other site with a fresh request joins the queue, from the
 * right-hand neighbour onwards. */
static inline void qt_served(struct dme *d, struct qt *s)
{
    s->peer[d->self].served = s->peer[d->self].asked;
    for (dme_id j = dme_after(d, d->self); j != d->self; j = dme_after(d, j))
        if (qt_fresh(s, j) && !s->peer[j].stands)
            qt_push(d, s, j);
}

static inline const char *qt_malformed(const struct dme *d, void *state)
{
    struct qt *s = state;

    DME_HOLDS(dme_line_is_sound(qt_queue(d, s), d->n));
    return NULL;
}

static inline const char *qt_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct qt *s = dme_state(now->node[i]);

        tokens += s->has;
        if (s->has && now->node[i]->phase == DME_IDLE && s->queued)
            return "the queue of an idle holder is empty";
        for (dme_id j = 0; s->has && j < now->conf->n; j++) {
            const struct qt *other = dme_state(now->node[j]);

            if (other->peer[j].asked < s->peer[j].served || other->peer[j].asked > s->peer[j].served + 1)
                return "a site's latest request is the one served last, or the next";
        }
    }
    return tokens == 1 ? NULL : "there is one token";
}

static inline bool qt_has(const void *state)
{
    return ((const struct qt *)state)->has;
}

static inline bool qt_canon(const struct dme_draft *now)
{
    static const struct clocks_served layout = {.has = qt_has,
                                                .asked = offsetof(struct qt, peer[0].asked),
                                                .served = offsetof(struct qt, peer[0].served),
                                                .stride = sizeof(((struct qt *)0)->peer[0]),
                                                .request = REQUEST,
                                                .token = TOKEN};

    return clocks_canon_served(now, &layout);
}

static inline void qt_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct qt *s = state;

    dme_print_numbers(text, "asked", &s->peer[0].asked, sizeof s->peer[0], d->n);
    if (s->has) {
        dme_print_numbers(text, " token served", &s->peer[0].served, sizeof s->peer[0], d->n);
        dme_print_line(text, " queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
    }
}

#endif
