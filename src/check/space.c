/* space.c - see space.h. */
#include "space_inner.h"

#include "base/memory.h"
#include "check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool space_timed(const struct space *s)
{
    return s->needs & DME_BOUNDED_DELAY;
}

uint32_t space_flights(const struct space *s, const uint32_t *state)
{
    size_t items = 0;

    for (dme_id i = 0; i < s->conf.n; i++)
        items += s->inboxes.length[s->part[state[i]].inbox] / sizeof(uint32_t);
    return (uint32_t)items;
}

void space_init(struct space *s, const struct dme_conf *conf, uint32_t needs)
{
    size_t node_max = 0;

    assert(conf->n <= SPACE_SITES);
    *s = (struct space){.conf = *conf, .needs = needs, .form = conf->alg->canon};
    intern_init(&s->nodes);
    intern_init(&s->messages);
    intern_init(&s->items);
    intern_init(&s->inboxes);
    memo_init(&s->pairs);
    memo_init(&s->appended);
    for (dme_id i = 0; i < conf->n; i++)
        if (node_max < space_key_size(s, i))
            node_max = space_key_size(s, i);
    s->scratch = mem_new(node_max);
    s->blank = mem_new(dme_msg_size_max(conf));
    s->out = mem_new(dme_out_size(conf));
    dme_out_init(s->out, dme_out_size(conf));
}

void space_free(struct space *s)
{
    intern_free(&s->nodes);
    intern_free(&s->messages);
    intern_free(&s->items);
    intern_free(&s->inboxes);
    memo_free(&s->pairs);
    memo_free(&s->appended);
    free(s->part);
    free(s->transition);
    free(s->send);
    canon_free(s);
    free(s->scratch);
    free(s->blank);
    free(s->out);
}

size_t space_memory(const struct space *s)
{
    return intern_memory(&s->nodes) + intern_memory(&s->messages) + intern_memory(&s->items) +
           intern_memory(&s->inboxes) + memo_memory(&s->pairs) + memo_memory(&s->appended) +
           s->part_room * sizeof *s->part + s->transition_room * sizeof *s->transition + s->send_room * sizeof *s->send;
}

/* ------------------------------------------------------------------------------------------------------------ parts */

/* Room for more than that. */
static size_t space_more(size_t room)
{
    return room + room / 8 + 1024;
}

uint32_t space_put_part(struct space *s, uint32_t node, uint32_t inbox)
{
    uint32_t id = memo_get(&s->pairs, node, inbox);
    const struct space_key *key;
    struct space_part *p;

    if (id != MEMO_MISSING)
        return id;
    if (s->parts == s->part_room) {
        s->part_room = space_more(s->part_room);
        s->part = mem_grow(s->part, s->part_room * sizeof *s->part);
    }
    id = (uint32_t)s->parts++;
    memo_put(&s->pairs, node, inbox, id);
    p = &s->part[id];
    key = intern_get(&s->nodes, node);
    *p = (struct space_part){.node = node, .inbox = inbox, .mode = key->node.mode, .count = UINT32_MAX};
    p->overtaken = key->overtaken;
    if (key->node.phase == DME_WAITING)
        p->flags |= SPACE_WAITS;
    if (key->node.phase == DME_INSIDE)
        p->flags |= SPACE_INSIDE;
    if (key->node.armed || (s->inboxes.length[inbox] && !key->node.down))
        p->flags |= SPACE_MOVES;
    return id;
}

/* ------------------------------------------------------------------------------------------------------ transitions */

uint32_t space_put_message(struct space *s, const struct dme_msg *m)
{
    struct space_item item = {0};

    memcpy(s->blank, m, dme_msg_bytes(m));
    s->blank->fence = 0;
    item.message = intern_put(&s->messages, s->blank, dme_msg_bytes(m));
    return intern_put(&s->items, &item, sizeof item);
}

void space_add_send(struct space *s, dme_id to, uint32_t item)
{
    if (s->sends == s->send_room) {
        s->send_room = space_more(s->send_room);
        s->send = mem_grow(s->send, s->send_room * sizeof *s->send);
    }
    s->send[s->sends++] = (struct space_send){.to = to, .item = item};
}

/* What the step in s->out sends: how many messages. */
static uint32_t space_add_sends(struct space *s, dme_id i)
{
    bool echo = s->conf.alg->needs & DME_SEQUENCED;
    uint32_t messages = 0;

    for (const struct dme_msg *m = NULL; (m = dme_next(s->out, i, m)); messages++) {
        uint32_t item = space_put_message(s, m);

        if (m->to != DME_ALL)
            space_add_send(s, m->to, item);
        for (dme_id j = 0; m->to == DME_ALL && j < s->conf.n; j++)
            if (j != i || echo)
                space_add_send(s, j, item);
    }
    return messages;
}

