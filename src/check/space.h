/* space.h - the state space of a configuration, taken apart so that it can be walked fast.
 *
 * A state of the whole system is one *part* for each site: the site's node, how many requests it may still make, and
 * its inbox, the messages in flight to it. Parts are interned, so a state is n small numbers. There are far fewer parts
 * than states, and a step is a pure function of a part, so what a site can do next is computed once for each part and
 * looked up ever after: the algorithm's code runs thousands of times where millions of states are visited.
 *
 * The fence is masked out: it is a Lamport clock on top of the algorithm, it grows for ever, and nothing depends on it.
 *
 * Order. An inbox keeps what the network promises and forgets what it does not: on FIFO channels the messages of one
 * sender stand in the order they were sent and only the first may arrive; otherwise the messages stand sorted, and any
 * may arrive. The copies of sequenced broadcasts are a lane of their own.
 *
 * Time. Where the network bounds delays by T, a timer of b bounds fires only after b rounds. A round of a timer begins
 * with the messages then in flight and ends when all of those have arrived. (What was sent when the timer started
 * arrives within T; what was sent up to then, within 2T; and so on: these are the messages that the timer must
 * outlast.) A message in flight carries a mark for every timer in whose present round it is.
 *
 * Mishaps. A network that is not reliable may lose or duplicate a limited number of messages in a run. The number that
 * is left is one more number of the state, after the parts; it is not there where nothing can go wrong. Only a message
 * that may arrive next is lost or duplicated: whatever an earlier mishap leads to, that does too.
 *
 * Failures. Sites may stop, begin again, join and leave, and the network may be cut in two, a limited number of times
 * in a run; they are counted with the mishaps. Which side of a cut a site is on is another number of the state. See
 * fail.c. */
#ifndef DIBS_CHECK_SPACE_H
#define DIBS_CHECK_SPACE_H

#include "core/dme.h"
#include "intern.h"
#include "lab/world.h"

enum { SPACE_SITES = 8, SPACE_WIDTH = SPACE_SITES + 2, SPACE_UNLIMITED = 255 };

/* Properties of a part that are computed once. */
enum space_flag {
    SPACE_WAITS = 1,
    SPACE_INSIDE = 2,
    SPACE_MOVES = 4 /* a message or a timer will make it move, sooner or later */
};

struct space_part {
    uint32_t node, inbox; /* interned */
    uint32_t mode;
    uint32_t first, count;    /* its transitions; count is UINT32_MAX until they are computed */
    uint8_t flags, overtaken; /* how often, while it waited */
};

/* One event at one site: what becomes of the site, and what it sends. */
struct space_transition {
    uint32_t part;     /* of the site, afterwards */
    uint32_t arg;      /* of the event or mishap; for DME_RECEIVE and mishaps the item */
    uint32_t spends;   /* of the mishaps that may still happen; 0 for events */
    uint32_t sends;    /* what it sends: from here in space->send */
    uint16_t count;    /* so many */
    uint16_t messages; /* number of messages; the copies of a broadcast are one */
    uint8_t type;      /* of the event or mishap */
    uint8_t started;   /* timers of this site */
    bool entered;
    bool ticked; /* the site's clock ticked before the event: more than the algorithm does, see canon.c */
    const char *fault;
};

/* A message under way to a site. */
struct space_send {
    dme_id to;
    uint32_t item;
};

/* What an inbox is a list of, interned: a message and its timers' marks, bit DME_TIMERS * site + timer. */
struct space_item {
    uint32_t message, marks;
};

/* Room for a copy of a state that is being rewritten: canon.c. */
struct space_draft {
    struct space_key *key[SPACE_SITES];
    struct dme_msg **msg;
    dme_id *to;
    bool *gone;
    size_t msgs, room;
};

struct space {
    struct dme_conf conf;
    uint32_t needs;                              /* promises that the network keeps */
    bool canonical;                              /* are states replaced by their canonical forms? */
    bool (*form)(const struct dme_draft *draft); /* makes the canonical form; see space_canon */
    uint64_t *(*clock)(void *state);             /* null; or a clock that may tick before any event */
    bool ticking;                                /* while transitions are computed: it does */
    bool overtaking;                             /* count how often a waiting site is overtaken? */
    uint32_t quiet;   /* 0; or a site asks only while fewer messages than this are in flight */
    uint32_t mishaps; /* that may happen in a run: enum space_mishap, each up to 15 times */

    struct intern nodes, messages, items, inboxes;
    struct space_part *part;
    size_t parts, part_room;
    struct memo pairs;    /* node and inbox -> part */
    struct memo appended; /* part and item -> part */

