/* tables.c - the experiments, in the order in which they are shown. */
#include "paper.h"

extern const struct paper paper_lamport, paper_ricart_agrawala, paper_survey;

const struct paper *const papers[] = {&paper_lamport, &paper_ricart_agrawala, &paper_survey, NULL};
