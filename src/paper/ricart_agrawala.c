/* ricart_agrawala.c - the messages, delays and overtaking bounds of the optimal algorithm. */
#include "paper.h"

static const struct paper_row ricart_agrawala_rows[] = {
    EQUALS("2(n-1) messages, n=3, light load", "ricart-agrawala --sites 3 --rate 0.001", FIG_MESSAGES, 4, 0),
    EQUALS("2(n-1) messages, n=3, full load", "ricart-agrawala --sites 3 --closed", FIG_MESSAGES, 4, 1e-4),
    EQUALS("2(n-1) messages, n=3, random delays", "ricart-agrawala --sites 3 --closed --delay exp:1", FIG_MESSAGES, 4,
           1e-3),
    EQUALS("2(n-1) messages, n=10, light load", "ricart-agrawala --sites 10 --rate 0.001", FIG_MESSAGES, 18, 0),
    EQUALS("2(n-1) messages, n=10, full load", "ricart-agrawala --sites 10 --closed", FIG_MESSAGES, 18, 1e-4),
    EQUALS("2(n-1) messages, n=10, random delays", "ricart-agrawala --sites 10 --closed --delay exp:1", FIG_MESSAGES,
           18, 1e-3),
    EQUALS("2(n-1) messages, n=20, light load", "ricart-agrawala --sites 20 --rate 0.001", FIG_MESSAGES, 38, 0),
    EQUALS("2(n-1) messages, n=20, full load", "ricart-agrawala --sites 20 --closed", FIG_MESSAGES, 38, 1e-4),
    EQUALS("2(n-1) messages, n=20, random delays", "ricart-agrawala --sites 20 --closed --delay exp:1", FIG_MESSAGES,
           38, 1e-3),
    EQUALS("readers and writers, n=10", "ricart-agrawala --rule shared --closed", FIG_MESSAGES, 18, 1e-3),
    EQUALS("synchronization delay T", "ricart-agrawala --closed", FIG_SYNC, 1, 1e-6),
    EQUALS("response 2T+E, light load", "ricart-agrawala --rate 0.00001", FIG_RESPONSE, 2.1, 1e-3),
    EQUALS("response n(T+E), full load", "ricart-agrawala --closed", FIG_RESPONSE, 11, 1e-3),
    EQUALS("throughput 1/(T+E), full load", "ricart-agrawala --closed", FIG_THROUGHPUT, 1 / 1.1, 1e-4),
    REACHES("overtaking, n=2: n(n+1)/2-1 reached", paper_overtaking_any, 2, 2),
    REACHES("overtaking, n=3: n(n+1)/2-1 reached", paper_overtaking_any, 3, 5),
    REACHES("overtaking, n=4: n(n+1)/2-1 reached", paper_overtaking_any, 4, 9),
    REACHES("overtaking, n=5: n(n+1)/2-1 reached", paper_overtaking_any, 5, 14),
    REACHES("overtaking, n=8: n(n+1)/2-1 reached", paper_overtaking_any, 8, 35),
    REACHES("overtaking, n=2, FIFO: 2(n-1) reached", paper_overtaking_fifo, 2, 2),
    REACHES("overtaking, n=3, FIFO: 2(n-1) reached", paper_overtaking_fifo, 3, 4),
    REACHES("overtaking, n=4, FIFO: 2(n-1) reached", paper_overtaking_fifo, 4, 6),
    REACHES("overtaking, n=5, FIFO: 2(n-1) reached", paper_overtaking_fifo, 5, 8),
    REACHES("overtaking, n=8, FIFO: 2(n-1) reached", paper_overtaking_fifo, 8, 14),
    {0},
};

const struct paper paper_ricart_agrawala = {
    .name = "ricart-agrawala",
    .title = "Ricart and Agrawala: 2(n-1) messages, delay T, overtaking bounds",
    .citation =
        "G. Ricart, A. K. Agrawala, An optimal algorithm for mutual exclusion in computer networks, CACM 24(1), 1981",
    .rows = ricart_agrawala_rows,
};
