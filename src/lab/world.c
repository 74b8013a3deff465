/* world.c - see world.h. */
#include "world.h"

#include "base/memory.h"
#include "failure.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more message in flight, before place k. */
static struct world_flight *world_make_room(struct lab_world *w, size_t k)
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

static void world_post_copy(struct lab_world *w, const struct dme_msg *m, dme_id to)
{
    struct world_flight *f;

    if (world_apart(w->side, m->from, to) && m->kind < DME_NEWS)
        return;
    f = world_make_room(w, w->flights);
    *f = (struct world_flight){.sent = w->sent, .broadcast = m->to == DME_ALL, .msg = world_copy(m)};
    f->msg->to = to;
}

static struct dme_msg *world_take(struct lab_world *w, size_t k)
{
    struct dme_msg *m = w->flight[k].msg;

    w->flights--;
    memmove(&w->flight[k], &w->flight[k + 1], (w->flights - k) * sizeof *w->flight);
    return m;
}

/* What the last step left in out goes on its way. */
static void world_post(struct lab_world *w, dme_id self)
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

static bool world_is_down(void *world, dme_id site)
{
    return ((const struct lab_world *)world)->node[site]->down;
}

/* News are in flight like messages. */
static void world_tell(void *world, enum dme_news what, dme_id of, dme_id to)
{
    struct lab_world *w = world;

    world_post_copy(w, &(struct dme_msg){.from = of, .to = to, .kind = what}, to);
    w->sent++;
    w->reports++;
}

static void world_report(struct lab_world *w, uint32_t type, dme_id site, uint32_t side)
{
    failure_report(&(struct failure_driver){.conf = &w->conf, .user = w, .is_down = world_is_down, .tell = world_tell},
                   type, site, side);
}

void world_send(struct lab_world *w, const struct dme_msg *m)
{
    world_post_copy(w, m, m->to);
    w->sent++;
}

void world_forget(struct lab_world *w, dme_id first, uint32_t count)
{
    for (size_t k = w->flights; k-- > 0;) {
        const struct dme_msg *m = w->flight[k].msg;

        if (m->from >= first && m->from < first + count && (m->to < first || m->to >= first + count))
            free(world_take(w, k));
    }
}

struct lab_world *world_new(const struct dme_conf *conf)
{
    struct lab_world *w = mem_new(sizeof *w);

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

struct lab_world *world_clone(const struct lab_world *w)
{
    struct lab_world *clone = mem_new(sizeof *clone);

    *clone = *w;
    clone->out = mem_new(dme_out_size(&w->conf));
    dme_out_init(clone->out, dme_out_size(&w->conf));
    clone->node = mem_new(w->conf.n * sizeof *w->node);
    for (dme_id i = 0; i < w->conf.n; i++)
        clone->node[i] = memcpy(mem_new(dme_node_size(&w->conf, i)), w->node[i], dme_node_size(&w->conf, i));
    clone->room = w->flights;
    clone->flight = mem_new((w->flights + 1) * sizeof *w->flight);
    for (size_t k = 0; k < w->flights; k++) {
        clone->flight[k] = w->flight[k];
        clone->flight[k].msg = world_copy(w->flight[k].msg);
    }
    return clone;
}

void world_free(struct lab_world *w)
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

size_t world_find(const struct lab_world *w, const struct world_move *move)
{
    uint32_t nth = move->nth;

    for (size_t k = 0; k < w->flights; k++) {
        const struct dme_msg *m = w->flight[k].msg;

        if (m->from == move->from && m->to == move->site && m->kind == move->kind && nth-- == 0)
            return k;
    }
    return SIZE_MAX;
}

struct world_move world_delivery(const struct lab_world *w, size_t k)
{
    const struct dme_msg *m = w->flight[k].msg;
    struct world_move move = {.type = DME_RECEIVE, .site = m->to, .from = m->from, .kind = m->kind};

