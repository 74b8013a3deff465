/* scatter.h - does a published table fit what many runs of its experiment give?
 *
 * A published table is one run (or a few) of some experiment. Repeated with other random numbers, the experiment gives
 * other figures, and figures that share their random numbers move together. So the yardstick is the scatter between
 * runs, and the figures are judged jointly.
 *
 * The test. If the table is one more run of the same experiment, the published figures and the figures of `runs` runs
 * are equally likely to come in any order. Every run is rounded to the printed digits. Each of the runs + 1 points has a
 * distance from the centre of all of them: that of Mahalanobis, from the mean and the covariance of all runs + 1 points.
 * The share of points that are at least as far out as the published one is then a p-value, whatever the distribution of
 * the figures is: a share below 5 % is rare by chance. */
#ifndef DIBS_PAPER_SCATTER_H
#define DIBS_PAPER_SCATTER_H

#include <stdbool.h>
#include <stddef.h>

enum { SCATTER_FIGURES_MAX = 64 };

struct scatter {
    size_t runs, figures;
    const double *published;
    const double *digit; /* step of the last printed digit of each figure */
    double *value;       /* of run r and figure f: value[r * figures + f] */
};

void scatter_round(struct scatter *s); /* each run, to the printed digits */
double scatter_mean(const struct scatter *s, size_t figure, double *sd);
/* The share of the runs + 1 points that are at least as far out as the published one. Only the figures that count. */
double scatter_share(const struct scatter *s, const bool *counts);
/* The same for single figures: each point by its oddest figure, the one that differs most from what the point's other
 * figures say of it. A misprint makes one figure odd, and this test sees it best. Also tells which figure it is. */
double scatter_odd(const struct scatter *s, const bool *counts, size_t *figure);
/* What the other published figures say of this one, by linear regression over the runs, and its standard deviation. */
double scatter_predict(const struct scatter *s, size_t figure, double *sd);

#endif
