/* fail.c - sites that crash, restart, join and leave, and networks that are cut in two. See space.h.
 *
 * The failure model is that of lab/failure.h: these transitions are its events. The news of a crash are part of the
 * transition, like messages that the site sends. The other failures concern more than one part of the state, so they are
 * carried out when the transition is applied (space_fail). A cut is a transition of site 0.
 *
 * To have fewer states with the same verdicts, a site that crashes for good loses the messages to it at once, and keeps its
 * memory only if it may resume. */
#include "base/memory.h"
#include "lab/failure.h"
#include "space_inner.h"

#include <stdlib.h>
#include <string.h>

static bool fail_happens(const struct space *s, uint32_t what)
{
    return s->mishaps / what % SPACE_MISHAP_BASE;
}

bool space_may_return(const struct space *s)
{
    return fail_happens(s, SPACE_RESTART) || fail_happens(s, SPACE_RESUME);
}

static uint32_t fail_news(struct space *s, enum dme_news what, dme_id of, dme_id to)
{
    return space_put_message(s, &(struct dme_msg){.from = of, .to = to, .kind = what});
}

/* The inbox of site `i` without the messages and news that are lost. */
static uint32_t fail_lose_vain(struct space *s, uint32_t inbox, dme_id i, uint32_t side, bool down)
{
    uint32_t len = s->inboxes.length[inbox] / sizeof(uint32_t), kept = 0, id;
    uint32_t *list = mem_new(len * sizeof *list);

    for (uint32_t k = 0; k < len; k++) {
        uint32_t item = ((const uint32_t *)intern_get(&s->inboxes, inbox))[k];
        const struct dme_msg *m = space_message(s, item);

        if (!failure_loses(m->kind, m->from, i, side, down))
            list[kept++] = item;
    }
    id = intern_put(&s->inboxes, list, kept * sizeof *list);
    free(list);
    return id;
}

/* In a transition of one site, the other sites are not known: no news are held back here. When the transition is applied,
 * news across the cut and to sites that are down are dropped. */
static bool fail_none_is_down(void *space, dme_id site)
{
    (void)space, (void)site;
    return false;
}

static void fail_send_news(void *space, enum dme_news what, dme_id of, dme_id to)
{
    space_add_send(space, to, fail_news(space, what, of, to));
}

static void fail_crash(struct space *s, uint32_t part)
{
    struct space_transition t = {.type = WORLD_CRASH, .spends = SPACE_CRASH};
    dme_id i = space_key(s, part)->node.self;
    uint32_t inbox =
        space_may_return(s) ? fail_lose_vain(s, s->part[part].inbox, i, 0, true) : intern_put(&s->inboxes, "", 0);

    memcpy(s->scratch, space_key(s, part), space_key_size(s, i));
    dme_crash(&s->scratch->node);
    s->scratch->overtaken = 0;
    memset(s->scratch->rounds, 0, sizeof s->scratch->rounds);
    if (!fail_happens(s, SPACE_RESUME))
        memset(&s->scratch->node + 1, 0, dme_node_size(&s->conf, i) - sizeof s->scratch->node);
    t.part = space_put_part(s, intern_put(&s->nodes, s->scratch, space_key_size(s, i)), inbox);
    t.sends = (uint32_t)s->sends;
    failure_report(
        &(struct failure_driver){.conf = &s->conf, .user = s, .is_down = fail_none_is_down, .tell = fail_send_news},
        WORLD_CRASH, i, 0);
    t.count = (uint32_t)s->sends - t.sends;
    space_add_transition(s, &t);
}

static void fail_event(struct space *s, uint32_t part, uint32_t type, uint32_t arg, uint32_t spends)
{
    if (!fail_happens(s, spends))
        return;
    space_try(s, part, type, arg, s->part[part].inbox);
    s->transition[s->transitions - 1].spends = spends;
}

