/* crowd.c - exclusion for any number of sites, where it is a matter of pairs.
 *
 * The pair. Two sites are real: they run the algorithm's code, in a system of three. The third stands for all the others. It has no
 * node: at any moment it may send whatever the receiver's state allows (alg->crowd->send), and may raise the receiver's clock.
 * What the two send to it is lost. Numbers are kept by their order only. This system has finitely many states, for any number
 * of requests, and all of them are searched for a state with both inside.
 *
 * The cover. Why does that speak of n sites? Take any two of them. What the two know of the others is merged into what they know of
 * site 2 (alg->crowd->merge), and messages from and to the others are left out. If every step of the n sites is then a step of the pair,
 * or none, every run of n sites is a run of the pair, and if two of the n were inside together, so were some pair. docs/proofs.md has
 * the argument for each algorithm. Here it is tested: for every pair of three sites with two requests each, and of four of which three make a
 * request, every move is looked up:
 *
 *              move
 *          c --------> c'
 *          |           |
 *    merge |           | merge      from p the pair comes to p' by at most one event of its own, and by what the others
 *          v   moves   v            may do before and after; or p and p' are one.
 *          p --------> p'
 *
 * If a move has no counterpart, there is no verdict. */
#include "base/memory.h"
#include "search.h"
#include "space_inner.h"

#include <stdlib.h>
#include <string.h>

/* Moves of the others after an event, at most; and states of each system of three or four sites. */
enum { CROWD_MOVES = 4, CROWD_STATES = 100000 };
enum { CROWD_SITE = 2, CROWD_SITES = 3 };

/* The system of two sites and the others. */
struct crowd {
    struct space space;
    struct states states;
    const struct dme_crowd *rules;
    uint32_t start[SPACE_WIDTH];
    uint32_t *next; /* states to which the last expansion has led */
    size_t nexts, next_room;
    uint32_t *mark, stamp; /* of each state: it is in next, if that is the stamp */
    size_t mark_room;
    struct dme_msg *msg;
    bool fails; /* a move contradicts the protocol */
};

/* ------------------------------------------------------------------------------------------------------------ states */

/* A part of site i with this node of a space, which is rewritten. Its fence is 0 already. */
static uint32_t crowd_part(struct crowd *c, dme_id i, const struct dme_conf *conf, const struct dme_node *node,
                           const dme_id pair[2], uint32_t inbox)
{
    struct space *s = &c->space;
    struct space_key *key = s->scratch;

    memset(key, 0, space_key_size(s, i));
    key->left = SPACE_UNLIMITED;
    key->node = *node;
    key->node.self = i;
    c->rules->merge(conf, node, pair, &key->node);
    return space_put_part(s, intern_put(&s->nodes, key, space_key_size(s, i)), inbox);
}

/* Site i may have learnt of the others what is left out; and then the state in canonical form. */
static void crowd_normalize(struct crowd *c, uint32_t *state, dme_id i)
{
    static const dme_id pair[2] = {0, 1};
    const struct space_key *key = space_key(&c->space, state[i]);
    struct space_key *copy = mem_new(space_key_size(&c->space, i));

    memcpy(copy, key, space_key_size(&c->space, i));
    state[i] = crowd_part(c, i, &c->space.conf, &copy->node, pair, c->space.part[state[i]].inbox);
    free(copy);
    state[CROWD_SITE] = c->start[CROWD_SITE];
    space_canon(&c->space, state);
}

static void crowd_note(struct crowd *c, uint32_t *state, dme_id i)
{
    uint32_t number;

    crowd_normalize(c, state, i);
    number = states_add(&c->states, state, states_hash(&c->states, state), STATES_NONE);
    if (number == STATES_NONE)
        number = states_find(&c->states, state);
    if (number >= c->mark_room) {
        size_t old = c->mark_room;

        c->mark_room = 2 * (size_t)number + 1024;
        c->mark = mem_grow(c->mark, c->mark_room * sizeof *c->mark);
        memset(c->mark + old, 0, (c->mark_room - old) * sizeof *c->mark);
    }
    if (c->mark[number] == c->stamp)
        return;
    c->mark[number] = c->stamp;
    if (c->nexts == c->next_room) {
        c->next_room = 2 * c->next_room + 64;
        c->next = mem_grow(c->next, c->next_room * sizeof *c->next);
    }
    c->next[c->nexts++] = number;
}

