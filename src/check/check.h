/* check.h - every interleaving of a small system, breadth first.
 *
 * The checker makes every move that is possible in every state that can be reached: each site may ask (as often as it
 * is allowed to) and must leave, each message in flight that the network lets through may be the next to arrive, each
 * timer that may fire may fire. What it says holds for all schedules of this size, and a violation comes with a
 * shortest schedule that leads to it. */
#ifndef DIBS_CHECK_CHECK_H
#define DIBS_CHECK_CHECK_H

#include "core/dme.h"
#include "lab/world.h"

#include <signal.h>

enum check_verdict {
    CHECK_HOLDS,
    CHECK_EXCLUSION,  /* incompatible holders are inside together */
    CHECK_DEADLOCK,   /* no site is inside, no message is in flight, and a site waits */
    CHECK_ERROR,      /* a site received what contradicts the protocol, or entered without having asked */
    CHECK_STARVATION, /* a site can be kept waiting for ever, though every message arrives and every site leaves */
    CHECK_OVERTAKING, /* while a site waited, others entered more often than allowed */
    CHECK_BLOCKING,   /* a site waits for an exit although the rule would let it in */
    CHECK_INVARIANT,  /* an invariant of the algorithm does not hold */
    CHECK_UNFINISHED  /* more states than the limit, or more memory, or it was interrupted */
};
extern const char *const check_verdicts[]; /* "holds", "exclusion", .. */

enum {
    CHECK_SITES = 8 /* for every interleaving */,
    CHECK_SITES_RANDOM = 64,
    CHECK_UNLIMITED = 255 /* requests */,
    CHECK_MISHAPS = 15 /* of a kind, in a run */
};

struct check_task {
    struct dme_conf conf;
    uint32_t needs;                       /* promises that the network keeps, dme_need or-ed */
    uint8_t requests[CHECK_SITES_RANDOM]; /* that each site may make, or CHECK_UNLIMITED */
    uint8_t lose, duplicate;              /* so many messages at most, in a run */
    uint8_t crash, restart, resume;       /* so many sites stop (or are taken to have stopped), and begin again */
    uint8_t cut, join, leave;
    uint32_t quiet;     /* 0; or a site asks only while fewer messages than this are in flight */
    bool canonical;     /* search canonical forms of states, see canon.c; check_may_be_canonical(task) */
    bool fingerprints;  /* keep 128 bits of each state instead of the states */
    bool reduce;        /* leave out interleavings that lead to nothing new; see check_reducible */
    bool starvation;    /* look for it? */
    bool plain;         /* leave the algorithm's invariants out: that is faster */
    bool concurrency;   /* must a site that the rule would let in not wait for an exit? */
    bool deadlocks_too; /* go on past a deadlock: it is no violation */
    bool messages;      /* find the largest number of messages of any run? */
    bool overtaking;    /* count how often a waiting site is overtaken? */
    uint32_t overtakes; /* that are allowed, if so: at most 254 */
    uint32_t threads;   /* 0 or 1: one; several only look for what single states show */
    uint64_t limit;     /* states, at most */
    size_t memory;      /* bytes, at most; 0: no limit */
    /* Now and then; or null. Of random runs: how many are made, and how many are left. */
    void (*progress)(uint64_t states, uint64_t waiting, double seconds);
    const volatile sig_atomic_t *stop; /* not 0: the search ends as it is; or null */
};

/* How often something happened, in states that differ: by what, and in which phase the site was. */
enum { CHECK_EVENTS = 32 };
struct check_coverage {
    const char *event[CHECK_EVENTS]; /* "request", "release", the kinds of messages, "timer"; ends with a null */
    uint64_t count[CHECK_EVENTS][3]; /* by phase */
};

/* The states of a system of few sites that check_any_number has compared with the pair; and whether these are all. */
struct check_cover {
    uint64_t states;
    bool all;
};

struct check_result {
    enum check_verdict verdict;
    const char *fault; /* CHECK_ERROR: the fact that did not hold; CHECK_INVARIANT: which */
    dme_id victim;     /* CHECK_STARVATION: the site that waits */
    uint64_t states, transitions;
    uint32_t print_bits; /* with fingerprints: bits of them that were 0 in one state and 1 in another */
    uint64_t compared;   /* with canonical forms: moves that were compared with them, see commute.c */
    uint64_t
        compared_first; /* of each system, only the moves of the first `compared_first` states were compared; 0: those of all states */
    struct check_cover
        cover[2];       /* check_any_number: three sites with two requests each; four, three of which make one */
    uint64_t runs;      /* check_random: the number of runs that were made */
    bool interrupted;   /* by task->stop */
    bool vacuous;       /* no site ever made a request: never were fewer than task->quiet messages in flight */
    uint64_t steps;     /* of the algorithm's code; the other transitions were remembered */
    uint32_t depth;     /* moves on the longest shortest way to a state */
    uint32_t overtaken; /* most often, if that was counted */
    uint64_t messages;  /* of any run, if that was asked for; UINT64_MAX: there is no largest number */
    double seconds;
    size_t memory;            /* bytes at the end */
    struct world_move *trace; /* to the violation; the caller frees it; null if memory did not allow to retrace it */
    uint32_t trace_length;
    struct check_coverage coverage;
    uint32_t loop; /* CHECK_STARVATION: from here on the trace goes round for ever */
};

/* Starvation and the largest number of messages need the states themselves, so not with fingerprints. */
void check_run(const struct check_task *task, struct check_result *result);
/* May the task be reduced? It keeps exclusion, deadlocks and faults, on networks where nothing is bounded, sequenced or
 * goes wrong. */
bool check_reducible(const struct check_task *task);
/* May the search go through canonical forms of states? The algorithm has such forms, and nothing fails. */
bool check_may_be_canonical(const struct check_task *task);
/* Are there surely infinitely many states if the sites may make any number of requests? (Not in canonical form.) */
bool check_grows(const struct check_task *task);
/* Exclusion for any number of sites and of requests, where it is a matter of pairs: see crowd.c. At a violation the task becomes
 * that of the small system which shows it. */
bool check_may_be_any_number(const struct check_task *task);
void check_any_number(struct check_task *task, struct check_result *result);
/* With fingerprints: the probability that any state was left out is at most that. */
double check_omission(const struct check_result *result);

/* For systems that are too large for that: `runs` random runs of the same task, from a seed. Stops at a violation,
 * whose trace is then the whole run. Starvation, overtaking and longest runs are not looked for. */
void check_random(const struct check_task *task, uint64_t runs, uint64_t seed, struct check_result *result);

static inline bool check_stopped(const struct check_task *t)
{
    return t->stop && *t->stop;
}

/* Is anything of the task to fail but messages? */
static inline bool check_fails(const struct check_task *t)
{
    return t->crash || t->restart || t->resume || t->cut || t->join || t->leave;
}

/* The promises an algorithm needs of a network, or all that it could have under --order. */
uint32_t check_needs(const struct dme_alg *alg, bool fifo);

#endif
