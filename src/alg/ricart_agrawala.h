/* ricart_agrawala.h - the numbers of claims, for all algorithms of Ricart and Agrawala's paper.
 *
 * A claim's number is larger than all that the site has sent or received. Three options vary this:
 *
 * modulus=M. Numbers are kept modulo M. The claims that are alive at any moment span fewer than n numbers, so of two
 * residues it is clear which is the later one, as long as M >= 2n-1. With increments up to C
 * they span (n-1)C + 1 numbers, and M >= 2(n-1)C + 1.
 *
 * increment=C. A claim adds 1 .. C at random to the highest number, which takes some of the favour away that the
 * tie-break shows to low sites.
 *
 * priority=K. The last K sites add 1, the others C: of claims made at the same time those of the former go first. (They
 * are the last sites because ties favour the first ones anyway.) */
#ifndef DIBS_ALG_RICART_AGRAWALA_H
#define DIBS_ALG_RICART_AGRAWALA_H

#include "clocks.h"

#include <stddef.h>
#include <string.h>

enum { RA_MODULUS, RA_INCREMENT, RA_PRIORITY };

#define RA_PAPER                                                                                                       \
    "G. Ricart, A. K. Agrawala, An optimal algorithm for mutual exclusion in computer networks, CACM 24(1), 1981"

#define RA_NUMBER_OPTIONS RA_NUMBER_OPTIONS_INITIALLY(1, 0)
#define RA_NUMBER_OPTIONS_INITIALLY(most, sites)                                                                       \
    {.key = "modulus", .help = "keep numbers modulo this; 0: unbounded", .max = UINT32_MAX},                           \
        {.key = "increment",                                                                                           \
         .help = "a claim adds a random number from 1 to this",                                                        \
         .initial = most,                                                                                              \
         .min = 1,                                                                                                     \
         .max = 1000000},                                                                                              \
    {                                                                                                                  \
        .key = "priority", .help = "how many sites, the last ones, add 1; the others add the increment",               \
        .initial = sites, .max = DME_SITES_MAX                                                                         \
    }

struct ra_numbers {
    uint64_t highest;       /* number of any claim sent or received */
    struct dme_ticket mine; /* the current claim, or the last one */
    uint32_t dice;          /* what was thrown last, 0: nothing yet */
    uint32_t zero;
};

static inline uint64_t ra_increment(const struct dme *d, struct ra_numbers *s)
{
    uint64_t most = dme_option(d, RA_INCREMENT);

    if (most == 1)
        return 1;
    if (dme_option(d, RA_PRIORITY))
        return d->self + dme_option(d, RA_PRIORITY) >= d->n ? 1 : most;
    if (s->dice == 0)
        s->dice = (d->self + 1) * 2654435769u; /* odd, so that no site begins with 0 */
    s->dice ^= s->dice << 13;                  /* Marsaglia's xorshift */
    s->dice ^= s->dice >> 17;
    s->dice ^= s->dice << 5;
    return 1 + s->dice % most;
}

static inline uint64_t ra_next_number(const struct dme *d, struct ra_numbers *s)
{
    uint64_t next = s->highest + ra_increment(d, s), modulus = dme_option(d, RA_MODULUS);

    return modulus ? next % modulus : next;
}

/* Is number a later than b? Modulo M, where they are fewer than `span` apart, it is so if a is a little larger than b,
 * or much smaller, for then the numbers have begun anew in between. */
static inline bool ra_later(const struct dme *d, uint64_t a, uint64_t b)
{
    uint64_t span = (d->n - 1) * dme_option(d, RA_INCREMENT) + 1;

    if (dme_option(d, RA_MODULUS) == 0)
        return a > b;
    return (a > b && a - b < span) || (a < b && b - a >= span);
}

static inline bool ra_goes_before(const struct dme *d, struct dme_ticket a, struct dme_ticket b)
{
    return a.clock == b.clock ? a.site < b.site : ra_later(d, b.clock, a.clock);
}

/* A claim was sent, or received. */
static inline void ra_note_number(const struct dme *d, struct ra_numbers *s, struct dme_ticket claim)
{
    if (ra_later(d, claim.clock, s->highest))
        s->highest = claim.clock;
}

/* The site claims, with a number above all that were sent or received. */
static inline void ra_make_claim(const struct dme *d, struct ra_numbers *s)
{
    s->mine = dme_claim(d, ra_next_number(d, s));
    ra_note_number(d, s, s->mine);
}

static inline void ra_drop_claim(struct ra_numbers *s)
{
    s->mine = (struct dme_ticket){0};
}

/* Does this site, waiting or inside, go before that claim? */
static inline bool ra_goes_first(const struct dme *d, const struct ra_numbers *s, struct dme_ticket claim)
{
    return !dme_idle(d) && ra_goes_before(d, s->mine, claim);
}

/* Is this a number that a claim may have? */
static inline bool ra_is_number(const struct dme *d, uint64_t clock)
{
    return dme_option(d, RA_MODULUS) == 0 || clock < dme_option(d, RA_MODULUS);
}

static inline uint64_t ra_least_modulus(const struct dme_conf *conf)
{
    return 2 * (uint64_t)(conf->n - 1) * conf->option[RA_INCREMENT] + 1;
}

static inline const char *ra_check_modulus(const struct dme_conf *conf, uint64_t least)
{
    if (conf->option[RA_MODULUS] && conf->option[RA_MODULUS] < least)
        return "modulus must be 0 (unbounded), or at least 2(n-1)C+1 for n sites and increments up to C";
    return NULL;
}

/* The check of algorithms that have no other options. */
static inline const char *ra_check_numbers(const struct dme_conf *conf)
{
    return ra_check_modulus(conf, ra_least_modulus(conf));
}

