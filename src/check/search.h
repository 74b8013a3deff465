/* search.h - a state space and the states of it that were reached: what the parts of the checker work on together. */
#ifndef DIBS_CHECK_SEARCH_H
#define DIBS_CHECK_SEARCH_H

#include "check.h"
#include "space.h"
#include "states.h"

#include <time.h>

struct search {
    const struct check_task *task;
    struct check_result *result;
    struct space space;
    struct states states;
    uint32_t n;
    struct timespec began;
    uint32_t start;                 /* the number of the initial state */
    uint32_t concrete[SPACE_WIDTH]; /* where the trace leads, not in canonical form */
};

/* A violation, and the state in which it shows; of CHECK_ERROR, the state before the move that fails: the one behind it may
 * have been reached without a fault, too. */
struct search_finding {
    enum check_verdict verdict;
    const char *fault;
    uint32_t state;
};

/* Is the state itself a violation? Notes also how often a site was overtaken, if that is counted. */
bool search_violates(const struct search *s, const uint32_t *state, struct space_moment *moment,
                     struct search_finding *finding);
/* Are there more states than the task allows, or will there be more memory when each shard has `more` states more? */
bool search_over_limits(const struct search *s, size_t more);
double search_seconds(const struct search *s);

/* parallel.c: the search by several threads, from the initial state on. Fills in the result but for the trace. */
void parallel_search(struct search *s, uint32_t threads, struct search_finding *finding);

/* fingerprint.c: the search that keeps fingerprints. Fills in states, transitions, depth, memory and what was
 * overtaken; the finding has no state. */
void fingerprint_search(struct search *s, const uint32_t *start, struct search_finding *finding);

/* reduce.c: the search that leaves out interleavings. As fingerprint_search, but there is no depth. */
void reduce_search(struct search *s, const uint32_t *start, struct search_finding *finding);

/* A move from one state to another. */
struct search_edge {
    dme_id site;
    uint32_t transition; /* of the site's part: see space.h */
    uint32_t to;
};

/* Steps through the edges that leave a state; start with {0}. */
struct search_cursor {
    dme_id site;
    uint32_t k;
};

/* The next edge that leads to a state which was reached too; false behind the last. */
bool search_next(struct search *s, uint32_t from, struct search_cursor *at, struct search_edge *edge);

static inline uint32_t search_flags(const struct search *s, uint32_t state, dme_id i)
{
    return s->space.part[states_get(&s->states, state)[i]].flags;
}

/* commute.c: are the canonical forms of this algorithm right, in a small system? Fills in result->compared, and the fault if
 * they are not. If the system violates a property, there is nothing to say about its forms. */
enum commute_outcome { COMMUTE_FITS, COMMUTE_WRONG, COMMUTE_VIOLATES };
enum commute_outcome commute_test(const struct check_task *task, struct check_result *result);

/* starve.c: looks among the states reached so far for a way to keep a site waiting for ever; if there is one, fills in
 * the result, with trace and loop, and returns true. If the task is stopped, it has not looked at all of them. */
bool starve_search(struct search *s);

/* longest.c: the largest number of messages that any run sends; UINT64_MAX if there are runs without end. If
 * the task is stopped, the number means nothing. */
uint64_t longest_messages(struct search *s);

/* trace.c: moves for the result. */
void trace_to(struct search *s, uint32_t state); /* from the start, a shortest way */
/* The move of this state that fails, behind the trace so far. */
void trace_fault(struct search *s, uint32_t state);
void trace_along(struct search *s, const struct search_edge *edges, size_t count); /* and on from there */

#endif
