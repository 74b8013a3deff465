/* groups.c - group mutual exclusion: the algorithms that Swaroop and Singh set theirs beside, under the same load.
 *
 * Their introduction compares by what each publication says of itself; a measured comparison is left for later work. Of
 * most of those publications no more than the abstract is public. Each claim says through what it is known. */
#include "paper.h"

#include <math.h>

#define SIDE_BY_SIDE " --rule group:3 --closed --hold 1"

static const struct paper_row group_rows[] = {
    CLAIM("Joung 2002, RA1, known through the abstract",
          "Ricart and Agrawala's algorithm, adapted to groups in a straightforward way"),
    CHECKS("3 processes, 1 request each, 2 groups", "joung-ra1 --rule group:2", CHECK_HOLDS),
    CHECKS("no process waits for an exit from its own group alone", "joung-ra1 --rule group:2 --concurrency",
           CHECK_HOLDS),
    EQUALS("n=10, 3 groups, full load, messages: 2(n-1)", "joung-ra1" SIDE_BY_SIDE, FIG_MESSAGES, 18, 0.001),
    CLAIM("Joung 2002, RA1, known through the abstract",
          "it can behave as if only one process of a group could be inside at a time"),
    SCENARIO("claims for two groups alternate: each process alone", "joung-ra1"),
    OURS("n=10, 3 groups, full load, inside together: m/(m-1)", "joung-ra1" SIDE_BY_SIDE, FIG_CONCURRENCY, 1.5, 0.01),
    OURS("n=10, 9 groups, full load, inside together: m/(m-1)", "joung-ra1 --rule group:9 --closed --hold 1",
         FIG_CONCURRENCY, 1.125, 0.01),
    CLAIM("Joung 2002, RA2, known through the abstract", "a second algorithm is more efficient and highly concurrent"),
    UNTESTED("not implemented: the abstract does not tell how processes of a group are let in together, nor the cost"),
    CLAIM("Thiare, Gueroui, Naimi 2006, known through the abstract",
          "at any time at most one session is open, and a session that is asked for is opened in finite time"),
    CHECKS("reconstructed, 3 processes, 2 requests each, 2 sessions",
           "thiare-gueroui-naimi --rule group:2 --requests 2", CHECK_HOLDS),
    CHECKS("reconstructed, 3 processes that ask for ever, 2 sessions",
           "thiare-gueroui-naimi --rule group:2 --requests unlimited --order fifo --starvation", CHECK_HOLDS),
    CLAIM("Thiare, Gueroui, Naimi 2006, known through the abstract",
          "opening a session costs 0 to m messages, for m sessions, and O(log m) on average"),
    AT_MOST("a server that has the token opens its session again", "thiare-gueroui-naimi --closed --requesters 1",
            FIG_MESSAGES, 0, 0),
    WORST("m=3, one request, the most of any run: below m", "thiare-gueroui-naimi --requests 0,0,1 --messages", 2),
    EQUALS("m=4, each process its own server, light load: H(m-1)",
           "thiare-gueroui-naimi --sites 4 --rate 0.00025 --warmup 40k", FIG_MESSAGES, 1.833333, 0.02),
    EQUALS("m=16, each process its own server, light load: H(m-1)",
           "thiare-gueroui-naimi --sites 16 --rate 0.0000625 --warmup 40k", FIG_MESSAGES, 3.318229, 0.02),
    EQUALS("m=64, each process its own server, light load: H(m-1)",
           "thiare-gueroui-naimi --sites 64 --rate 0.000015625 --warmup 40k", FIG_MESSAGES, 4.728266, 0.02),
    CLAIM("Thiare, Gueroui, Naimi 2006, known through the abstract", "n processes can be inside together"),
    EQUALS("n=10, one session", "thiare-gueroui-naimi --rule group:1 --closed --hold 20", PAPER_INSIDE_MAX, 10, 0),
    CLAIM("Mittal, Mohan 2005, known through the abstract; Swaroop and Singh 2007, page 830, says 2(n-1)",
          "an entry costs 2n-1 messages; delay T, waiting time 2T, n inside together; not fair, without starvation"),
    UNTESTED("not implemented: no public text tells how the next group is chosen, which is its subject, nor who learns "
             "of an exit"),
    CLAIM("Mamun, Nakazato 2006, known through Swaroop and Singh 2007, page 830",
          "a session is open for a time fixed in advance, which a broadcast makes known; 0 to n+2 messages, delay 2T"),
    UNTESTED("not implemented: nothing tells what happens to a process that is inside when the time is over, nor how a "
             "request reaches the token; the clocks it needs are a promise that no network here makes"),
    CLAIM("Swaroop and Singh 2007, pages 829-830, beside the others",
          "0 to n+1 messages, constant size but for the token, delay at most 2T, n inside together"),
    AT_MOST("swaroop-singh, messages", "swaroop-singh" SIDE_BY_SIDE, FIG_MESSAGES, 11, 0),
    OURS("joung-ra1, messages", "joung-ra1" SIDE_BY_SIDE, FIG_MESSAGES, 18, 0.001),
    OURS("thiare-gueroui-naimi (reconstructed), messages", "thiare-gueroui-naimi" SIDE_BY_SIDE, FIG_MESSAGES, 3.19,
         0.02),
    OURS("a coordinator, messages", "central" SIDE_BY_SIDE, FIG_MESSAGES, 2.69, 0.02),
    AT_MOST("swaroop-singh, delay from an exit to the next entry, in T", "swaroop-singh" SIDE_BY_SIDE, FIG_SYNC, 2, 0),
    OURS("joung-ra1, delay", "joung-ra1" SIDE_BY_SIDE, FIG_SYNC, 1, 0.001),
    OURS("thiare-gueroui-naimi (reconstructed), delay", "thiare-gueroui-naimi" SIDE_BY_SIDE, FIG_SYNC, 2.5, 0.02),
    OURS("a coordinator, delay", "central" SIDE_BY_SIDE, FIG_SYNC, 1.77, 0.02),
    OURS("swaroop-singh, bytes of a message", "swaroop-singh" SIDE_BY_SIDE " --entries 5k", PAPER_MESSAGE_BYTES, 8.24,
         0.02),
    OURS("joung-ra1, bytes of a message", "joung-ra1" SIDE_BY_SIDE " --entries 5k", PAPER_MESSAGE_BYTES, 5, 0.02),
    OURS("thiare-gueroui-naimi (reconstructed), bytes of a message",
         "thiare-gueroui-naimi" SIDE_BY_SIDE " --entries 5k", PAPER_MESSAGE_BYTES, 4.12, 0.02),
    OURS("a coordinator, bytes of a message", "central" SIDE_BY_SIDE " --entries 5k", PAPER_MESSAGE_BYTES, 4, 0.02),
    OURS("swaroop-singh, inside together", "swaroop-singh" SIDE_BY_SIDE, FIG_CONCURRENCY, 3.42, 0.02),
    OURS("joung-ra1, inside together", "joung-ra1" SIDE_BY_SIDE, FIG_CONCURRENCY, 1.5, 0.02),
    OURS("thiare-gueroui-naimi (reconstructed), inside together", "thiare-gueroui-naimi" SIDE_BY_SIDE, FIG_CONCURRENCY,
         3.36, 0.02),
    OURS("a coordinator, inside together", "central" SIDE_BY_SIDE, FIG_CONCURRENCY, 1.38, 0.02),
    OURS("swaroop-singh, entries in a time T", "swaroop-singh" SIDE_BY_SIDE, FIG_THROUGHPUT, 1.52, 0.02),
    OURS("joung-ra1, entries in a time T", "joung-ra1" SIDE_BY_SIDE, FIG_THROUGHPUT, 0.748, 0.02),
    OURS("thiare-gueroui-naimi (reconstructed), entries in a time T", "thiare-gueroui-naimi" SIDE_BY_SIDE,
         FIG_THROUGHPUT, 1.26, 0.02),
    OURS("a coordinator, entries in a time T", "central" SIDE_BY_SIDE, FIG_THROUGHPUT, 0.524, 0.02),
    {0},
};

const struct paper paper_groups = {
    .name = "groups",
    .title = "Group exclusion: the algorithms that Swaroop and Singh name, side by side",
    .citation = "A. Swaroop, A. K. Singh, Journal of Computer Science 3(10), 2007, pages 829-830, and the abstracts of "
                "Y.-J. Joung, Distributed Computing 15, 2002; N. Mittal, P. K. Mohan, PDCS 2005; O. Thiare, M. "
                "Gueroui, M. Naimi, PDCAT 2006. Side by side: n=10, 3 groups, all ask again at once, T=1, E=1",
    .rows = group_rows,
};
