/* clients.c - the clients of a soak, and the checkers that know what each of them believes. See soak.h. */
#include "world.h"

#include "core/alg.h"

static const char *const clients_names[SOAK_NAMES] = {"apple", "plum", "fig", "2 pears", "moot"};

static struct node *clients_node(struct world *w, const struct soak_client *c)
{
    return &w->machine[c->machine].node;
}

static void clients_plan(struct world *w, uint32_t k, uint64_t in_ms)
{
    world_plan(w, in_ms * 1000 + world_below(w, 1000), SOAK_CLIENT, k, 0)->life = w->client[k].life;
}

void clients_begin(struct world *w)
{
    for (uint32_t k = 0; k < w->clients; k++) {
        w->client[k] = (struct soak_client){.machine = (uint32_t)world_below(w, w->n), .life = 1, .name = -1};
        clients_plan(w, k, world_below(w, 2 * w->mix.think_ms + 1));
    }
}

/* ----------------------------------------------------------------------------------------------------------- checkers */

static bool clients_believes(const struct world *w, const struct soak_client *c)
{
    return c->holds && w->now_us < c->believes_to_us;
}

/* Is it beyond what is promised that this client still believes in its lock? Its daemon was stopped while it held it, so
 * it could not be told, and it did not ask; or clocks run faster than anybody should expect. */
static bool clients_is_excused(const struct world *w, const struct soak_client *c)
{
    const struct soak_machine *m = &w->machine[c->machine];

    return w->mix.wild_clocks || c->dazed || m->stands_us > c->since_us || (!c->confirms && m->thaws_us > c->since_us);
}

static void clients_check_grant(struct world *w, const struct soak_client *me)
{
    struct soak_history *h = &w->history[me->name];
    uint32_t together = 1;

    if (me->dazed)
        return;
    for (uint32_t k = 0; k < w->clients; k++) {
        const struct soak_client *other = &w->client[k];

        if (other == me || !clients_believes(w, other) || other->name != me->name || clients_is_excused(w, other))
            continue;
        together++;
        if (other->slots != me->slots)
            world_fail(w, "%s is held in two kinds", clients_names[me->name]);
        if (!me->slots && !dme_compatible(me->mode, other->mode))
            world_fail(w, "%s is held by a client of %s (fence %llu) and now by one of %s (fence %llu)",
                       clients_names[me->name], w->machine[other->machine].name, (unsigned long long)other->fence,
                       w->machine[me->machine].name, (unsigned long long)me->fence);
    }
    if (me->slots && together > me->slots)
        world_fail(w, "%s has %u holders, and %u slots", clients_names[me->name], together, me->slots);
    if (!me->slots && !w->mix.wild_clocks && me->fence <= (me->mode == LOCK_ALONE ? h->highest : h->highest_alone))
        world_fail(w, "the fence of %s does not grow", clients_names[me->name]);
    if (!me->slots && me->mode == LOCK_ALONE && me->fence == h->highest_alone)
        world_fail(w, "a fence of %s is given twice", clients_names[me->name]);
    if (h->highest < me->fence)
        h->highest = me->fence;
    if (me->mode == LOCK_ALONE && h->highest_alone < me->fence)
        h->highest_alone = me->fence;
}

/* In this time all members get to know what one of them tells, or the view changes. */
enum { NEWS_US = 5 * SOAK_LEASE_MS * 1000 / 2 };

static uint64_t clients_last_view_us(const struct world *w)
{
    uint64_t last_us = 0;

    for (uint32_t i = 0; i < w->n; i++)
        if (w->machine[i].runs) {
            uint64_t us = world_when_us(w, i, w->machine[i].node.installed_ms);

            last_us = last_us < us ? us : last_us;
        }
    return last_us;
}

/* A client shares a lock that another one of the same member has held for a while: then no client waits that cannot share,
 * unless that one has just come, or the view has changed since. */
static void clients_check_overtaking(struct world *w, const struct soak_client *me, uint64_t asked_us)
{
    bool joins = false;

    for (uint32_t k = 0; k < w->clients; k++) {
        const struct soak_client *c = &w->client[k];

        joins |= c != me && c->machine == me->machine && c->name == me->name && c->holds && !c->lost &&
                 c->mode == me->mode && c->since_us + SOAK_LEASE_MS * 1000 < asked_us;
    }
    for (uint32_t k = 0; joins && me->mode != LOCK_ALONE && k < w->clients; k++) {
        const struct soak_client *c = &w->client[k];

        if (c->waits && !c->tries && c->name == me->name && c->slots == me->slots &&
            !dme_compatible(c->mode, me->mode) && c->since_us + NEWS_US < asked_us &&
            clients_last_view_us(w) < c->since_us && node_is_open(clients_node(w, c)))
            world_fail(w, "a client of %s that came later shares %s, though client %u of %s waits",
                       w->machine[me->machine].name, clients_names[me->name], k, w->machine[c->machine].name);
    }
}

