/* reduce.c - the search that leaves out interleavings which lead to nothing new. See search.h.
 *
 * Idea. In many states some message may as well arrive at once: whatever else happens first, the same comes of it in
 * the end. Then that is the only move made there. What counts is what a site's *node* does, whatever is on its way to
 * it.
 *
 * Claims. The claim (q, m) says of a node q of a site, to which m is under way: whatever happens at the site before m
 * arrives, m commutes with it. It holds if the arrival of m is quiet (no fault, and the phase stays), and for all that
 * may happen at q instead - asking, leaving, timers, and every other message x that may arrive - m and x in either
 * order lead to the same node and send the same, and (q after x, m) is a claim that holds too.
 *
 * Which messages may arrive at q? The messages that were seen to arrive there, in this search; but where only m was let in,
 * others were seen only later. So: what may arrive at q after m may arrive at q, if (q, m) is claimed; and m may arrive
 * at q after x. Not so for what comes behind m on a FIFO channel.
 *
 * The search is optimistic: it claims as it goes. When it has come to its end, all claims are judged by what was seen
 * meanwhile; states in which too little was done for a claim that does not hold are looked at again, in full; and so on
 * until all claims hold. So that it is not misled for long, claims are judged now and then on the way, too, and it
 * begins anew, but wiser, if one was wrong.
 *
 * Why nothing is lost. Let P be any run from a state s of the search; then the search has a run R from s that does the
 * same, and perhaps lets some messages arrive in addition, where only quiet arrivals have been moved forward. By
 * induction on the length of P, then on how many moves lie ahead until a state with all its moves. If s has all its
 * moves, follow the first of P. If it has only the arrival of m at a site with node q: were there in P, before m, a
 * move of that site with which m does not commute, take the first such, x. Up to there m commutes, so P with m at its
 * front is a run as well, and by induction the search has it, hence has seen x arrive; the moves that this run has
 * brought forward are claims, and go back by the rules above, so that x counts as what may arrive where it did in P. So
 * the claim does not hold: a contradiction. Thus m commutes with all of P before it, and can be made first. (A lone
 * move always goes to a state with a higher number, so that many of them in a row come to an end.)
 *
 * Kept are therefore: which sites are inside together, since quiet moves change no phase; states in which nothing is
 * under way, since there nothing can be added, so deadlocks; and faults. Not what else is true of single states on the
 * way, such as invariants; nor lengths. It is for networks where moves of different sites always commute: without
 * bounds on delays, sequences, mishaps or failures. */
#include "base/memory.h"
#include "search.h"
#include "space_inner.h"

#include <assert.h>
#include <stdlib.h>

#define REDUCE_NONE UINT32_MAX
enum { REDUCE_BATCH = 4096 }; /* states between two looks at the limits */
enum { REDUCE_DEPTH = 8 }; /* claims for each that was seen: beyond that none is believed, since there may be no end */
enum { REDUCE_LEARN_FIRST = 500, REDUCE_LEARN_AGAIN = 4 }; /* states at which claims are judged, and times as many */

/* A node and a message that may be under way to it. */
struct reduce_claim {
    uint32_t node, item;
    uint32_t transition; /* its arrival, where nothing else is under way */
    uint32_t next;       /* of those of the same node */
    bool possible;       /* it may arrive there */
    bool made, broken;   /* claimed; but it does not hold */
};

struct reduce {
    struct search *search;
    struct search_finding finding;
    struct reduce_claim *claim;
    size_t claims, claim_room, seen; /* seen: how many of them were seen to arrive */
    struct memo known;               /* node and item -> claim */
    struct memo chains;              /* node -> its first claim */
    uint32_t *arrival;               /* by transition: its claim, REDUCE_NONE if it is not looked up yet */
    size_t arrivals;
    uint32_t *lone; /* by state: the claim for which it has only one move, or REDUCE_NONE */
    size_t lone_room;
    size_t learn_at; /* so many states */
};

/* ------------------------------------------------------------------------------------------------------ single nodes */

static uint32_t reduce_node_after(const struct reduce *r, uint32_t transition)
{
    return r->search->space.part[r->search->space.transition[transition].part].node;
}

