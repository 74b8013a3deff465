/* singhal.c - the heuristic token algorithm: Table II, its limits, and uneven loads. */
#include "paper.h"

static const char singhal_steep[] = "near saturation the paper is above every run of ours, by 1 to 5% in messages and "
                                    "3 to 10% in waiting time; the cause "
                                    "is not known";
static const char singhal_overload[] = "ten sites ask for more than 1/(T+E): there is no steady state, and the figure "
                                       "depends on the length of the run, which "
                                       "the paper does not tell";
static const char singhal_rule[] =
    "the paper does not say which rule of arbitration its table is of; the other one, the nearest, fits";
static const char singhal_light[] =
    "the mean number of requests, (n-1)/2, counts the holder as 0 already; only the token message is saved, so it is "
    "(n-1)/2 + (n-1)/n, and the table of the paper itself says so";

/* Table II: rate, messages, waiting time; n = 10, T = 1, E = 0.0002. */
#define SINGHAL_TABLE_2(ROW)                                                                                           \
    ROW("0.010", 5.44, 1.822, NULL)                                                                                    \
    ROW("0.020", 5.47, 1.856, NULL)                                                                                    \
    ROW("0.040", 5.57, 1.981, NULL)                                                                                    \
    ROW("0.060", 5.76, 2.259, NULL)                                                                                    \
    ROW("0.080", 6.28, 3.043, singhal_steep)                                                                           \
    ROW("0.090", 6.99, 4.208, singhal_steep)                                                                           \
    ROW("0.095", 7.76, 5.493, singhal_steep)                                                                           \
    ROW("0.096", 7.97, 5.970, singhal_steep)                                                                           \
    ROW("0.097", 8.26, 6.496, singhal_steep)                                                                           \
    ROW("0.098", 8.75, 7.441, singhal_steep)                                                                           \
    ROW("0.099", 9.25, 8.445, singhal_steep)                                                                           \
    ROW("0.100", 9.45, 8.877, singhal_overload)                                                                        \
    ROW("0.105", 9.93, 9.839, singhal_overload)                                                                        \
    ROW("0.110", 9.97, 9.939, singhal_overload)                                                                        \
    ROW("0.120", 9.99, 9.971, singhal_overload)                                                                        \
    ROW("0.150", 9.99, 9.992, singhal_overload)                                                                        \
    ROW("0.200", 10.00, 9.996, singhal_overload)                                                                       \
    ROW("0.300", 10.00, 9.998, singhal_overload)                                                                       \
    ROW("0.500", 10.00, 10.00, singhal_overload)                                                                       \
    ROW("1.000", 10.00, 10.00, singhal_overload)

#define SINGHAL_RUN(rule, rate)                                                                                        \
    "singhal-heuristic --set arbitration=" rule " --rate " rate " --hold 0.0002 --entries 400k"
#define NEAREST(rate, messages, wait, why)                                                                             \
    EQUALS_UNLESS("rate " rate ": messages", SINGHAL_RUN("nearest", rate), FIG_MESSAGES, messages, 0.01, why),         \
        EQUALS_UNLESS("rate " rate ": waiting time", SINGHAL_RUN("nearest", rate), FIG_WAIT, wait, 0.01, why),
#define LOWEST(rate, messages, wait, why)                                                                              \
    EQUALS_UNLESS("rate " rate ": messages", SINGHAL_RUN("lowest", rate), FIG_MESSAGES, messages, 0.01, singhal_rule), \
        EQUALS_UNLESS("rate " rate ": waiting time", SINGHAL_RUN("lowest", rate), FIG_WAIT, wait, 0.01, singhal_rule),

static const struct paper_row singhal_table_rows[] = {SINGHAL_TABLE_2(NEAREST){0}};

const struct paper paper_singhal_table = {
    .name = "singhal-table-2",
    .title = "Singhal, Table II: messages and waiting time over load, nearest first",
    .citation = "M. Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, IEEE "
                "Transactions on Computers 38(5), 1989",
    .rows = singhal_table_rows,
};

static const struct paper_row singhal_lowest_rows[] = {SINGHAL_TABLE_2(LOWEST){0}};

