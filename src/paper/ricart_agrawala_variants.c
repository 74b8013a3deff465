/* ricart_agrawala_variants.c - implicit replies, broadcasts and rings; a broadcast counts as one message. */
#include "paper.h"

static const char variants_implicit[] = "where a site defers it says so at once, and still has to reply later: under "
                                        "full load a REQUEST, a DEFERRED and a REPLY "
                                        "for every other site, 3(n-1)";
static const char variants_notes[] =
    "under full load every other site defers the request, notes it and replies on its own: n + (n-1)";

static const struct paper_row ricart_agrawala_variants_rows[] = {
    EQUALS("implicit reply, n=5, light load: n-1", "ricart-agrawala-implicit --sites 5 --rate 2e-05", FIG_MESSAGES, 4,
           0.005),
    AT_MOST_BUT("implicit reply, n=5, full load: up to 2(n-1)", "ricart-agrawala-implicit --sites 5 --closed",
                FIG_MESSAGES, 8, 0.002, 12, variants_implicit),
    EQUALS("implicit reply, n=10, light load: n-1", "ricart-agrawala-implicit --sites 10 --rate 1e-05", FIG_MESSAGES, 9,
           0.005),
    AT_MOST_BUT("implicit reply, n=10, full load: up to 2(n-1)", "ricart-agrawala-implicit --sites 10 --closed",
                FIG_MESSAGES, 18, 0.002, 27, variants_implicit),
    EQUALS("implicit reply, n=20, light load: n-1", "ricart-agrawala-implicit --sites 20 --rate 5e-06", FIG_MESSAGES,
           19, 0.005),
    AT_MOST_BUT("implicit reply, n=20, full load: up to 2(n-1)", "ricart-agrawala-implicit --sites 20 --closed",
                FIG_MESSAGES, 38, 0.002, 57, variants_implicit),
    AT_MOST("implicit reply, n=10, half load: up to 2(n-1)", "ricart-agrawala-implicit --rate 0.03", FIG_MESSAGES, 18,
            0),
    EQUALS("implicit reply, response at light load: 2T+E", "ricart-agrawala-implicit --rate 0.00001", FIG_RESPONSE, 2.1,
           1e-3),
    EQUALS("broadcast, addressed replies, n=5, light load: n",
           "ricart-agrawala-broadcast --set replies=each --sites 5 --rate 0.0001", FIG_MESSAGES, 5, 0.002),
    EQUALS("broadcast, addressed replies, n=5, full load: n",
           "ricart-agrawala-broadcast --set replies=each --sites 5 --closed", FIG_MESSAGES, 5, 0.002),
    EQUALS("broadcast, addressed replies, n=10, light load: n",
           "ricart-agrawala-broadcast --set replies=each --sites 10 --rate 0.0001", FIG_MESSAGES, 10, 0.002),
    EQUALS("broadcast, addressed replies, n=10, full load: n",
           "ricart-agrawala-broadcast --set replies=each --sites 10 --closed", FIG_MESSAGES, 10, 0.002),
    EQUALS("broadcast, addressed replies, n=20, light load: n",
           "ricart-agrawala-broadcast --set replies=each --sites 20 --rate 0.0001", FIG_MESSAGES, 20, 0.002),
    EQUALS("broadcast, addressed replies, n=20, full load: n",
           "ricart-agrawala-broadcast --set replies=each --sites 20 --closed", FIG_MESSAGES, 20, 0.002),
    EQUALS("broadcast, list of replies, n=10, light load: n", "ricart-agrawala-broadcast --rate 0.0001", FIG_MESSAGES,
           10, 0.005),
    EQUALS("broadcast, list of replies, n=10, full load: 2", "ricart-agrawala-broadcast --closed", FIG_MESSAGES, 2,
           0.002),
    EQUALS("sequencing medium, n=10, light load: 2", "ricart-agrawala-sequenced --rate 0.001", FIG_MESSAGES, 2, 0),
    EQUALS("sequencing medium, n=10, full load: 2", "ricart-agrawala-sequenced --closed", FIG_MESSAGES, 2, 0.001),
    EQUALS("sequencing medium, response at light load: T+E", "ricart-agrawala-sequenced --rate 0.00001", FIG_RESPONSE,
           1.1, 1e-3),
    EQUALS("broadcast and implicit reply, light load: 1", "ricart-agrawala-implicit-broadcast --rate 0.00001",
           FIG_MESSAGES, 1, 0.002),
    EQUALS("ring, n=5, light load: n", "ricart-agrawala-ring --sites 5 --rate 0.0001", FIG_MESSAGES, 5, 1e-4),
    EQUALS("ring, n=5, full load: n", "ricart-agrawala-ring --sites 5 --closed", FIG_MESSAGES, 5, 0.001),
    EQUALS("ring with notes, n=5, light load: n", "ricart-agrawala-ring-notes --sites 5 --rate 2e-05", FIG_MESSAGES, 5,
           0.005),
    EQUALS_BUT("ring with notes, n=5, full load: close to n", "ricart-agrawala-ring-notes --sites 5 --closed",
               FIG_MESSAGES, 5, 0.02, 9, variants_notes),
    EQUALS("ring, n=10, light load: n", "ricart-agrawala-ring --sites 10 --rate 0.0001", FIG_MESSAGES, 10, 1e-4),
    EQUALS("ring, n=10, full load: n", "ricart-agrawala-ring --sites 10 --closed", FIG_MESSAGES, 10, 0.001),
    EQUALS("ring with notes, n=10, light load: n", "ricart-agrawala-ring-notes --sites 10 --rate 1e-05", FIG_MESSAGES,
           10, 0.005),
    EQUALS_BUT("ring with notes, n=10, full load: close to n", "ricart-agrawala-ring-notes --sites 10 --closed",
               FIG_MESSAGES, 10, 0.02, 19, variants_notes),
    EQUALS("ring, n=20, light load: n", "ricart-agrawala-ring --sites 20 --rate 0.0001", FIG_MESSAGES, 20, 1e-4),
    EQUALS("ring, n=20, full load: n", "ricart-agrawala-ring --sites 20 --closed", FIG_MESSAGES, 20, 0.001),
    EQUALS("ring with notes, n=20, light load: n", "ricart-agrawala-ring-notes --sites 20 --rate 5e-06", FIG_MESSAGES,
           20, 0.005),
    EQUALS_BUT("ring with notes, n=20, full load: close to n", "ricart-agrawala-ring-notes --sites 20 --closed",
               FIG_MESSAGES, 20, 0.02, 39, variants_notes),
    EQUALS("ring, response at light load: nT+E", "ricart-agrawala-ring --rate 0.00001", FIG_RESPONSE, 10.1, 1e-3),
    EQUALS("numbers modulo 2n-1, n=10, full load: 2(n-1)", "ricart-agrawala --set modulus=19 --closed --delay exp:1",
           FIG_MESSAGES, 18, 1e-3),
    {0},
};

const struct paper paper_ricart_agrawala_variants = {
    .name = "ricart-agrawala-variants",
    .title = "Ricart and Agrawala, section 6: implicit reply, broadcast, ring",
    .citation = "G. Ricart, A. K. Agrawala, An optimal algorithm for mutual exclusion in computer networks, CACM "
                "24(1), 1981, section 6",
    .rows = ricart_agrawala_variants_rows,
};
