/* record.h - a short run as a list of moves, which can be drawn, saved as a scenario, and played again without time.
 *
 * Every step is made once more in a world without time, which must send the same bytes. */
#ifndef DIBS_SIM_RECORD_H
#define DIBS_SIM_RECORD_H

#include "lab/moves.h"
#include "sim.h"

enum { RECORD_MOVES_MAX = 20000 };

struct record {
    struct lab_world *world;
    struct world_move *move;
    double *time; /* of each move */
    uint32_t count;
    bool full;      /* there were more moves than it takes */
    uint64_t *sent; /* number of a message in the run: its number in the world */
    size_t room;
};

void record_begin(struct record *r, const struct dme_conf *conf);
/* To be given as sim_spec.observe, with the record as its user. */
void record_observe(void *record, const struct sim_event *event);
/* The run so far; good until the record ends. */
struct moves record_moves(const struct record *r, bool fifo);
void record_end(struct record *r);

#endif
