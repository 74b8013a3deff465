/* banta.c - token queues: the analyses of chapter 4, theorems 5.1 (with figure 5.2) and 6.1. A cycle serves m requests
 * if m+1 sites ask all the time. */
#include "paper.h"

static const char banta_cycle[] =
    "the theorem counts an update to the site that starts the cycle, which needs none: (n-1)/m + 1";
static const char banta_release[] =
    "the site that starts the cycle needs no update, and the good site sends no release: (n-2)/m + 2";

static const struct paper_row banta_simple_rows[] = {
    EQUALS("light load, n=5: n, less the share of the holder", "banta-simple --sites 5 --rate 0.0002", FIG_MESSAGES, 4,
           0.02),
    EQUALS("full load, n=5, E = 5T: 2", "banta-simple --sites 5 --closed --hold 5", FIG_MESSAGES, 2, 0.002),
    EQUALS("light load, n=10: n, less the share of the holder", "banta-simple --sites 10 --rate 0.0001", FIG_MESSAGES,
           9, 0.02),
    EQUALS("full load, n=10, E = 5T: 2", "banta-simple --sites 10 --closed --hold 5", FIG_MESSAGES, 2, 0.002),
    EQUALS("light load, n=20: n, less the share of the holder", "banta-simple --sites 20 --rate 5e-05", FIG_MESSAGES,
           19, 0.02),
    EQUALS("full load, n=20, E = 5T: 2", "banta-simple --sites 20 --closed --hold 5", FIG_MESSAGES, 2, 0.002),
    {0},
};

const struct paper paper_banta_simple = {
    .name = "banta-chapter-4",
    .title = "Banta, chapter 4: n messages at light load, 2 at full load",
    .citation = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, "
                "1993, chapter 4",
    .rows = banta_simple_rows,
};

static const struct paper_row banta_efficient_rows[] = {
    EQUALS_BUT("n=10, m=1: n/m + 1", "banta-efficient --sites 10 --closed --requesters 2", FIG_MESSAGES, 11.00000,
               0.002, 10.00000, banta_cycle),
    EQUALS_BUT("n=10, m=2: n/m + 1", "banta-efficient --sites 10 --closed --requesters 3", FIG_MESSAGES, 6.00000, 0.002,
               5.50000, banta_cycle),
    EQUALS_BUT("n=10, m=3: n/m + 1", "banta-efficient --sites 10 --closed --requesters 4", FIG_MESSAGES, 4.33333, 0.002,
               4.00000, banta_cycle),
    EQUALS_BUT("n=10, m=4: n/m + 1", "banta-efficient --sites 10 --closed --requesters 5", FIG_MESSAGES, 3.50000, 0.002,
               3.25000, banta_cycle),
    EQUALS_BUT("n=10, m=5: n/m + 1", "banta-efficient --sites 10 --closed --requesters 6", FIG_MESSAGES, 3.00000, 0.002,
               2.80000, banta_cycle),
    EQUALS_BUT("n=10, m=7: n/m + 1", "banta-efficient --sites 10 --closed --requesters 8", FIG_MESSAGES, 2.42857, 0.002,
               2.28571, banta_cycle),
    EQUALS_BUT("n=10, m=9: n/m + 1", "banta-efficient --sites 10 --closed --requesters 10", FIG_MESSAGES, 2.11111,
               0.002, 2.00000, banta_cycle),
    EQUALS("n=10, light load: n, less the share of the holder", "banta-efficient --sites 10 --rate 0.0001",
           FIG_MESSAGES, 9, 0.02),
    EQUALS_BUT("n=20, m=1: n/m + 1", "banta-efficient --sites 20 --closed --requesters 2", FIG_MESSAGES, 21.00000,
               0.002, 20.00000, banta_cycle),
    EQUALS_BUT("n=20, m=2: n/m + 1", "banta-efficient --sites 20 --closed --requesters 3", FIG_MESSAGES, 11.00000,
               0.002, 10.50000, banta_cycle),
    EQUALS_BUT("n=20, m=4: n/m + 1", "banta-efficient --sites 20 --closed --requesters 5", FIG_MESSAGES, 6.00000, 0.002,
               5.75000, banta_cycle),
    EQUALS_BUT("n=20, m=5: n/m + 1", "banta-efficient --sites 20 --closed --requesters 6", FIG_MESSAGES, 5.00000, 0.002,
               4.80000, banta_cycle),
    EQUALS_BUT("n=20, m=10: n/m + 1", "banta-efficient --sites 20 --closed --requesters 11", FIG_MESSAGES, 3.00000,
               0.002, 2.90000, banta_cycle),
    EQUALS_BUT("n=20, m=15: n/m + 1", "banta-efficient --sites 20 --closed --requesters 16", FIG_MESSAGES, 2.33333,
               0.002, 2.26667, banta_cycle),
    EQUALS_BUT("n=20, m=19: n/m + 1", "banta-efficient --sites 20 --closed --requesters 20", FIG_MESSAGES, 2.05263,
               0.002, 2.00000, banta_cycle),
    EQUALS("n=20, light load: n, less the share of the holder", "banta-efficient --sites 20 --rate 5e-05", FIG_MESSAGES,
           19, 0.02),
    {0},
};

