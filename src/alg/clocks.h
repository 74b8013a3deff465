/* clocks.h - canonical forms of logical clocks, for the handler `canon` (core/dme.h).
 *
 * An algorithm adds to its clocks, compares clocks and takes the larger one of two. Let `low` be a number that every clock from
 * which later numbers are made has reached. Numbers up to `low` are only compared with each other from now on, and are less than
 * all that are made later. So they may be replaced by their ranks, 1, 2, 3 and so on, and numbers above `low` may be moved down by what is
 * saved: no handler can tell the difference. */
#ifndef DIBS_ALG_CLOCKS_H
#define DIBS_ALG_CLOCKS_H

#include "core/alg.h"

enum { CLOCKS_MAX = 126 };
struct clocks {
    uint64_t low;
    uint32_t count;    /* of different numbers up to low */
    uint32_t too_many; /* there is no room for all of them */
    uint64_t number[CLOCKS_MAX];
};

/* A number that is in use. */
static inline void clocks_note(struct clocks *c, uint64_t number)
{
    uint32_t at = c->count;

    if (number > c->low)
        return;
    for (uint32_t k = 0; k < c->count; k++)
        if (c->number[k] == number)
            return;
    if (c->count == CLOCKS_MAX) {
        c->too_many = 1;
        return;
    }
    for (; at > 0 && c->number[at - 1] > number; at--)
        c->number[at] = c->number[at - 1];
    c->number[at] = number;
    c->count++;
}

/* Replaces a number that was noted, or is above low. Returns whether it has changed. */
static inline bool clocks_replace(const struct clocks *c, uint64_t *number)
{
    uint64_t old = *number;
    uint32_t k = 0;

    if (old > c->low) {
        *number = old - c->low + c->count;
    } else {
        while (c->number[k] != old)
            k++;
        *number = k + 1;
    }
    return *number != old;
}

/* ------------------------------------------------------------------------------------------------------- order only */

/* For algorithms in which a clock may stay behind for ever, so that there is no `low`: all numbers are replaced by twice their
 * ranks. 0 stays what it is. That forgets how far apart two numbers are. So the checker lets a clock tick before any event
 * (alg->clock): the number after a clock's is then between the clock and the next larger number, or equal to that, as it may
 * have been before. Number(now, i, k) is where the k-th number of site i is, null behind the last. Those of messages are the clocks of their
 * tickets. */
static inline void clocks_note_positive(struct clocks *c, uint64_t number)
{
    if (number)
        clocks_note(c, number);
}

static inline bool clocks_replace_by_twice(const struct clocks *c, uint64_t *number)
{
    uint64_t old = *number;

    if (old) {
        clocks_replace(c, number);
        *number *= 2;
    }
    return *number != old;
}

static inline bool clocks_canon_order(const struct dme_draft *now,
                                      uint64_t *(*number)(const struct dme_draft *now, dme_id i, unsigned k))
{
    struct clocks c = {.low = UINT64_MAX};
    bool changed = false;
    uint64_t *at;

    for (dme_id i = 0; i < now->conf->n; i++)
        for (unsigned k = 0; (at = number(now, i, k)); k++)
            clocks_note_positive(&c, *at);
    for (size_t m = 0; m < now->msgs; m++)
        for (uint32_t k = 0; k < now->msg[m]->count; k++)
            clocks_note_positive(&c, now->msg[m]->ticket[k].clock);
    if (c.too_many)
        return false;
    for (dme_id i = 0; i < now->conf->n; i++)
        for (unsigned k = 0; (at = number(now, i, k)); k++)
            changed |= clocks_replace_by_twice(&c, at);
    for (size_t m = 0; m < now->msgs; m++)
        for (uint32_t k = 0; k < now->msg[m]->count; k++)
            changed |= clocks_replace_by_twice(&c, &now->msg[m]->ticket[k].clock);
    return changed;
}

/* ------------------------------------------------------------------------------- requests that a token tells from served ones */

/* Every site counts its requests, and the one token has for each site the number of the request that was served last. Site i
 * knows a number `asked` of each site; the holder has `served` of each. Where they are in the state of a node: */
struct clocks_served {
    bool (*has)(const void *state);
    size_t asked, served, stride; /* of site 0, and from one site to the next */
    uint32_t request, token;      /* kinds of messages: a number, and a number for each site */
};
enum { CLOCKS_SITES = 64 };

static inline uint64_t *clocks_at(const struct dme_draft *now, const struct clocks_served *c, size_t field, dme_id i,
                                  dme_id j)
{
    return (uint64_t *)((unsigned char *)dme_state(now->node[i]) + field + j * c->stride);
}

/* The numbers served. False if there is not exactly one token. */
static inline bool clocks_find_served(const struct dme_draft *now, const struct clocks_served *c, uint64_t *served)
{
    uint32_t tokens = 0;

    for (dme_id i = 0; i < now->conf->n; i++)
        if (c->has(dme_state(now->node[i]))) {
            tokens++;
            for (dme_id j = 0; j < now->conf->n; j++)
                served[j] = *clocks_at(now, c, c->served, i, j);
        }
    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == c->token) {
            tokens++;
            for (dme_id j = 0; j < now->conf->n; j++)
                served[j] = now->msg[k]->ticket[j].clock;
        }
    return tokens == 1;
}

/* The canonical form: numbers relative to the one served. A REQUEST that is served is taken out, and a site that has not
 * heard of it is made to have: such a number is less than or equal to the one served, and no handler does anything
 * because of it. */
static inline bool clocks_canon_served(const struct dme_draft *now, const struct clocks_served *c)
{
    uint64_t served[CLOCKS_SITES];
    bool changed = false;

    if (now->conf->n > CLOCKS_SITES || !clocks_find_served(now, c, served))
        return false;
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            uint64_t *asked = clocks_at(now, c, c->asked, i, j);

            changed |= served[j] != 0;
            *asked = *asked > served[j] ? *asked - served[j] : 0;
            if (c->has(dme_state(now->node[i])))
                *clocks_at(now, c, c->served, i, j) = 0;
        }
    for (size_t k = 0; k < now->msgs; k++) {
        struct dme_msg *m = now->msg[k];

        for (dme_id j = 0; m->kind == c->token && j < now->conf->n; j++)
            m->ticket[j].clock = 0;
        if (m->kind != c->request)
            continue;
        now->gone[k] = m->ticket[0].clock <= served[m->from];
        m->ticket[0].clock -= now->gone[k] ? 0 : served[m->from];
        changed |= now->gone[k];
    }
    return changed;
}

#endif
