/* pick.h - a random choice among n, each with its own weight, in constant time (Walker's alias method). */
#ifndef DIBS_SIM_PICK_H
#define DIBS_SIM_PICK_H

#include "base/random.h"

struct pick {
    uint32_t n;
    double *keep;    /* cell k: the share of it that is k's own */
    uint32_t *other; /* who has the rest; null: all weights are equal */
};

/* Weight is null if all are equal. */
void pick_init(struct pick *p, uint32_t n, const double *weight);
void pick_destroy(struct pick *p);

/* Zipf's law: the weight of k is 1/(k+1)^exponent. To be freed by the caller. */
double *pick_zipf(uint32_t n, double exponent);

static inline uint32_t pick_draw(const struct pick *p, struct random *r)
{
    uint32_t k = random_below(r, p->n);

    return !p->other || random_unit(r) <= p->keep[k] ? k : p->other[k];
}

#endif
