/* world.h - n nodes and the messages between them, without time: the smallest driver.
 *
 * The user of a world chooses what happens next: a scenario file, a fuzzer, or the printing of a counterexample. A run
 * is nothing but a list of moves, and a move has a text that can be read and played again:
 *
 *     request 0        request 0 2 (in mode 2)      release 0      deliver 1 0 REPLY      timer 0 1
 *
 * and, where the network is not reliable,
 *
 *     lose 1 0 REPLY                                duplicate 1 0 REPLY
 *
 * and where sites fail:
 *
 *     crash 0          restart 0 (knowing nothing)  resume 0 (knowing what it knew)       join 0      leave 0
 *     cut 0 1 (these two from all others)           heal           suspect 0 (others are told that it is down)
 *
 * failure.h says what each failure loses and what the failure detector reports. Reports (news) are in flight like
 * messages, from the site that they are about. */
#ifndef DIBS_LAB_WORLD_H
#define DIBS_LAB_WORLD_H

#include "core/dme.h"
#include "core/text.h"

/* What happens to sites and to the network, beside the events of enum dme_event_type. */
enum world_event {
    WORLD_CRASH = DME_EVENTS,
    WORLD_SUSPECT,
    WORLD_CUT,
    WORLD_HEAL,
    /* And to a message in flight: */
    WORLD_LOSE = 16,
    WORLD_DUPLICATE /* a copy takes the place behind it */
};

/* One event at one site, or a mishap on the way to it. */
struct world_move {
    uint32_t type; /* enum dme_event_type, enum world_event */
    dme_id site;
    uint32_t arg;  /* as in struct dme_event; WORLD_CUT: one side, a bit for each of its sites, all below 32 */
    dme_id from;   /* DME_RECEIVE, mishaps */
    uint32_t kind; /* DME_RECEIVE, mishaps: of the message */
    uint32_t nth;  /* DME_RECEIVE, mishaps: of the messages in flight that match, the nth oldest; 0 is the oldest */
};

/* Lost or duplicated. */
static inline bool world_is_mishap(uint32_t type)
{
    return type >= WORLD_LOSE;
}

struct world_flight {
    uint64_t sent;       /* messages are numbered as they are sent; the copies of a broadcast share a number */
    struct dme_msg *msg; /* to: the receiver of this copy */
    bool broadcast;
};

struct lab_world {
    struct dme_conf conf;
    struct dme_node **node;
    struct dme_out *out;         /* of the last step */
    struct world_flight *flight; /* in the order of sending */
    size_t flights, room;
    uint64_t sent;    /* messages and reports so far; a broadcast is one */
    uint64_t reports; /* of these, of the failure detector */
    uint64_t entries; /* so far */
    uint32_t side;    /* of a cut, as in struct world_move; 0: the network is whole */
};

/* Is there a cut between the two? */
static inline bool world_apart(uint32_t side, dme_id i, dme_id j)
{
    return (i < 32 && side >> i & 1) != (j < 32 && side >> j & 1);
}

struct lab_world *world_new(const struct dme_conf *conf);
/* The same nodes, messages and counters. What the last step left in `out` is not in the clone. */
struct lab_world *world_clone(const struct lab_world *w);
void world_free(struct lab_world *w);

/* Makes the move. Null if all is well; else why it cannot be made, and nothing has changed. A fault of the algorithm is
 * not an error here: it is in w->out->fault. */
const char *world_move(struct lab_world *w, const struct world_move *move);

/* Why this move cannot be made now; null if it can. */
const char *world_objects(const struct lab_world *w, const struct world_move *move);

/* Puts a copy of a message in flight that no step has sent: for tests with liars. */
void world_send(struct lab_world *w, const struct dme_msg *m);

/* Forgets the messages in flight from these `count` sites to all others: for runs that begin in the midst. */
void world_forget(struct lab_world *w, dme_id first, uint32_t count);

/* Where in w->flight the message of this move is, or SIZE_MAX. */
size_t world_find(const struct lab_world *w, const struct world_move *move);
/* May this message be the next to arrive, on a network that keeps the promises in needs (DME_FIFO, DME_SEQUENCED,
 * DME_DETECTION)? */
bool world_may_arrive(const struct lab_world *w, size_t k, uint32_t needs);
/* The move that delivers message k. */
struct world_move world_delivery(const struct lab_world *w, size_t k);

/* Do all sites know that this site is down, so that it may restart? */
bool world_may_return(const struct lab_world *w, dme_id site);

/* Does the rule hold? */
bool world_safe(const struct lab_world *w);
/* The invariant of the algorithm that does not hold, or null. */
const char *world_broken(const struct lab_world *w);
/* Deadlock: a site waits although no site is inside, no message is in flight and no timer runs. (False while the
 * network is cut: a site on the wrong side waits for the cut to heal.) */
bool world_stuck(const struct lab_world *w);

/* "deliver 1 0 REPLY". */
void world_print_move(const struct lab_world *w, const struct world_move *move, struct dme_text *text);
/* Makes the move and tells what it did: "0 <- 1 REPLY  ENTERS  -> 2 TOKEN". Returns null, or why it cannot be made. */
const char *world_play(struct lab_world *w, const struct world_move *move, struct dme_text *text);

#endif
