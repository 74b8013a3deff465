/* banta.c - token queues: the analyses of chapters 4, 5 (with figure 5.2) and 6. A cycle serves m requests if m+1 sites ask
 * all the time. The printed loops tell all sites that are not on the queue of the new good site, also the one that
 * tells them; the thesis counts that message, and dibs, which never sends one to oneself, does not. */
#include "paper.h"

#include <math.h>

static const char banta_release[] =
    "the good site, which is the last of a cycle, sends no release (procedure receive_token, page 71): m-1 releases, "
    "and (n-1)/m + 2 messages";

static const char banta_asks[] =
    "the printed site that holds the idle token asks its good site, itself, and keeps the request "
    "in its own queue (procedures request_token and receive_request, pages 34-35)";
static const char banta_versions[] =
    "updates carry no version (procedure receive_good_site_update, page 35), so an old one may arrive last, and a "
    "request is passed on in a circle";

static const struct paper_row banta_simple_rows[] = {
    CLAIM("section 4.5.1, page 39", "two sites are never inside together"),
    CHECKS("3 sites, 1 request each, any order", "banta-simple", CHECK_HOLDS),
    CLAIM("section 3.4, figure 3.4, page 29", "one cycle: the token at S4, S7 on its queue, S2 and S5 ask S7"),
    SCENARIO("the four steps", "banta-simple-figure-3.4"),
    CLAIM("section 4.1, figure 4.1, page 32", "S8, S2 and S4 on the token queue; S5, S3 and S7 join it at S4"),
    SCENARIO("the queue, and who is told of S7", "banta-simple-figure-4.1"),
    CLAIM("section 3.4, pages 25-30", "the first draft, which asks all others, loses requests"),
    CHECKS("2 sites: the token is in use", "banta-first-draft --sites 2", CHECK_DEADLOCK),
    SCENARIO("3 sites: the token is on its way", "banta-first-draft"),
    CLAIM("section 3.4, pages 25-30",
          "the basic algorithm, in which the last site of the queue is asked, has problems"),
    CHECKS("3 sites: it is asked after the token has left", "banta-basic --requests 0,1,1", CHECK_DEADLOCK),
    SCENARIO("the same, step by step", "banta-basic"),
    CLAIM("section 4.5.1, page 39", "the preliminary algorithm guarantees mutual exclusion"),
    CHECKS("3 sites, 2 requests each, any order", "banta-preliminary --requests 2", CHECK_HOLDS),
    CLAIM("section 4.5.2, page 39", "the preliminary algorithm starves: a request may chase the token for ever"),
    CHECKS("4 sites, FIFO; found among the runs of few messages",
           "banta-preliminary --set updates=printed --sites 4 --requests unlimited --order fifo --in-flight 2",
           CHECK_STARVATION),
    SCENARIO("a chase without end", "banta-preliminary"),
    CLAIM("section 4.6, page 40", "a request is sent to n-1 sites in the worst case before it is queued"),
    CHECKS("3 sites, 2 requests each: passed on at most n-1 times, BS4", "banta-simple --requests 2", CHECK_HOLDS),
    CHECKS("4 sites, 1 request each", "banta-simple --sites 4 --order fifo", CHECK_HOLDS),
    CLAIM("section 4.6, pages 40-41", "numbered requests, copies and the history array end starvation"),
    CHECKS_BUT("as printed, 2 sites: the holder asks itself",
               "banta-simple-as-published --set mistake=holder-asks-itself --sites 2 --order fifo", CHECK_HOLDS,
               CHECK_DEADLOCK, banta_asks),
    CHECKS_BUT("as printed, 3 sites: an old update sends requests in a circle",
               "banta-simple-as-published --set mistake=no-versions --requests 1,1,2 --order fifo", CHECK_HOLDS,
               CHECK_DEADLOCK, banta_versions),
    OURS_CHECKS("repaired, 3 sites, 1 request each", "banta-simple --starvation", CHECK_HOLDS),
    CLAIM("section 4.7.1, page 42", "at light load an entry costs n messages, of which n-2 are updates"),
    EQUALS("n=5: n, less the share of the holder", "banta-simple --sites 5 --rate 0.0002", FIG_MESSAGES, 4, 0.02),
    EQUALS("n=10: n, less the share of the holder", "banta-simple --sites 10 --rate 0.0001", FIG_MESSAGES, 9, 0.02),
    EQUALS("n=20: n, less the share of the holder", "banta-simple --sites 20 --rate 5e-05", FIG_MESSAGES, 19, 0.02),
    CLAIM("section 4.7.2, page 42", "at heavy load an entry costs a constant, as small as 2 messages"),
    EQUALS("n=5, E = 5T: 2", "banta-simple --sites 5 --closed --hold 5", FIG_MESSAGES, 2, 0.002),
    EQUALS("n=10, E = 5T: 2", "banta-simple --sites 10 --closed --hold 5", FIG_MESSAGES, 2, 0.002),
    EQUALS("n=20, E = 5T: 2", "banta-simple --sites 20 --closed --hold 5", FIG_MESSAGES, 2, 0.002),
    {0},
};

