/* starve.c - can a site be kept waiting for ever, although everything that can happen does happen in the end?
 *
 * Fairness. In an endless run every message that may arrive does arrive, every site that is inside leaves, every timer
 * that may fire fires; but no site has to ask. A site starves if such a run never lets it in. As there are finitely
 * many states, there is then a cycle among states in which it waits that is fair, too: whatever is due in all states of
 * the cycle is done somewhere on it.
 *
 * The search. For each site in turn, Tarjan's strongly connected components of the states in which it waits. In a
 * component one can walk through all states and edges and come back; so it has a fair cycle exactly if everything that
 * is due in *all* of its states is done on one of its edges. (If something is due everywhere and never done, the same
 * is so in every cycle within it.) */
#include "base/memory.h"
#include "search.h"
#include "space_inner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Something that has to happen sooner or later: a transition of a site that is neither a request nor a mishap. */
struct starve_due {
    dme_id site;
    uint32_t type, arg;
};

struct starve_frame {
    uint32_t state;
    struct search_cursor at;
};

struct starve {
    struct search *search;
    dme_id victim;
    uint32_t *index; /* order of discovery + 1; 0: not seen; UINT32_MAX: component is done */
    uint32_t *low;   /* the earliest open state that can be reached; the component, once it is done; 0: not seen */
    uint32_t *open;  /* Tarjan's stack */
    size_t opens, seen;
    struct starve_frame *frame;
    size_t frames, frame_room;
};

#define STARVE_DONE UINT32_MAX

/* A message is known by its item, or in canonical forms by its sender and kind. Marks are only added to an item while it is under way: on a cycle they
 * stay as they are, or the message arrives. */
static struct starve_due starve_due(const struct search *s, dme_id site, uint32_t transition)
{
    const struct space_transition *t = &s->space.transition[transition];
    struct starve_due due = {.site = site, .type = t->type, .arg = t->arg};

    if (t->type == DME_RECEIVE && s->task->canonical) { /* its numbers change from form to form */
        const struct dme_msg *m = space_message(&s->space, t->arg);

        due.arg = m->from << 8 | m->kind;
    }
    return due;
}

static bool starve_same(struct starve_due a, struct starve_due b)
{
    return a.site == b.site && a.type == b.type && a.arg == b.arg;
}

/* Must it happen? A site need not ask and nothing need go wrong, but a cut heals in the end. */
static bool starve_must(const struct search *s, uint32_t state, const struct space_transition *t)
{
    if (t->type == WORLD_HEAL)
        return space_affords(&s->space, states_get(&s->states, state), t);
    return t->type == DME_RELEASE || t->type == DME_RECEIVE || t->type == DME_TIMER;
}

/* The moves that are due in this state. The caller frees them. */
static struct starve_due *starve_dues(struct search *s, uint32_t state, size_t *count)
{
    struct starve_due *dues = NULL;

    *count = 0;
    for (dme_id i = 0; i < s->n; i++) {
        uint32_t first, k, many = space_expand(&s->space, states_get(&s->states, state)[i], &first);

        dues = mem_grow(dues, (*count + many) * sizeof *dues);
        for (k = first; k < first + many; k++)
            if (starve_must(s, state, &s->space.transition[k]))
                dues[(*count)++] = starve_due(s, i, k);
    }
    return dues;
}

static bool starve_has(const struct starve_due *dues, size_t count, struct starve_due due)
{
    for (size_t k = 0; k < count; k++)
        if (starve_same(dues[k], due))
            return true;
    return false;
}

static bool starve_waits(const struct starve *v, uint32_t state)
{
    return search_flags(v->search, state, v->victim) & SPACE_WAITS;
}

/* -------------------------------------------------------------------------------------------------- fair components */

/* Takes out of dues what this state does not have. */
static void starve_keep_common(struct search *s, uint32_t state, struct starve_due *dues, size_t *count)
{
    size_t here, kept = 0;
    struct starve_due *now = starve_dues(s, state, &here);

    for (size_t k = 0; k < *count; k++)
        if (starve_has(now, here, dues[k]))
            dues[kept++] = dues[k];
    *count = kept;
    free(now);
}

/* Takes out of dues what is done on an edge within the component. That is known by its first state, and never 0: in the initial
 * state no site waits. No edge leads from a component that is done to a state that is still open. */