static void crowd_begin(struct crowd *c)
{
    c->nexts = 0;
    c->stamp++;
}

/* ------------------------------------------------------------------------------------------------------------- moves */

/* Site i makes transition t. */
static void crowd_step(struct crowd *c, const uint32_t *state, dme_id i, uint32_t t)
{
    uint32_t next[SPACE_WIDTH];

    c->fails |= c->space.transition[t].fault != NULL;
    space_apply(&c->space, state, i, t, next);
    crowd_note(c, next, i);
}

/* What the two do themselves. */
static void crowd_events(struct crowd *c, uint32_t number)
{
    uint32_t state[SPACE_WIDTH];

    memcpy(state, states_get(&c->states, number), c->states.width * sizeof *state);
    for (dme_id i = 0; i < CROWD_SITE; i++) {
        uint32_t first, count = space_expand(&c->space, state[i], &first);

        for (uint32_t t = first; t < first + count; t++)
            crowd_step(c, state, i, t);
    }
}

/* The others raise the clock of site i by this much. */
static void crowd_raise(struct crowd *c, const uint32_t *state, dme_id i, uint64_t by)
{
    struct space *s = &c->space;
    uint32_t next[SPACE_WIDTH];

    memcpy(next, state, c->states.width * sizeof *next);
    memcpy(s->scratch, space_key(s, state[i]), space_key_size(s, i));
    *c->rules->clock(dme_state(&s->scratch->node)) += by;
    next[i] = space_put_part(s, intern_put(&s->nodes, s->scratch, space_key_size(s, i)), s->part[state[i]].inbox);
    crowd_note(c, next, i);
}

/* The others send site i a message, which arrives. */
static void crowd_send(struct crowd *c, const uint32_t *state, dme_id i)
{
    uint32_t with[SPACE_WIDTH], first, count, item = space_put_message(&c->space, c->msg);

    memcpy(with, state, c->states.width * sizeof *with);
    with[i] = space_append(&c->space, state[i], item);
    count = space_expand(&c->space, with[i], &first);
    for (uint32_t t = first; t < first + count; t++)
        if (c->space.transition[t].type == DME_RECEIVE && c->space.transition[t].arg == item)
            crowd_step(c, with, i, t);
}

/* Makes room for the k-th message that the others may send to site i. */
static bool crowd_message(struct crowd *c, const struct dme_node *node, dme_id i, unsigned k)
{
    c->msg->from = CROWD_SITE;
    c->msg->to = i;
    if (!c->rules->send(node, k, c->msg))
        return false;
    c->msg->count =
        c->space.conf.alg->kinds[c->msg->kind].fixed + CROWD_SITES * c->space.conf.alg->kinds[c->msg->kind].per_site;
    return true;
}

/* What the others do. */
static void crowd_acts(struct crowd *c, uint32_t number)
{
    uint32_t state[SPACE_WIDTH];

    memcpy(state, states_get(&c->states, number), c->states.width * sizeof *state);
    for (dme_id i = 0; i < CROWD_SITE; i++) {
        crowd_raise(c, state, i, 1); /* to between this number and the next */
        crowd_raise(c, state, i, 2); /* to the next */
        for (unsigned k = 0; crowd_message(c, &space_key(&c->space, state[i])->node, i, k); k++)
            crowd_send(c, state, i);
    }
}

/* ------------------------------------------------------------------------------------------------------------- search */

