/* moves.h - a run, which is a list of moves, in forms that people read and tools play again. */
#ifndef DIBS_LAB_MOVES_H
#define DIBS_LAB_MOVES_H

#include "world.h"

#include <stdio.h>

/* What a comment of a scenario says before a move. */
struct moves_remark {
    uint32_t before;
    char *text; /* one line */
};

/* A recorded run (replay.h): what the record and the algorithm disagree about, at the move of this number; 0: before the first. */
struct moves_verdict {
    uint32_t move;
    char *text;
};

struct moves {
    struct dme_conf conf;
    bool fifo;
    const struct world_move *move;
    uint32_t count;
    const double *time;                /* of each move; or null: the run has no clock */
    const char *caption;               /* a sentence for a picture; or null */
    const struct moves_remark *remark; /* by growing move */
    uint32_t remarks;
    struct lab_world *begin; /* the run begins there; null: with all sites as at first */
    bool recorded;
    uint64_t *age_ms; /* recorded: of each move */
    struct moves_verdict *verdict;
    uint32_t verdicts;
    uint32_t loop; /* from this move on the run goes round for ever; count: it ends */
};

/* One line a move: its number, the move, and what it did. */
void moves_print(FILE *to, const struct moves *run);
/* The run as a scenario (scenario.h), with what really happens as the expected output; title is its first comment. To
 * be freed. */
char *moves_scenario(const struct moves *run, const char *title);

#endif
