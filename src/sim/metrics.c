/* metrics.c - see metrics.h. */
#include "metrics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const struct metrics_figure metrics_figures[FIGURES] = {
    [FIG_MESSAGES] = {"messages_per_entry", "messages per entry", SUM_MESSAGES, SUM_ENTRIES},
    [FIG_BYTES] = {"bytes_per_entry", "bytes per entry", SUM_BYTES, SUM_ENTRIES},
    [FIG_WAIT] = {"wait_mean", "waiting time", SUM_WAIT, SUM_ENTRIES},
    [FIG_RESPONSE] = {"response_mean", "response time", SUM_RESPONSE, SUM_EXITS},
    [FIG_SYNC] = {"sync_delay_mean", "synchronization delay", SUM_SYNC, SUM_SYNCS},
    [FIG_THROUGHPUT] = {"throughput", "throughput", SUM_ENTRIES, SUM_TIME},
    [FIG_UTILISATION] = {"utilisation", "utilisation", SUM_BUSY, SUM_TIME},
    [FIG_CONCURRENCY] = {"concurrency_mean", "inside together", SUM_INSIDE, SUM_BUSY},
    [FIG_OVERTAKES] = {"overtakes_mean", "overtakes per entry", SUM_OVERTAKES, SUM_ENTRIES},
    [FIG_SWITCHES] = {"switches_per_entry", "mode switches per entry", SUM_SWITCHES, SUM_ENTRIES},
};

void metrics_mark(struct metrics *m, double now)
{
    assert(m->marks <= METRICS_PARTS);
    m->sum[SUM_TIME] = now;
    m->sum[SUM_MESSAGES] = 0;
    for (unsigned k = 0; k < FLIGHT_KINDS; k++)
        m->sum[SUM_MESSAGES] += (double)m->by_kind[k];
    memcpy(m->mark[m->marks++], m->sum, sizeof m->sum);
    if (m->marks > 1)
        return;
    memcpy(m->by_kind_before, m->by_kind, sizeof m->by_kind);
    memset(&m->wait, 0, sizeof m->wait);
    memset(&m->response, 0, sizeof m->response);
    m->overtakes_max = m->switches_max = m->inside_max = 0;
    m->sync_max = 0;
}

static double metrics_growth(const struct metrics *m, unsigned from, unsigned to, enum metrics_sum sum)
{
    return m->mark[to][sum] - m->mark[from][sum];
}

double metrics_total(const struct metrics *m, enum metrics_sum sum)
{
    return metrics_growth(m, 0, m->marks - 1, sum);
}

double metrics_value(const struct metrics *m, enum metrics_figure_id figure)
{
    double under = metrics_total(m, metrics_figures[figure].under);

    return under > 0 ? metrics_total(m, metrics_figures[figure].over) / under : NAN;
}

/* t(0.975) with this many degrees of freedom, by the expansion in their inverse (within 3% from 2 on). */
static double metrics_t(double freedom)
{
    static const double z = 1.959964;
    double f = fmax(freedom, 2), z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

    return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f);
}

/* The run in `count` pieces of equal numbers of entries: sums of the squares and cubes of the errors Y - R X of the
 * pieces, and the correlation of successive errors, corrected for its bias in short series. */
struct metrics_pieces {
    double squares, cubes, correlation;
};

static struct metrics_pieces metrics_pieces(const struct metrics *m, enum metrics_figure_id figure, unsigned count)
{
    const struct metrics_figure *f = &metrics_figures[figure];
    double value = metrics_value(m, figure), products = 0, last = 0, raw;
    struct metrics_pieces p = {0, 0, 0};
    unsigned step = METRICS_PARTS / count;

    for (unsigned k = 0; k < METRICS_PARTS; k += step) {
        double e = metrics_growth(m, k, k + step, f->over) - value * metrics_growth(m, k, k + step, f->under);

        p.squares += e * e;
        p.cubes += e * e * e;
        products += e * last;
        last = e;
    }
    raw = p.squares > 0 ? products / p.squares : 0;
    p.correlation = (raw + 1.0 / count) / (1 - 4.0 / count);
    return p;
}

/* The number of independent pieces that would say as much as these do, if the correlation decays exponentially. */
static double metrics_effective(const struct metrics_pieces *p, unsigned count)
{
    double r = fmin(fmax(p->correlation, 0), 0.99);

    return count * (1 - r) / (1 + r);
}

/* Errors are skewed: a few long waits make most of the sum, and a run that had none of them underestimates the mean. This
 * is the quantile of the longer side by Johnson's transformation of t, with b = skewness / (6 sqrt(independent pieces)). */
static double metrics_skewed(double t, double b)
{
    return b > 1e-9 ? fmax(t, (1 + cbrt(6 * b * (t + b) - 1)) / (2 * b)) : t;
}

/* Half the width of an interval for the sum of the errors of pieces that depend on each other: from the number of
 * independent ones, of which four are taken for one degree of freedom, because that number is itself an estimate. */
