/* swaroop_singh.c - group mutual exclusion with captains and followers: the five theorems. */
#include "paper.h"

#include <math.h>

static const char swaroop_switches[] = "the bound holds from the moment the request is in the queue of the token; "
                                       "while it is on its way to the token, any "
                                       "number of sessions may be opened";

static const struct paper_row swaroop_singh_rows[] = {
    AT_MOST("best case, the holder asks again: 0 messages", "swaroop-singh --rule group:2 --closed --requesters 1",
            FIG_MESSAGES, 0, 0),
    AT_MOST("n=3, full load, 2 sessions: at most n+1", "swaroop-singh --rule group:2 --sites 3 --closed", FIG_MESSAGES,
            4, 0),
    AT_MOST("n=5, full load, 2 sessions: at most n+1", "swaroop-singh --rule group:2 --sites 5 --closed", FIG_MESSAGES,
            6, 0),
    AT_MOST("n=10, full load, 2 sessions: at most n+1", "swaroop-singh --rule group:2 --sites 10 --closed",
            FIG_MESSAGES, 11, 0),
    AT_MOST("n=20, full load, 2 sessions: at most n+1", "swaroop-singh --rule group:2 --sites 20 --closed",
            FIG_MESSAGES, 21, 0),
    AT_MOST("n=10, light load: at most n", "swaroop-singh --rule group:4 --rate 0.0001", FIG_MESSAGES, 10, 0),
    EQUALS("n=10, one session: n inside together", "swaroop-singh --rule group:1 --closed --hold 20", PAPER_INSIDE_MAX,
           10, 0),
    AT_MOST("n=10, 3 sessions: synchronization delay up to 2T", "swaroop-singh --rule group:3 --closed", PAPER_SYNC_MAX,
            2, 1e-6),
    AT_MOST("n=10, 10 sessions: synchronization delay up to 2T", "swaroop-singh --rule group:10 --closed",
            PAPER_SYNC_MAX, 2, 1e-6),
    AT_MOST_BUT("n=3, 2 sessions: min(n,m) forum switches",
                "swaroop-singh --sites 3 --rule group:2 --closed --delay lognormal:1,2", PAPER_SWITCHES_MAX, 2, 0,
                INFINITY, swaroop_switches),
    AT_MOST_BUT("n=10, 4 sessions: min(n,m) forum switches",
                "swaroop-singh --rule group:4 --closed --delay lognormal:1,2", PAPER_SWITCHES_MAX, 4, 0, INFINITY,
                swaroop_switches),
    {0},
};

const struct paper paper_swaroop_singh = {
    .name = "swaroop-singh",
    .title = "Swaroop and Singh: messages, concurrency, delay, forum switches",
    .citation = "A. Swaroop, A. K. Singh, A token-based fair algorithm for group mutual exclusion in distributed "
                "systems, Journal of Computer Science 3(10), 2007",
    .rows = swaroop_singh_rows,
};
