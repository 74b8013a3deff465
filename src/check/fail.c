/* fail.c - sites that stop, begin again, join and leave, and networks that are cut in two. See space.h.
 *
 * All of it is as in lab/world.h, whose moves these transitions are. A crash sends its news like
 * messages; what is more than one part's affair happens when the transition is applied: a cut empties inboxes, and who
 * is back hears who is not there. A cut is a transition of site 0.
 *
 * Fewer states, and the same verdicts: a site that stops for good loses what comes to it at once, and has no memory
 * unless it may need it again. */
#include "base/memory.h"
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

/* The inbox without what is in vain: messages from across the cut, or, if the site is down, news. */
static uint32_t fail_lose_vain(struct space *s, uint32_t inbox, dme_id i, uint32_t side, bool down)
{
    uint32_t len = s->inboxes.length[inbox] / sizeof(uint32_t), kept = 0, id;
    uint32_t *list = mem_new((len + 1) * sizeof *list);

    for (uint32_t k = 0; k < len; k++) {
        uint32_t item = ((const uint32_t *)intern_get(&s->inboxes, inbox))[k];
        const struct dme_msg *m = space_message(s, item);

        if (m->kind < DME_NEWS ? !world_apart(side, m->from, i) : !down)
            list[kept++] = item;
    }
    id = intern_put(&s->inboxes, list, kept * sizeof *list);
    free(list);
    return id;
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
    for (dme_id j = 0; j < s->conf.n && s->conf.alg->news; j++)
        if (j != i)
            space_add_send(s, j, fail_news(s, DME_DOWN, i, j));
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

    if (node.down) {
        fail_event(s, part, DME_RESTART, 0, SPACE_RESTART);
        fail_event(s, part, DME_RESTART, 1, SPACE_RESUME);
    } else {
        if (fail_happens(s, SPACE_CRASH))
            fail_crash(s, part);
        if (fail_happens(s, SPACE_CRASH) && s->conf.alg->news && !(s->needs & DME_DETECTION))
            space_add_transition(
                s, &(struct space_transition){.type = WORLD_SUSPECT, .spends = SPACE_CRASH, .part = part});
        if (s->conf.alg->join)
            fail_event(s, part, DME_JOIN, 0, SPACE_JOIN);
        if (s->conf.alg->leave && node.phase == DME_IDLE)
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

        for (uint32_t k = 0; k < len && !space_key(s, state[j])->node.down; k++)
            if (space_message(s, list[k])->kind == DME_DOWN && space_message(s, list[k])->from == i)
                return true;
    }
    return false;
}

bool space_may_fail(const struct space *s, const uint32_t *state, const struct space_transition *t)
{
    switch (t->type) {
    case DME_RESTART:
        return !fail_news_pending(s, state, space_key(s, t->part)->node.self);
    case WORLD_CUT:
        return space_side(s, state) == 0;
    case WORLD_HEAL:
        return space_side(s, state) != 0;
    default:
        return true;
    }
}

static void fail_tell(struct space *s, uint32_t *state, enum dme_news what, dme_id of, dme_id to)
{
    if (s->conf.alg->news && of != to && !space_key(s, state[to])->node.down)
        state[to] = space_append(s, state[to], fail_news(s, what, of, to));
}

/* Each side hears of the other. */
static void fail_tell_across(struct space *s, uint32_t *state, uint32_t side, enum dme_news what)
{
    for (dme_id i = 0; i < s->conf.n; i++)
        for (dme_id j = 0; j < s->conf.n; j++)
            if (world_apart(side, i, j))
                fail_tell(s, state, space_key(s, state[j])->node.down ? DME_DOWN : what, j, i);
}

void space_fail(struct space *s, uint32_t *state, dme_id i, const struct space_transition *t)
{
    uint32_t side = space_side(s, state);

    switch (t->type) {
    case DME_RESTART:
        for (dme_id j = 0; j < s->conf.n; j++) {
            if (space_key(s, state[j])->node.down)
                fail_tell(s, state, DME_DOWN, j, i);
            else if (world_apart(side, i, j))
                fail_tell(s, state, DME_CUT, j, i);
        }
        break;
    case WORLD_SUSPECT:
        for (dme_id j = 0; j < s->conf.n; j++)
            fail_tell(s, state, DME_DOWN, i, j);
        break;
    case WORLD_CUT:
        state[s->conf.n + 1] = side = t->arg;
        for (dme_id j = 0; j < s->conf.n; j++)
            state[j] =
                space_put_part(s, s->part[state[j]].node,
                               fail_lose_vain(s, s->part[state[j]].inbox, j, side, space_key(s, state[j])->node.down));
        fail_tell_across(s, state, side, DME_CUT);
        break;
    case WORLD_HEAL:
        state[s->conf.n + 1] = 0;
        fail_tell_across(s, state, side, DME_HEALED);
        break;
    }
}
