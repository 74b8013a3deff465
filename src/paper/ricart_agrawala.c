/* ricart_agrawala.c - the optimal algorithm: sections 2 to 5 and the appendix of the report. */
#include "paper.h"

static const char ricart_agrawala_number[] = "the printed code (section 2.2, page 4) raises the highest number only "
                                             "for requests that it receives, so a node may "
                                             "ask with the same number again and again; what its comment says is "
                                             "right, and needed for the bounds of the appendix";

static const char ricart_agrawala_race[] =
    "the receiving process decides under the semaphore to defer a request and sets Reply_Deferred after it; the "
    "leaving process takes no semaphore and may look in between: the request is never answered";

static const struct paper_row ricart_agrawala_rows[] = {
    CLAIM("section 1, page 1", "messages may arrive in another order than they were sent"),
    CHECKS("3 sites, 1 request each, any order", "ricart-agrawala --order any", CHECK_HOLDS),
    CLAIM("section 1, page 1", "Lamport's earlier algorithm costs about 3(n-1) messages, this one fewer"),
    EQUALS("Lamport, n=10: 3(n-1)", "lamport --closed", FIG_MESSAGES, 27, 1e-4),
    EQUALS("n=10: 2(n-1)", "ricart-agrawala --closed", FIG_MESSAGES, 18, 1e-4),
    CLAIM("section 3.1, page 9", "two nodes are never inside together"),
    CHECKS("3 sites, 2 requests each, any order", "ricart-agrawala --requests 2", CHECK_HOLDS),
    CLAIM("section 3.2, page 10", "deadlock is impossible"),
    CHECKS("3 sites, 2 requests each, any order", "ricart-agrawala --requests 2", CHECK_HOLDS),
    CLAIM("section 3.3, page 10", "starvation is impossible"),
    CHECKS("3 sites, unlimited requests, numbers modulo 2n-1",
           "ricart-agrawala --requests unlimited --set modulus=5 --order fifo", CHECK_HOLDS),
    CLAIM("section 2.2, page 4", "three processes with a semaphore do at each node what the algorithm says"),
    CHECKS_BUT("as printed, 2 sites: a lost reply",
               "ricart-agrawala-as-published --set mistake=records-late --sites 2 --order fifo", CHECK_HOLDS,
               CHECK_DEADLOCK, ricart_agrawala_race),
    CLAIM("section 2.3, pages 5-8, figures A to J", "three nodes ask, two of them with the same number"),
    SCENARIO("the run of the figures, step by step", "ricart-agrawala-figures"),
    CLAIM("section 2.4, page 8",
          "once all have processed the request of a node, no other node enters twice before it does"),
    REACHES("n=3, others first wherever possible", paper_entries_once_processed, 3, 1),
    REACHES("n=8", paper_entries_once_processed, 8, 1),
    CHECKS("3 sites: of two claims one defers the other, RA1", "ricart-agrawala --requests 2", CHECK_HOLDS),
    CLAIM("section 2.4, page 8", "numbers and node numbers order all requests, first come, first served"),
    CHECKS("3 sites, 2 requests each, RA1", "ricart-agrawala --requests 2", CHECK_HOLDS),
    CLAIM("section 4, page 11", "an entry costs 2(n-1) messages"),
    EQUALS("n=3, light load", "ricart-agrawala --sites 3 --rate 0.001", FIG_MESSAGES, 4, 0),
    EQUALS("n=3, full load", "ricart-agrawala --sites 3 --closed", FIG_MESSAGES, 4, 1e-4),
    EQUALS("n=3, random delays", "ricart-agrawala --sites 3 --closed --delay exp:1", FIG_MESSAGES, 4, 1e-3),
    EQUALS("n=10, light load", "ricart-agrawala --sites 10 --rate 0.001", FIG_MESSAGES, 18, 0),
    EQUALS("n=10, full load", "ricart-agrawala --sites 10 --closed", FIG_MESSAGES, 18, 1e-4),
    EQUALS("n=10, random delays", "ricart-agrawala --sites 10 --closed --delay exp:1", FIG_MESSAGES, 18, 1e-3),
    EQUALS("n=20, light load", "ricart-agrawala --sites 20 --rate 0.001", FIG_MESSAGES, 38, 0),
    EQUALS("n=20, full load", "ricart-agrawala --sites 20 --closed", FIG_MESSAGES, 38, 1e-4),
    EQUALS("n=20, random delays", "ricart-agrawala --sites 20 --closed --delay exp:1", FIG_MESSAGES, 38, 1e-3),
    CLAIM("section 4.1, page 11", "no symmetrical, distributed, concurrent algorithm needs fewer messages"),
    UNTESTED("an argument about all algorithms of that kind"),
    CLAIM("section 4.2, page 12", "processed serially, no such algorithm needs fewer than n messages"),
    UNTESTED("an argument about all algorithms of that kind; that n suffices is tested in section 6.3"),
    CLAIM("section 5.3.1, page 13", "no request is served in less than a round trip; the algorithm takes exactly that"),
    EQUALS("response at light load: 2T+E", "ricart-agrawala --rate 0.00001", FIG_RESPONSE, 2.1, 1e-3),
    CLAIM("section 5.3.2, page 14",
          "of two concurrent requests, half of the time the first entry must await the round trip of the later one"),
    REACHES("the tie goes to the earlier one: entry after 2T", paper_first_entry_in_order, 2, 2),
    REACHES("the tie goes to the later one, T/2 behind: after 2.5T", paper_first_entry_out_of_order, 2, 2.5),
    CLAIM("section 5.4, pages 14-15", "bound 3 is achieved whenever bounds 1 and 2 allow it, else those are"),
    AT_MOST("case A, full load: synchronization delay at most T", "ricart-agrawala --closed", PAPER_SYNC_MAX, 1, 1e-6),
    EQUALS("case B, light load: response 2T+E", "ricart-agrawala --rate 0.00001", FIG_RESPONSE, 2.1, 1e-3),
    CLAIM("section 5.3.3, page 14", "after a release the next node enters within one transmission time"),
    EQUALS("synchronization delay T", "ricart-agrawala --closed", FIG_SYNC, 1, 1e-6),
    EQUALS("throughput 1/(T+E), full load", "ricart-agrawala --closed", FIG_THROUGHPUT, 1 / 1.1, 1e-4),
    OURS("response n(T+E), full load", "ricart-agrawala --closed", FIG_RESPONSE, 11, 1e-3),
    CLAIM("section 2.2, pages 3-4", "the highest number covers every request sent or received"),
    CHECKS_BUT("n=2, as printed: overtaken without bound",
               "ricart-agrawala-as-published --set mistake=forgets-own-number --sites 2 --requests 5,1 --overtakes 2 "
               "--order any",
               CHECK_HOLDS, CHECK_OVERTAKING, ricart_agrawala_number),
    CLAIM("appendix", "without order, others enter at most n(n+1)/2-1 times before a node that has asked"),
    REACHES("n=2: reached", paper_overtaking_any, 2, 2),
    REACHES("n=3: reached", paper_overtaking_any, 3, 5),
    REACHES("n=4: reached", paper_overtaking_any, 4, 9),
    REACHES("n=5: reached", paper_overtaking_any, 5, 14),
    REACHES("n=8: reached", paper_overtaking_any, 8, 35),
    CHECKS("n=3: not exceeded", "ricart-agrawala --requests 3,3,1 --overtakes 5", CHECK_HOLDS),
    CLAIM("appendix", "on FIFO channels at most 2(n-1) times"),
    REACHES("n=2: reached", paper_overtaking_fifo, 2, 2),
    REACHES("n=3: reached", paper_overtaking_fifo, 3, 4),
    REACHES("n=4: reached", paper_overtaking_fifo, 4, 6),
    REACHES("n=5: reached", paper_overtaking_fifo, 5, 8),
    REACHES("n=8: reached", paper_overtaking_fifo, 8, 14),
    CHECKS("n=3: not exceeded", "ricart-agrawala --requests 3,3,1 --overtakes 4 --order fifo", CHECK_HOLDS),
    {0},
};

const struct paper paper_ricart_agrawala = {
    .name = "ricart-agrawala",
    .title = "Ricart and Agrawala: correctness, messages, delay, overtaking",
    .citation = "G. Ricart, A. K. Agrawala, An algorithm for mutual exclusion in computer networks, report TR-869, "
                "University of Maryland, 1980; published as CACM 24(1), 1981",
    .rows = ricart_agrawala_rows,
};