/* The node in s->scratch, after a step. */
static uint32_t space_put_node(struct space *s)
{
    struct space_key *key = s->scratch;

    key->node.fence = 0;
    if (key->node.phase != DME_WAITING)
        key->overtaken = 0;
    for (unsigned t = 0; t < DME_TIMERS; t++) {
        if (s->out->started & 1u << t && space_timed(s))
            key->rounds[t] = (uint8_t)(s->out->bounds[t] < 250 ? s->out->bounds[t] : 250); /* sooner is possible, too */
        else if (!(key->node.armed & 1u << t))
            key->rounds[t] = 0;
    }
    return intern_put(&s->nodes, key, space_key_size(s, key->node.self));
}

void space_add_transition(struct space *s, const struct space_transition *t)
{
    if (s->transitions == s->transition_room) {
        s->transition_room = space_more(s->transition_room);
        s->transition = mem_grow(s->transition, s->transition_room * sizeof *s->transition);
    }
    s->transition[s->transitions++] = *t;
}

void space_try(struct space *s, uint32_t part, uint32_t type, uint32_t arg, uint32_t inbox)
{
    dme_id i = space_key(s, part)->node.self;
    struct dme_event event = {.type = type, .arg = arg};
    struct space_transition t = {.type = (uint8_t)type, .arg = arg, .sends = (uint32_t)s->sends, .ticked = s->ticking};

    memcpy(s->scratch, space_key(s, part), space_key_size(s, i));
    if (s->ticking)
        ++*s->clock(dme_state(&s->scratch->node));
    if (type == DME_REQUEST && s->scratch->left != SPACE_UNLIMITED)
        s->scratch->left--;
    if (type == DME_RECEIVE) {
        const struct space_item *item = intern_get(&s->items, arg);

        event.msg = intern_get(&s->messages, item->message);
    }
    if (s->scratch->node.down && type == DME_RECEIVE) {
        t.part = space_put_part(s, s->part[part].node, inbox); /* the message is lost */
        space_add_transition(s, &t);
        return;
    }
    dme_step(&s->conf, &s->scratch->node, &event, s->out);
    s->steps++;
    t.messages = (uint16_t)space_add_sends(s, i);
    t.count = (uint16_t)(s->sends - t.sends);
    t.entered = s->out->entered;
    t.started = s->out->started;
    t.fault = s->out->fault ? s->out->fault : dme_malformed(&s->conf, &s->scratch->node);
    t.part = space_put_part(s, space_put_node(s), inbox);
    space_add_transition(s, &t);
}

/* The k-th item of the inbox may get lost, or there may be two of it: no code runs. */
static void space_try_mishaps(struct space *s, uint32_t part, uint32_t k)
{
    uint32_t node = s->part[part].node, inbox = s->part[part].inbox;
    struct space_transition t = {.arg = ((const uint32_t *)intern_get(&s->inboxes, inbox))[k]};

    if (space_message(s, t.arg)->kind >= DME_NEWS)
        return;
    if (s->mishaps / SPACE_LOSS % SPACE_MISHAP_BASE) {
        t.type = WORLD_LOSE;
        t.spends = SPACE_LOSS;
        t.part = space_put_part(s, node, space_without(s, inbox, k));
        space_add_transition(s, &t);
    }
    if (s->mishaps / SPACE_DUPLICATE % SPACE_MISHAP_BASE) {
        t.type = WORLD_DUPLICATE;
        t.spends = SPACE_DUPLICATE;
        t.part = space_put_part(s, node, space_twice(s, inbox, k));
        space_add_transition(s, &t);
    }
}

static void space_try_events(struct space *s, uint32_t id)
{
    struct space_part p = s->part[id];
    struct space_key head = *space_key(s, id);
    uint32_t first, last, len = s->inboxes.length[p.inbox] / sizeof(uint32_t);

    dme_modes(&s->conf, &first, &last);
    if (head.node.down)
        head.left = 0;
    for (uint32_t mode = first; mode <= last && head.node.phase == DME_IDLE && head.left; mode++)
        space_try(s, id, DME_REQUEST, mode, p.inbox);
    if (head.node.phase == DME_INSIDE)
        space_try(s, id, DME_RELEASE, 0, p.inbox);
    for (uint32_t k = 0; k < len; k++)
        if (space_arrives(s, p.inbox, k)) {
            const uint32_t *list = intern_get(&s->inboxes, p.inbox);
            uint32_t item = list[k];

            space_try(s, id, DME_RECEIVE, item, space_without(s, p.inbox, k));
            space_try_mishaps(s, id, k);
        }
    for (unsigned t = 0; t < DME_TIMERS; t++)
        if (head.node.armed & 1u << t && head.rounds[t] == 0)
            space_try(s, id, DME_TIMER, t, p.inbox);
}

