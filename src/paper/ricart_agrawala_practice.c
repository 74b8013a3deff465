/* ricart_agrawala_practice.c - section 7 of the report: names, insertion, removal and failures of nodes. */
#include "paper.h"

#include <math.h>

static const char practice_join[] =
    "no site acknowledges the new name: a member that has not heard of it yet asks without it, and two are inside";
static const char practice_include[] =
    "no site acknowledges the newcomer: two that come at once are not on each other's lists, and each goes in when the "
    "members have replied";
static const char practice_reply[] = "the answer to a probe may be a second REPLY to one request, and a REPLY without "
                                     "a number is taken for an answer to "
                                     "the next request";
static const char practice_probe[] = "the REQUEST may have been lost where it would have been deferred; a probe has to "
                                     "carry the number and to be treated "
                                     "as the REQUEST";

static const struct paper_row ricart_agrawala_practice_rows[] = {
    CLAIM("section 7.1, page 21", "node numbers may come from a larger range than 1 to n, through a table of names"),
    UNTESTED("sites are numbered from 0 here; members of the service have names"),
    CLAIM("section 7.2.1, page 21", "a node that restarts first tells the others that it failed, and then waits"),
    SCENARIO("a restart interval", "ricart-agrawala-robust-interval"),
    CHECKS("2 sites, a crash and a restart",
           "ricart-agrawala-robust --sites 2 --crash 1 --restart 1 --set restart-interval=6 --order any", CHECK_HOLDS),
    CLAIM("section 7.2.2, page 22", "a sponsor enters, hands out its list, broadcasts the new name and leaves"),
    CHECKS_BUT("as printed, 2 members and a newcomer",
               "ricart-agrawala-robust-as-published --set mistake=joins-unacknowledged --set members=2 --join 1 "
               "--requests 0,1,1 --order fifo",
               CHECK_HOLDS, CHECK_EXCLUSION, practice_join),
    SCENARIO("with acknowledgements", "ricart-agrawala-robust-join"),
    CLAIM("section 7.2.2, page 22", "alternatively the newcomer itself broadcasts that all shall include it"),
    CHECKS_BUT("as printed, 1 member and 2 newcomers, FIFO",
               "ricart-agrawala-robust-as-published --set mistake=included-unacknowledged --set join=broadcast "
               "--set members=1 --requests 0,1,1 --order fifo",
               CHECK_HOLDS, CHECK_EXCLUSION, practice_include),
    OURS_CHECKS("with acknowledgements, 1 member and 2 newcomers",
                "ricart-agrawala-robust --set join=broadcast --set members=1 --requests 0,1,1", CHECK_HOLDS),
    SCENARIO("two newcomers at once", "ricart-agrawala-robust-include"),
    CLAIM("section 7.2.3, page 23", "five ways to a highest number that is high enough, and they suffice"),
    CHECKS("a: ask all", "ricart-agrawala-robust --sites 2 --requests 2,1 --set members=1 --set highest=asked",
           CHECK_HOLDS),
    CHECKS("b: a request of each",
           "ricart-agrawala-robust --sites 2 --requests 2,1 --set members=1 --set highest=heard-all", CHECK_HOLDS),
    CHECKS("c: numbers grown by n-1",
           "ricart-agrawala-robust --sites 2 --requests 2,1 --set members=1 --set highest=heard-span", CHECK_HOLDS),
    CHECKS("d: wait until all could have entered",
           "ricart-agrawala-robust --sites 2 --requests 2,1 --set members=1 --set highest=waited", CHECK_HOLDS),
    CHECKS("e: the fourth request of a node, FIFO",
           "ricart-agrawala-robust --sites 2 --requests 2,1 --set members=1 --set highest=heard-four --order fifo",
           CHECK_HOLDS),
    CLAIM("section 7.3, page 23", "a node leaves when all have acknowledged it"),
    SCENARIO("a member leaves", "ricart-agrawala-robust-leave"),
    CLAIM("section 7.4, page 24", "a timer that is restarted at every REPLY finds nodes that failed"),
    SCENARIO("a node fails", "ricart-agrawala-robust-crash"),
    CHECKS("2 sites, one crash", "ricart-agrawala-robust --sites 2 --requests 2 --crash 1 --order any", CHECK_HOLDS),
    OURS("n=25, full load: 2(n-1), no false alarm", "ricart-agrawala-robust --sites 25 --closed --entries 5k",
         FIG_MESSAGES, 48, 1e-3),
    OURS("the same, if a REPLY does not restart it",
         "ricart-agrawala-robust --set timer=kept --sites 25 --closed --entries 5k", FIG_MESSAGES, 184, 0.01),
    CLAIM("section 7.4, page 25",
          "the time-out does not limit the time inside: a node that is inside answers the probe"),
    CHECKS("2 sites, a stay inside of any length, any order",
           "ricart-agrawala-robust --sites 2 --requests 2 --order any", CHECK_HOLDS),
    CLAIM("section 7.4, page 25", "a REPLY that names its sender is enough"),
    CHECKS_BUT(
        "as printed, 2 sites",
        "ricart-agrawala-robust-as-published --set mistake=replies-unnumbered --sites 2 --requests 2 --order fifo",
        CHECK_HOLDS, CHECK_EXCLUSION, practice_reply),
    CLAIM("section 7.4, page 25", "a probe that finds nothing deferred is rightly answered by a REPLY"),
    CHECKS_BUT("as printed, 2 sites, a lost REQUEST",
               "ricart-agrawala-robust-as-published --set mistake=probe-is-no-request --sites 2 --order fifo --lose 1",
               CHECK_HOLDS, CHECK_EXCLUSION, practice_probe),
    CLAIM("section 7.4, page 26", "a live node that was given up is told to restart and comes back"),
    SCENARIO("it is told so", "ricart-agrawala-robust-forgotten"),
    {0},
};

const struct paper paper_ricart_agrawala_practice = {
    .name = "ricart-agrawala-practice",
    .title = "Ricart and Agrawala, section 7: practical networks",
    .citation = "G. Ricart, A. K. Agrawala, An algorithm for mutual exclusion in computer networks, report TR-869, "
                "University of Maryland, 1980, section 7",
    .rows = ricart_agrawala_practice_rows,
};