/* The transition of this type at a node to which only that is under way which it takes; or REDUCE_NONE. */
static uint32_t reduce_step(struct reduce *r, uint32_t node, uint32_t type, uint32_t arg)
{
    struct space *s = &r->search->space;
    uint32_t inbox = intern_put(&s->inboxes, &arg, type == DME_RECEIVE ? sizeof arg : 0);
    uint32_t first, count = space_expand(s, space_put_part(s, node, inbox), &first);

    uint32_t t = first;

    while (t < first + count && (s->transition[t].type != type || s->transition[t].arg != arg))
        t++;
    return t < first + count ? t : REDUCE_NONE;
}

static const struct reduce_claim *reduce_at(const struct reduce *r, uint32_t c)
{
    assert(c < r->claims);
    return &r->claim[c];
}

static uint32_t reduce_claim(struct reduce *r, uint32_t node, uint32_t item)
{
    uint32_t id = memo_get(&r->known, node, item);

    if (id != MEMO_MISSING)
        return id;
    if (r->claims == r->claim_room) {
        r->claim_room = r->claim_room ? 2 * r->claim_room : 1024;
        r->claim = mem_grow(r->claim, r->claim_room * sizeof *r->claim);
    }
    id = (uint32_t)r->claims++;
    r->claim[id] = (struct reduce_claim){.node = node, .item = item, .next = memo_get(&r->chains, node, 0)};
    r->claim[id].transition = reduce_step(r, node, DME_RECEIVE, item);
    memo_put(&r->known, node, item, id);
    memo_set(&r->chains, node, 0, id);
    return id;
}

static bool reduce_same_sends(const struct space *s, const struct space_transition *a, const struct space_transition *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(s->send + a->sends, s->send + b->sends, a->count * sizeof *s->send) == 0);
}

/* On FIFO channels: do both send something to the same site? */
static bool reduce_order_matters(const struct space *s, const struct space_transition *a,
                                 const struct space_transition *b)
{
    for (uint32_t i = a->sends; s->needs & DME_FIFO && i < a->sends + a->count; i++)
        for (uint32_t j = b->sends; j < b->sends + b->count; j++)
            if (s->send[i].to == s->send[j].to)
                return true;
    return false;
}

/* Does the arrival a of a claim commute with transition b of the same node? That b does not fault matters: it might not
 * any more behind a. Nothing else is asked of faults and entries. Neither a nor a behind b faults or enters, or their
 * claims are not quiet, and broken. A fault of b behind a is found where the search goes. If b enters in one order only,
 * the nodes that come of it differ. */
static bool reduce_commute(struct reduce *r, uint32_t a, uint32_t b)
{
    struct space *s = &r->search->space;
    uint32_t then_b = reduce_step(r, reduce_node_after(r, a), s->transition[b].type, s->transition[b].arg);
    uint32_t then_a = reduce_step(r, reduce_node_after(r, b), s->transition[a].type, s->transition[a].arg);
    const struct space_transition *t = s->transition;

    if (then_a == REDUCE_NONE || then_b == REDUCE_NONE)
        return false;
    return !t[b].fault && reduce_node_after(r, then_a) == reduce_node_after(r, then_b) &&
           reduce_same_sends(s, &t[a], &t[then_a]) && reduce_same_sends(s, &t[b], &t[then_b]) &&
           !reduce_order_matters(s, &t[a], &t[b]);
}

/* ------------------------------------------------------------------------------------------------------------ claims */

static unsigned reduce_phase(const struct reduce *r, uint32_t node)
{
    return ((const struct space_key *)intern_get(&r->search->space.nodes, node))->node.phase;
}

static bool reduce_quiet(const struct reduce *r, const struct reduce_claim *c)
{
    const struct space_transition *t = &r->search->space.transition[c->transition];

    return !t->fault && reduce_phase(r, c->node) == reduce_phase(r, reduce_node_after(r, c->transition));
}

/* Can item x not arrive as long as m is under way, which may arrive? */
static bool reduce_behind(const struct reduce *r, uint32_t x, uint32_t m)
{
    const struct space *s = &r->search->space;

    return x == m || (s->needs & DME_FIFO && space_message(s, x)->from == space_message(s, m)->from);
}

static bool reduce_note(bool *fact)
{
    bool news = !*fact;

    *fact = true;
    return news;
}