static void space_try_all(struct space *s, uint32_t id)
{
    if (s->mishaps)
        space_try_failures(s, id);
    space_try_events(s, id);
    if (s->clock) {
        s->ticking = true;
        space_try_events(s, id);
        s->ticking = false;
    }
}

uint32_t space_expand(struct space *s, uint32_t part, uint32_t *first)
{
    if (s->part[part].count == UINT32_MAX) {
        uint32_t start = (uint32_t)s->transitions;

        space_try_all(s, part);
        s->part[part].first = start;
        s->part[part].count = (uint32_t)s->transitions - start;
    }
    *first = s->part[part].first;
    return s->part[part].count;
}

/* ------------------------------------------------------------------------------------------------------------- time */

/* The part with these marks added to every item of its inbox. */
static uint32_t space_mark(struct space *s, uint32_t part, uint32_t marks)
{
    struct space_part p = s->part[part];
    uint32_t bytes = s->inboxes.length[p.inbox], len = bytes / sizeof(uint32_t), *list = mem_new(bytes);
    uint32_t to = space_put_part(s, p.node, intern_put(&s->inboxes, "", 0));

    memcpy(list, intern_get(&s->inboxes, p.inbox), bytes);
    for (uint32_t k = 0; k < len; k++) {
        struct space_item item = *(const struct space_item *)intern_get(&s->items, list[k]);

        item.marks |= marks;
        to = space_append(s, to, intern_put(&s->items, &item, sizeof item));
    }
    free(list);
    return to;
}

static uint32_t space_marks(const struct space *s, const uint32_t *state)
{
    uint32_t marks = 0;

    for (dme_id i = 0; i < s->conf.n; i++) {
        uint32_t inbox = s->part[state[i]].inbox, len = s->inboxes.length[inbox] / sizeof(uint32_t);
        const uint32_t *list = intern_get(&s->inboxes, inbox);

        for (uint32_t k = 0; k < len; k++)
            marks |= ((const struct space_item *)intern_get(&s->items, list[k]))->marks;
    }
    return marks;
}

static void space_mark_all(struct space *s, uint32_t *state, uint32_t marks)
{
    for (dme_id i = 0; i < s->conf.n; i++)
        state[i] = space_mark(s, state[i], marks);
}

/* One round less for timer t of site i. */
static void space_round_over(struct space *s, uint32_t *state, dme_id i, unsigned t)
{
    memcpy(s->scratch, space_key(s, state[i]), space_key_size(s, i));
    s->scratch->rounds[t]--;
    state[i] = space_put_part(s, intern_put(&s->nodes, s->scratch, space_key_size(s, i)), s->part[state[i]].inbox);
}

/* A timer of b bounds has just been started, or messages have arrived: where a round is over, begin the next. */
static void space_let_time_pass(struct space *s, uint32_t *state)
{
    for (dme_id i = 0; i < s->conf.n; i++)
        for (unsigned t = 0; t < DME_TIMERS; t++) {
            uint32_t bit = 1u << (DME_TIMERS * i + t);

            while (space_key(s, state[i])->rounds[t] && !(space_marks(s, state) & bit)) {
                space_round_over(s, state, i, t);
                if (space_key(s, state[i])->rounds[t])
                    space_mark_all(s, state, bit);
            }
        }
}

/* ----------------------------------------------------------------------------------------------------------- states */

static void space_deliver(struct space *s, uint32_t *state, uint32_t sends, uint32_t count)
{
    uint32_t side = space_side(s, state);

    for (uint32_t k = sends; k < sends + count; k++) {
        struct space_send send = s->send[k];

        if (space_key(s, state[send.to])->node.down && space_message(s, send.item)->kind >= DME_NEWS)
            continue; /* it will be told when it is back */
        if (!side || !world_apart(side, space_message(s, send.item)->from, send.to))
            state[send.to] = space_append(s, state[send.to], send.item);
    }
}