const struct paper paper_banta_simple = {
    .name = "banta-chapter-4",
    .title = "Banta, chapter 4: the simple algorithm",
    .citation = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, "
                "1993, chapter 4",
    .rows = banta_simple_rows,
};

static const struct paper_row banta_efficient_rows[] = {
    CLAIM("section 1.3, page 5", "all three algorithms rely on a known bound on the time that a message takes"),
    CHECKS("the efficient one without a bound", "banta-efficient --without bounded-delay", CHECK_INVARIANT),
    CHECKS("the one for k without a bound", "banta-k --rule slots:2 --without bounded-delay --requests 2",
           CHECK_INVARIANT),
    OURS_CHECKS("the simple one has no time-outs, and holds without a bound", "banta-simple --requests 2", CHECK_HOLDS),
    CLAIM("section 5.4, page 47", "a wait of two time periods is sufficient and necessary"),
    CHECKS("3 sites, unlimited requests, more than 2T", "banta-efficient --requests unlimited", CHECK_HOLDS),
    CHECKS("3 sites, 1 request each, 1T", "banta-efficient-tempting --set mistake=short-window", CHECK_DEADLOCK),
    CLAIM("section 5.2, figure 5.1, page 45", "S8, S2 and S4 on the token queue, S4 marked as the good site"),
    SCENARIO("the queue and its mark", "banta-efficient-figure-5.1"),
    CLAIM("section 5.10, page 56", "exclusion, no starvation"),
    CHECKS("3 sites, unlimited requests", "banta-efficient --requests unlimited", CHECK_HOLDS),
    CLAIM("section 5.10.3, pages 56-57", "fair: first come, first served, no site is preferred"),
    EQUALS("n=10, full load: all enter equally often", "banta-efficient --closed", PAPER_JAIN, 1, 0.001),
    EQUALS("n=10, full load: no site is overtaken", "banta-efficient --closed", PAPER_OVERTAKES_MAX, 0, 0),
    CLAIM("theorem 5.1, page 57, and figure 5.2, page 59",
          "an entry costs n/m + 1 messages (n-m of each cycle are updates, one of them to the sender itself); "
          "docs/requesters.png is the figure, as measured"),
    WITH_OWN("n=10, m=1", "banta-efficient --sites 10 --closed --requesters 2", 11.00000, 0.002, 1.0 / 1, 0, NULL),
    WITH_OWN("n=10, m=2", "banta-efficient --sites 10 --closed --requesters 3", 6.00000, 0.002, 1.0 / 2, 0, NULL),
    WITH_OWN("n=10, m=3", "banta-efficient --sites 10 --closed --requesters 4", 4.33333, 0.002, 1.0 / 3, 0, NULL),
    WITH_OWN("n=10, m=4", "banta-efficient --sites 10 --closed --requesters 5", 3.50000, 0.002, 1.0 / 4, 0, NULL),
    WITH_OWN("n=10, m=5", "banta-efficient --sites 10 --closed --requesters 6", 3.00000, 0.002, 1.0 / 5, 0, NULL),
    WITH_OWN("n=10, m=7", "banta-efficient --sites 10 --closed --requesters 8", 2.42857, 0.002, 1.0 / 7, 0, NULL),
    WITH_OWN("n=10, m=9", "banta-efficient --sites 10 --closed --requesters 10", 2.11111, 0.002, 1.0 / 9, 0, NULL),
    WITH_OWN("n=20, m=1", "banta-efficient --sites 20 --closed --requesters 2", 21.00000, 0.002, 1.0 / 1, 0, NULL),
    WITH_OWN("n=20, m=2", "banta-efficient --sites 20 --closed --requesters 3", 11.00000, 0.002, 1.0 / 2, 0, NULL),
    WITH_OWN("n=20, m=4", "banta-efficient --sites 20 --closed --requesters 5", 6.00000, 0.002, 1.0 / 4, 0, NULL),
    WITH_OWN("n=20, m=5", "banta-efficient --sites 20 --closed --requesters 6", 5.00000, 0.002, 1.0 / 5, 0, NULL),
    WITH_OWN("n=20, m=10", "banta-efficient --sites 20 --closed --requesters 11", 3.00000, 0.002, 1.0 / 10, 0, NULL),
    WITH_OWN("n=20, m=15", "banta-efficient --sites 20 --closed --requesters 16", 2.33333, 0.002, 1.0 / 15, 0, NULL),
    WITH_OWN("n=20, m=19", "banta-efficient --sites 20 --closed --requesters 20", 2.05263, 0.002, 1.0 / 19, 0, NULL),
    CLAIM("section 5.11, page 60", "if every site asks, an entry costs 2 messages"),
    EQUALS("n=10", "banta-efficient --sites 10 --closed --requesters 10", FIG_MESSAGES, 2, 0.002),
    EQUALS("n=20", "banta-efficient --sites 20 --closed --requesters 20", FIG_MESSAGES, 2, 0.002),
    CLAIM("section 5.11, page 60", "if very few sites ask, an entry costs about n messages"),
    EQUALS("n=10, light load: n, less the share of the holder", "banta-efficient --sites 10 --rate 0.0001",
           FIG_MESSAGES, 9, 0.02),
    EQUALS("n=20, light load: n, less the share of the holder", "banta-efficient --sites 20 --rate 5e-05", FIG_MESSAGES,
           19, 0.02),
    CLAIM("section 5.11, page 60", "under heavy load that is near the optimum: a request and the token"),
    OURS("n=10, a token that no site asks for goes round: 1 message", "le-lann --closed", FIG_MESSAGES, 1, 0.002),
    CLAIM("abstract, page iii, and chapter 1, page 1", "an entry costs between 2 and n messages, in both algorithms"),
    AT_MOST("n=10, simple, two sites ask all the time", "banta-simple --sites 10 --closed --requesters 2", FIG_MESSAGES,
            10, 0.002),
    AT_LEAST("n=10, simple, all sites ask all the time", "banta-simple --sites 10 --closed --hold 5", FIG_MESSAGES, 2,
             0.002),
    AT_MOST("n=10, two sites ask all the time", "banta-efficient --sites 10 --closed --requesters 2", FIG_MESSAGES, 10,
            0.002),
    AT_LEAST("n=10, all sites ask all the time", "banta-efficient --sites 10 --closed --requesters 10", FIG_MESSAGES, 2,
             0.002),
    {0},
};

