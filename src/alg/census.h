/* census.h - has the token been lost? What token algorithms that outlive failures share.
 *
 * Whenever a site hears that another is down, or beyond a cut, or back from there, it begins a *census*: it numbers it
 * above all that it knows of, stops passing the token on, and sends FLUSH to all that it can reach. Whoever hears of a
 * census with a higher number joins that. On FIFO channels a FLUSH is behind every token that was sent before, so who
 * has FLUSH of all others has all tokens that were ever to come, and reports to the coordinator, the lowest site that it
 * can reach, whether it has one. When all have reported and nobody has it, the token is lost, and the coordinator makes
 * a new one, unless somebody is beyond a cut: then it may be there. The verdict, who has the token, sets all free again.
 *
 * Why that is safe. A holder keeps the token from its FLUSH to the verdict. A token that is on its way is in front of
 * its sender's FLUSH, hence with its receiver before that reports. */
#ifndef DIBS_ALG_CENSUS_H
#define DIBS_ALG_CENSUS_H

#include "core/alg.h"

struct census {
    uint64_t number; /* of the last one that this site knows of */
    uint8_t runs;    /* the token stays where it is */
    uint8_t reported;
    uint8_t zero[6];
};

/* One in each peer record. */
struct census_peer {
    uint64_t flushed;  /* number of its last FLUSH */
    uint8_t down, cut; /* cannot be reached, for this reason */
    uint8_t beyond;    /* was beyond a cut that has healed, and nobody knew yet on which side the token is */
    uint8_t reported;  /* coordinator */
    uint8_t waits, has, incomplete /* somebody was beyond a cut: as it reports */, zero;
};

/* The peers of a state whose records have a field `census`. */
struct census_peers {
    struct census_peer *first;
    size_t stride;
};

static inline struct census_peer *census_peer(struct census_peers peers, dme_id j)
{
    return (struct census_peer *)((char *)peers.first + j * peers.stride);
}

static inline bool census_reaches(const struct dme *d, struct census_peers peers, dme_id j)
{
    const struct census_peer *p = census_peer(peers, j);

    return j != d->self && !p->down && !p->cut;
}

static inline dme_id census_coordinator(const struct dme *d, struct census_peers peers)
{
    dme_id c = 0;

    while (c != d->self && !census_reaches(d, peers, c))
        c++;
    return c;
}

/* Joins the census of this number, which is new. */
static inline void census_begin(struct dme *d, struct census *c, struct census_peers peers, uint64_t number,
                                uint8_t flush)
{
    c->number = number;
    c->runs = 1;
    c->reported = 0;
    for (dme_id j = 0; j < d->n; j++) {
        struct census_peer *p = census_peer(peers, j);

        p->reported = p->waits = p->has = p->incomplete = 0;
        if (census_reaches(d, peers, j))
            dme_send_ticket(d, j, flush, (struct dme_ticket){.clock = number, .site = d->self});
    }
}

/* Is it time to report? Once, when FLUSH of all others is here. */
static inline bool census_ready(const struct dme *d, const struct census *c, struct census_peers peers)
{
    for (dme_id j = 0; j < d->n; j++)
        if (census_reaches(d, peers, j) && census_peer(peers, j)->flushed < c->number)
            return false;
    return c->runs && !c->reported;
}

static inline bool census_cut_off(const struct dme *d, struct census_peers peers)
{
    for (dme_id j = 0; j < d->n; j++)
        if (census_peer(peers, j)->cut)
            return true;
    return false;
}

/* Have all reported to this coordinator? */
static inline bool census_complete(const struct dme *d, const struct census *c, struct census_peers peers)
{
    for (dme_id j = 0; j < d->n; j++)
        if ((j == d->self || census_reaches(d, peers, j)) && !census_peer(peers, j)->reported)
            return false;
    return c->runs;
}

/* Who has the token, by the reports: a site; this one, because it is lost; or DME_NONE, because that cannot be known. */
static inline dme_id census_holder(const struct dme *d, struct census_peers peers)
{
    dme_id holder = d->self;

    for (dme_id j = 0; j < d->n; j++) {
        if (census_peer(peers, j)->incomplete)
            holder = DME_NONE;
    }
    for (dme_id j = 0; j < d->n; j++)
        if (census_peer(peers, j)->has)
            holder = j;
    return holder;
}

/* The verdict is known. */
static inline void census_end(struct dme *d, struct census *c, struct census_peers peers)
{
    c->runs = c->reported = 0;
    for (dme_id j = 0; j < d->n; j++) {
        struct census_peer *p = census_peer(peers, j);

        p->reported = p->waits = p->has = p->incomplete = 0;
    }
}

/* What is heard of another site changes whom this one can reach. */
static inline void census_hear(struct census_peer *p, enum dme_news what)
{
    p->beyond = what == DME_HEALED || (p->beyond && what != DME_DOWN);
    p->down = what == DME_DOWN;
    p->cut = what == DME_CUT;
}

#endif