static void crowd_open(struct crowd *c, const struct check_task *task)
{
    struct dme_conf conf = task->conf;
    uint8_t left[CROWD_SITES] = {SPACE_UNLIMITED, SPACE_UNLIMITED, 0};

    memset(c, 0, sizeof *c);
    conf.n = CROWD_SITES;
    c->rules = conf.alg->crowd;
    space_init(&c->space, &conf, task->needs);
    c->space.form = c->rules->canon;
    c->space.clock = c->rules->clock;
    c->msg = mem_new(dme_msg_size_max(&conf));
    space_start(&c->space, left, c->start);
    states_init(&c->states, space_width(&c->space), 1);
    states_add(&c->states, c->start, states_hash(&c->states, c->start), STATES_NONE);
}

static void crowd_close(struct crowd *c)
{
    states_free(&c->states);
    space_free(&c->space);
    free(c->next);
    free(c->mark);
    free(c->msg);
}

/* All states of the pair: false at a violation, or if there are too many. */
static bool crowd_search(struct crowd *c, const struct check_task *task, struct check_result *r)
{
    for (size_t k = 0; k < states_count(&c->states); k++) {
        crowd_begin(c);
        crowd_events(c, (uint32_t)k);
        crowd_acts(c, (uint32_t)k);
        r->transitions += c->nexts;
        r->states = states_count(&c->states);
        if (c->fails)
            r->verdict = CHECK_ERROR;
        else if (r->states > task->limit || check_stopped(task))
            r->verdict = CHECK_UNFINISHED;
        else if (!space_safe(&c->space, states_get(&c->states, (uint32_t)k)))
            r->verdict = CHECK_EXCLUSION;
        if (r->verdict != CHECK_HOLDS)
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------------------------------------------- cover */

/* A system of n sites, and the pair of it that is looked at. */
struct cover {
    const struct check_task *task;
    struct crowd *crowd;
    struct space space;
    struct states states;
    dme_id pair[2];
};

/* The message as one between the two: sites outside of the pair are site 2, and lists name the pair only. */
static void cover_message(const struct cover *v, const struct dme_msg *m, struct dme_msg *into)
{
    const struct dme_kind *kind = &v->space.conf.alg->kinds[m->kind];
    const struct dme_ticket none = {.site = DME_NONE};

    *into = *m;
    into->count = kind->fixed + CROWD_SITES * kind->per_site;
    into->from = m->from == v->pair[1];
    if (m->to != DME_ALL)
        into->to = m->to == v->pair[1];
    for (uint32_t k = 0; k < into->count; k++) {
        uint32_t place = k < kind->fixed                 ? k
                         : k - kind->fixed == CROWD_SITE ? UINT32_MAX
                                                         : kind->fixed + v->pair[k - kind->fixed];

        into->ticket[k] = place == UINT32_MAX ? none : m->ticket[place];
        if (into->ticket[k].site != DME_NONE)
            into->ticket[k].site = into->ticket[k].site == v->pair[0]   ? 0
                                   : into->ticket[k].site == v->pair[1] ? 1
                                                                        : CROWD_SITE;
    }
}

/* What the two see of a state, as a state of the pair: its number. */
static uint32_t cover_merge(struct cover *v, const uint32_t *state)
{
    struct crowd *c = v->crowd;
    uint32_t merged[SPACE_WIDTH], number;

    for (dme_id i = 0; i < CROWD_SITE; i++) {
        uint32_t inbox = v->space.part[state[v->pair[i]]].inbox,
                 len = v->space.inboxes.length[inbox] / sizeof(uint32_t);
        const uint32_t *list = intern_get(&v->space.inboxes, inbox);

        merged[i] = crowd_part(c, i, &v->space.conf, &space_key(&v->space, state[v->pair[i]])->node, v->pair,
                               intern_put(&c->space.inboxes, "", 0));
        for (uint32_t k = 0; k < len; k++) {
            const struct dme_msg *m = space_message(&v->space, list[k]);

            if (m->from != v->pair[1 - i])
                continue;
            cover_message(v, m, c->msg);
            merged[i] = space_append(&c->space, merged[i], space_put_message(&c->space, c->msg));
        }
    }
    merged[CROWD_SITE] = c->start[CROWD_SITE];
    space_canon(&c->space, merged);
    number = states_add(&c->states, merged, states_hash(&c->states, merged), STATES_NONE);
    return number == STATES_NONE ? states_find(&c->states, merged) : number;
}

/* Can the others lead the pair from one of these states to that one? The states are in c->next, and what they lead to is added. */
static bool cover_leads(struct crowd *c, uint32_t to)
{
    size_t from = 0;

    for (unsigned depth = 0; depth <= CROWD_MOVES; depth++) {
        size_t end = c->nexts;

        if (to < c->mark_room && c->mark[to] == c->stamp)
            return true;
        for (; from < end; from++)
            crowd_acts(c, c->next[from]);
    }
    return false;
}

/* The same if the others act first, twice at most. */
static bool cover_has_later(struct crowd *c, uint32_t from, uint32_t to)
{
    uint32_t *first;
    size_t firsts;
    bool has;

    crowd_begin(c);
    crowd_acts(c, from);
    for (size_t k = 0, end = c->nexts; k < end; k++)
        crowd_acts(c, c->next[k]);
    firsts = c->nexts;
    first = mem_new(firsts * sizeof *first);
    memcpy(first, c->next, firsts * sizeof *first);
    crowd_begin(c);
    for (size_t k = 0; k < firsts; k++)
        crowd_events(c, first[k]);
    has = cover_leads(c, to);
    free(first);
    return has;
}

/* Does the pair come from one of these states to the other? */
static bool cover_has(struct crowd *c, uint32_t from, uint32_t to)
{
    crowd_begin(c);
    crowd_events(c, from);
    crowd_acts(c, from);
    return cover_leads(c, to) || cover_has_later(c, from, to);
}

/* All moves of a state, seen by one pair. False if one has no counterpart. */
static bool cover_compare(struct cover *v, uint32_t number, struct memo *known, struct check_result *r)
{
    uint32_t state[SPACE_WIDTH], next[SPACE_WIDTH], from;

    memcpy(state, states_get(&v->states, number), v->states.width * sizeof *state);
    from = cover_merge(v, state);
    for (dme_id i = 0; i < v->space.conf.n; i++) {
        uint32_t first, count = space_expand(&v->space, state[i], &first);

        for (uint32_t t = first; t < first + count; t++) {
            uint32_t to;

            space_apply(&v->space, state, i, t, next);
            to = cover_merge(v, next);
            r->compared++;
            if (from == to || memo_get(known, from, to) != MEMO_MISSING)
                continue;
            if (!cover_has(v->crowd, from, to))
                return false;
            memo_put(known, from, to, 1);
        }
    }
    return true;
}

/* All states of a system. False if a pair of it is not covered, or something is wrong with the system itself. */
static bool cover_walk(struct cover *v, struct memo *known, struct check_cover *looked, struct check_result *r)
{
    uint32_t next[SPACE_WIDTH];

    for (size_t k = 0; k < states_count(&v->states) && k < CROWD_STATES && !check_stopped(v->task); k++) {
        for (v->pair[0] = 0; v->pair[0] < v->space.conf.n; v->pair[0]++)
            for (v->pair[1] = v->pair[0] + 1; v->pair[1] < v->space.conf.n; v->pair[1]++)
                if (!cover_compare(v, (uint32_t)k, known, r))
                    return false;
        for (dme_id i = 0; i < v->space.conf.n; i++) {
            uint32_t first, count = space_expand(&v->space, states_get(&v->states, (uint32_t)k)[i], &first);

            for (uint32_t t = first; t < first + count; t++) {
                space_apply(&v->space, states_get(&v->states, (uint32_t)k), i, t, next);
                states_add(&v->states, next, states_hash(&v->states, next), STATES_NONE);
            }
        }
        looked->states = k + 1;
        looked->all = k + 1 == states_count(&v->states);
    }
    return true;
}

/* Does the pair begin where any two of n sites do? */
static bool cover_begins(struct cover *v, const uint32_t *start)
{
    bool begins = true;

    for (v->pair[0] = 0; v->pair[0] < v->space.conf.n && begins; v->pair[0]++)
        for (v->pair[1] = v->pair[0] + 1; v->pair[1] < v->space.conf.n && begins; v->pair[1]++) {
            uint32_t to = cover_merge(v, start), from = states_find(&v->crowd->states, v->crowd->start);

            begins = from == to || cover_has(v->crowd, from, to);
        }
    return begins;
}

static bool cover_system(struct crowd *c, const struct check_task *task, uint32_t n, const uint8_t *left,
                         struct check_cover *looked, struct check_result *r)
{
    struct cover v = {.task = task, .crowd = c};
    struct dme_conf conf = task->conf;
    uint32_t start[SPACE_WIDTH];
    struct memo known;
    bool covered;

    conf.n = n;
    memo_init(&known);
    space_init(&v.space, &conf, task->needs);
    space_start(&v.space, left, start);
    states_init(&v.states, space_width(&v.space), 1);
    states_add(&v.states, start, states_hash(&v.states, start), STATES_NONE);
    covered = cover_begins(&v, start) && cover_walk(&v, &known, looked, r);
    states_free(&v.states);
    space_free(&v.space);
    memo_free(&known);
    return covered;
}

/* ------------------------------------------------------------------------------------------------------------ verdict */

/* A real run in which few sites get inside together, or fail otherwise: what the pair does may be more than the algorithm does. */
static void crowd_confirm(struct check_task *task, struct check_result *r)
{
    static const struct {
        uint8_t sites, requests;
    } systems[] = {{2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}};
    struct check_result few = {.verdict = CHECK_UNFINISHED};

    for (size_t k = 0; k < sizeof systems / sizeof systems[0] && !few.trace; k++) {
        struct check_task small = *task;

        small.conf.n = systems[k].sites;
        small.canonical = small.starvation = false;
        memset(small.requests, systems[k].requests, sizeof small.requests);
        check_run(&small, &few);
        if (few.trace)
            *task = small;
    }
    if (few.trace) {
        *r = few;
    } else {
        r->fault = r->fault ? r->fault : "two sites and the others violate a property, and no run of few sites does";
        r->verdict = CHECK_UNFINISHED;
    }
}

bool check_may_be_any_number(const struct check_task *task)
{
    const struct dme_option *o = task->conf.alg->options;

    for (unsigned k = 0; o && o[k].key; k++)
        if (!o[k].choices && task->conf.option[k] != o[k].initial)
            return false;
    return task->conf.alg->crowd && task->conf.rule != DME_SLOTS && !task->lose && !task->duplicate &&
           !check_fails(task);
}

void check_any_number(struct check_task *task, struct check_result *r)
{
    static const uint8_t three[] = {2, 2, 2}, four[] = {1, 1, 1, 0};
    struct search timer = {.task = task};
    struct crowd c;
    bool holds;

    memset(r, 0, sizeof *r);
    clock_gettime(CLOCK_MONOTONIC, &timer.began);
    crowd_open(&c, task);
    holds = crowd_search(&c, task, r);
    r->memory = states_memory(&c.states) + space_memory(&c.space);
    if (holds &&
        !(cover_system(&c, task, 3, three, &r->cover[0], r) && cover_system(&c, task, 4, four, &r->cover[1], r))) {
        r->fault = "a move of three or four sites is no move of two and the others";
        holds = false;
    }
    crowd_close(&c);
    r->interrupted = check_stopped(task);
    if (r->interrupted)
        r->verdict = CHECK_UNFINISHED;
    else if (!holds)
        crowd_confirm(task, r);
    r->seconds = search_seconds(&timer);
}
