/* paper.h - what was published, beside what is measured.
 *
 * An experiment is a table of rows. A row has a figure that somebody published, and the simulation (a command line that
 * anybody can repeat) or the schedule that measures the same. Three things can come out:
 *
 *   agrees                        measured and published are equal, within the confidence interval and a tolerance
 *   the publication is in error   they are not, but measured is what a closer look says it should be; the row says why
 *   differs                       neither
 *
 * A row whose algorithm is not in the catalogue is left out. */
#ifndef DIBS_PAPER_PAPER_H
#define DIBS_PAPER_PAPER_H

#include "sim/sim.h"

/* What is measured: a figure of the simulator, or one of these. */
enum paper_figure {
    PAPER_OVERTAKES_MAX = FIGURES,
    PAPER_SWITCHES_MAX,
    PAPER_INSIDE_MAX,
    PAPER_SYNC_MAX,
    PAPER_WAIT_MAX
};

enum paper_relation { PAPER_EQUALS, PAPER_AT_MOST, PAPER_AT_LEAST };

struct paper_row {
    const char *what;
    const char *run;              /* the words behind "dibs sim"; or null: */
    double (*schedule)(unsigned); /* a schedule, step by step, of so many sites */
    unsigned sites;
    unsigned figure; /* of the run */
    enum paper_relation relation;
    double published;
    double tolerance;    /* relative */
    double truth;        /* where the publication is in error: what is true; INFINITY: there is no bound */
    const char *because; /* and why; or why a difference does not surprise */
};

/* Rows, as the tables write them. BUT: the publication is in error, and this is true. UNLESS: a difference that would
 * not surprise. */
#define PAPER_ROW_OF(what_, run_, figure_, relation_, published_, tolerance_, truth_, because_)                        \
    {                                                                                                                  \
        .what = what_, .run = run_, .figure = figure_, .relation = relation_, .published = published_,                 \
        .tolerance = tolerance_, .truth = truth_, .because = because_                                                  \
    }
#define EQUALS(what, run, figure, published, tolerance)                                                                \
    PAPER_ROW_OF(what, run, figure, PAPER_EQUALS, published, tolerance, 0, NULL)
#define EQUALS_BUT(what, run, figure, published, tolerance, truth, because)                                            \
    PAPER_ROW_OF(what, run, figure, PAPER_EQUALS, published, tolerance, truth, because)
#define EQUALS_UNLESS(what, run, figure, published, tolerance, because)                                                \
    PAPER_ROW_OF(what, run, figure, PAPER_EQUALS, published, tolerance, 0, because)
#define AT_MOST(what, run, figure, published, tolerance)                                                               \
    PAPER_ROW_OF(what, run, figure, PAPER_AT_MOST, published, tolerance, 0, NULL)
#define AT_MOST_BUT(what, run, figure, published, tolerance, truth, because)                                           \
    PAPER_ROW_OF(what, run, figure, PAPER_AT_MOST, published, tolerance, truth, because)
#define AT_LEAST(what, run, figure, published, tolerance)                                                              \
    PAPER_ROW_OF(what, run, figure, PAPER_AT_LEAST, published, tolerance, 0, NULL)
#define REACHES(what_, schedule_, sites_, published_)                                                                  \
    {                                                                                                                  \
        .what = what_, .schedule = schedule_, .sites = sites_, .published = published_                                 \
    }

struct paper {
    const char *name, *title, *citation;
    const struct paper_row *rows; /* ends with a null `what` */
};
extern const struct paper *const papers[]; /* ends with a null */

enum paper_verdict { PAPER_AGREES, PAPER_IN_ERROR, PAPER_DIFFERS, PAPER_VERDICTS };
extern const char *const paper_verdicts[PAPER_VERDICTS];

/* The figure of a result, and half the width of its interval (0 where it has none). */
double paper_measured(const struct paper_row *row, const struct sim_result *result, double *half);
enum paper_verdict paper_judge(const struct paper_row *row, double measured, double half);

/* Schedules (schedules.c): entries of others between a claim and its entry. */
double paper_overtaking_any(unsigned sites);
double paper_overtaking_fifo(unsigned sites);

#endif
