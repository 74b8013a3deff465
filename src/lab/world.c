/* world.c - see world.h. */
#include "world.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more message in flight, before place k. */
static struct world_flight *world_make_room(struct world *w, size_t k)
{
    if (w->flights == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->flight = mem_grow(w->flight, w->room * sizeof *w->flight);
    }
    memmove(&w->flight[k + 1], &w->flight[k], (w->flights++ - k) * sizeof *w->flight);
    return &w->flight[k];
}

static struct dme_msg *world_copy(const struct dme_msg *m)
{
    return memcpy(mem_new(dme_msg_bytes(m)), m, dme_msg_bytes(m));
}

static void world_post_copy(struct world *w, const struct dme_msg *m, dme_id to)
{
    struct world_flight *f = world_make_room(w, w->flights);

    *f = (struct world_flight){.sent = w->sent, .broadcast = m->to == DME_ALL, .msg = world_copy(m)};
    f->msg->to = to;
}

static struct dme_msg *world_take(struct world *w, size_t k)
{
    struct dme_msg *m = w->flight[k].msg;

    w->flights--;
    memmove(&w->flight[k], &w->flight[k + 1], (w->flights - k) * sizeof *w->flight);
    return m;
}

/* What the last step left in out goes on its way. */
static void world_post(struct world *w, dme_id self)
{
    bool echo = w->conf.alg->needs & DME_SEQUENCED;

    for (const struct dme_msg *m = NULL; (m = dme_next(w->out, self, m)); w->sent++) {
        if (m->to != DME_ALL)
            world_post_copy(w, m, m->to);
        for (dme_id j = 0; m->to == DME_ALL && j < w->conf.n; j++)
            if (j != self || echo)
                world_post_copy(w, m, j);
    }
}

void world_send(struct world *w, const struct dme_msg *m)
{
    world_post_copy(w, m, m->to);
    w->sent++;
}

struct world *world_new(const struct dme_conf *conf)
{
    struct world *w = mem_new(sizeof *w);

    w->conf = *conf;
    w->out = mem_new(dme_out_size(conf));
    dme_out_init(w->out, dme_out_size(conf));
    w->node = mem_new(conf->n * sizeof *w->node);
    for (dme_id i = 0; i < conf->n; i++)
        w->node[i] = mem_new(dme_node_size(conf, i));
    for (dme_id i = 0; i < conf->n; i++) {
        dme_init(conf, w->node[i], i, w->out);
        world_post(w, i);
    }
    return w;
}

void world_free(struct world *w)
{
    for (dme_id i = 0; i < w->conf.n; i++)
        free(w->node[i]);
    for (size_t k = 0; k < w->flights; k++)
        free(w->flight[k].msg);
    free(w->flight);
    free(w->node);
    free(w->out);
    free(w);
}

size_t world_find(const struct world *w, const struct world_move *move)
{
    uint32_t nth = move->nth;

    for (size_t k = 0; k < w->flights; k++) {
        const struct dme_msg *m = w->flight[k].msg;

        if (m->from == move->from && m->to == move->site && m->kind == move->kind && nth-- == 0)
            return k;
    }
    return SIZE_MAX;
}

struct world_move world_delivery(const struct world *w, size_t k)
{
    const struct dme_msg *m = w->flight[k].msg;
    struct world_move move = {.type = DME_RECEIVE, .site = m->to, .from = m->from, .kind = m->kind};

    while (world_find(w, &move) != k)
        move.nth++;
    return move;
}

bool world_may_arrive(const struct world *w, size_t k, uint32_t needs)
{
    const struct world_flight *f = &w->flight[k];

    for (size_t i = 0; i < k; i++) {
        const struct world_flight *older = &w->flight[i];

        if (older->msg->to != f->msg->to)
            continue;
        if ((needs & DME_FIFO) && older->msg->from == f->msg->from)
            return false;
        if ((needs & DME_SEQUENCED) && older->broadcast && f->broadcast)
            return false;
    }
    return true;
}

static const char *world_objection(const struct world *w, const struct world_move *move)
{
    uint32_t first, last;

    if (move->site >= w->conf.n)
        return "there is no such site";
    switch (move->type) {
    case DME_REQUEST:
        dme_modes(&w->conf, &first, &last);
        if (move->arg > last)
            return "the rule has no such mode";
        return w->node[move->site]->phase == DME_IDLE ? NULL : "the site is not idle";
    case DME_RELEASE:
        return w->node[move->site]->phase == DME_INSIDE ? NULL : "the site is not inside";
    case DME_RECEIVE:
    case WORLD_LOSE:
    case WORLD_DUPLICATE:
        return world_find(w, move) != SIZE_MAX ? NULL : "no such message is in flight";
    default:
        return move->arg < DME_TIMERS && w->node[move->site]->armed & 1u << move->arg ? NULL
                                                                                      : "the timer is not running";
    }
}

static void world_mishap(struct world *w, const struct world_move *move)
{
    size_t k = world_find(w, move);

    dme_out_init(w->out, dme_out_size(&w->conf)); /* nobody did anything */
    if (move->type == WORLD_LOSE) {
        free(world_take(w, k));
    } else {
        struct world_flight *copy = world_make_room(w, k + 1);

        *copy = w->flight[k];
        copy->msg = world_copy(copy->msg);
    }
}