/* Each way to cut the network in two: one side, that of site 0. */
static void fail_cut(struct space *s, uint32_t part)
{
    uint32_t all = (1u << s->conf.n) - 1;

    for (uint32_t side = 1; side < all; side += 2)
        space_add_transition(
            s, &(struct space_transition){.type = WORLD_CUT, .arg = side, .spends = SPACE_CUT, .part = part});
    space_add_transition(s, &(struct space_transition){.type = WORLD_HEAL, .part = part});
}

void space_try_failures(struct space *s, uint32_t part)
{
    struct dme_node node = space_key(s, part)->node;
    const struct dme_alg *alg = s->conf.alg;

    if (!failure_site_objects(alg, &node, DME_RESTART)) {
        fail_event(s, part, DME_RESTART, 0, SPACE_RESTART);
        fail_event(s, part, DME_RESTART, 1, SPACE_RESUME);
    } else {
        if (fail_happens(s, SPACE_CRASH))
            fail_crash(s, part);
        if (fail_happens(s, SPACE_CRASH) && alg->news && !(s->needs & DME_DETECTION))
            space_add_transition(
                s, &(struct space_transition){.type = WORLD_SUSPECT, .spends = SPACE_CRASH, .part = part});
        if (!failure_site_objects(alg, &node, DME_JOIN))
            fail_event(s, part, DME_JOIN, 0, SPACE_JOIN);
        if (!failure_site_objects(alg, &node, DME_LEAVE))
            fail_event(s, part, DME_LEAVE, 0, SPACE_LEAVE);
    }
    if (node.self == 0 && fail_happens(s, SPACE_CUT))
        fail_cut(s, part);
}

/* ------------------------------------------------------------------------------------------------- in a whole state */

/* Are there sites that have still to hear that site i is down? */
static bool fail_news_pending(const struct space *s, const uint32_t *state, dme_id i)
{
    for (dme_id j = 0; j < s->conf.n; j++) {
        uint32_t inbox = s->part[state[j]].inbox, len = s->inboxes.length[inbox] / sizeof(uint32_t);
        const uint32_t *list = intern_get(&s->inboxes, inbox);

        for (uint32_t k = 0; k < len; k++) {
            const struct dme_msg *m = space_message(s, list[k]);

            if (failure_is_awaited(m->kind, m->from, space_key(s, state[j])->node.down, i))
                return true;
        }
    }
    return false;
}

bool space_may_fail(const struct space *s, const uint32_t *state, const struct space_transition *t)
{
    switch (t->type) {
    case DME_RESTART:
        return !fail_news_pending(s, state, space_key(s, t->part)->node.self);
    case WORLD_CUT:
    case WORLD_HEAL:
        return !failure_net_objects(space_side(s, state), t->type);
    default:
        return true;
    }
}

struct fail_state {
    struct space *space;
    uint32_t *state;
};

static bool fail_is_down(void *user, dme_id site)
{
    const struct fail_state *f = user;

    return space_key(f->space, f->state[site])->node.down;
}

static void fail_tell(void *user, enum dme_news what, dme_id of, dme_id to)
{
    const struct fail_state *f = user;

    f->state[to] = space_append(f->space, f->state[to], fail_news(f->space, what, of, to));
}

void space_fail(struct space *s, uint32_t *state, dme_id i, const struct space_transition *t)
{
    struct fail_state f = {.space = s, .state = state};
    uint32_t side = t->type == WORLD_CUT ? t->arg : space_side(s, state);

    if (t->type == WORLD_CRASH) /* the transition has its news */
        return;
    if (t->type == WORLD_CUT || t->type == WORLD_HEAL)
        state[s->conf.n + 1] = t->type == WORLD_CUT ? t->arg : 0;
    for (dme_id j = 0; t->type == WORLD_CUT && j < s->conf.n; j++)
        state[j] =
            space_put_part(s, s->part[state[j]].node,
                           fail_lose_vain(s, s->part[state[j]].inbox, j, side, space_key(s, state[j])->node.down));
    failure_report(&(struct failure_driver){.conf = &s->conf, .user = &f, .is_down = fail_is_down, .tell = fail_tell},
                   t->type, i, side);
}
