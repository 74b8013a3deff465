/* swaroop_singh.c - group mutual exclusion with captains and followers: the five theorems. */
#include "paper.h"

#include <math.h>

static const char swaroop_switches[] = "the bound holds from the moment the request is in the queue of the token; "
                                       "while it is on its way to the token, any "
                                       "number of sessions may be opened";

static const char swaroop_giver[] =
    "in figure 3 the site that gives an idle token away stays in state HI and may enter "
    "without it; it has to become N";
static const char swaroop_early[] =
    "in figure 3 a request that reaches a site before the token does is forgotten there; it "
    "has to be kept until the token comes";

static const struct paper_row swaroop_singh_rows[] = {
    CLAIM("correctness proof, page 831", "two sessions are never inside together"),
    CHECKS_BUT("as printed, 2 sites", "swaroop-singh-as-published --rule group:2 --sites 2 --order fifo", CHECK_HOLDS,
               CHECK_EXCLUSION, swaroop_giver),
    OURS_CHECKS("repaired, 3 sites, 1 request each, 2 sessions", "swaroop-singh --rule group:2", CHECK_HOLDS),
    CLAIM("correctness proof, page 831", "no process starves"),
    CHECKS_BUT("as printed, 3 sites, 2 ask",
               "swaroop-singh-as-published --set mistake=forgets-early-requests --requests 0,1,1 --order fifo",
               CHECK_HOLDS, CHECK_DEADLOCK, swaroop_early),
    OURS_CHECKS("repaired, 3 sites, 1 request each, 2 sessions", "swaroop-singh --rule group:2 --starvation",
                CHECK_HOLDS),
    CLAIM("correctness proof, page 832", "concurrent occupancy: nobody waits for an exit from its own session"),
    CHECKS("repaired, 3 sites, 1 request each, 2 sessions", "swaroop-singh --rule group:2 --concurrency", CHECK_HOLDS),
    CLAIM("theorem 1, page 833", "an entry costs no message in the best case"),
    AT_MOST("the holder asks again", "swaroop-singh --rule group:2 --closed --requesters 1", FIG_MESSAGES, 0, 0),
    CLAIM("theorem 1, page 833", "an entry costs n+1 messages in the worst case, as a captain n"),
    AT_MOST("n=3, full load, 2 sessions, mean", "swaroop-singh --rule group:2 --sites 3 --closed", FIG_MESSAGES, 4, 0),
    AT_MOST("n=5, full load, 2 sessions, mean", "swaroop-singh --rule group:2 --sites 5 --closed", FIG_MESSAGES, 6, 0),
    AT_MOST("n=10, full load, 2 sessions, mean", "swaroop-singh --rule group:2 --sites 10 --closed", FIG_MESSAGES, 11,
            0),
    AT_MOST("n=20, full load, 2 sessions, mean", "swaroop-singh --rule group:2 --sites 20 --closed", FIG_MESSAGES, 21,
            0),
    AT_MOST("n=10, light load, mean: at most n", "swaroop-singh --rule group:4 --rate 0.0001", FIG_MESSAGES, 10, 0),
    CLAIM("theorem 3, page 834", "n processes can be inside together"),
    EQUALS("n=10, one session", "swaroop-singh --rule group:1 --closed --hold 20", PAPER_INSIDE_MAX, 10, 0),
    CLAIM("theorem 4, page 834", "a request sees at most min(n,m) forum switches, of m sessions"),
    AT_MOST_BUT("n=3, 2 sessions", "swaroop-singh --sites 3 --rule group:2 --closed --delay lognormal:1,2",
                PAPER_SWITCHES_MAX, 2, 0, INFINITY, swaroop_switches),
    AT_MOST_BUT("n=10, 4 sessions", "swaroop-singh --rule group:4 --closed --delay lognormal:1,2", PAPER_SWITCHES_MAX,
                4, 0, INFINITY, swaroop_switches),
    CLAIM("theorem 5, page 834", "the synchronization delay is at most 2T under heavy load"),
    AT_MOST("n=10, 3 sessions", "swaroop-singh --rule group:3 --closed", PAPER_SYNC_MAX, 2, 1e-6),
    AT_MOST("n=10, 10 sessions", "swaroop-singh --rule group:10 --closed", PAPER_SYNC_MAX, 2, 1e-6),
    {0},
};

const struct paper paper_swaroop_singh = {
    .name = "swaroop-singh",
    .title = "Swaroop and Singh: the five theorems",
    .citation = "A. Swaroop, A. K. Singh, A token-based fair algorithm for group mutual exclusion in distributed "
                "systems, Journal of Computer Science 3(10), 2007, pages 829-835",
    .rows = swaroop_singh_rows,
};
