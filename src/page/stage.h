/* stage.h - a run on the page's stage: all its moves, a place among them, and what can happen there.
 *
 * It differs from lab/hand.h in three ways. Every move of the run is made when the run is opened, so that the page can
 * draw all of it. Any place can be sought. And an *action* is offered also if it is impossible, together with the
 * reason: either the state of the world objects to it (a site that is idle cannot leave), or a promise of the network
 * forbids it (no message may overtake another one on FIFO channels). The promises that the network keeps can be
 * withdrawn one by one. */
#ifndef DIBS_PAGE_STAGE_H
#define DIBS_PAGE_STAGE_H

#include "lab/scenario.h"

enum { STAGE_SITES_MAX = 64, STAGE_MOVES_MAX = 1000000, STAGE_MARKS = 256 };

/* The properties that are looked at after every move. */
enum stage_lamp {
    STAGE_EXCLUSION,
    STAGE_DEADLOCK,
    STAGE_INVARIANTS,
    STAGE_PROTOCOL,
    STAGE_RECORD, /* a run that was recorded (lab/replay.h): is it what the algorithm does? */
    STAGE_LAMPS
};

/* A message that a move puts in flight. Copies of a broadcast share the number. */
struct stage_send {
    uint64_t number;
    dme_id from, to;
    uint32_t kind;
    char *label; /* "REQUEST[1.0]" */
};

/* What a move did. Step 0 is the beginning: no move, but some algorithms send messages there. */
struct stage_step {
    struct world_move move;
    char *text, *effect;
    uint64_t received; /* number of the message that arrived, was lost or was copied; UINT64_MAX: none */
    struct stage_send *send;
    uint32_t sends;
    char *phases;                  /* a letter for each site: i idle, w waiting, I inside, d down */
    const char *lamp[STAGE_LAMPS]; /* what is wrong after the move, of each kind; or null */
    bool entered;
    uint64_t age_ms; /* recorded: how long before the question it was */
};

/* A world that was kept: the way back begins there, not at the first move. */
struct stage_mark {
    uint32_t place;
    struct lab_world *world;
};

struct stage_action {
    struct world_move move;
    const char *why; /* it is impossible; or null */
};

struct stage {
    struct dme_conf conf;
    uint32_t keeps;                  /* the promises that the network keeps, dme_need or-ed */
    struct lab_world *world, *begin; /* begin: the run begins there; null: with all sites as at first */
    bool recorded;
    struct moves_verdict *verdict; /* recorded: from this move on it is not what the algorithm does; or null */
    struct stage_step *step;       /* step[k] is move k, counted from 1 */
    uint32_t count, place;         /* moves; those up to `place` have been made */
    uint32_t room;                 /* in step[] */
    struct stage_mark mark[STAGE_MARKS];
    uint32_t marks, stride;      /* moves from one mark to the next: twice as many when all marks are in use */
    struct stage_action *action; /* of the sites, and then of the messages that stage_offer_message was called for */
    uint32_t actions;
    char **state, **before; /* of each site: as text now, and before the last move */
    struct moves_remark *remark;
    uint32_t remarks;
};

/* Plays the scenario, which may take its algorithm from the name of its file, and stands at its beginning. A promise
 * that a move of the scenario breaks counts as withdrawn. Returns null, and fills in the error, if the scenario is
 * wrong. */
struct stage *stage_open(const char *path, const char *text, struct scenario_error *error);
void stage_free(struct stage *s);

/* Goes to the place after `place` moves, or to the end of the run if it is shorter. */
void stage_seek(struct stage *s, uint32_t place);
/* Makes a move here; the moves behind this place are forgotten. Returns null, or why it cannot be made. */
const char *stage_move(struct stage *s, const struct world_move *move);
/* Adds the three actions with message k in flight: it arrives, is lost, is copied. Returns the first; they are valid until
 * the next move. With thousands of messages in flight, most are never asked for. */
uint32_t stage_offer_message(struct stage *s, size_t k);
/* From now on the network keeps these promises. */
void stage_keep(struct stage *s, uint32_t keeps);

/* Why the move cannot be made here: by the state of the world, or by a promise. Null if it can. */
const char *stage_objects(const struct stage *s, const struct world_move *move);
/* The promise that forbids the move, with the reason in *why; 0 and null if none does. */
uint32_t stage_forbids(const struct lab_world *w, const struct world_move *move, uint32_t keeps, const char **why);

/* The first thing that is wrong after a step; or null. */
const char *stage_wrong(const struct stage_step *step);

/* The run up to its end as a scenario; to be freed. */
char *stage_scenario(const struct stage *s);

#endif