/* Clients that try are rivalled by all who want the same lock. */
static void clients_note_rivals(struct world *w, struct soak_client *me)
{
    const struct soak_history *h = &w->history[me->name];

    me->rivalled = h->abandoned_us && w->now_us < h->abandoned_us + NEWS_US;
    for (uint32_t k = 0; k < w->clients; k++) {
        struct soak_client *c = &w->client[k];

        if (c != me && c->name == me->name)
            me->rivalled = c->rivalled = true;
    }
}

/* A client that tried has not got the lock, and no client was in its way. */
static void clients_check_try(struct world *w, const struct soak_client *me, const struct node_event *e)
{
    if (me->tries && !me->rivalled && e->state == CLAIM_TIMED_OUT && !e->no_quorum &&
        w->now_us < me->since_us + 2 * SOAK_LEASE_MS * 1000)
        world_fail(w, "%s was free, and a client of %s that tried did not get it", clients_names[me->name],
                   w->machine[me->machine].name);
}

/* ------------------------------------------------------------------------------------------------------------- acting */

/* What this client holds or wanted is not released in the usual way. */
static void clients_abandon(struct world *w, const struct soak_client *c)
{
    if (c->name >= 0)
        w->history[c->name].abandoned_us = w->now_us;
    for (uint32_t k = 0; k < w->clients; k++)
        w->client[k].rivalled |= w->client[k].name == c->name;
}

static void clients_gone(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];

    clients_abandon(w, c);
    c->session = NULL;
    c->waits = c->holds = c->lost = false;
    c->name = -1;
    c->life++;
    clients_plan(w, k, world_below(w, 2 * w->mix.think_ms + 1));
}

void clients_die(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];

    if (c->session) {
        world_wake(w, c->machine);
        session_close(c->session);
        clients_gone(w, k);
        world_settle(w, c->machine);
    }
}

void clients_evict(struct world *w, uint32_t i)
{
    const char *name = clients_names[world_below(w, SOAK_NAMES)];

    world_wake(w, i);
    world_trace(w, "%u clients of %s are evicted from %s",
                session_evict(&w->machine[i].node, name, strlen(name), UINT64_MAX), w->machine[i].name, name);
    world_settle(w, i);
}

/* It believes in its lock for a while to come. */
static void clients_miss(struct world *w, uint32_t k)
{
    w->client[k].lost = true;
    w->client[k].life++;
    clients_plan(w, k, world_below(w, 2 * SOAK_LEASE_MS));
}

/* Now it hears of it, and its daemon that it did. */
static void clients_hear_late(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    const char *name = clients_names[c->name];

    clients_abandon(w, c);
    world_trace(w, "client %u hears that it has lost %s", k, name);
    c->lost = c->holds = false;
    c->name = -1;
    if (c->session) {
        world_wake(w, c->machine);
        if (session_unlock(c->session, name, strlen(name)))
            world_fail(w, "a client was told that it has lost %s, and holds it", name);
        world_settle(w, c->machine);
    }
    clients_plan(w, k, world_below(w, 2 * w->mix.think_ms + 1));
}

/* The daemon has died: its clients know at once, most of them. */
void clients_orphaned(struct world *w, uint32_t i)
{
    for (uint32_t k = 0; k < w->clients; k++) {
        struct soak_client *c = &w->client[k];

        if (c->machine != i || !c->session)
            continue;
        session_close(c->session);
        c->session = NULL;
        if (!c->deaf || !c->holds)
            clients_gone(w, k);
        else if (!c->lost)
            clients_miss(w, k);
    }
}

static void clients_ask(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    int name = (int)world_below(w, SOAK_NAMES);
    struct session_wish wish = {
        .name = clients_names[name], .name_len = strlen(clients_names[name]), .wait_ms = SESSION_FOREVER};
    char line[256];
    struct dme_text why;
    const char *objection;

    if (name == 3 || (name == 4 && world_below(w, 2)))
        wish.slots = 2;
    else if (w->modes->rules & 1u << DME_GROUP)
        wish.mode = world_below(w, 3) == 0 ? LOCK_ALONE : LOCK_SHARED + (uint32_t)world_below(w, 2);
    if (world_below(w, 4) == 0)
        wish.wait_ms = world_below(w, 2) ? world_below(w, 2000) : 0;
    c->greedy = world_below(w, 5) == 0;
    if (c->greedy && world_below(w, 2) && !w->conf->rolling)
        wish.ttl_ms = 1 + world_below(w, 3000);
    if (!c->session)
        c->session = session_open(clients_node(w, c), c);
    c->name = name;
    c->mode = wish.mode;
    c->slots = wish.slots;
    c->confirms = world_below(w, 2);
    c->deaf = c->confirms && world_below(w, 2);
    c->since_us = w->now_us;
    c->tries = wish.wait_ms == 0;
    clients_note_rivals(w, c);
    dme_text_init(&why, line, sizeof line);
    objection = session_lock(c->session, &wish, &why);
    c->waits = !objection;
    if (objection) {
        c->name = -1;
        if (strcmp(objection, "ERR") == 0)
            world_fail(w, "a client is told: %s", line);
        clients_plan(w, k, 1 + world_below(w, 2 * w->mix.think_ms));
    }
}