    struct space_transition *transition;
    size_t transitions, transition_room;
    struct space_send *send;
    size_t sends, send_room;

    struct space_key *scratch;
    struct space_draft draft;
    struct dme_out *out;
    struct dme_msg *blank; /* a message being interned */
    uint64_t steps;        /* for which the algorithm's code was run */
};

void space_init(struct space *s, const struct dme_conf *conf, uint32_t needs);
void space_free(struct space *s);
size_t space_memory(const struct space *s);

/* Mishaps and failures, as digits of a number. */
enum space_mishap {
    SPACE_LOSS = 1,
    SPACE_DUPLICATE = 1 << 4,
    SPACE_CRASH = 1 << 8,
    SPACE_RESTART = 1 << 12,
    SPACE_RESUME = 1 << 16, /* with its memory */
    SPACE_CUT = 1 << 20,
    SPACE_JOIN = 1 << 24,
    SPACE_LEAVE = 1 << 28,
    SPACE_MISHAP_BASE = 16
};

/* How many numbers a state has: the parts, what may still go wrong, and one side of a cut. */
static inline uint32_t space_width(const struct space *s)
{
    return s->conf.n + (s->mishaps != 0) + (s->mishaps >= SPACE_CUT);
}

/* One side of the cut, as in struct world_move; 0 if there is none. */
static inline uint32_t space_side(const struct space *s, const uint32_t *state)
{
    return s->mishaps >= SPACE_CUT ? state[s->conf.n + 1] : 0;
}

/* May this failure happen in this state, as far as others are concerned? */
bool space_may_fail(const struct space *s, const uint32_t *state, const struct space_transition *t);
/* May a site that has stopped begin again, in any run? */
bool space_may_return(const struct space *s);

/* How many messages are in flight? */
uint32_t space_flights(const struct space *s, const uint32_t *state);

/* Is the transition possible in this state, or did too much go wrong already? */
static inline bool space_affords(const struct space *s, const uint32_t *state, const struct space_transition *t)
{
    if (s->quiet && t->type == DME_REQUEST && space_flights(s, state) >= s->quiet)
        return false;
    return (!t->spends || state[s->conf.n] / t->spends % SPACE_MISHAP_BASE) &&
           (t->type < DME_RESTART || space_may_fail(s, state, t));
}

/* The initial state: its parts, and the mishaps. left[i]: how many requests site i may make, or SPACE_UNLIMITED. */
void space_start(struct space *s, const uint8_t *left, uint32_t *state);

/* The transitions of a part: s->transition[first] and those after it. Returns their number. */
uint32_t space_expand(struct space *s, uint32_t part, uint32_t *first);
/* The part with this item added to its inbox. */
uint32_t space_append(struct space *s, uint32_t part, uint32_t item);
/* The state after site i makes transition t. */
void space_apply(struct space *s, const uint32_t *state, dme_id i, uint32_t t, uint32_t *next);

/* Replaces the state by its canonical form; the algorithm has one. */
void space_canon(struct space *s, uint32_t *state);
/* The same state, in which every site may make any number of requests. */
void space_unlimit(struct space *s, uint32_t *state);

bool space_safe(const struct space *s, const uint32_t *state);
/* The invariant of the algorithm that does not hold, or null. The moment is only room to work in, zeroed at first; its
 * arrays are to be freed with space_forget. */
struct space_moment {
    const struct dme_msg **msg;
    dme_id *to;
    size_t room;
};
const char *space_broken(const struct space *s, const uint32_t *state, struct space_moment *moment);
void space_forget(struct space_moment *moment);
/* Deadlock: a site waits although no site is inside and nothing will move by itself. It waits for ever, even if others
 * could still make requests; unless the network is cut: then it may wait for the cut to heal. */
bool space_stuck(const struct space *s, const uint32_t *state);

/* Nothing will move by itself, the rule would let a site in that waits, and it waits for an exit all the same. (For
 * slots: there is room. Else: all that are inside or wait are of one mode, and share.) */
bool space_blocked(const struct space *s, const uint32_t *state);
/* The most often that a site which waits has been overtaken, if that is counted. */
uint32_t space_overtaken(const struct space *s, const uint32_t *state);

/* What transition t of site i is, as a move in a world that has come to the same state. */
struct world_move space_move(const struct space *s, const struct lab_world *w, dme_id i, uint32_t t);

/* Counts the events by phase, over all parts that were looked at. */
struct check_coverage;
void space_coverage(const struct space *s, struct check_coverage *coverage);

#endif