const char *world_move(struct world *w, const struct world_move *move)
{
    const char *objection = world_objection(w, move);
    struct dme_event event = {.type = move->type, .arg = move->arg};
    struct dme_msg *m = NULL;

    if (objection)
        return objection;
    if (world_is_mishap(move->type)) {
        world_mishap(w, move);
        return NULL;
    }
    if (move->type == DME_RECEIVE)
        event.msg = m = world_take(w, world_find(w, move));
    dme_step(&w->conf, w->node[move->site], &event, w->out);
    free(m);
    world_post(w, move->site);
    w->entries += w->out->entered;
    return NULL;
}

bool world_safe(const struct world *w)
{
    uint32_t *modes = mem_new(w->conf.n * sizeof *modes), count = 0;
    bool safe;

    for (dme_id i = 0; i < w->conf.n; i++)
        if (w->node[i]->phase == DME_INSIDE)
            modes[count++] = w->node[i]->mode;
    safe = dme_safe(&w->conf, modes, count);
    free(modes);
    return safe;
}

const char *world_broken(const struct world *w)
{
    const struct dme_msg **msg = mem_new(w->flights * sizeof *msg);
    dme_id *to = mem_new(w->flights * sizeof *to);
    struct dme_moment now = {
        .conf = &w->conf, .node = (const struct dme_node *const *)w->node, .msg = msg, .to = to, .msgs = w->flights};
    const char *broken;

    for (size_t k = 0; k < w->flights; k++) {
        msg[k] = w->flight[k].msg;
        to[k] = w->flight[k].msg->to;
    }
    broken = w->conf.alg->broken ? w->conf.alg->broken(&now) : NULL;
    free(msg);
    free(to);
    return broken;
}

bool world_stuck(const struct world *w)
{
    bool waits = false;

    for (dme_id i = 0; i < w->conf.n; i++) {
        if (w->node[i]->phase == DME_INSIDE || w->node[i]->armed)
            return false;
        waits |= w->node[i]->phase == DME_WAITING;
    }
    return waits && w->flights == 0;
}

/* What a move does with a message. */
static const char *world_verb(uint32_t type)
{
    return type == WORLD_LOSE ? "lose" : type == WORLD_DUPLICATE ? "duplicate" : "deliver";
}

void world_print_move(const struct world *w, const struct world_move *move, struct dme_text *text)
{
    switch (move->type) {
    case DME_REQUEST:
        dme_print(text, "request %u", move->site);
        if (move->arg)
            dme_print(text, " %u", move->arg);
        break;
    case DME_RELEASE:
        dme_print(text, "release %u", move->site);
        break;
    case DME_RECEIVE:
    case WORLD_LOSE:
    case WORLD_DUPLICATE:
        dme_print(text, "%s %u %u %s", world_verb(move->type), move->from, move->site,
                  w->conf.alg->kinds[move->kind].name);
        if (move->nth)
            dme_print(text, " %u", move->nth);
        break;
    default:
        dme_print(text, "timer %u %u", move->site, move->arg);
    }
}

/* What the last move, this one, did. */
static void world_print_effect(const struct world *w, const struct world_move *move, struct dme_text *text)
{
    static const char *const verbs[] = {" waits", " leaves", "", " timer"};
    const struct dme_node *node = w->node[move->site];

    if (move->type != DME_REQUEST || node->phase == DME_WAITING)
        dme_print(text, "%s", verbs[move->type]);
    if (move->type == DME_TIMER)
        dme_print(text, " %u", move->arg);
    if (w->out->entered)
        dme_print(text, "%s ENTERS", move->type == DME_REQUEST ? "" : " ");
    if ((w->out->entered || move->type == DME_REQUEST) && node->mode)
        dme_print(text, " in mode %u", node->mode);
    for (const struct dme_msg *m = NULL; (m = dme_next(w->out, move->site, m));) {
        if (m->to == DME_ALL)
            dme_print(text, "  -> all ");
        else
            dme_print(text, "  -> %u ", m->to);
        dme_print_msg(&w->conf, m, text);
    }
    for (unsigned t = 0; t < DME_TIMERS; t++)
        if (w->out->started & 1u << t)
            dme_print(text, "  starts timer %u (%u T)", t, w->out->bounds[t]);
    if (w->out->fault)
        dme_print(text, "  FAULT: not so: %s", w->out->fault);
}

const char *world_play(struct world *w, const struct world_move *move, struct dme_text *text)
{
    const char *objection = world_objection(w, move);

    if (objection)
        return objection;
    dme_print(text, "%u", move->site);
    if (world_is_mishap(move->type)) {
        dme_print(text, " <- %u ", move->from);
        dme_print_msg(&w->conf, w->flight[world_find(w, move)].msg, text);
        dme_print(text, move->type == WORLD_LOSE ? "  IS LOST" : "  IS DUPLICATED");
        return world_move(w, move);
    }
    if (move->type == DME_RECEIVE) {
        dme_print(text, " <- %u ", move->from);
        dme_print_msg(&w->conf, w->flight[world_find(w, move)].msg, text);
    }
    world_move(w, move);
    world_print_effect(w, move, text);
    return NULL;
}
