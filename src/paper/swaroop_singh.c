/* swaroop_singh.c - group mutual exclusion with captains and followers: the five theorems. */
#include "paper.h"

#include <math.h>

static const char swaroop_switches[] = "the bound holds from the moment the request is in the queue of the token; "
                                       "while it is on its way to the token, any "
                                       "number of sessions may be opened";

static const char swaroop_size[] =
    "n-1 small requests go with each token of O(n), so the mean is constant, 12 to 15 bytes; O(n) is "
    "reached where few requests go with each token, by two sites that alternate";
static const char swaroop_giver[] =
    "in figure 3 the site that gives an idle token away stays in state HI and may enter "
    "without it; it has to become N";
static const char swaroop_early[] =
    "in figure 3 a request that reaches a site before the token does is forgotten there; it "
    "has to be kept until the token comes";

static const struct paper_row swaroop_singh_rows[] = {
    CLAIM("correctness proof, page 831", "two sessions are never inside together"),
    CHECKS_BUT("as printed, 2 sites",
               "swaroop-singh-as-published --set mistake=giver-stays-holder --rule group:2 --sites 2 --order fifo",
               CHECK_HOLDS, CHECK_EXCLUSION, swaroop_giver),
    OURS_CHECKS("repaired, 3 sites, 1 request each, 2 sessions", "swaroop-singh --rule group:2", CHECK_HOLDS),
    CLAIM("correctness proof, page 831", "no process starves"),
    CHECKS_BUT("as printed, 3 sites, 2 ask",
               "swaroop-singh-as-published --set mistake=forgets-early-requests --requests 0,1,1 --order fifo",
               CHECK_HOLDS, CHECK_DEADLOCK, swaroop_early),
    OURS_CHECKS("repaired, 3 sites, 1 request each, 2 sessions", "swaroop-singh --rule group:2 --starvation",
                CHECK_HOLDS),
    CLAIM("correctness proof, page 832", "concurrent occupancy: no site waits for an exit from its own session"),
    CHECKS("repaired, 3 sites, 1 request each, 2 sessions", "swaroop-singh --rule group:2 --concurrency", CHECK_HOLDS),
    CLAIM("table 1, page 830", "six states of a process"),
    SCENARIO("a walk through all six", "swaroop-singh-states"),
    CLAIM("theorem 1, page 833", "an entry costs no message in the best case"),
    AT_MOST("the holder asks again", "swaroop-singh --rule group:2 --closed --requesters 1", FIG_MESSAGES, 0, 0),
    CLAIM("theorem 1, page 833", "an entry costs n+1 messages in the worst case, as a captain n"),
    REACHES("n=3, a follower: n+1", paper_swaroop_follower, 3, 4),
    REACHES("n=10, a follower: n+1", paper_swaroop_follower, 10, 11),
    WORST("n=3, one request: the captain's n, in no run more",
          "swaroop-singh --rule group:2 --requests 0,0,1 --messages", 3),
    WORST("n=4, one request: the captain's n, in no run more",
          "swaroop-singh --rule group:2 --sites 4 --requests 0,0,0,1 --messages", 4),
    AT_MOST("n=3, full load, 2 sessions, mean", "swaroop-singh --rule group:2 --sites 3 --closed", FIG_MESSAGES, 4, 0),
    AT_MOST("n=5, full load, 2 sessions, mean", "swaroop-singh --rule group:2 --sites 5 --closed", FIG_MESSAGES, 6, 0),
    AT_MOST("n=10, full load, 2 sessions, mean", "swaroop-singh --rule group:2 --sites 10 --closed", FIG_MESSAGES, 11,
            0),
    AT_MOST("n=20, full load, 2 sessions, mean", "swaroop-singh --rule group:2 --sites 20 --closed", FIG_MESSAGES, 21,
            0),
    AT_MOST("n=10, light load, mean: at most n", "swaroop-singh --rule group:4 --rate 0.0001", FIG_MESSAGES, 10, 0),
    CLAIM("theorem 2, page 833, and table 2", "the mean message size is O(n) in the worst case, O(1) in the best"),
    OURS("n=5, two sites alternate: bytes", "swaroop-singh --sites 5 --closed --requesters 2 --entries 5k",
         PAPER_MESSAGE_BYTES, 22.5, 0.01),
    OURS("n=80, two sites alternate: O(n)", "swaroop-singh --sites 80 --closed --requesters 2 --entries 5k",
         PAPER_MESSAGE_BYTES, 247.5, 0.01),
    AT_MOST("n=80, a site alone: no message, so no size", "swaroop-singh --sites 80 --closed --requesters 1",
            FIG_MESSAGES, 0, 0),
    CLAIM("theorem 2, proof, page 833", "the worst case is n-1 pending requests, each for another session"),
    OURS("n=5, all ask, each for itself: bytes", "swaroop-singh --sites 5 --closed --entries 5k", PAPER_MESSAGE_BYTES,
         14.4, 0.01),
    OURS("n=80, all ask, each for itself: bytes", "swaroop-singh --sites 80 --closed --entries 5k", PAPER_MESSAGE_BYTES,
         12, 0.01),
    ARGUED("the mean size does not grow with n under that load", swaroop_size),
    CLAIM("theorem 2, proof, page 833", "the best case is n-1 pending requests, all for one session"),
    AT_MOST("n=80, one session: bytes of a message, below those of alternating sites",
            "swaroop-singh --sites 80 --rule group:1 --closed --entries 5k", PAPER_MESSAGE_BYTES, 15, 0),
    CLAIM("theorem 3, page 834", "n processes can be inside together"),
    EQUALS("n=10, one session", "swaroop-singh --rule group:1 --closed --hold 20", PAPER_INSIDE_MAX, 10, 0),
    CLAIM("introduction, page 829", "readers and writers are a special case"),
    CHECKS("repaired, 3 sites, 1 request each, readers and writers", "swaroop-singh --rule shared", CHECK_HOLDS),
    CLAIM("introduction, page 830, and conclusion", "sessions are opened first come, first served"),
    EQUALS("n=10, each for itself, full load: all enter equally often", "swaroop-singh --closed", PAPER_JAIN, 1, 0.001),
    EQUALS("n=10, each for itself, full load: no process is overtaken", "swaroop-singh --closed", PAPER_OVERTAKES_MAX,
           0, 0),
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
