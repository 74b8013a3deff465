/* scatter.c - see scatter.h. Matrices have at most 64 rows: Cholesky's decomposition, written out. */
#include "scatter.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { DIM = SCATTER_FIGURES_MAX };

/* The figures that are looked at, their centre and covariance. */
struct cloud {
    size_t dim, figure[DIM];
    double mean[DIM], cov[DIM][DIM];
};

void scatter_round(struct scatter *s)
{
    for (size_t r = 0; r < s->runs; r++)
        for (size_t f = 0; f < s->figures; f++) {
            double *x = &s->value[r * s->figures + f];

            *x = round(*x / s->digit[f]) * s->digit[f];
        }
}

double scatter_mean(const struct scatter *s, size_t figure, double *sd)
{
    double sum = 0, squares = 0, mean;

    for (size_t r = 0; r < s->runs; r++)
        sum += s->value[r * s->figures + figure];
    mean = sum / (double)s->runs;
    for (size_t r = 0; r < s->runs; r++)
        squares += pow(s->value[r * s->figures + figure] - mean, 2);
    *sd = sqrt(squares / (double)(s->runs - 1));
    return mean;
}

/* Point r of the cloud; behind the runs comes the published one. */
static double point(const struct scatter *s, size_t r, size_t figure)
{
    return r < s->runs ? s->value[r * s->figures + figure] : s->published[figure];
}

/* Of the first `points` points. Rounding adds the variance of a uniform error, which also keeps figures that never
 * change from making the matrix singular. */
static void cloud_make(struct cloud *c, const struct scatter *s, const bool *counts, size_t points)
{
    c->dim = 0;
    for (size_t f = 0; f < s->figures; f++)
        if (counts[f])
            c->figure[c->dim++] = f;
    for (size_t a = 0; a < c->dim; a++) {
        c->mean[a] = 0;
        for (size_t r = 0; r < points; r++)
            c->mean[a] += point(s, r, c->figure[a]) / (double)points;
    }
    for (size_t a = 0; a < c->dim; a++)
        for (size_t b = 0; b < c->dim; b++) {
            double sum = 0;

            for (size_t r = 0; r < points; r++)
                sum += (point(s, r, c->figure[a]) - c->mean[a]) * (point(s, r, c->figure[b]) - c->mean[b]);
            c->cov[a][b] = sum / (double)(points - 1) + (a == b ? pow(s->digit[c->figure[a]], 2) / 12 : 0);
        }
}

/* The covariance becomes L with L L' = covariance, in its lower half. */
static void cloud_decompose(struct cloud *c)
{
    for (size_t a = 0; a < c->dim; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = c->cov[a][b];

            for (size_t k = 0; k < b; k++)
                sum -= c->cov[a][k] * c->cov[b][k];
            assert(a != b || sum > 0);
            c->cov[a][b] = a == b ? sqrt(sum) : sum / c->cov[b][b];
        }
}

/* y = L^-1 x */
static void cloud_forward(const struct cloud *c, const double *x, double *y)
{
    for (size_t a = 0; a < c->dim; a++) {
        y[a] = x[a];
        for (size_t k = 0; k < a; k++)
            y[a] -= c->cov[a][k] * y[k];
        y[a] /= c->cov[a][a];
    }
}

static double cloud_distance(const struct cloud *c, const struct scatter *s, size_t r)
{
    double x[DIM] = {0}, y[DIM] = {0}, sum = 0;

    for (size_t a = 0; a < c->dim; a++)
        x[a] = point(s, r, c->figure[a]) - c->mean[a];
    cloud_forward(c, x, y);
    for (size_t a = 0; a < c->dim; a++)
        sum += y[a] * y[a];
    return sum;
}

double scatter_share(const struct scatter *s, const bool *counts)
{
    struct cloud c;
    double published;
    size_t farther = 1; /* the published one itself */

    cloud_make(&c, s, counts, s->runs + 1);
    cloud_decompose(&c);
    published = cloud_distance(&c, s, s->runs);
    for (size_t r = 0; r < s->runs; r++)
        farther += cloud_distance(&c, s, r) >= published;
    return (double)farther / (double)(s->runs + 1);
}

/* x becomes covariance^-1 x */
static void cloud_solve(const struct cloud *c, double *x)
{
    double y[DIM] = {0};

    cloud_forward(c, x, y);
    for (size_t a = c->dim; a-- > 0;) {
        x[a] = y[a];
        for (size_t k = a + 1; k < c->dim; k++)
            x[a] -= c->cov[k][a] * x[k];
        x[a] /= c->cov[a][a];
    }
}

/* The diagonal of the inverse: one over the variance that is left of a figure if all others are known. */
static void cloud_precision(const struct cloud *c, double *precision)
{
    for (size_t a = 0; a < c->dim; a++) {
        double unit[DIM] = {0};

        unit[a] = 1;
        cloud_solve(c, unit);
        precision[a] = unit[a];
    }
}

/* The largest difference between a figure of point r and what its other figures say of it, in standard deviations. */
static double cloud_oddity(const struct cloud *c, const struct scatter *s, const double *precision, size_t r,
                           size_t *figure)
{
    double x[DIM] = {0}, largest = -1;

    for (size_t a = 0; a < c->dim; a++)
        x[a] = point(s, r, c->figure[a]) - c->mean[a];
    cloud_solve(c, x);
    for (size_t a = 0; a < c->dim; a++)
        if (fabs(x[a]) / sqrt(precision[a]) > largest) {
            largest = fabs(x[a]) / sqrt(precision[a]);
            *figure = c->figure[a];
        }
    return largest;
}

double scatter_odd(const struct scatter *s, const bool *counts, size_t *figure)
{
    struct cloud c;
    double precision[DIM], published;
    size_t odder = 1, other;

    cloud_make(&c, s, counts, s->runs + 1);
    cloud_decompose(&c);
    cloud_precision(&c, precision);
    published = cloud_oddity(&c, s, precision, s->runs, figure);
    for (size_t r = 0; r < s->runs; r++)
        odder += cloud_oddity(&c, s, precision, r, &other) >= published;
    return (double)odder / (double)(s->runs + 1);
}

double scatter_predict(const struct scatter *s, size_t figure, double *sd)
{
    struct cloud c;
    bool counts[DIM];
    double x[DIM] = {0}, precision[DIM];

    memset(counts, 1, sizeof counts);
    cloud_make(&c, s, counts, s->runs);
    cloud_decompose(&c);
    cloud_precision(&c, precision);
    for (size_t a = 0; a < c.dim; a++)
        x[a] = s->published[a] - c.mean[a];
    cloud_solve(&c, x);
    *sd = 1 / sqrt(precision[figure]);
    return s->published[figure] - x[figure] / precision[figure];
}
