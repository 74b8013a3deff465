/* lamport.c - logical clocks and a queue at every site, as the lecture teaches it. */
#include "paper.h"

static const char lamport_reason[] =
    "the condition says that the site's own timestamp is the higher one, and the reason given for it says the lower "
    "one. The condition is right: a request with a higher timestamp does for a reply, because channels are FIFO";

static const struct paper_row lamport_rows[] = {
    CLAIM("theorem, mutual exclusion", "two sites are never inside together"),
    CHECKS("3 sites, 1 request each", "lamport --sites 3", CHECK_HOLDS),
    CHECKS("3 sites, replies omitted", "lamport --sites 3 --set omit=lecture", CHECK_HOLDS),
    CLAIM("example, Lamport's algorithm", "S1 and S2 ask, S1 first; S2 enters after the release of S1"),
    SCENARIO("step by step", "lamport-lecture"),
    CLAIM("example, Ricart-Agrawala", "S1 and S2 ask; S1 defers S2 and replies when it leaves"),
    SCENARIO("step by step", "ricart-agrawala-lecture"),
    CLAIM("theorem, fairness", "requests are served in the order of their timestamps"),
    CHECKS("3 sites, 1 request each: invariant L", "lamport --sites 3", CHECK_HOLDS),
    CHECKS("2 sites, 3 requests each: invariant L", "lamport --sites 2 --requests 3", CHECK_HOLDS),
    CLAIM("requirements, liveness", "there is neither deadlock nor starvation"),
    CHECKS("Lamport, 3 sites, 1 request each", "lamport --sites 3 --starvation", CHECK_HOLDS),
    CHECKS("Ricart-Agrawala, 3 sites, 2 requests each", "ricart-agrawala --requests 2 --order fifo --starvation",
           CHECK_HOLDS),
    CLAIM("system model", "the algorithm needs channels that keep the order"),
    CHECKS("2 sites, any order", "lamport --sites 2 --without fifo", CHECK_EXCLUSION),
    CLAIM("performance", "an entry costs 3(n-1) messages"),
    EQUALS("n=3, light load", "lamport --sites 3 --rate 0.001", FIG_MESSAGES, 6, 0),
    EQUALS("n=3, full load", "lamport --sites 3 --closed", FIG_MESSAGES, 6, 1e-4),
    EQUALS("n=3, random delays", "lamport --sites 3 --closed --delay exp:1", FIG_MESSAGES, 6, 1e-3),
    EQUALS("n=10, light load", "lamport --sites 10 --rate 0.001", FIG_MESSAGES, 27, 0),
    EQUALS("n=10, full load", "lamport --sites 10 --closed", FIG_MESSAGES, 27, 1e-4),
    EQUALS("n=10, random delays", "lamport --sites 10 --closed --delay exp:1", FIG_MESSAGES, 27, 1e-3),
    EQUALS("n=20, light load", "lamport --sites 20 --rate 0.001", FIG_MESSAGES, 57, 0),
    EQUALS("n=20, full load", "lamport --sites 20 --closed", FIG_MESSAGES, 57, 1e-4),
    EQUALS("n=20, random delays", "lamport --sites 20 --closed --delay exp:1", FIG_MESSAGES, 57, 1e-3),
    CLAIM("optimization", "with replies omitted an invocation costs between 2(n-1) and 3(n-1) messages"),
    REACHES("n=3, all ask at once: the least, 2(n-1)", paper_lamport_least, 3, 4),
    REACHES("n=3, all ask at once: the most, 3(n-1)", paper_lamport_most, 3, 6),
    REACHES("n=10, all ask at once: the least, 2(n-1)", paper_lamport_least, 10, 18),
    REACHES("n=10, all ask at once: the most, 3(n-1)", paper_lamport_most, 10, 27),
    AT_MOST("n=10, light load, mean", "lamport --set omit=lecture --rate 0.001", FIG_MESSAGES, 27, 0),
    AT_LEAST("n=3, full load, mean", "lamport --set omit=lecture --sites 3 --closed --delay exp:1", FIG_MESSAGES, 4, 0),
    OURS("n=10, all ask at once, mean: 2.5(n-1)", "lamport --set omit=lecture --closed --entries 10 --warmup 0",
         FIG_MESSAGES, 22.5, 0),
    CLAIM("optimization", "a reply is superfluous because the site that omits it has the lower timestamp"),
    ARGUED("its own condition says the higher one", lamport_reason),
    CLAIM("performance metrics", "the synchronization delay is T, throughput is 1/(T+E)"),
    EQUALS("synchronization delay T", "lamport --closed", FIG_SYNC, 1, 1e-6),
    EQUALS("throughput 1/(T+E), full load", "lamport --closed", FIG_THROUGHPUT, 1 / 1.1, 1e-4),
    EQUALS("throughput 1/(T+E), E = 2T", "lamport --closed --hold 2", FIG_THROUGHPUT, 1.0 / 3, 1e-4),
    OURS("response 2T+E, light load", "lamport --rate 0.00001", FIG_RESPONSE, 2.1, 1e-3),
    CLAIM("Ricart-Agrawala, theorem, mutual exclusion", "two sites are never inside together"),
    CHECKS("3 sites, 2 requests each, FIFO channels", "ricart-agrawala --requests 2 --order fifo", CHECK_HOLDS),
    CLAIM("Ricart-Agrawala, performance", "an entry costs 2(n-1) messages, the synchronization delay is T"),
    EQUALS("n=10, full load: messages", "ricart-agrawala --closed", FIG_MESSAGES, 18, 1e-4),
    EQUALS("n=10, full load: synchronization delay", "ricart-agrawala --closed", FIG_SYNC, 1, 1e-6),
    CLAIM("Ricart-Agrawala, system model", "the algorithm assumes channels that keep the order"),
    OURS_CHECKS("3 sites, any order: it does not need them", "ricart-agrawala --sites 3 --order any", CHECK_HOLDS),
    {0},
};

const struct paper paper_lamport = {
    .name = "lamport",
    .title = "The lecture: Lamport's and Ricart-Agrawala's algorithms",
    .citation = "R. Misra, Distributed systems, lecture 7, Indian Institute of Technology Patna (the transcript has no "
                "pages), on L. Lamport, CACM 21(7), 1978, and G. Ricart, A. K. Agrawala, CACM 24(1), 1981",
    .rows = lamport_rows,
};