/* The transition is what may happen at the node of claim c before its message arrives. True if that is news. */
static bool reduce_judge_by(struct reduce *r, uint32_t c, uint32_t transition)
{
    uint32_t after = reduce_claim(r, reduce_node_after(r, transition), r->claim[c].item);
    bool news = reduce_note(&r->claim[after].possible);

    news |= reduce_note(&r->claim[after].made);
    if (r->claims > REDUCE_DEPTH * r->seen + REDUCE_BATCH)
        news |= reduce_note(&r->claim[after].broken);
    if (r->claim[after].broken || !reduce_commute(r, r->claim[c].transition, transition))
        news |= reduce_note(&r->claim[c].broken);
    return news;
}

/* Judges a claim that has been made by what is known now. True if something has become known by that. */
static bool reduce_judge(struct reduce *r, uint32_t c)
{
    struct space *s = &r->search->space;
    uint32_t first, node = r->claim[c].node, item = r->claim[c].item;
    uint32_t count = space_expand(s, space_put_part(s, node, intern_put(&s->inboxes, "", 0)), &first);
    bool news = false;

    if (!reduce_quiet(r, &r->claim[c]))
        return reduce_note(&r->claim[c].broken);
    for (uint32_t t = first; t < first + count && !r->claim[c].broken; t++)
        news |= reduce_judge_by(r, c, t);
    for (uint32_t x = memo_get(&r->chains, node, 0); x != MEMO_MISSING && !r->claim[c].broken; x = r->claim[x].next)
        if (r->claim[x].possible && !reduce_behind(r, r->claim[x].item, item))
            news |= reduce_judge_by(r, c, r->claim[x].transition);
    if (r->claim[c].broken)
        return news;
    node = reduce_node_after(r, r->claim[c].transition);
    for (uint32_t x = memo_get(&r->chains, node, 0); x != MEMO_MISSING; x = r->claim[x].next)
        if (r->claim[x].possible && !reduce_behind(r, r->claim[x].item, item)) {
            uint32_t before = reduce_claim(r, r->claim[c].node, r->claim[x].item);

            news |= reduce_note(&r->claim[before].possible);
        }
    return news;
}

static void reduce_judge_all(struct reduce *r)
{
    for (bool news = true; news;) {
        news = false;
        for (uint32_t c = 0; c < r->claims; c++)
            if (reduce_at(r, c)->made && !reduce_at(r, c)->broken)
                news |= reduce_judge(r, c);
    }
}

/* ------------------------------------------------------------------------------------------------------------ states */

/* The claim of a transition that is an arrival; it was seen, or is about to be. */
static uint32_t reduce_arrival(struct reduce *r, uint32_t part, uint32_t transition)
{
    struct space *s = &r->search->space;

    if (r->arrivals < s->transition_room) {
        r->arrival = mem_grow(r->arrival, s->transition_room * sizeof *r->arrival);
        while (r->arrivals < s->transition_room)
            r->arrival[r->arrivals++] = REDUCE_NONE;
    }
    if (r->arrival[transition] == REDUCE_NONE) {
        uint32_t c = reduce_claim(r, s->part[part].node, s->transition[transition].arg);

        r->seen++;
        r->claim[c].possible = true;
        r->arrival[transition] = c;
    }
    return r->arrival[transition];
}

/* Makes one move: the number of the state that it leads to. */
static uint32_t reduce_move(struct reduce *r, uint32_t from, dme_id i, uint32_t t)
{
    struct search *s = r->search;
    uint32_t next[SPACE_WIDTH], number;
    uint64_t hash;

    s->result->transitions++;
    space_apply(&s->space, states_get(&s->states, from), i, t, next);
    hash = states_hash(&s->states, next);
    number = states_add(&s->states, next, hash, from);
    if (s->space.transition[t].fault)
        r->finding = (struct search_finding){.verdict = CHECK_ERROR, .fault = s->space.transition[t].fault};
    else if (number != STATES_NONE)
        search_violates(s, next, NULL, &r->finding);
    return number != STATES_NONE ? number : states_find(&s->states, next);
}

/* Makes only one move, if a claim allows it. Returns the claim. */
static uint32_t reduce_alone(struct reduce *r, uint32_t k)
{
    struct space *s = &r->search->space;

    for (dme_id i = 0; i < r->search->n; i++) {
        uint32_t part = states_get(&r->search->states, k)[i], first, count = space_expand(s, part, &first);

        for (uint32_t t = first; t < first + count; t++) {
            uint32_t c;

            if (s->transition[t].type != DME_RECEIVE)
                continue;
            c = reduce_arrival(r, part, t);
            if (reduce_note(&r->claim[c].made))
                reduce_judge(r, c);
            if (!r->claim[c].broken && reduce_move(r, k, i, t) > k)
                return c;
        }
    }
    return REDUCE_NONE;
}