const struct paper paper_banta_efficient = {
    .name = "banta-theorem-5.1",
    .title = "Banta, chapter 5: the efficient algorithm, theorem 5.1, figure 5.2",
    .citation = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, "
                "1993, chapter 5",
    .rows = banta_efficient_rows,
};

static const struct paper_row banta_k_rows[] = {
    CLAIM("section 6.2.1, figures 6.1 and 6.2, pages 64-65", "S8, S2 and S4 on the token queue, two slots free"),
    SCENARIO("the queue, its mark and the semaphore", "banta-k-figure-6.2"),
    CLAIM("section 6.1, page 61", "Raymond's k-exclusion is an extension of Ricart and Agrawala's algorithm"),
    OURS("raymond-k, n=10, k=3, full load: about 2(n-1)", "raymond-k --rule slots:3 --closed", FIG_MESSAGES, 18, 0.12),
    CLAIM("section 6.3.1, page 75", "at most k sites are inside"),
    CHECKS("3 sites, 2 requests each, k=2", "banta-k --rule slots:2 --requests 2", CHECK_HOLDS),
    EQUALS("n=10, k=3, E = 10T: k are inside", "banta-k --rule slots:3 --closed --hold 10", PAPER_INSIDE_MAX, 3, 0),
    CLAIM("section 6.3.3, page 76", "fair: first come, first served, no site is preferred"),
    EQUALS("n=10, k=3, full load: all enter equally often", "banta-k --rule slots:3 --closed", PAPER_JAIN, 1, 0.001),
    CLAIM("section 6.3.2, page 76", "no site starves"),
    CHECKS("3 sites, unlimited requests, k=2", "banta-k --rule slots:2 --requests unlimited", CHECK_HOLDS),
    CLAIM("theorem 6.1, page 77", "an entry costs n/m + 2 messages (n-m updates, one of them to the sender itself)"),
    WITH_OWN("n=10, k=3, m=1", "banta-k --rule slots:3 --sites 10 --closed --requesters 2", 12.00000, 0.002, 1.0 / 1,
             11.00000, banta_release),
    WITH_OWN("n=10, k=3, m=2", "banta-k --rule slots:3 --sites 10 --closed --requesters 3", 7.00000, 0.002, 1.0 / 2,
             6.50000, banta_release),
    WITH_OWN("n=10, k=3, m=3", "banta-k --rule slots:3 --sites 10 --closed --requesters 4", 5.33333, 0.002, 1.0 / 3,
             5.00000, banta_release),
    WITH_OWN("n=10, k=3, m=4", "banta-k --rule slots:3 --sites 10 --closed --requesters 5", 4.50000, 0.002, 1.0 / 4,
             4.25000, banta_release),
    WITH_OWN("n=10, k=3, m=5", "banta-k --rule slots:3 --sites 10 --closed --requesters 6", 4.00000, 0.002, 1.0 / 5,
             3.80000, banta_release),
    WITH_OWN("n=10, k=3, m=7", "banta-k --rule slots:3 --sites 10 --closed --requesters 8", 3.42857, 0.002, 1.0 / 7,
             3.28571, banta_release),
    WITH_OWN("n=20, k=3, m=1", "banta-k --rule slots:3 --sites 20 --closed --requesters 2", 22.00000, 0.002, 1.0 / 1,
             21.00000, banta_release),
    WITH_OWN("n=20, k=3, m=5", "banta-k --rule slots:3 --sites 20 --closed --requesters 6", 6.00000, 0.002, 1.0 / 5,
             5.80000, banta_release),
    WITH_OWN("n=20, k=3, m=10", "banta-k --rule slots:3 --sites 20 --closed --requesters 11", 4.00000, 0.002, 1.0 / 10,
             3.90000, banta_release),
    CLAIM("section 6.4, page 79", "if every site asks, an entry costs 3 messages"),
    WITH_OWN("n=10, k=3", "banta-k --rule slots:3 --sites 10 --closed --requesters 10", 3, 0.002, 1.0 / 9, 0, NULL),
    WITH_OWN("n=20, k=3", "banta-k --rule slots:3 --sites 20 --closed --requesters 20", 3, 0.002, 1.0 / 19, 0, NULL),
    CLAIM("section 6.4, page 79", "if very few sites ask, an entry costs about n messages"),
    EQUALS("n=10, k=3, light load: n, less the share of the holder", "banta-k --rule slots:3 --rate 0.0001",
           FIG_MESSAGES, 9, 0.02),
    CLAIM("abstract, page iii, and chapter 1, page 2", "for k entries between 3 and n messages"),
    AT_MOST("n=10, k=3, two sites ask all the time", "banta-k --rule slots:3 --sites 10 --closed --requesters 2",
            FIG_MESSAGES, 10, 0.002),
    WITH_OWN("n=10, k=3, all sites ask all the time", "banta-k --rule slots:3 --sites 10 --closed --requesters 10", 3,
             0.002, 1.0 / 9, 0, NULL),
    {0},
};