    while (world_find(w, &move) != k)
        move.nth++;
    return move;
}

bool world_may_arrive(const struct lab_world *w, size_t k, uint32_t needs)
{
    const struct world_flight *f = &w->flight[k];

    for (size_t i = 0; i < k; i++) {
        const struct world_flight *older = &w->flight[i];

        if (older->msg->to != f->msg->to)
            continue;
        if ((needs & DME_FIFO) && older->msg->from == f->msg->from)
            return false;
        if ((needs & DME_DETECTION) && f->msg->kind >= DME_NEWS && older->msg->from == f->msg->from)
            return false;
        if ((needs & DME_SEQUENCED) && older->broadcast && f->broadcast)
            return false;
    }
    return true;
}

bool world_may_return(const struct lab_world *w, dme_id site)
{
    for (size_t k = 0; k < w->flights; k++) {
        const struct dme_msg *m = w->flight[k].msg;

        if (failure_is_awaited(m->kind, m->from, w->node[m->to]->down, site))
            return false;
    }
    return true;
}

static const char *world_objection_to_failure(const struct lab_world *w, const struct world_move *move)
{
    const char *objection;

    if (move->type == WORLD_CUT || move->type == WORLD_HEAL)
        return failure_net_objects(w->side, move->type);
    objection = failure_site_objects(w->conf.alg, w->node[move->site], move->type);
    if (objection || move->type != DME_RESTART || world_may_return(w, move->site))
        return objection;
    return "some sites do not know of its crash yet";
}

const char *world_objects(const struct lab_world *w, const struct world_move *move)
{
    uint32_t first, last;

    if (move->site >= w->conf.n)
        return "there is no such site";
    if (w->node[move->site]->down && move->type < DME_RECEIVE)
        return "the site is down";
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
    case DME_TIMER:
        return move->arg < DME_TIMERS && w->node[move->site]->armed & 1u << move->arg ? NULL
                                                                                      : "the timer is not running";
    default:
        return world_objection_to_failure(w, move);
    }
}

static void world_mishap(struct lab_world *w, const struct world_move *move)
{
    size_t k = world_find(w, move);

    dme_out_init(w->out, dme_out_size(&w->conf)); /* no site has done anything */
    if (move->type == WORLD_LOSE) {
        free(world_take(w, k));
    } else {
        struct world_flight *copy = world_make_room(w, k + 1);

        *copy = w->flight[k];
        copy->msg = world_copy(copy->msg);
    }
}

/* ---------------------------------------------------------------------------------------------------------- failures */

/* Messages and news that the last failure has lost are taken out of flight. */
static void world_lose_vain(struct lab_world *w)
{
    size_t kept = 0;

    for (size_t k = 0; k < w->flights; k++) {
        const struct dme_msg *m = w->flight[k].msg;

        if (failure_loses(m->kind, m->from, m->to, w->side, w->node[m->to]->down))
            free(w->flight[k].msg);
        else
            w->flight[kept++] = w->flight[k];
    }
    w->flights = kept;
}

/* A failure is a move for which no node takes a step. */
static void world_do_failure(struct lab_world *w, const struct world_move *move)
{
    uint32_t side = move->type == WORLD_CUT ? move->arg : w->side;

    dme_out_init(w->out, dme_out_size(&w->conf));
    if (move->type == WORLD_CRASH)
        dme_crash(w->node[move->site]);
    if (move->type == WORLD_CUT || move->type == WORLD_HEAL)
        w->side = move->type == WORLD_CUT ? move->arg : 0;
    if (move->type == WORLD_CRASH || move->type == WORLD_CUT)
        world_lose_vain(w);
    world_report(w, move->type, move->site, side);
}

static void world_run_step(struct lab_world *w, const struct world_move *move, const struct dme_msg *m)
{
    struct dme_event event = {.type = move->type, .arg = move->arg, .msg = m};

    dme_step(&w->conf, w->node[move->site], &event, w->out);
    world_post(w, move->site);
    if (move->type == DME_RESTART)
        world_report(w, DME_RESTART, move->site, w->side);
    w->entries += w->out->entered;
}

const char *world_move(struct lab_world *w, const struct world_move *move)
{
    const char *objection = world_objects(w, move);
    struct dme_msg *m = NULL;

    if (objection)
        return objection;
    if (world_is_mishap(move->type)) {
        world_mishap(w, move);
        return NULL;
    }
    if (move->type == DME_RECEIVE)
        m = world_take(w, world_find(w, move));
    if (move->type >= DME_EVENTS)
        world_do_failure(w, move);
    else if (m && w->node[move->site]->down)
        dme_out_init(w->out, dme_out_size(&w->conf)); /* the message is lost */
    else
        world_run_step(w, move, m);
    free(m);
    return NULL;
}

bool world_safe(const struct lab_world *w)
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