const struct paper paper_banta_efficient = {
    .name = "banta-theorem-5.1",
    .title = "Banta, theorem 5.1 and figure 5.2: n/m + 1 messages",
    .citation = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, "
                "1993, chapter 5",
    .rows = banta_efficient_rows,
};

static const struct paper_row banta_k_rows[] = {
    EQUALS_BUT("n=10, k=3, m=1: n/m + 2", "banta-k --rule slots:3 --sites 10 --closed --requesters 2", FIG_MESSAGES,
               12.00000, 0.002, 10.00000, banta_release),
    EQUALS_BUT("n=10, k=3, m=2: n/m + 2", "banta-k --rule slots:3 --sites 10 --closed --requesters 3", FIG_MESSAGES,
               7.00000, 0.002, 6.00000, banta_release),
    EQUALS_BUT("n=10, k=3, m=3: n/m + 2", "banta-k --rule slots:3 --sites 10 --closed --requesters 4", FIG_MESSAGES,
               5.33333, 0.002, 4.66667, banta_release),
    EQUALS_BUT("n=10, k=3, m=4: n/m + 2", "banta-k --rule slots:3 --sites 10 --closed --requesters 5", FIG_MESSAGES,
               4.50000, 0.002, 4.00000, banta_release),
    EQUALS_BUT("n=10, k=3, m=5: n/m + 2", "banta-k --rule slots:3 --sites 10 --closed --requesters 6", FIG_MESSAGES,
               4.00000, 0.002, 3.60000, banta_release),
    EQUALS_BUT("n=10, k=3, m=7: n/m + 2", "banta-k --rule slots:3 --sites 10 --closed --requesters 8", FIG_MESSAGES,
               3.42857, 0.002, 3.14286, banta_release),
    EQUALS_BUT("n=10, k=3, m=9: n/m + 2", "banta-k --rule slots:3 --sites 10 --closed --requesters 10", FIG_MESSAGES,
               3.11111, 0.002, 2.88889, banta_release),
    EQUALS_BUT("n=20, k=3, m=1: n/m + 2", "banta-k --rule slots:3 --sites 20 --closed --requesters 2", FIG_MESSAGES,
               22.00000, 0.002, 20.00000, banta_release),
    EQUALS_BUT("n=20, k=3, m=5: n/m + 2", "banta-k --rule slots:3 --sites 20 --closed --requesters 6", FIG_MESSAGES,
               6.00000, 0.002, 5.60000, banta_release),
    EQUALS_BUT("n=20, k=3, m=10: n/m + 2", "banta-k --rule slots:3 --sites 20 --closed --requesters 11", FIG_MESSAGES,
               4.00000, 0.002, 3.80000, banta_release),
    EQUALS_BUT("n=20, k=3, m=19: n/m + 2", "banta-k --rule slots:3 --sites 20 --closed --requesters 20", FIG_MESSAGES,
               3.05263, 0.002, 2.94737, banta_release),
    EQUALS("n=10, k=3, E = 10T: up to k inside", "banta-k --rule slots:3 --closed --hold 10", PAPER_INSIDE_MAX, 3, 0),
    {0},
};

const struct paper paper_banta_k = {
    .name = "banta-theorem-6.1",
    .title = "Banta, theorem 6.1: n/m + 2 messages for k entries",
    .citation = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, "
                "1993, chapter 6",
    .rows = banta_k_rows,
};
