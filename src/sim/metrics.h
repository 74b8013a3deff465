/* metrics.h - what a run measures.
 *
 * Every figure is a quotient of two sums: messages by entries, waiting time by entries, entries by time. The sums only
 * grow. They are copied ("marked") when the warm-up is over, at the end of each of the batches of equal length that
 * follow (in fact of each of their parts), and differences of marks give the figure and, by the method of batch means, its
 * confidence interval: with batch sums Y_b and X_b, R = sum Y / sum X, and the half-width is t(0.975, B-1) * s / (sqrt(B) * mean X), where s is
 * the standard deviation of Y_b - R * X_b.
 *
 * Near saturation successive waits depend on each other over thousands of entries, the batches are no longer independent,
 * and such an interval is too narrow. So each batch is made of parts. The correlation r of successive parts gives the
 * number of independent parts that would say as much, N (1-r) / (1+r), and with it, if r is above 0.15, a second
 * interval. That one allows for two more facts: the number of independent parts is an estimate (so degrees of freedom are
 * a quarter of it), and waits are skewed (so the quantile is the one of the longer side). The wider of the two intervals is
 * reported. If fewer than 30 independent parts are left, or batches are correlated, the interval is wide because the run is
 * too short, and that is reported, too. */
#ifndef DIBS_SIM_METRICS_H
#define DIBS_SIM_METRICS_H

#include "core/dme.h"
#include "flight.h"

enum metrics_sum {
    SUM_ENTRIES,
    SUM_EXITS,
    SUM_MESSAGES,
    SUM_BYTES,
    SUM_WAIT,     /* from invoking the algorithm to entry */
    SUM_RESPONSE, /* from invoking the algorithm to leaving */
    SUM_SYNC,     /* from an exit, while a site waits, to the next entry */
    SUM_SYNCS,
    SUM_TIME,
    SUM_BUSY,      /* time during which a site is inside */
    SUM_INSIDE,    /* time spent inside, by all */
    SUM_OVERTAKES, /* how often a request was overtaken by a later one */
    SUM_SWITCHES,  /* entries in another mode than the entry before */
    SUM_ROUNDS,    /* of messages; see loop.c */
    SUMS
};

/* A figure and its name in JSON and CSV. */
struct metrics_figure {
    const char *name, *text; /* text: for people */
    enum metrics_sum over, under;
};

enum metrics_figure_id {
    FIG_MESSAGES,
    FIG_BYTES,
    FIG_WAIT,
    FIG_RESPONSE,
    FIG_SYNC,
    FIG_THROUGHPUT,
    FIG_UTILISATION,
    FIG_CONCURRENCY,
    FIG_OVERTAKES,
    FIG_SWITCHES,
    FIGURES
};
extern const struct metrics_figure metrics_figures[FIGURES];

enum {
    METRICS_BATCHES = 20,
    METRICS_BATCH_MIN = 10, /* entries, or there is no interval */
    METRICS_BATCH = 8,      /* parts of a batch: correlation over short times is seen in parts */
    METRICS_PARTS = METRICS_BATCHES * METRICS_BATCH,
};

/* Values by size, in buckets of less than 1%; a bucket keeps its mean, so equal values are told exactly. */
enum { HIST_FINE = 7, HIST_LOWEST = -80, HIST_OCTAVES = 160, HIST_SIZE = HIST_OCTAVES << HIST_FINE };
struct hist {
    uint64_t count[HIST_SIZE];
    double sum[HIST_SIZE];
    double max;
};
double hist_quantile(const struct hist *h, double q); /* NAN if it is empty */

struct metrics {
    double sum[SUMS];
    double mark[METRICS_PARTS + 1][SUMS];
    unsigned marks;
    uint64_t by_kind[FLIGHT_KINDS], by_kind_before[FLIGHT_KINDS];
    uint64_t overtakes_max, switches_max;
    double sync_max;
    uint32_t inside_max;
    struct hist wait, response;
};

/* The first mark begins what is measured, and forgets the largest values so far. */
void metrics_mark(struct metrics *m, double now);
void hist_add(struct hist *h, double x);

/* Figures of a whole run, and the half-widths of their 95% intervals (NAN where there is none). */
double metrics_value(const struct metrics *m, enum metrics_figure_id figure);
double metrics_half(const struct metrics *m, enum metrics_figure_id figure);
/* Is the figure in its steady state? Its mean over the first quarter of the batches is then within three standard errors of its
 * mean over the second half. (True where there are no batches.) */
bool metrics_is_steady(const struct metrics *m, enum metrics_figure_id figure);
/* Did the messages in flight change in every batch? If not, a batch says nothing about the steady state. */
bool metrics_is_mixed(const struct metrics *m);
/* Do the batches of a figure depend on each other so much that its interval is wide for that reason? */
bool metrics_is_correlated(const struct metrics *m, enum metrics_figure_id figure);
/* The growth of a sum from the first to the last mark. */
double metrics_total(const struct metrics *m, enum metrics_sum sum);

#endif