const struct paper paper_singhal_lowest = {
    .name = "singhal-table-2-lowest",
    .title = "Singhal, Table II, if the lowest number is served first",
    .citation = "M. Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, IEEE "
                "Transactions on Computers 38(5), 1989",
    .rows = singhal_lowest_rows,
};

static const struct paper_row singhal_limits_rows[] = {
    EQUALS_BUT("light load, n=5: messages", "singhal-heuristic --sites 5 --rate 0.0001 --hold 0.0002", FIG_MESSAGES,
               2.40000, 0.01, 2.80000, singhal_light),
    EQUALS("light load, n=5: waiting time 2T(1 - 1/n)", "singhal-heuristic --sites 5 --rate 0.0001 --hold 0.0002",
           FIG_WAIT, 1.60000, 0.01),
    EQUALS("full load, n=5: n messages", "singhal-heuristic --sites 5 --closed --hold 0.0002", FIG_MESSAGES, 5, 0.001),
    EQUALS("full load, n=5: waiting time nT", "singhal-heuristic --sites 5 --closed --hold 0.0002", FIG_WAIT, 5, 0.001),
    EQUALS_BUT("light load, n=10: messages", "singhal-heuristic --sites 10 --rate 5e-05 --hold 0.0002", FIG_MESSAGES,
               4.95000, 0.01, 5.40000, singhal_light),
    EQUALS("light load, n=10: waiting time 2T(1 - 1/n)", "singhal-heuristic --sites 10 --rate 5e-05 --hold 0.0002",
           FIG_WAIT, 1.80000, 0.01),
    EQUALS("full load, n=10: n messages", "singhal-heuristic --sites 10 --closed --hold 0.0002", FIG_MESSAGES, 10,
           0.001),
    EQUALS("full load, n=10: waiting time nT", "singhal-heuristic --sites 10 --closed --hold 0.0002", FIG_WAIT, 10,
           0.001),
    EQUALS_BUT("light load, n=20: messages", "singhal-heuristic --sites 20 --rate 2.5e-05 --hold 0.0002", FIG_MESSAGES,
               9.97500, 0.01, 10.45000, singhal_light),
    EQUALS("light load, n=20: waiting time 2T(1 - 1/n)", "singhal-heuristic --sites 20 --rate 2.5e-05 --hold 0.0002",
           FIG_WAIT, 1.90000, 0.01),
    EQUALS("full load, n=20: n messages", "singhal-heuristic --sites 20 --closed --hold 0.0002", FIG_MESSAGES, 20,
           0.001),
    EQUALS("full load, n=20: waiting time nT", "singhal-heuristic --sites 20 --closed --hold 0.0002", FIG_WAIT, 20,
           0.001),
    EQUALS_BUT("light load, n=50: messages", "singhal-heuristic --sites 50 --rate 1e-05 --hold 0.0002", FIG_MESSAGES,
               24.99000, 0.01, 25.48000, singhal_light),
    EQUALS("light load, n=50: waiting time 2T(1 - 1/n)", "singhal-heuristic --sites 50 --rate 1e-05 --hold 0.0002",
           FIG_WAIT, 1.96000, 0.01),
    EQUALS("full load, n=50: n messages", "singhal-heuristic --sites 50 --closed --hold 0.0002", FIG_MESSAGES, 50,
           0.001),
    EQUALS("full load, n=50: waiting time nT", "singhal-heuristic --sites 50 --closed --hold 0.0002", FIG_WAIT, 50,
           0.001),
    AT_MOST("uneven, 2 of 10 ask 90%: cheaper than even", "singhal-heuristic --rate 0.0001 --hot 0.9,2 --hold 0.0002",
            FIG_MESSAGES, 5.40, 0),
    AT_MOST("uneven, Zipf 1.5: cheaper than even", "singhal-heuristic --rate 0.0001 --zipf 1.5 --hold 0.0002",
            FIG_MESSAGES, 5.40, 0),
    {0},
};

const struct paper paper_singhal_limits = {
    .name = "singhal-limits",
    .title = "Singhal: light and full load, uneven loads",
    .citation = "M. Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, IEEE "
                "Transactions on Computers 38(5), 1989",
    .rows = singhal_limits_rows,
};