void space_start(struct space *s, const uint8_t *left, uint32_t *state)
{
    uint32_t empty = intern_put(&s->inboxes, "", 0);

    for (dme_id i = 0; i < s->conf.n; i++) {
        dme_init(&s->conf, &s->scratch->node, i, s->out);
        assert(!s->out->started); /* a timer that runs from the start would need its marks */
        s->scratch->left = left[i];
        space_add_sends(s, i);
        state[i] = space_put_part(s, space_put_node(s), empty);
    }
    if (s->mishaps)
        state[s->conf.n] = s->mishaps;
    if (s->mishaps >= SPACE_CUT)
        state[s->conf.n + 1] = 0;
    space_deliver(s, state, 0, (uint32_t)s->sends);
}

/* Site i has entered: each site that waits has been overtaken once more. */
static void space_overtake(struct space *s, uint32_t *state, dme_id i)
{
    for (dme_id j = 0; j < s->conf.n; j++)
        if (j != i && s->part[state[j]].flags & SPACE_WAITS) {
            memcpy(s->scratch, space_key(s, state[j]), space_key_size(s, j));
            s->scratch->overtaken++;
            state[j] =
                space_put_part(s, intern_put(&s->nodes, s->scratch, space_key_size(s, j)), s->part[state[j]].inbox);
        }
}

void space_apply(struct space *s, const uint32_t *state, dme_id i, uint32_t t, uint32_t *next)
{
    struct space_transition tr = s->transition[t];

    memcpy(next, state, space_width(s) * sizeof *next);
    next[i] = tr.part;
    if (tr.spends)
        next[s->conf.n] -= tr.spends;
    space_deliver(s, next, tr.sends, tr.count);
    if (tr.type >= DME_RESTART)
        space_fail(s, next, i, &tr);
    if (tr.entered && s->overtaking)
        space_overtake(s, next, i);
    if (space_timed(s)) {
        if (tr.started)
            space_mark_all(s, next, (uint32_t)tr.started << (DME_TIMERS * i));
        space_let_time_pass(s, next);
    }
    if (s->canonical)
        space_canon(s, next);
}

struct world_move space_move(const struct space *s, const struct lab_world *w, dme_id i, uint32_t t)
{
    const struct space_transition *tr = &s->transition[t];
    struct world_move move = {.type = tr->type, .site = i, .arg = tr->arg};
    const struct space_item *item;
    const struct dme_msg *m;

    if (tr->type != DME_RECEIVE && !world_is_mishap(tr->type))
        return move;
    item = intern_get(&s->items, tr->arg);
    m = intern_get(&s->messages, item->message);
    for (size_t k = 0; k < w->flights; k++) {
        const struct dme_msg *f = w->flight[k].msg;

        if (f->from == m->from && f->to == i && f->kind == m->kind &&
            memcmp(f->ticket, m->ticket, m->count * sizeof m->ticket[0]) == 0) {
            move = world_delivery(w, k);
            move.type = tr->type;
            return move;
        }
    }
    assert(!"the world has this message in flight");
    return move;
}

/* Events in the order of struct check_coverage: requests, exits, each kind of message, timers. */
static unsigned space_event(const struct space *s, const struct space_transition *t)
{
    const struct space_item *item;

    switch (t->type) {
    case DME_REQUEST:
        return 0;
    case DME_RELEASE:
        return 1;
    case DME_RECEIVE:
        item = intern_get(&s->items, t->arg);
        return 2 + ((const struct dme_msg *)intern_get(&s->messages, item->message))->kind;
    default:
        return 2 + dme_kinds(s->conf.alg);
    }
}

void space_coverage(const struct space *s, struct check_coverage *coverage)
{
    unsigned kinds = dme_kinds(s->conf.alg);

    assert(kinds + 4 <= CHECK_EVENTS);
    coverage->event[0] = "request";
    coverage->event[1] = "release";
    for (unsigned k = 0; k < kinds; k++)
        coverage->event[2 + k] = s->conf.alg->kinds[k].name;
    if (s->conf.alg->timer)
        coverage->event[2 + kinds] = "timer";
    for (uint32_t p = 0; p < s->parts; p++)
        for (uint32_t t = 0; s->part[p].count != UINT32_MAX && t < s->part[p].count; t++) {
            const struct space_transition *tr = &s->transition[s->part[p].first + t];

            if (tr->type < DME_RESTART && (tr->type != DME_RECEIVE || space_message(s, tr->arg)->kind < DME_NEWS))
                coverage->count[space_event(s, tr)][space_key(s, p)->node.phase]++;
        }
}