/* Makes every move. */
static void reduce_expand(struct reduce *r, uint32_t k)
{
    struct space *s = &r->search->space;

    for (dme_id i = 0; i < r->search->n; i++) {
        uint32_t part = states_get(&r->search->states, k)[i], first, count = space_expand(s, part, &first);

        for (uint32_t t = first; t < first + count && r->finding.verdict == CHECK_HOLDS; t++) {
            if (s->transition[t].type == DME_RECEIVE)
                reduce_arrival(r, part, t);
            reduce_move(r, k, i, t);
        }
    }
}

static void reduce_look_at(struct reduce *r, uint32_t k)
{
    if (k >= r->lone_room) {
        r->lone_room = k + k / 4 + 1024;
        r->lone = mem_grow(r->lone, r->lone_room * sizeof *r->lone);
    }
    r->lone[k] = reduce_alone(r, k);
    if (r->lone[k] == REDUCE_NONE)
        reduce_expand(r, k);
}

static void reduce_begin(struct reduce *r, const uint32_t *start)
{
    struct search *s = r->search;

    states_free(&s->states);
    states_init(&s->states, space_width(&s->space), 1);
    states_add(&s->states, start, states_hash(&s->states, start),
               STATES_NONE); /* no violation: no site waits or is inside */
    s->result->transitions = 0;
}

/* Was a claim relied upon, in one of the first `count` states, that does not hold? */
static bool reduce_misled(const struct reduce *r, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (r->lone[k] != REDUCE_NONE && reduce_at(r, r->lone[k])->broken)
            return true;
    return false;
}

/* All states from `next` on, and those that come to them. */
static void reduce_pass(struct reduce *r, uint32_t next, const uint32_t *start)
{
    struct search *s = r->search;

    for (; next < s->states.shard[0].count && r->finding.verdict == CHECK_HOLDS; next++) {
        if (next >= r->learn_at) {
            r->learn_at *= REDUCE_LEARN_AGAIN;
            reduce_judge_all(r);
            if (reduce_misled(r, next)) {
                reduce_begin(r, start);
                next = 0;
            }
        }
        reduce_look_at(r, next);
        if (next % REDUCE_BATCH == 0 && search_over_limits(s, REDUCE_BATCH))
            r->finding.verdict = CHECK_UNFINISHED;
        if (s->task->progress && next % (1u << 17) == 0)
            s->task->progress(s->states.shard[0].count, s->states.shard[0].count - next, search_seconds(s));
    }
}

/* States with one move for a claim that does not hold get all of them. True if there was one. */
static bool reduce_look_again(struct reduce *r, uint32_t count)
{
    bool again = false;

    for (uint32_t k = 0; k < count && r->finding.verdict == CHECK_HOLDS; k++)
        if (r->lone[k] != REDUCE_NONE && reduce_at(r, r->lone[k])->broken) {
            r->lone[k] = REDUCE_NONE;
            reduce_expand(r, k);
            again = true;
        }
    return again;
}

void reduce_search(struct search *s, const uint32_t *start, struct search_finding *finding)
{
    struct reduce r = {.search = s, .learn_at = REDUCE_LEARN_FIRST};
    uint32_t count = 0;
    bool again = true;

    memo_init(&r.known);
    memo_init(&r.chains);
    reduce_begin(&r, start);
    while (again && r.finding.verdict == CHECK_HOLDS) {
        reduce_pass(&r, count, start);
        count = (uint32_t)s->states.shard[0].count;
        if (r.finding.verdict == CHECK_HOLDS) {
            reduce_judge_all(&r);
            again = reduce_look_again(&r, count);
        }
    }
    *finding = r.finding;
    s->result->states = states_count(&s->states);
    s->result->memory = states_memory(&s->states) + space_memory(&s->space) + r.lone_room * sizeof *r.lone +
                        r.claim_room * sizeof *r.claim + memo_memory(&r.known) + memo_memory(&r.chains) +
                        r.arrivals * sizeof *r.arrival;
    states_free(&s->states);
    memo_free(&r.known);
    memo_free(&r.chains);
    free(r.claim);
    free(r.arrival);
    free(r.lone);
}
