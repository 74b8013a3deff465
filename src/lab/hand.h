/* hand.h - a run that a person makes move by move, and may take back: what "dibs play" shows.
 *
 * A run is a list of moves and a place in it. Going back takes the last move back, going forward makes it again. A new
 * move forgets those that were taken back. The world is made again from the first move whenever a move is taken back,
 * so nothing has to be undone. */
#ifndef DIBS_LAB_HAND_H
#define DIBS_LAB_HAND_H

#include "base/random.h"
#include "moves.h"

struct hand_run {
    struct dme_conf conf;
    bool fifo;
    struct lab_world *world;
    struct world_move *move;
    char **effect;         /* of each move: what it did */
    uint32_t count, place; /* moves; those before `place` have been made */
    struct world_move *choice;
    uint32_t choices;
    struct random dice;
    char **state;  /* of each site, as text */
    bool *changed; /* by the last move */
};

struct hand_run *hand_new(const struct dme_conf *conf, bool fifo);
/* Of a run: at its beginning, with all its moves to go forward. */
struct hand_run *hand_of(const struct moves *run);
void hand_free(struct hand_run *p);

/* The moves that are possible now are p->choice[0 .. p->choices - 1]: messages that may arrive, sites that may ask or
 * leave, timers. A timer that counts in the bound on delays fires when nothing is in flight. */
void hand_choose(struct hand_run *p, uint32_t which);
bool hand_forward(struct hand_run *p); /* false: there is no such move */
bool hand_back(struct hand_run *p);
bool hand_random(struct hand_run *p);
/* Random moves until a site enters; false if none has after many. */
bool hand_to_entry(struct hand_run *p);

/* Returns what is wrong now: "mutual exclusion is violated", an invariant, a deadlock, a fault; null if nothing is. */
const char *hand_wrong(const struct hand_run *p);

/* The moves made so far as a scenario; to be freed. */
char *hand_scenario(const struct hand_run *p);

#endif
