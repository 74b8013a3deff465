/* commute.c - is a canonical form (canon.c) right? A form that presupposes what the algorithm is to guarantee hides the
 * algorithm's mistakes, so each of them is tested before its verdicts are believed.
 *
 * The test. Take every state c, without canonical forms, of two sites with five requests each and of three sites with two
 * requests each (COMMUTE_STATES of each system at most, those that a search finds first), and every move from c to c'. Then
 *
 *              move
 *          c --------> c'
 *          |           |
 *    canon |           | canon      the canonical form of c has a move to the canonical form of c', or the two forms
 *          v   move    v            are one;
 *          k --------> k'
 *
 * and k is a violation only if c is one. If c is one, there is no question left. So whatever the algorithm does in such a
 * system, canonical states do. The argument that this goes on for ever stands beside each handler. Which sites wait and
 * which are inside is the same in c and in k by construction. */
#include "search.h"

#include <string.h>

/* Requests of each of two and of three sites; and states. */
enum { COMMUTE_MANY = 5, COMMUTE_FEW = 2, COMMUTE_STATES = 100000 };

struct commute {
    struct search *search; /* the states without canonical forms */
    struct states canonical;
    struct memo moves; /* numbers of two canonical states: a move leads from the first to the second, or they are one */
    struct space_moment moment;
    const char *wrong;
    bool violates; /* the algorithm is wrong, whatever the form */
};

static uint32_t commute_number(struct commute *c, const uint32_t *state)
{
    uint32_t number = states_add(&c->canonical, state, states_hash(&c->canonical, state), STATES_NONE);

    return number == STATES_NONE ? states_find(&c->canonical, state) : number;
}

/* The canonical form of a state, for any number of requests. */
static uint32_t commute_form(struct commute *c, const uint32_t *state)
{
    uint32_t form[SPACE_WIDTH];

    memcpy(form, state, c->search->states.width * sizeof *form);
    space_unlimit(&c->search->space, form);
    space_canon(&c->search->space, form);
    return commute_number(c, form);
}

static bool commute_has(const struct commute *c, uint32_t k, uint32_t to)
{
    return memo_get(&c->moves, k, to) != MEMO_MISSING;
}

/* Notes the moves of a canonical state. */
static void commute_expand(struct commute *c, uint32_t k)
{
    struct space *space = &c->search->space;
    uint32_t next[SPACE_WIDTH];

    if (commute_has(c, k, k))
        return;
    memo_put(&c->moves, k, k, 1);
    for (dme_id i = 0; i < c->search->n; i++) {
        uint32_t first, count = space_expand(space, states_get(&c->canonical, k)[i], &first);

        for (uint32_t t = first; t < first + count; t++) {
            space_apply(space, states_get(&c->canonical, k), i, t, next);
            space_canon(space, next);
            memo_set(&c->moves, k, commute_number(c, next), 1);
        }
    }
}

/* A state and its canonical form: is one a violation and the other not? */
static void commute_judge(struct commute *c, const uint32_t *state, const uint32_t *form)
{
    struct search_finding here = {0}, there = {0};

    c->violates = search_violates(c->search, state, &c->moment, &here);
    if (search_violates(c->search, form, &c->moment, &there) && !c->violates && there.verdict != CHECK_DEADLOCK)
        c->wrong = "a state is no violation, and its canonical form is one";
}

/* All moves of a state. */
static void commute_compare(struct commute *c, uint32_t number)
{
    struct search *s = c->search;
    uint32_t state[SPACE_WIDTH], next[SPACE_WIDTH], k;

    memcpy(state, states_get(&s->states, number), s->states.width * sizeof *state);
    k = commute_form(c, state);
    commute_judge(c, state, states_get(&c->canonical, k));
    commute_expand(c, k);
    for (dme_id i = 0; i < s->n && !c->wrong && !c->violates; i++) {
        uint32_t first, count = space_expand(&s->space, state[i], &first);

        for (uint32_t t = first; t < first + count && !c->wrong; t++) {
            uint32_t to;

            if (s->space.transition[t].ticked)
                continue;
            c->violates |= s->space.transition[t].fault != NULL;
            space_apply(&s->space, state, i, t, next);
            states_add(&s->states, next, states_hash(&s->states, next), number);
            to = commute_form(c, next);
            s->result->compared++;
            if (!commute_has(c, k, to) && !c->violates)
                c->wrong = "a move of a state is no move of its canonical form";
        }
    }
}

static void commute_free(struct commute *c)
{
    states_free(&c->canonical);
    memo_free(&c->moves);
    space_forget(&c->moment);
}

/* All states of a system of this size, or the first of them if there are too many. */
static enum commute_outcome commute_system(const struct check_task *task, uint32_t sites, uint8_t requests,
                                           struct check_result *result)
{
    struct check_task small = *task;
    struct search s = {.task = &small, .result = result, .n = sites};
    struct commute c = {.search = &s};
    uint32_t start[SPACE_WIDTH];

    small.conf.n = sites;
    small.concurrency = false;
    memset(small.requests, requests, sizeof small.requests);
    space_init(&s.space, &small.conf, small.needs);
    s.space.clock = small.conf.alg->clock;
    space_start(&s.space, small.requests, start);
    states_init(&s.states, space_width(&s.space), 1);
    states_init(&c.canonical, space_width(&s.space), 1);
    memo_init(&c.moves);
    states_add(&s.states, start, states_hash(&s.states, start), STATES_NONE);
    for (size_t k = 0; k < states_count(&s.states) && k < COMMUTE_STATES && !c.wrong && !c.violates; k++) {
        if (check_stopped(task)) /* then the search ends without a verdict, too */
            break;
        commute_compare(&c, (uint32_t)k);
    }
    if (states_count(&s.states) > COMMUTE_STATES)
        result->compared_first = COMMUTE_STATES;
    result->fault = c.violates
                        ? "a smaller system violates a property: see --sites 2 --requests 5, --sites 3 --requests 2"
                    : c.wrong ? c.wrong
                              : NULL;
    commute_free(&c);
    states_free(&s.states);
    space_free(&s.space);
    return c.violates ? COMMUTE_VIOLATES : c.wrong ? COMMUTE_WRONG : COMMUTE_FITS;
}

enum commute_outcome commute_test(const struct check_task *task, struct check_result *result)
{
    uint32_t n = task->conf.n;
    enum commute_outcome outcome = commute_system(task, n < 2 ? n : 2, COMMUTE_MANY, result);

    return outcome == COMMUTE_FITS && n > 2 ? commute_system(task, 3, COMMUTE_FEW, result) : outcome;
}
