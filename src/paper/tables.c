/* tables.c - the experiments, in the order in which they are shown. */
#include "paper.h"

#define PAPERS(X)                                                                                                      \
    X(lamport)                                                                                                         \
    X(ricart_agrawala)                                                                                                 \
    X(ricart_agrawala_variants)                                                                                        \
    X(ricart_agrawala_practice)                                                                                        \
    X(singhal)                                                                                                         \
    X(singhal_table)                                                                                                   \
    X(singhal_limits)                                                                                                  \
    X(banta_survey)                                                                                                    \
    X(banta_simple)                                                                                                    \
    X(banta_efficient)                                                                                                 \
    X(banta_k)                                                                                                         \
    X(banta_open)                                                                                                      \
    X(swaroop_singh)                                                                                                   \
    X(groups)                                                                                                          \
    X(survey)

#define PAPER_DECLARE(name) extern const struct paper paper_##name;
PAPERS(PAPER_DECLARE)

#define PAPER_ROW(name) &paper_##name,
const struct paper *const papers[] = {PAPERS(PAPER_ROW) NULL};