static void starve_strike_done(struct starve *v, uint32_t state, uint32_t component, struct starve_due *dues,
                               size_t *count)
{
    struct search_cursor at = {0};
    struct search_edge e;

    while (*count && search_next(v->search, state, &at, &e)) {
        struct starve_due due = starve_due(v->search, e.site, e.transition);

        if (v->low[e.to] != component)
            continue;
        for (size_t k = 0; k < *count;)
            if (starve_same(dues[k], due)) /* perhaps more than once: forms know a message by its sender and kind */
                dues[k] = dues[--*count];
            else
                k++;
    }
}

/* Is there a fair cycle in the component whose states are members[]? */
static bool starve_fair(struct starve *v, const uint32_t *members, size_t many, uint32_t component)
{
    size_t count;
    struct starve_due *dues = starve_dues(v->search, members[0], &count);

    for (size_t m = 1; m < many && count; m++) {
        assert(v->low[members[m]] == component);
        if (check_stopped(v->search->task))
            break;
        starve_keep_common(v->search, members[m], dues, &count);
    }
    for (size_t m = 0; m < many && count; m++) {
        assert(v->low[members[m]] == component);
        if (check_stopped(v->search->task))
            break;
        starve_strike_done(v, members[m], component, dues, &count);
    }
    free(dues);
    return count == 0;
}

/* A component of one state is a cycle only if an edge leads back to it. */
static bool starve_cyclic(struct starve *v, const uint32_t *members, size_t many)
{
    struct search_cursor at = {0};
    struct search_edge e;

    if (many > 1)
        return true;
    while (search_next(v->search, members[0], &at, &e))
        if (e.to == members[0])
            return true;
    return false;
}

/* --------------------------------------------------------------------------------------------- showing a fair cycle */

struct starve_walk {
    struct search_edge *edge;
    size_t count;
};

static void starve_walk_on(struct starve_walk *walk, const struct search_edge *edges, size_t count)
{
    walk->edge = mem_grow(walk->edge, (walk->count + count) * sizeof *walk->edge);
    memcpy(walk->edge + walk->count, edges, count * sizeof *edges);
    walk->count += count;
}

/* What a walk is looking for: an edge that does `due`, or a state without it; or the state `home`. */
struct starve_goal {
    const struct starve_due *due;
    uint32_t home;
};

static bool starve_reached(struct starve *v, const struct starve_goal *goal, const struct search_edge *e)
{
    size_t count;
    struct starve_due *dues;
    bool absent;

    if (!goal->due)
        return e->to == goal->home;
    if (starve_same(starve_due(v->search, e->site, e->transition), *goal->due))
        return true;
    dues = starve_dues(v->search, e->to, &count);
    absent = !starve_has(dues, count, *goal->due);
    free(dues);
    return absent;
}

/* A breadth-first search within the component: how each state of the queue was reached. */
struct starve_queue {
    uint32_t *state, *parent;
    struct search_edge *came;
    size_t head, tail;
    uint8_t *known; /* by state */
};

/* The edges from the first state of the queue to state k of it. */
static void starve_walk_to(struct starve_walk *walk, const struct starve_queue *q, size_t k)
{
    if (k == 0)
        return;
    starve_walk_to(walk, q, q->parent[k]);
    starve_walk_on(walk, &q->came[k], 1);
}

/* Searches on until an edge reaches the goal; the walk then goes along that edge. Returns where it ends. */
static uint32_t starve_seek(struct starve *v, struct starve_queue *q, struct starve_walk *walk, uint32_t component,
                            const struct starve_goal *goal)
{
    for (; q->head < q->tail; q->head++) {
        struct search_cursor at = {0};
        struct search_edge e;

        while (search_next(v->search, q->state[q->head], &at, &e)) {
            if (v->low[e.to] != component)
                continue;
            if (starve_reached(v, goal, &e)) {
                starve_walk_to(walk, q, q->head);
                starve_walk_on(walk, &e, 1);
                return e.to;
            }
            if (q->known[e.to])
                continue;
            q->known[e.to] = 1;
            q->came[q->tail] = e;
            q->parent[q->tail] = (uint32_t)q->head;
            q->state[q->tail++] = e.to;
        }
    }
    assert(!"a component that is fair has a way to every goal");
    return 0;
}

