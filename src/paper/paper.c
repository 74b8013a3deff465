/* paper.c - judging a row, and a table. See paper.h. */
#include "paper.h"

#include <math.h>
#include <string.h>

const char *const paper_verdicts[PAPER_VERDICTS] = {
    [PAPER_UNTESTED] = "not tested",
    [PAPER_SHOWN] = "shown",
    [PAPER_OURS] = "ours",
    [PAPER_AGREES] = "agrees",
    [PAPER_MISPRINT] = "agrees, one figure probably misprinted",
    [PAPER_IN_ERROR] = "in error",
    [PAPER_DIFFERS] = "differs",
};

double paper_measured(const struct paper_row *row, const struct sim_result *result, double *half)
{
    *half = 0;
    switch (row->figure) {
    case PAPER_OVERTAKES_MAX:
        return (double)result->overtakes_max;
    case PAPER_SWITCHES_MAX:
        return (double)result->switches_max;
    case PAPER_INSIDE_MAX:
        return (double)result->inside_max;
    case PAPER_SYNC_MAX:
        return result->sync_max;
    case PAPER_WAIT_MAX:
        return result->wait_max;
    case PAPER_JAIN:
        return result->jain;
    case PAPER_MESSAGE_BYTES:
        return result->value[FIG_BYTES] / result->value[FIG_MESSAGES];
    default:
        if (!isnan(result->half[row->figure]))
            *half = result->half[row->figure];
        return result->value[row->figure] + row->uncounted;
    }
}

static bool paper_fits(const struct paper_row *row, double expected, double measured, double half)
{
    double slack = half + row->tolerance * fabs(expected) + 1e-9 * fabs(expected);

    switch (row->relation) {
    case PAPER_AT_MOST:
        return measured <= expected + slack;
    case PAPER_AT_LEAST:
        return measured >= expected - slack;
    default:
        return fabs(measured - expected) <= slack;
    }
}

enum paper_verdict paper_judge(const struct paper_row *row, double measured, double half)
{
    /* The true value is compared as an equation, also where a bound was published; or there is no bound. */
    bool true_so = isinf(row->truth) || fabs(measured - row->truth) <= half + (row->tolerance + 1e-9) * row->truth;

    if (row->argued)
        return PAPER_IN_ERROR;
    if (isnan(row->published))
        return true_so ? PAPER_OURS : PAPER_DIFFERS;
    if (paper_fits(row, row->published, measured, half))
        return PAPER_AGREES;
    return row->truth > 0 && true_so ? PAPER_IN_ERROR : PAPER_DIFFERS;
}

struct paper_fit paper_judge_table(const struct scatter *s)
{
    static const double rare = 0.05;
    struct paper_fit fit = {0};
    bool counts[SCATTER_FIGURES_MAX];
    size_t other;

    for (unsigned c = 0; c < PAPER_COLUMNS; c++) {
        memset(counts, 0, sizeof counts);
        memset(counts + c * PAPER_LOADS, 1, PAPER_LOADS);
        fit.column[c] = scatter_share(s, counts);
    }
    memset(counts, 1, sizeof counts);
    fit.all = scatter_share(s, counts);
    fit.odd = scatter_odd(s, counts, &fit.oddest);
    counts[fit.oddest] = false;
    fit.all_but = scatter_share(s, counts);
    fit.odd_but = scatter_odd(s, counts, &other);
    fit.verdict = fit.all >= rare && fit.odd >= rare           ? PAPER_AGREES
                  : fit.all_but >= rare && fit.odd_but >= rare ? PAPER_MISPRINT
                                                               : PAPER_DIFFERS;
    return fit;
}
