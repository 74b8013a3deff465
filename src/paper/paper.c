/* paper.c - judging a row. See paper.h. */
#include "paper.h"

#include <math.h>

const char *const paper_verdicts[PAPER_VERDICTS] = {"agrees", "the publication is in error", "differs"};

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
    default:
        if (!isnan(result->half[row->figure]))
            *half = result->half[row->figure];
        return result->value[row->figure];
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
    if (paper_fits(row, row->published, measured, half))
        return PAPER_AGREES;
    /* What is true is an equation, also where a bound was published; or that there is no bound. */
    if (isinf(row->truth) ||
        (row->truth > 0 && fabs(measured - row->truth) <= half + (row->tolerance + 1e-9) * row->truth))
        return PAPER_IN_ERROR;
    return PAPER_DIFFERS;
}
