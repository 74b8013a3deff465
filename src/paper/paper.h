/* paper.h - what was published, beside what is measured.
 *
 * An experiment is a list of claims of one publication. A claim says where it stands (section, page) and what it says,
 * in our own words. Behind it come its rows. A row is one piece of evidence: a simulation, a run of the checker (both
 * are command lines that any reader can repeat), a schedule, or a scenario file. The verdict on a row is one of:
 *
 *   not tested     the claim is an argument that no run can test; the row says so
 *   shown          a scenario of the project plays it (tests/scenario plays all of them)
 *   ours           a figure of ours that stands beside the claim; nothing was published about it
 *   agrees         measured and published are equal, within the confidence interval and a tolerance
 *   misprint       a table agrees but for one figure, which is probably misprinted
 *   in error       they are not equal, but measured is what a closer look says it should be; the row says why
 *   differs        neither
 *
 * The verdict on a claim is the last of these that a row of it has, and likewise for the experiment. */
#ifndef DIBS_PAPER_PAPER_H
#define DIBS_PAPER_PAPER_H

#include "check/check.h"
#include "scatter.h"
#include "sim/sim.h"

/* The measured quantity: a figure of the simulator, or one of these. */
enum paper_figure {
    PAPER_OVERTAKES_MAX = FIGURES,
    PAPER_SWITCHES_MAX,
    PAPER_INSIDE_MAX,
    PAPER_SYNC_MAX,
    PAPER_WAIT_MAX,
    PAPER_JAIN,
    PAPER_MESSAGE_BYTES,  /* the mean size of a message */
    PAPER_CHECK_VERDICT,  /* of the checker, as a number: enum check_verdict */
    PAPER_CHECK_MESSAGES, /* the largest number of messages of any run */
};

enum paper_relation { PAPER_EQUALS, PAPER_AT_MOST, PAPER_AT_LEAST };

enum paper_verdict {
    PAPER_UNTESTED,
    PAPER_SHOWN,
    PAPER_OURS,
    PAPER_AGREES,
    PAPER_MISPRINT,
    PAPER_IN_ERROR,
    PAPER_DIFFERS,
    PAPER_VERDICTS
};
extern const char *const paper_verdicts[PAPER_VERDICTS];

struct paper_row {
    const char *where; /* not null: this row begins a claim, and has nothing but that and `what`: the claim */
    const char *what;

    /* The evidence, one of: */
    const char *run;              /* the words behind "dibs sim" */
    const char *check;            /* the words behind "dibs check" */
    double (*schedule)(unsigned); /* a schedule, step by step; its argument is the number of sites */
    const char *scenario;         /* the name of a file in tests/scenario, without its ending */
    bool argued;                  /* an argument: `because` */

    unsigned sites;  /* of the schedule */
    unsigned figure; /* of the run or check */
    enum paper_relation relation;
    double published; /* NAN: nothing; then `truth` is what we expect */
    double tolerance; /* relative */
    double uncounted; /* messages that the publication counts and dibs does not: those to oneself */
    double truth;     /* where the publication is in error: what is true; INFINITY: there is no bound */
    const char *because;
};

/* Rows, as the tables write them. BUT: the publication is in error, and this is true. */
#define CLAIM(where_, what_)                                                                                           \
    {                                                                                                                  \
        .where = where_, .what = what_                                                                                 \
    }
#define PAPER_ROW_OF(what_, run_, figure_, relation_, published_, tolerance_, truth_, because_)                        \
    {                                                                                                                  \
        .what = what_, .run = run_, .figure = figure_, .relation = relation_, .published = published_,                 \
        .tolerance = tolerance_, .truth = truth_, .because = because_                                                  \
    }
#define EQUALS(what, run, figure, published, tolerance)                                                                \
    PAPER_ROW_OF(what, run, figure, PAPER_EQUALS, published, tolerance, 0, NULL)
#define EQUALS_BUT(what, run, figure, published, tolerance, truth, because)                                            \
    PAPER_ROW_OF(what, run, figure, PAPER_EQUALS, published, tolerance, truth, because)
#define AT_MOST(what, run, figure, published, tolerance)                                                               \
    PAPER_ROW_OF(what, run, figure, PAPER_AT_MOST, published, tolerance, 0, NULL)
#define AT_MOST_BUT(what, run, figure, published, tolerance, truth, because)                                           \
    PAPER_ROW_OF(what, run, figure, PAPER_AT_MOST, published, tolerance, truth, because)
#define AT_LEAST(what, run, figure, published, tolerance)                                                              \
    PAPER_ROW_OF(what, run, figure, PAPER_AT_LEAST, published, tolerance, 0, NULL)
#define OURS(what, run, figure, expected, tolerance)                                                                   \
    PAPER_ROW_OF(what, run, figure, PAPER_EQUALS, NAN, tolerance, expected, NULL)