/* Walks on from a state of the component, whose states are `many`, the shortest way to the goal. */
static uint32_t starve_go(struct starve *v, struct starve_walk *walk, uint32_t from, uint32_t component, size_t many,
                          const struct starve_goal *goal)
{
    struct starve_queue q = {.tail = 1};
    uint32_t end;

    q.state = mem_new(many * sizeof *q.state);
    q.parent = mem_new(many * sizeof *q.parent);
    q.came = mem_new(many * sizeof *q.came);
    q.known = mem_new(states_count(&v->search->states));
    q.state[0] = from;
    q.known[from] = 1;
    end = starve_seek(v, &q, walk, component, goal);
    free(q.state);
    free(q.parent);
    free(q.came);
    free(q.known);
    return end;
}

/* The trace: to the state of the component that is reached first, and once around a fair cycle. A move that is due in
 * all states of a cycle is due in that one, so it is enough to do each of its dues, or to come where it is not due. */
static void starve_show(struct starve *v, const uint32_t *members, size_t many, uint32_t component)
{
    struct search *s = v->search;
    struct starve_walk walk = {0};
    struct starve_goal goal = {0};
    uint32_t start = members[0], at;
    size_t count;
    struct starve_due *dues;

    for (size_t m = 1; m < many; m++)
        if (members[m] < start)
            start = members[m];
    dues = starve_dues(s, start, &count);
    at = start;
    for (size_t k = 0; k < count; k++) {
        goal.due = &dues[k];
        at = starve_go(v, &walk, at, component, many, &goal);
    }
    goal = (struct starve_goal){.home = start};
    if (at != start || walk.count == 0)
        starve_go(v, &walk, at, component, many, &goal);
    s->result->verdict = CHECK_STARVATION;
    s->result->victim = v->victim;
    trace_to(s, start);
    s->result->loop = s->result->trace_length;
    trace_along(s, walk.edge, walk.count);
    free(walk.edge);
    free(dues);
}

/* ----------------------------------------------------------------------------------------------------------- Tarjan */

static void starve_open(struct starve *v, uint32_t state)
{
    if (v->frames == v->frame_room) {
        v->frame_room = v->frame_room ? 2 * v->frame_room : 1024;
        v->frame = mem_grow(v->frame, v->frame_room * sizeof *v->frame);
    }
    v->frame[v->frames++] = (struct starve_frame){.state = state};
    v->index[state] = v->low[state] = (uint32_t)++v->seen;
    v->open[v->opens++] = state;
}

/* The state is the first of its component: the component is what lies above it on the stack. True if a site starves. */
static bool starve_close(struct starve *v, uint32_t state)
{
    size_t first = v->opens;

    while (v->open[--first] != state)
        ;
    for (size_t k = first; k < v->opens; k++) {
        v->index[v->open[k]] = STARVE_DONE;
        v->low[v->open[k]] = state;
    }
    if (starve_cyclic(v, v->open + first, v->opens - first) &&
        starve_fair(v, v->open + first, v->opens - first, state)) {
        starve_show(v, v->open + first, v->opens - first, state);
        return true;
    }
    v->opens = first;
    return false;
}

static bool starve_from(struct starve *v, uint32_t root)
{
    starve_open(v, root);
    while (v->frames && !check_stopped(v->search->task)) {
        struct starve_frame *f = &v->frame[v->frames - 1];
        uint32_t state = f->state;
        struct search_edge e;

        if (search_next(v->search, state, &f->at, &e)) {
            if (!starve_waits(v, e.to))
                continue;
            if (!v->index[e.to])
                starve_open(v, e.to);
            else if (v->low[state] > v->index[e.to]) /* not so if its component is done: STARVE_DONE is the largest */
                v->low[state] = v->index[e.to];
            continue;
        }
        if (--v->frames) { /* before the component is closed: then `low` is something else */
            uint32_t below = v->frame[v->frames - 1].state;

            if (v->low[below] > v->low[state])
                v->low[below] = v->low[state];
        }
        if (v->low[state] == v->index[state] && starve_close(v, state))
            return true;
    }
    return false;
}

bool starve_search(struct search *s)
{
    struct starve v = {.search = s};
    size_t count = states_count(&s->states);
    bool found = false;

    v.index = mem_new(2 * count * sizeof *v.index);
    v.low = v.index + count;
    v.open = mem_new(count * sizeof *v.open);
    for (v.victim = 0; v.victim < s->n && !found && !check_stopped(s->task); v.victim++) {
        memset(v.index, 0, 2 * count * sizeof *v.index);
        v.seen = 0;
        for (uint32_t k = 0; k < count && !found; k++)
            if (!v.index[k] && starve_waits(&v, k))
                found = starve_from(&v, k);
    }
    free(v.index);
    free(v.open);
    free(v.frame);
    return found;
}
