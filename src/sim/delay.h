/* delay.h - how long a message takes: a distribution, or a matrix of fixed times, with or without FIFO channels. */
#ifndef DIBS_SIM_DELAY_H
#define DIBS_SIM_DELAY_H

#include "dist.h"

struct delay {
    struct dist dist;
    double *matrix; /* n x n, row: sender; or null */
    uint32_t n;
    double *last; /* FIFO with random delays: when the last message of each channel arrives; or null */
};

enum { DELAY_FIFO_SITES_MAX = 16384 }; /* one time for every channel: 2 GB */

/* "const:1", ..., or "matrix:FILE": n rows of n numbers, lines with # are comments. False and a line if that cannot be.
 */
bool delay_parse(struct delay *delay, const char *text, uint32_t n, struct dme_text *wrong);
/* False and a line if there are too many channels to keep in order. */
bool delay_fits(const struct delay *delay, uint32_t n, bool fifo, struct dme_text *wrong);
/* Ready a copy of a delay for a run of its own. */
void delay_begin(struct delay *delay, uint32_t n, bool fifo);
void delay_end(struct delay *delay);
void delay_free(struct delay *delay); /* what delay_parse took */

/* The mean of the distribution, or the shortest time of a matrix that is not 0. */
double delay_mean(const struct delay *delay);
/* The largest delay, or infinity. */
double delay_bound(const struct delay *delay);
/* Do all messages take equally long? */
static inline bool delay_is_constant(const struct delay *delay)
{
    return !delay->matrix && delay->dist.type == DIST_CONST;
}

double delay_arrival_slow(struct delay *delay, struct random *r, double now, dme_id from, dme_id to);

/* When a message sent now arrives. */
static inline double delay_arrival(struct delay *delay, struct random *r, double now, dme_id from, dme_id to)
{
    return delay_is_constant(delay) ? now + delay->dist.a : delay_arrival_slow(delay, r, now, from, to);
}

#endif
