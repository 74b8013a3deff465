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

void trace_along(struct search *s, const struct search_edge *edges, size_t count)
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

/* The edge from state a to state b. */
static struct search_edge trace_edge(struct search *s, uint32_t a, uint32_t b)
{
    uint32_t next[SPACE_WIDTH];

    for (dme_id i = 0; i < s->n; i++) {
        uint32_t first, count = space_expand(&s->space, states_get(&s->states, a)[i], &first);

        for (uint32_t t = first; t < first + count; t++) {
            if (!space_affords(&s->space, states_get(&s->states, a), &s->space.transition[t]))
                continue;
            space_apply(&s->space, states_get(&s->states, a), i, t, next);
            if (memcmp(next, states_get(&s->states, b), s->states.width * sizeof *next) == 0)
                return (struct search_edge){.site = i, .transition = t, .to = b};
        }
    }
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
    for (dme_id i = 0; i < s->n; i++) {
        uint32_t first, count = space_expand(&s->space, states_get(&s->states, state)[i], &first);

        for (uint32_t t = first; t < first + count; t++)
            if (s->space.transition[t].fault &&
                space_affords(&s->space, states_get(&s->states, state), &s->space.transition[t])) {
                trace_along(s, &(struct search_edge){.site = i, .transition = t}, 1);
                return;
            }
    }
    assert(!"some move of the state fails");
}
