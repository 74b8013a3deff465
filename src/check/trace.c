/* trace.c - from states back to moves that a person can read and a world can make. See search.h. */
#include "base/memory.h"
#include "search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool search_next(struct search *s, uint32_t from, struct search_cursor *at, struct search_edge *edge)
{
    uint32_t next[SPACE_WIDTH];

    for (; at->site < s->n; at->site++, at->k = 0) {
        uint32_t first, count = space_expand(&s->space, states_get(&s->states, from)[at->site], &first);

        while (at->k < count) {
            edge->site = at->site;
            edge->transition = first + at->k++;
            if (!space_affords(&s->space, states_get(&s->states, from), &s->space.transition[edge->transition]))
                continue;
            space_apply(&s->space, states_get(&s->states, from), edge->site, edge->transition, next);
            edge->to = states_find(&s->states, next);
            if (edge->to != STATES_NONE)
                return true;
        }
    }
    return false;
}

/* A world that has made the moves of the trace so far. */
static struct lab_world *trace_world(const struct search *s)
{
    struct lab_world *w = world_new(&s->task->conf);

    for (uint32_t k = 0; k < s->result->trace_length; k++)
        if (world_move(w, &s->result->trace[k]) != NULL)
            assert(!"the world makes every move of the trace");
    return w;
}

static void trace_along_world(struct search *s, const struct search_edge *edges, size_t count)
{
    struct check_result *r = s->result;
    struct lab_world *w = trace_world(s);

    r->trace = mem_grow(r->trace, (r->trace_length + count) * sizeof *r->trace);
    for (size_t k = 0; k < count; k++) {
        struct world_move move = space_move(&s->space, w, edges[k].site, edges[k].transition);

        if (world_move(w, &move) != NULL)
            assert(!"the world makes every move of the trace");
        r->trace[r->trace_length++] = move;
    }
    world_free(w);
}

/* ------------------------------------------------------------------------------------------- through canonical forms */

/* Makes the move in the state that the trace has come to. */
static void trace_make(struct search *s, struct lab_world *w, dme_id i, uint32_t t)
{
    struct check_result *r = s->result;
    struct world_move move = space_move(&s->space, w, i, t);
    uint32_t next[SPACE_WIDTH];

    if (world_move(w, &move) != NULL)
        assert(!"the world makes every move of the trace");
    r->trace = mem_grow(r->trace, (r->trace_length + 1) * sizeof *r->trace);
    r->trace[r->trace_length++] = move;
    space_apply(&s->space, s->concrete, i, t, next);
    memcpy(s->concrete, next, sizeof next);
}

/* Is transition t of the site of this type, and does it lead to a state of this form, or, if the form is null, fail? */
static bool trace_fits(struct search *s, dme_id site, uint32_t t, uint32_t type, const uint32_t *form)
{
    uint32_t next[SPACE_WIDTH];

    if (s->space.transition[t].type != type)
        return false;
    if (!form)
        return s->space.transition[t].fault != NULL;
    space_apply(&s->space, s->concrete, site, t, next);
    space_canon(&s->space, next);
    return memcmp(next, form, s->states.width * sizeof *form) == 0;
}

/* Makes a transition of the site that fits. False if there is none. */
static bool trace_find(struct search *s, struct lab_world *w, dme_id site, uint32_t type, const uint32_t *form)
{
    uint32_t first, count = space_expand(&s->space, s->concrete[site], &first), t = first;

    while (t < first + count && !trace_fits(s, site, t, type, form))
        t++;
    if (t < first + count)
        trace_make(s, w, site, t);
    return t < first + count;
}

/* A move that has this edge as its form. Messages that canonical forms leave out may have to arrive before; their arrival
 * does not change the form. */
static void trace_concretely(struct search *s, struct lab_world *w, const struct search_edge *edge)
{
    const struct space_transition tr = s->space.transition[edge->transition];
    const uint32_t *form = tr.fault ? NULL : states_get(&s->states, edge->to);
    uint32_t now[SPACE_WIDTH];

    memcpy(now, s->concrete, sizeof now);
    space_canon(&s->space, now);
    while (!trace_find(s, w, edge->site, tr.type, form)) {
        dme_id i = 0;

        while (i < s->n && !trace_find(s, w, i, DME_RECEIVE, now))
            i++;
        if (i == s->n)
            assert(!"a state can do what its canonical form can");
    }
}

void trace_along(struct search *s, const struct search_edge *edges, size_t count)
{
    struct lab_world *w;

    if (s->space.clock)
        return; /* the algorithm may have no such run */
    if (!s->task->canonical) {
        trace_along_world(s, edges, count);
        return;
    }
    w = trace_world(s);
    s->space.canonical = false; /* from now on: nothing but the trace is still to be made */
    for (size_t k = 0; k < count; k++)
        trace_concretely(s, w, &edges[k]);
    world_free(w);
}

/* The edge from state a to state b. */
static struct search_edge trace_edge(struct search *s, uint32_t a, uint32_t b)
{
    struct search_cursor at = {0};
    struct search_edge edge;

    while (search_next(s, a, &at, &edge))
        if (edge.to == b)
            return edge;
    assert(!"some move leads there");
    return (struct search_edge){0};
}

void trace_to(struct search *s, uint32_t state)
{
    struct search_edge *way;
    size_t length = 0, at;

    for (uint32_t k = state; k != s->start; k = states_parent(&s->states, k))
        length++;
    way = mem_new(length * sizeof *way);
    at = length;
    for (uint32_t k = state; k != s->start; k = states_parent(&s->states, k))
        way[--at] = trace_edge(s, states_parent(&s->states, k), k);
    trace_along(s, way, length);
    free(way);
}

void trace_fault(struct search *s, uint32_t state)
{
    const uint32_t *now = states_get(&s->states, state);

    for (dme_id i = 0; i < s->n; i++) {
        uint32_t first, count = space_expand(&s->space, now[i], &first), t = first;

        while (t < first + count &&
               !(s->space.transition[t].fault && space_affords(&s->space, now, &s->space.transition[t])))
            t++;
        if (t < first + count) {
            trace_along(s, &(struct search_edge){.site = i, .transition = t}, 1);
            return;
        }
    }
    assert(!"some move of the state fails");
}