/* The canonical form (clocks.h), of algorithms whose state begins with struct ra_numbers. Other numbers are those of
 * REQUESTs (kind 0), and those that `more`, unless it is null, finds in a state: of site j, or null. Later claims are above
 * the least of the highest numbers, and a REQUEST with a number up to it changes no highest number. A site that is idle has no
 * claim. */
static inline bool ra_canon_with(const struct dme_draft *now, uint64_t *(*more)(void *state, dme_id j))
{
    struct clocks c = {.low = UINT64_MAX};
    bool changed = false;

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct ra_numbers *s = dme_state(now->node[i]);

        c.low = s->highest < c.low ? s->highest : c.low;
    }
    clocks_note(&c, c.low);
    for (dme_id i = 0; i < now->conf->n; i++) {
        if (now->node[i]->phase != DME_IDLE)
            clocks_note(&c, ((const struct ra_numbers *)dme_state(now->node[i]))->mine.clock);
        for (dme_id j = 0; more && j < now->conf->n; j++)
            if (more(dme_state(now->node[i]), j))
                clocks_note(&c, *more(dme_state(now->node[i]), j));
    }
    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == 0)
            clocks_note(&c, now->msg[k]->ticket[0].clock);
    if (c.too_many)
        return false;
    for (dme_id i = 0; i < now->conf->n; i++) {
        struct ra_numbers *s = dme_state(now->node[i]);

        changed |= clocks_replace(&c, &s->highest);
        for (dme_id j = 0; more && j < now->conf->n; j++)
            if (more(s, j))
                changed |= clocks_replace(&c, more(s, j));
        if (now->node[i]->phase != DME_IDLE) {
            changed |= clocks_replace(&c, &s->mine.clock);
        } else if (s->mine.clock || s->mine.mode || s->mine.site) {
            ra_drop_claim(s);
            changed = true;
        }
    }
    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == 0)
            changed |= clocks_replace(&c, &now->msg[k]->ticket[0].clock);
    return changed;
}

static inline bool ra_canon_numbers(const struct dme_draft *now)
{
    return ra_canon_with(now, NULL);
}

/* For any number of sites (core/dme.h, struct dme_crowd): a form that keeps the order of numbers only. */
static inline uint64_t *ra_number(const struct dme_draft *now, dme_id i, unsigned k)
{
    struct ra_numbers *s = dme_state(now->node[i]);

    return k == 0 ? &s->highest : k == 1 ? &s->mine.clock : NULL;
}

static inline bool ra_canon_order(const struct dme_draft *now)
{
    return clocks_canon_order(now, ra_number);
}

static inline uint64_t *ra_highest(void *state)
{
    return &((struct ra_numbers *)state)->highest;
}

/* The numbers of a node, as those of site `self`. A site that is idle has no claim. */
static inline void ra_merge_numbers(const struct dme_node *node, struct ra_numbers *into, dme_id self)
{
    const struct ra_numbers *s = dme_state(node);

    into->highest = s->highest;
    if (node->phase != DME_IDLE) {
        into->mine = s->mine;
        into->mine.site = self;
    }
}

/* The same of a whole state that begins with struct ra_merged, and whose peers begin with the byte `awaited`. Site 2 is awaited
 * while any of the others is. Which of the others are deferred concerns those only. */
struct ra_merged {
    struct ra_numbers num;
    uint32_t missing, zero;
    uint8_t peer[]; /* peer_size bytes each */
};
#define RA_IS_MERGED(state)                                                                                            \
    _Static_assert(offsetof(state, missing) == offsetof(struct ra_merged, missing) &&                                  \
                       offsetof(state, peer[0].awaited) == offsetof(struct ra_merged, peer),                           \
                   "a state that ra_merge can read")

static inline void ra_merge(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                            struct dme_node *into)
{
    const struct ra_merged *s = dme_state(node);
    struct ra_merged *t = dme_state(into);
    size_t size = conf->alg->peer_size;
    dme_id other = 1 - into->self;
    uint8_t *others = &t->peer[2 * size];

    ra_merge_numbers(node, &t->num, into->self);
    memcpy(&t->peer[other * size], &s->peer[pair[other] * size], size);
    for (dme_id j = 0; j < conf->n; j++)
        if (j != pair[0] && j != pair[1])
            *others |= s->peer[j * size];
    t->missing = (uint32_t)(t->peer[other * size] + *others);
}

static inline void ra_print_numbers(const struct ra_numbers *s, struct dme_text *text)
{
    dme_print(text, "highest=%llu claim=%llu", (unsigned long long)s->highest, (unsigned long long)s->mine.clock);
}

/* A reply to each of the deferred sites: those whose peer record has a byte other than 0 at this address, which becomes
 * 0. First is that of site 0. */
static inline void ra_reply_to_each(struct dme *d, uint8_t kind, uint8_t *first, size_t stride)
{
    for (dme_id j = 0; j < d->n; j++)
        if (first[j * stride]) {
            first[j * stride] = 0;
            dme_send(d, j, kind);
        }
}

/* The same as one broadcast, if there are any: ticket k names site k if the reply is for it. */
static inline void ra_reply_to_list(struct dme *d, uint8_t kind, uint8_t *first, size_t stride)
{
    struct dme_msg *m = NULL;

    for (dme_id j = 0; j < d->n; j++)
        if (first[j * stride]) {
            first[j * stride] = 0;
            if (!m)
                m = dme_send(d, DME_ALL, kind);
            m->ticket[j].site = j;
        }
}

static inline bool ra_is_listed(const struct dme *d, const struct dme_msg *m)
{
    return m->ticket[d->self].site == d->self;
}

#endif