const char *world_broken(const struct lab_world *w)
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
    for (dme_id i = 0; i < w->conf.n && !broken; i++)
        broken = dme_malformed(&w->conf, w->node[i]);
    free(msg);
    free(to);
    return broken;
}

bool world_stuck(const struct lab_world *w)
{
    bool waits = false;

    for (dme_id i = 0; i < w->conf.n; i++) {
        if (w->node[i]->phase == DME_INSIDE || w->node[i]->armed)
            return false;
        waits |= w->node[i]->phase == DME_WAITING;
    }
    for (size_t k = 0; k < w->flights; k++)
        waits &= w->node[w->flight[k].msg->to]->down;
    return waits && !w->side;
}

static const char *const world_failures[] = {
    [DME_RESTART] = "restart", [DME_JOIN] = "join",         [DME_LEAVE] = "leave",
    [WORLD_CRASH] = "crash",   [WORLD_SUSPECT] = "suspect",
};

static void world_print_side(uint32_t side, struct dme_text *text)
{
    for (dme_id i = 0; i < 32; i++)
        if (side >> i & 1)
            dme_print(text, " %u", i);
}

/* What a move does with a message. */
static const char *world_verb(uint32_t type)
{
    return type == WORLD_LOSE ? "lose" : type == WORLD_DUPLICATE ? "duplicate" : "deliver";
}

void world_print_move(const struct lab_world *w, const struct world_move *move, struct dme_text *text)
{
    switch (move->type) {
    case DME_REQUEST:
        dme_print(text, "request %u", move->site);
        if (move->arg || w->conf.rule == DME_GROUP) /* without a mode, a group's first is meant, which is not 0 */
            dme_print(text, " %u", move->arg);
        break;
    case DME_RELEASE:
        dme_print(text, "release %u", move->site);
        break;
    case DME_RECEIVE:
    case WORLD_LOSE:
    case WORLD_DUPLICATE:
        dme_print(text, "%s %u %u %s", world_verb(move->type), move->from, move->site,
                  dme_kind_name(w->conf.alg, move->kind));
        if (move->nth)
            dme_print(text, " %u", move->nth);
        break;
    case DME_TIMER:
        dme_print(text, "timer %u %u", move->site, move->arg);
        break;
    case WORLD_CUT:
        dme_print(text, "cut");
        world_print_side(move->arg, text);
        break;
    case WORLD_HEAL:
        dme_print(text, "heal");
        break;
    default:
        dme_print(text, "%s %u", move->type == DME_RESTART && move->arg ? "resume" : world_failures[move->type],
                  move->site);
    }
}

/* What the last move, this one, did. */
static void world_print_effect(const struct lab_world *w, const struct world_move *move, struct dme_text *text)
{
    static const char *const verbs[] = {
        [DME_REQUEST] = " waits",
        [DME_RELEASE] = " leaves",
        [DME_RECEIVE] = "",
        [DME_TIMER] = " timer",
        [DME_RESTART] = " restarts",
        [DME_JOIN] = " wants to be a member",
        [DME_LEAVE] = " wants to be no member",
        [WORLD_CRASH] = " CRASHES",
        [WORLD_SUSPECT] = " is said to be down, and is not",
        [WORLD_CUT] = "",
        [WORLD_HEAL] = "",
    };
    _Static_assert(sizeof verbs / sizeof verbs[0] == WORLD_HEAL + 1, "a move has a verb");
    const struct dme_node *node = w->node[move->site];

    if (move->type != DME_REQUEST || node->phase == DME_WAITING)
        dme_print(text, "%s", verbs[move->type]);
    if (move->type == DME_RESTART)
        dme_print(text, move->arg ? " with its memory" : " without its memory");
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

static void world_print_cut(const struct world_move *move, struct dme_text *text)
{
    if (move->type == WORLD_HEAL) {
        dme_print(text, "the network is whole again");
        return;
    }
    dme_print(text, "cut off:");
    world_print_side(move->arg, text);
}

const char *world_play(struct lab_world *w, const struct world_move *move, struct dme_text *text)
{
    const char *objection = world_objects(w, move);

    if (objection)
        return objection;
    if (move->type == WORLD_CUT || move->type == WORLD_HEAL) {
        world_print_cut(move, text);
        return world_move(w, move);
    }
    dme_print(text, "%u%s", move->site,
              w->node[move->site]->down && move->type == DME_RECEIVE ? " is down and loses" : "");
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
