/* lamport.c - logical clocks and a queue at every site. */
#include "paper.h"

static const char lamport_mean[] = "2(n-1) can be the cost of one request but not of all: of two requests that cross, "
                                   "only one is spared its reply, so no "
                                   "long run can cost less than 2.5(n-1) on the average";

static const struct paper_row lamport_rows[] = {
    EQUALS("3(n-1) messages, n=3, light load", "lamport --sites 3 --rate 0.001", FIG_MESSAGES, 6, 0),
    EQUALS("3(n-1) messages, n=3, full load", "lamport --sites 3 --closed", FIG_MESSAGES, 6, 1e-4),
    EQUALS("3(n-1) messages, n=3, random delays", "lamport --sites 3 --closed --delay exp:1", FIG_MESSAGES, 6, 1e-3),
    EQUALS("3(n-1) messages, n=10, light load", "lamport --sites 10 --rate 0.001", FIG_MESSAGES, 27, 0),
    EQUALS("3(n-1) messages, n=10, full load", "lamport --sites 10 --closed", FIG_MESSAGES, 27, 1e-4),
    EQUALS("3(n-1) messages, n=10, random delays", "lamport --sites 10 --closed --delay exp:1", FIG_MESSAGES, 27, 1e-3),
    EQUALS("3(n-1) messages, n=20, light load", "lamport --sites 20 --rate 0.001", FIG_MESSAGES, 57, 0),
    EQUALS("3(n-1) messages, n=20, full load", "lamport --sites 20 --closed", FIG_MESSAGES, 57, 1e-4),
    EQUALS("3(n-1) messages, n=20, random delays", "lamport --sites 20 --closed --delay exp:1", FIG_MESSAGES, 57, 1e-3),
    EQUALS("replies omitted, n=10, all ask at once", "lamport --set omit=lecture --closed --entries 10 --warmup 0",
           FIG_MESSAGES, 22.5, 0),
    AT_MOST("replies omitted, n=10, light: at most 3(n-1)", "lamport --set omit=lecture --rate 0.001", FIG_MESSAGES, 27,
            0),
    AT_LEAST("replies omitted, n=3, full: at least 2(n-1)",
             "lamport --set omit=lecture --sites 3 --closed --delay exp:1", FIG_MESSAGES, 4, 0),
    EQUALS_BUT("replies omitted, n=3, full load: 2(n-1)", "lamport --set omit=lecture --sites 3 --closed --delay exp:1",
               FIG_MESSAGES, 4, 0.02, 5.58, lamport_mean),
    EQUALS("synchronization delay T", "lamport --closed", FIG_SYNC, 1, 1e-6),
    EQUALS("response 2T+E, light load", "lamport --rate 0.00001", FIG_RESPONSE, 2.1, 1e-3),
    EQUALS("throughput 1/(T+E), full load", "lamport --closed", FIG_THROUGHPUT, 1 / 1.1, 1e-4),
    EQUALS("throughput 1/(T+E), E = 2T", "lamport --closed --hold 2", FIG_THROUGHPUT, 1.0 / 3, 1e-4),
    {0},
};

const struct paper paper_lamport = {
    .name = "lamport",
    .title = "Lamport: 3(n-1) messages, 2(n-1) to 3(n-1) with replies omitted, delay T",
    .citation = "L. Lamport, Time, clocks, and the ordering of events in a distributed system, CACM 21(7), 1978; "
                "omitting replies as in R. Misra, Distributed Systems, lecture 7",
    .rows = lamport_rows,
};