void clients_act(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    const char *name = c->name >= 0 ? clients_names[c->name] : "";
    uint64_t life = c->life;

    if (c->lost) {
        clients_hear_late(w, k);
        return;
    }
    if (!w->machine[c->machine].runs) {
        if (!w->calm)
            clients_plan(w, k, 100 + world_below(w, 500));
        return;
    }
    if (c->waits)
        return;
    world_wake(w, c->machine);
    clients_hear(w, c->machine); /* perhaps that it does not hold it any more */
    if (c->life != life) {
        world_settle(w, c->machine);
        return;
    }
    if (c->holds) {
        world_trace(w, "client %u releases %s", k, name);
        c->holds = false;
        c->name = -1;
        if (!session_unlock(c->session, name, strlen(name)) && clients_believes(w, c))
            world_fail(w, "a holder of %s cannot release it", name);
        if (!w->calm)
            clients_plan(w, k, world_below(w, 2 * w->mix.think_ms + 1));
    } else if (!w->calm) {
        clients_ask(w, k);
    }
    world_settle(w, c->machine);
}

/* Its daemon vouches for its locks for so long, counted from when it was asked. */
static void clients_believe(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    uint64_t vouched_ms = c->confirms ? session_confirm(c->session) : 0;

    if (c->confirms) {
        c->believes_to_us = world_when_us(w, c->machine, world_clock_ms(w, c->machine, w->now_us) + vouched_ms);
        if (c->deaf)
            c->believes_to_us = w->now_us + vouched_ms * 20000 / 19;
        world_plan(w, SOAK_LEASE_MS * 1000 / 4, SOAK_CONFIRM, k, 0)->life = c->life;
    } else {
        c->believes_to_us = UINT64_MAX;
    }
}

void clients_confirm(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];

    if (!c->holds || c->lost || !c->confirms || !w->machine[c->machine].runs)
        return;
    world_wake(w, c->machine);
    world_settle(w, c->machine);
    if (!c->holds || c->lost)
        return;
    if (world_is_stopped(w, c->machine)) /* its disk has become slow: the answer has to wait */
        world_plan(w, 0, SOAK_CONFIRM, k, 0)->life = c->life;
    else
        clients_believe(w, k);
}

/* Some hold a lock for long, and few for good. */
static uint64_t clients_greed(struct world *w)
{
    return world_below(w, 20) ? 500 + world_below(w, 4000) : 100000;
}

void clients_hear(struct world *w, uint32_t i)
{
    struct node_event e;

    while (node_next(&w->machine[i].node, &e)) {
        struct soak_client *c = e.session->user;
        uint32_t k = (uint32_t)(c - w->client);

        if (c->name < 0 || strcmp(clients_names[c->name], e.name) != 0 || e.answers != c->waits) {
            world_fail(w, "client %u hears of %s, and did not ask", k, e.name);
            return;
        }
        world_trace(w, "client %u of %s: %s %s, fence %llu", k, w->machine[i].name, e.name,
                    e.state == CLAIM_HELD   ? "held"
                    : e.state == CLAIM_LOST ? "lost"
                                            : "not held",
                    (unsigned long long)e.fence);
        if (e.state == CLAIM_LOST && c->holds && c->deaf) {
            w->report->losses++;
            rolling_check_loss(w, i, e.name);
            clients_miss(w, k);
            continue;
        }
        c->waits = false;
        c->holds = e.state == CLAIM_HELD;
        c->life++;
        if (c->holds) {
            clients_check_overtaking(w, c, c->since_us);
            c->fence = e.fence;
            c->since_us = w->now_us;
            c->dazed = w->machine[i].stills;
            w->report->grants++;
            clients_believe(w, k);
            clients_check_grant(w, c);
            clients_plan(w, k, c->greedy && !w->calm ? clients_greed(w) : world_below(w, 2 * w->mix.hold_ms + 1));
        } else {
            clients_check_try(w, c, &e);
            if (e.state == CLAIM_LOST)
                clients_abandon(w, c);
            w->report->losses += e.state == CLAIM_LOST;
            if (e.state == CLAIM_LOST)
                rolling_check_loss(w, i, e.name);
            c->name = -1;
            clients_plan(w, k, world_below(w, 2 * w->mix.think_ms + 1));
        }
    }
}

/* In the calm: nobody waits any more, and nobody holds. Who would hold for ever lets go. */
bool clients_at_rest(struct world *w)
{
    bool rest = true;

    for (uint32_t k = 0; k < w->clients; k++) {
        struct soak_client *c = &w->client[k];

        if (c->session && !world_is_member(w, c->machine))
            clients_die(w, k); /* its daemon has been removed, and serves nobody any more */
        if (c->holds && c->greedy) {
            c->greedy = false;
            clients_plan(w, k, 0);
        }
        rest = rest && !c->waits && !c->holds;
    }
    return rest;
}

void clients_end(struct world *w)
{
    for (uint32_t k = 0; k < w->clients; k++)
        if (w->client[k].session) {
            session_close(w->client[k].session);
            w->client[k].session = NULL;
        }
}