/* The publication also counts `own_` messages of a site to itself for each entry. */
#define WITH_OWN(what_, run_, published_, tolerance_, own_, truth_, because_)                                          \
    {                                                                                                                  \
        .what = what_, .run = run_, .figure = FIG_MESSAGES, .published = published_, .tolerance = tolerance_,          \
        .uncounted = own_, .truth = truth_, .because = because_                                                        \
    }
#define REACHES(what_, schedule_, sites_, published_)                                                                  \
    {                                                                                                                  \
        .what = what_, .schedule = schedule_, .sites = sites_, .published = published_                                 \
    }
#define REACHES_BUT(what_, schedule_, sites_, published_, truth_, because_)                                            \
    {                                                                                                                  \
        .what = what_, .schedule = schedule_, .sites = sites_, .published = published_, .truth = truth_,               \
        .because = because_                                                                                            \
    }
/* The checker's verdict: what the publication claims, and, where it is in error, what is found. */
#define CHECKS(what_, words, claimed)                                                                                  \
    {                                                                                                                  \
        .what = what_, .check = words, .figure = PAPER_CHECK_VERDICT, .published = claimed                             \
    }
#define CHECKS_BUT(what_, words, claimed, truth_, because_)                                                            \
    {                                                                                                                  \
        .what = what_, .check = words, .figure = PAPER_CHECK_VERDICT, .published = claimed, .truth = truth_,           \
        .because = because_                                                                                            \
    }
#define OURS_CHECKS(what_, words, expected)                                                                            \
    {                                                                                                                  \
        .what = what_, .check = words, .figure = PAPER_CHECK_VERDICT, .published = NAN, .truth = expected              \
    }
/* The largest number of messages of any run. */
#define WORST(what_, words, published_)                                                                                \
    {                                                                                                                  \
        .what = what_, .check = words, .figure = PAPER_CHECK_MESSAGES, .published = published_                         \
    }
#define SCENARIO(what_, name)                                                                                          \
    {                                                                                                                  \
        .what = what_, .scenario = name                                                                                \
    }
#define UNTESTED(why)                                                                                                  \
    {                                                                                                                  \
        .what = why                                                                                                    \
    }
#define ARGUED(what_, because_)                                                                                        \
    {                                                                                                                  \
        .what = what_, .argued = true, .because = because_                                                             \
    }

/* A published table of one simulation under several loads, judged by the scatter between runs (scatter.h). */
enum { PAPER_LOADS = 20, PAPER_COLUMNS = 2 };
struct paper_table {
    const char *where, *claim;
    const char *before, *after; /* words behind "dibs sim"; the load stands between them */
    const char *steady;         /* words that follow for a long run without its start */
    const char *other;          /* words that follow for another experiment, which is ours; and its name: */
    const char *other_name;
    unsigned entries, seeds; /* of the experiment */
    const char *load[PAPER_LOADS];
    const char *column[PAPER_COLUMNS]; /* short names */
    unsigned figure[PAPER_COLUMNS];
    double published[PAPER_COLUMNS][PAPER_LOADS], digit[PAPER_COLUMNS][PAPER_LOADS];
    const char *text; /* what the table tells */
};

struct paper {
    const char *name, *title, *citation;
    const struct paper_row *rows; /* ends with a null `what`; or null, and: */
    const struct paper_table *table;
};
extern const struct paper *const papers[]; /* ends with a null */

/* The figure of a result, and half the width of its interval (0 where it has none). */
double paper_measured(const struct paper_row *row, const struct sim_result *result, double *half);
enum paper_verdict paper_judge(const struct paper_row *row, double measured, double half);

/* Judging a table: the joint tests of all figures and, if one figure is odd, of all but that one. */
struct paper_fit {
    double column[PAPER_COLUMNS]; /* the share of points at least as far out, in this column alone */
    double all, odd;              /* in all figures; by the oddest figure */
    size_t oddest;                /* figure: column * PAPER_LOADS + load */
    double all_but, odd_but;      /* the same without that figure */
    enum paper_verdict verdict;
};
struct paper_fit paper_judge_table(const struct scatter *s);

/* Schedules (schedules.c): entries of others between a claim and its entry. */
double paper_overtaking_any(unsigned sites);
double paper_overtaking_fifo(unsigned sites);
/* All ask at once, and all have processed the request of the last site: how often another one enters before it. */
double paper_entries_once_processed(unsigned sites);
/* Messages of one invocation of Lamport's algorithm, where all sites ask at once and replies are omitted: the least and
 * the most of any site. */
double paper_lamport_least(unsigned sites);
double paper_lamport_most(unsigned sites);
/* Messages of a follower of Swaroop and Singh's algorithm. */
double paper_swaroop_follower(unsigned sites);
/* A writer is inside, a reader asks, then a writer asks: as the how manieth entry that writer comes. */
double paper_writer_place(unsigned sites);
/* Two sites ask before they hear of each other, the lower numbered one first or second: when the first enters. */
double paper_first_entry_in_order(unsigned sites);
double paper_first_entry_out_of_order(unsigned sites);

#endif