static double metrics_half_dependent(const struct metrics_pieces *p, unsigned count)
{
    double effective = metrics_effective(p, count), b, variance;

    if (p->squares == 0)
        return 0;
    b = fabs(p->cubes / count / pow(p->squares / count, 1.5)) / (6 * sqrt(effective));
    /* The variance about the mean of the run is less than the variance about the true mean. */
    variance = p->squares / (count - 1) / fmax(1 - 1 / effective, 0.2);
    return metrics_skewed(metrics_t(effective / 4 - 1), b) * sqrt(variance / effective) * count;
}

double metrics_half(const struct metrics *m, enum metrics_figure_id figure)
{
    double value = metrics_value(m, figure), half;
    struct metrics_pieces batches, parts;

    if (m->marks != METRICS_PARTS + 1 || isnan(value))
        return NAN;
    batches = metrics_pieces(m, figure, METRICS_BATCHES);
    parts = metrics_pieces(m, figure, METRICS_PARTS);
    half = metrics_t(METRICS_BATCHES - 1) * sqrt(batches.squares / (METRICS_BATCHES - 1) * METRICS_BATCHES);
    /* Bytes have no steady state: the numbers in messages grow, and now and then a byte longer. That is no dependence of batches.
     * Below 0.15, a correlation may be chance; and where it is negative, as in a cycle, batches know better. */
    if (figure != FIG_BYTES && parts.correlation > 0.15)
        half = fmax(half, metrics_half_dependent(&parts, METRICS_PARTS));
    /* Where nothing is random, the errors are those of rounding. */
    if (half <= 1e-9 * fabs(metrics_total(m, metrics_figures[figure].over)))
        return 0;
    return half / metrics_total(m, metrics_figures[figure].under);
}

bool metrics_is_correlated(const struct metrics *m, enum metrics_figure_id figure)
{
    struct metrics_pieces batches, parts;

    if (m->marks != METRICS_PARTS + 1)
        return false;
    batches = metrics_pieces(m, figure, METRICS_BATCHES);
    parts = metrics_pieces(m, figure, METRICS_PARTS);
    /* Where nothing is random, the errors are those of rounding. */
    if (sqrt(batches.squares * METRICS_BATCHES) <= 1e-9 * fabs(metrics_total(m, metrics_figures[figure].over)))
        return false;
    return batches.correlation > 0.5 || metrics_effective(&parts, METRICS_PARTS) < 30;
}

bool metrics_is_mixed(const struct metrics *m)
{
    if (m->marks != METRICS_PARTS + 1 || metrics_total(m, SUM_MESSAGES) == 0)
        return true;
    for (unsigned b = 0; b < METRICS_BATCHES; b++)
        if (metrics_growth(m, b * METRICS_BATCH, (b + 1) * METRICS_BATCH, SUM_ROUNDS) < 1)
            return false;
    return true;
}

/* Mean of a figure over the batches from .. to-1, and the square of its standard error. */
static double metrics_part(const struct metrics *m, const struct metrics_figure *f, unsigned from, unsigned to,
                           double *error)
{
    double sum = 0, squares = 0;
    unsigned count = to - from;

    for (unsigned b = from; b < to; b++) {
        unsigned k = b * METRICS_BATCH, next = k + METRICS_BATCH;
        double x = metrics_growth(m, k, next, f->over) / fmax(metrics_growth(m, k, next, f->under), 1);

        sum += x;
        squares += x * x;
    }
    *error = fmax(squares - sum * sum / count, 0) / (count - 1) / count;
    return sum / count;
}

bool metrics_is_steady(const struct metrics *m, enum metrics_figure_id figure)
{
    const struct metrics_figure *f = &metrics_figures[figure];
    double early_error, late_error, early, late;

    if (m->marks != METRICS_PARTS + 1)
        return true;
    early = metrics_part(m, f, 0, METRICS_BATCHES / 4, &early_error);
    late = metrics_part(m, f, METRICS_BATCHES / 2, METRICS_BATCHES, &late_error);
    /* Where nothing is random the errors are 0, and rounding is no drift. */
    return fabs(early - late) <= 3 * sqrt(early_error + late_error) + 1e-6 * fabs(late);
}

/* ------------------------------------------------------------------------------------------------------- histograms */

static size_t hist_bucket(double x)
{
    union {
        double x;
        uint64_t bits;
    } u = {.x = x};
    uint64_t lowest = (uint64_t)(1023 + HIST_LOWEST) << HIST_FINE, k = u.bits >> (52 - HIST_FINE);

    return k < lowest ? 0 : k - lowest >= HIST_SIZE ? HIST_SIZE - 1 : (size_t)(k - lowest);
}

void hist_add(struct hist *h, double x)
{
    size_t k = hist_bucket(x);

    h->count[k]++;
    h->sum[k] += x;
    if (h->max < x)
        h->max = x;
}

double hist_quantile(const struct hist *h, double q)
{
    uint64_t all = 0, below = 0;

    for (size_t k = 0; k < HIST_SIZE; k++)
        all += h->count[k];
    for (size_t k = 0; k < HIST_SIZE; k++) {
        below += h->count[k];
        if (below && (double)below >= q * (double)all)
            return h->sum[k] / (double)h->count[k];
    }
    return NAN;
}