const struct paper paper_banta_k = {
    .name = "banta-theorem-6.1",
    .title = "Banta, chapter 6: k entries, theorem 6.1",
    .citation = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, "
                "1993, chapter 6",
    .rows = banta_k_rows,
};

static const struct paper_row banta_open_rows[] = {
    CLAIM("section 1.1, page 3", "with several resources, processes that take them in different orders deadlock"),
    UNTESTED("the algorithms here grant one resource; a user of several must take them in one order"),
    CLAIM("section 7.1, page 81",
          "the best surveyed algorithm costs log(n) at any load; the new ones cost less under heavy load only"),
    OURS("Trehel-Naimi, n=25, light load: H(n-1)", "naimi-trehel --sites 25 --rate 0.00004 --warmup 10k", FIG_MESSAGES,
         3.776, 0.02),
    OURS("Trehel-Naimi, n=25, full load", "naimi-trehel --sites 25 --closed", FIG_MESSAGES, 3.776, 0.02),
    AT_LEAST("the efficient one, n=25, light load: more", "banta-efficient --sites 25 --rate 0.00004", FIG_MESSAGES,
             3.776, 0),
    AT_MOST("the efficient one, n=25, full load: less", "banta-efficient --sites 25 --closed", FIG_MESSAGES, 3.776, 0),
    CLAIM("section 7.2, page 82, question 1", "open: a token algorithm that is optimal at every load"),
    OURS("Naimi-Trehel with queues, n=25, light load: H(n-1)",
         "naimi-trehel-queue --sites 25 --rate 0.00004 --warmup 10k", FIG_MESSAGES, 3.776, 0.02),
    OURS("the same at full load: 2, the optimum", "naimi-trehel-queue --sites 25 --closed", FIG_MESSAGES, 2, 1e-3),
    CLAIM("section 7.2, page 82, question 2", "open: a token algorithm of constant cost at every load"),
    OURS("a central server, n=25, light load: 3(n-1)/n", "central --sites 25 --rate 0.0001", FIG_MESSAGES, 2.88, 0.01),
    OURS("the same at full load; but it is no token algorithm", "central --sites 25 --closed", FIG_MESSAGES, 2.88,
         0.01),
    CLAIM("section 7.2, page 82, question 3", "open: a response-based algorithm that comes near two messages"),
    OURS("Ricart-Agrawala with broadcasts, n=10, full load", "ricart-agrawala-broadcast --closed", FIG_MESSAGES, 2,
         0.002),
    OURS("on a sequencing medium, n=10, light load", "ricart-agrawala-sequenced --rate 0.001", FIG_MESSAGES, 2, 0.002),
    CLAIM("section 7.2, page 83",
          "open: failures: was the token there, was the site on the queue, what does it begin with"),
    UNTESTED("docs/robustness.md answers that for other token algorithms, not for these"),
    {0},
};

const struct paper paper_banta_open = {
    .name = "banta-chapter-7",
    .title = "Banta, chapters 1 and 7: limits and open questions",
    .citation = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, "
                "1993, chapters 1 and 7",
    .rows = banta_open_rows,
};
