/* clients.c - the clients of a soak, and the checkers that know what each of them believes. See soak.h.
 *
 * A client speaks the protocol of Redis, in version 2 or 3, over a connection (conns.c), and requests one lock at a
 * time. Most clients do as the documents say: they use CONFIRM, and believe in a lock for as long as the answer says,
 * counted from the moment at which they asked, unless they are told before that the lock is lost. Their clocks may be as slow
 * as A1 allows (src/member), they may hear late, and they may be stopped. The other clients, none of which is remote, believe in a lock
 * until they are told of the loss. All these clients stand for programs without a library of ours; the clients of library.c use
 * libdibs. */
#include "world.h"

#include "core/alg.h"

#include <assert.h>
#include <stdlib.h>

const char *const clients_names[SOAK_NAMES] = {"apple", "plum", "fig", "2 pears", "moot"};

void clients_plan(struct world *w, uint32_t k, uint64_t in_ms)
{
    world_plan(w, in_ms * 1000 + world_below(w, 1000), SOAK_CLIENT, k, 0)->generation = w->client[k].generation;
}

static void clients_think(struct world *w, uint32_t k)
{
    w->client[k].generation++;
    clients_plan(w, k, world_below(w, 2 * w->mix.think_ms + 1));
}

void clients_begin(struct world *w)
{
    for (uint32_t k = 0; k < w->clients; k++) {
        w->client[k] = (struct soak_client){.machine = (uint32_t)world_below(w, w->n), .name = -1, .conn = -1};
        if (w->conf->focus == SOAK_SQUEEZE && k % 4) /* faults_squeeze needs holders at machines with slow clocks */
            w->client[k].machine = k % 2;
        if (w->mix.kept && (w->conf->focus == SOAK_KEPT || w->conf->focus == SOAK_HASTY ||
                            w->conf->focus == SOAK_EXILES || (k % 3 == 0) != (w->conf->focus == SOAK_ALONE)))
            kept_begin(w, k);
        else if (w->mix.tokens && k % 2)
            tokens_begin(w, k);
        clients_think(w, k);
    }
}

/* ----------------------------------------------------------------------------------------------------------- checkers */

/* Counts the claims of the connection's lock at its member that have this fence. There may be only one, since a client names its claim by the fence.
 * Claims of other clients' kept sessions do not count: one that came from another member may have the same fence, if the lock is shared. */
static uint32_t clients_count_fence(const struct world *w, const struct soak_conn *x, uint64_t fence)
{
    const char *name = clients_names[x->name];
    const struct lock *lock = locks_find(&w->machine[x->machine].node.locks, name, strlen(name));
    uint32_t count = 0;

    for (const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c))
        count += c->fence == fence && (c->session == x->end->session || !(c->session && c->session->kept));
    return count;
}

void clients_check_fence(struct world *w, const struct soak_conn *x, uint64_t fence)
{
    struct soak_history *h = &w->history[x->name];

    if (w->machine[x->machine]
            .stills) /* the member may not know yet that its clock has stood still, and may be excluded */
        return;
    if (!x->slots && !w->mix.wild_clocks && fence <= (x->mode == LOCK_ALONE ? h->highest : h->highest_alone))
        world_fail(w, "the fence of %s does not grow", clients_names[x->name]);
    if (clients_count_fence(w, x, fence) > 1)
        world_fail(w, "two holders of %s at %s have the same fence", clients_names[x->name],
                   w->machine[x->machine].name);
    if (!x->slots && x->mode == LOCK_ALONE && fence == h->highest_alone)
        world_fail(w, "a fence of %s is given twice", clients_names[x->name]);
    if (h->highest < fence)
        h->highest = fence;
    if (x->mode == LOCK_ALONE && h->highest_alone < fence)
        h->highest_alone = fence;
}

/* Within this time all members receive what one of them sends to all, or the view changes. */
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

/* Does the client of connection x wait for the lock that the client of `me` has requested? */
static bool clients_waits_for(const struct soak_conn *x, const struct soak_conn *me)
{
    const struct claim *c = x->id && x->end ? x->end->session->waiting : NULL;

    return c && c->state == CLAIM_WAITING && x->name == me->name;
}

/* A client of `me` is about to share a lock that another client of the same member has held for a while. Checks that no client waits that cannot share
 * the lock, except one that has begun to wait only now, or before the last change of the view. */
static void clients_check_overtaking(struct world *w, const struct soak_conn *me)
{
    bool joins = false;

    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        const struct soak_conn *x = &w->conn[k];

        joins |= x->id && x->end && x != me && x->machine == me->machine && x->name == me->name && x->holds &&
                 x->mode == me->mode && x->held_us + SOAK_LEASE_MS * 1000 < me->asked_us;
    }
    for (uint32_t k = 0; joins && me->mode != LOCK_ALONE && k < SOAK_CONNS_MAX; k++) {
        const struct soak_conn *x = &w->conn[k];

        if (clients_waits_for(x, me) && !x->tries && x->slots == me->slots && !dme_compatible(x->mode, me->mode) &&
            !(x->machine == me->machine && me->priority > x->priority) && x->asked_us + NEWS_US < me->asked_us &&
            clients_last_view_us(w) < x->asked_us && node_is_open(&w->machine[x->machine].node))
            world_fail(w, "a client of %s that came later shares %s, though client %u of %s waits",
                       w->machine[me->machine].name, clients_names[me->name], x->client, w->machine[x->machine].name);
    }
}

/* Checks that a request that does not wait for a holder was not refused while the lock was free: no other client or kept session had wanted the lock
 * or held it. After two leases it may be refused for another reason. */
static void clients_check_try(struct world *w, const struct soak_conn *x, const struct node_event *e)
{
    if (x->tries && !x->rivalled && !w->mix.tokens && e->state == CLAIM_TIMED_OUT && !e->no_quorum &&
        w->now_us < x->asked_us + 2000 * (w->mix.config ? SOAK_LEASE_MS / 4 : SOAK_LEASE_MS))
        world_fail(w, "%s was free, and a client of %s that tried did not get it", clients_names[x->name],
                   w->machine[x->machine].name);
}

/* May some daemon still have the claim of a client that went without releasing the lock? A daemon that was stopped
 * finds out late that such a claim has lingered for long enough. */
static bool clients_may_linger(const struct world *w, int name)
{
    uint64_t since_us = w->history[name].abandoned_us;

    for (uint32_t i = 0; since_us && i < w->n; i++)
        if (since_us < w->machine[i].thaws_us)
            since_us = w->machine[i].thaws_us;
    return since_us && w->now_us < since_us + 2 * NEWS_US;
}

/* A request that tries is rivalled by all other clients that want or hold the same lock. */
void clients_asked(struct world *w, struct soak_conn *me, const struct claim *c)
{
    if (c->other) { /* the request is to change the mode of a lock that the client holds */
        changes_asked(w, me, c);
        return;
    }
    for (me->name = 0; strncmp(clients_names[me->name], c->name, c->name_len) != 0;)
        me->name++;
    me->mode = c->mode;
    me->slots = c->slots;
    me->tries = c->tries;
    me->priority = c->priority;
    me->holds = false;
    me->asked_us = w->now_us;
    me->rivalled = clients_may_linger(w, me->name) || kept_encumbers(w, clients_names[me->name]);
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        struct soak_conn *x = &w->conn[k];

        if (x != me && x->id && x->end &&
            ((x->name == me->name && x->end->session->waiting) ||
             session_holds(x->end->session, c->name, c->name_len, 0)))
            me->rivalled = x->rivalled = true;
    }
}

/* A client goes without releasing the lock that it holds or wanted. */
static void clients_abandon_name(struct world *w, int name)
{
    w->history[name].abandoned_us = w->now_us;
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++)
        w->conn[k].rivalled |= w->conn[k].name == name;
}

void clients_abandon(struct world *w, const struct soak_conn *me)
{
    several_look(w, me, true);
    for (int name = 0; name < SOAK_NAMES; name++)
        if (name == me->name || session_holds(me->end->session, clients_names[name], strlen(clients_names[name]), 0))
            clients_abandon_name(w, name);
}

int clients_find_name(const char *text, size_t len)
{
    int name = 0;

    while (strlen(clients_names[name]) != len || memcmp(clients_names[name], text, len) != 0)
        name++;
    return name;
}

void clients_told(struct world *w, uint32_t i, struct soak_conn *x, const struct node_event *e)
{
    if (e->keep == KEEP_RESUMED)
        allowed_resumed(w, x);
    if (e->keep)
        return;
    if (e->token) {
        tokens_told(w, i, x, e->token);
        return;
    }
    if (e->cycle)
        several_told(w, x, e->cycle);
    several_look(w, x, false);
    if (e->answers && strcmp(clients_names[x->name], e->name) != 0)
        world_fail(w, "client %u hears of %s, and did not ask", x->client, e->name);
    if (e->answers)
        clients_check_try(w, x, e);
    world_trace(w, "client %u of %s: %s %s%s, fence %llu", x->client, w->machine[i].name, e->name,
                e->state == CLAIM_HELD         ? "held"
                : e->state == CLAIM_UPGRADED   ? "upgraded"
                : e->state == CLAIM_DOWNGRADED ? "downgraded"
                : e->state == CLAIM_LOST       ? "lost: "
                                               : "not held",
                e->state == CLAIM_LOST ? loss_text[e->loss] : "", (unsigned long long)e->fence);
    kept_check_change(w, x, e);
    if (e->state == CLAIM_DOWNGRADED) {
        x->mode = LOCK_SHARED;
        x->held_us = w->now_us;
    }
    if (e->state == CLAIM_UPGRADED) {
        w->report->grants++;
        x->mode = LOCK_ALONE;
        allowed_check_grant(w, i, x, x->name, x->mode);
        clients_check_fence(w, x, e->fence);
    }
    if (e->state == CLAIM_HELD) {
        w->report->grants++;
        kinds_told(x, e);
        allowed_check_grant(w, i, x, x->name, x->mode);
        clients_check_fence(w, x, e->fence);
        kept_check_grant(w, x);
        clients_check_overtaking(w, x);
        x->holds = true;
        x->held_us = w->now_us;
    }
    if (e->state == CLAIM_LOST) {
        struct soak_history *h = &w->history[clients_find_name(e->name, strlen(e->name))];

        w->report->losses++;
        rolling_check_loss(w, i, e->name);
        if (e->loss == LOSS_FORCED && !h->evicted_us)
            world_fail(w, "%s is taken from client %u by force, and no operator has asked for it", e->name, x->client);
        if (e->loss == LOSS_FORCED)
            h->evicted_us = w->now_us;
        x->holds = x->holds && e->answers;
        clients_abandon_name(w, clients_find_name(e->name, strlen(e->name)));
    }
}

/* ------------------------------------------------------------------------------------------------------------- saying */

void clients_say(struct world *w, struct soak_client *c, enum soak_answer to, const char *const *words, size_t count)
{
    assert(c->conn >= 0 && c->awaited < SOAK_AWAITED_MAX);
    c->await[c->awaited++] = (struct soak_awaited){.to = to, .asked_us = w->now_us, .fence = c->fence};
    conns_say(w, &w->conn[c->conn], words, count);
}

/* Asks for how long all locks of the client are valid, or the one that it holds. While UPGRADE waits, the question overtakes it. */
void clients_ask_confirm(struct world *w, struct soak_client *c)
{
    char fence[24];
    const char *words[4] = {"MEANWHILE", "CONFIRM", c->holds ? clients_names[c->name] : NULL, fence};
    size_t count = c->holds ? 1 + world_below(w, 3) : 1;

    snprintf(fence, sizeof fence, "%llu", (unsigned long long)c->fence);
    if (!c->changing) {
        clients_say(w, c, SOAK_TO_CONFIRM, words + 1, count);
    } else if (c->protocol == 3 && !c->aside.asked_us) {
        c->aside = (struct soak_awaited){.to = SOAK_TO_CONFIRM, .asked_us = w->now_us, .fence = c->fence};
        conns_say(w, &w->conn[c->conn], words, 1 + count);
    }
}

void clients_say_unlock(struct world *w, struct soak_client *c, int name, uint64_t fence, bool lost)
{
    char text[24];
    const char *words[3] = {"UNLOCK", clients_names[name], text};

    snprintf(text, sizeof text, "%llu", (unsigned long long)fence);
    clients_say(w, c, SOAK_TO_UNLOCK, words, lost || world_below(w, 2) ? 3 : 2);
    c->await[c->awaited - 1].fence = lost ? 0 : fence;
}

/* The client no longer uses its lock. If the lock was lost, the client may tell the daemon later that it has stopped, as a program does
 * in which one thread finds that out while another one has just requested a lock by the same connection. */
static void clients_let_go(struct world *w, uint32_t k, bool lost)
{
    struct soak_client *c = &w->client[k];

    if (lost && c->protocol == 3 && world_below(w, 2)) {
        c->stale_name = c->name;
        c->stale_fence = c->fence;
    } else {
        clients_say_unlock(w, c, c->name, c->fence, lost);
    }
    c->holds = false;
    c->name = -1;
    clients_think(w, k);
}

static void clients_connect(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    const char *hello[] = {"HELLO", "3"};
    bool extreme = w->mix.squeeze || w->mix.reborn || w->mix.config; /* all confirm, often, and have slow clocks */
    struct soak_conn *x;

    c->conn = conns_open(w, k);
    if (c->conn < 0)
        return;
    x = &w->conn[c->conn];
    c->awaited = 0;
    c->protocol = 2;
    c->vouched_us = c->lost_fence = c->stale_fence = 0;
    c->changing = false;
    c->aside.asked_us = 0;
    c->confirms = c->kept || c->agent || c->library || w->mix.resume || w->mix.several || extreme || x->uplink ||
                  world_below(w, 4);
    if (!c->library) /* a program that connects again has the clock that it had before */
        c->slow = extreme || world_below(w, 2);
    c->confirm_us = (extreme || world_below(w, 4) == 0 ? 20 : 250) * SOAK_LEASE_MS;
    x->local = !c->confirms || x->uplink || world_below(w, 4) == 0;
    x->instant = !c->confirms;
    x->delay_us = x->instant ? 0 : 1 + world_below(w, 3000);
    x->jitter_us = x->instant || world_below(w, 2) ? 0 : world_below(w, 30000);
    if (!x->instant && !w->conf->rolling && !w->mix.squeeze &&
        world_below(w, 4) == 0) /* the client is busy with other things, and hears late */
        x->jitter_us = world_below(w, SOAK_LEASE_MS * 1000);
    if (x->end) /* a client of an agent has no end at a daemon yet */
        x->end->session->remote = !x->local;
    if (c->kept) {
        clients_say(w, c, SOAK_TO_HELLO, hello, 2);
        kept_connect(w, k);
        return;
    }
    if (c->library) {
        library_return(w, k);
        return;
    }
    if (w->mix.resume || w->mix.several ||
        (c->confirms && !c->agent && !w->mix.squeeze && !w->mix.reborn && !w->mix.kinds && world_below(w, 3) == 0)) {
        library_begin(w, k);
        return;
    }
    if (!c->confirms || world_below(w, 2))
        clients_say(w, c, SOAK_TO_HELLO, hello, 2);
}

static void clients_ask(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    char wait[24], ttl[24], priority[24];
    const char *words[12] = {"LOCK"};
    size_t count = 1 + kinds_choose(w, c, words + 1);
    uint64_t ttl_ms = 0;

    if (*values_draw(w, k, c->value)) {
        words[count++] = "VALUE";
        words[count++] = c->value;
    }
    if (world_below(w, w->mix.kinds ? 2 : 4) == 0) {
        snprintf(wait, sizeof wait, "%llu", (unsigned long long)(world_below(w, 2) ? world_below(w, 2000) : 0));
        words[count++] = "WAIT";
        words[count++] = wait;
    }
    c->greedy = world_below(w, w->mix.kinds ? 50 : 5) == 0;
    if (c->greedy && (!c->kept || w->mix.hasty) && world_below(w, 2) && !w->conf->rolling) {
        ttl_ms = 1 + world_below(w, 3000);
        snprintf(ttl, sizeof ttl, "%llu", (unsigned long long)ttl_ms);
        words[count++] = "TTL";
        words[count++] = ttl;
    }
    if (c->kept)
        kept_note_ttl(w, c, ttl_ms);
    if (w->mix.urgent && (world_below(w, 2) || c->aims)) {
        snprintf(priority, sizeof priority, "%llu", (unsigned long long)world_below(w, LOCK_PRIORITY_MAX + 1));
        words[count++] = "PRIORITY";
        words[count++] = priority;
    }
    c->since_us = w->now_us;
    c->waits = true;
    if (c->confirms && world_below(w, 2))
        clients_ask_confirm(w, c);
    clients_say(w, c, SOAK_TO_LOCK, words, count);
}

/* ------------------------------------------------------------------------------------------------------------- acting */

/* The client has no connection any more, whether it or its daemon has ended the connection. */
void clients_be_gone(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];

    if (c->kept) {
        kept_be_gone(w, k);
    } else if (c->agent) {
        tokens_be_gone(w, k);
    } else if (c->library && library_is_away(c)) {
        c->conn = -1;
        if (world_below(w, 2))
            c->machine = (uint32_t)world_below(w, w->n);
    } else {
        library_forget(c);
        c->conn = -1;
        c->waits = c->holds = false;
        c->name = -1;
    }
    clients_think(w, k);
    if (c->library)
        library_stay_away(w, k);
}

void clients_hang_up(struct world *w, uint32_t k)
{
    if (w->conn[w->client[k].conn].local)
        w->client[k].believes_to_us = 0; /* the end of a local connection proves that the client has stopped */
    conns_close(w, &w->conn[w->client[k].conn], false);
    clients_be_gone(w, k);
}

void clients_leave(struct world *w, uint32_t k, bool goodbye)
{
    struct soak_client *c = &w->client[k];

    world_trace(w, "client %u ends its connection%s", k, goodbye ? " and says goodbye" : "");
    kept_die(&w->client[k]);
    if (c->agent)
        tokens_die(c);
    library_forget(c);
    conns_close(w, &w->conn[c->conn], goodbye);
    clients_be_gone(w, k);
}

void clients_die(struct world *w, uint32_t k)
{
    if (w->client[k].conn >= 0)
        clients_leave(w, k, false);
}

void clients_disconnected(struct world *w, const struct soak_conn *x)
{
    if (w->client[x->client].conn != (int)(x - w->conn))
        return;
    if (w->client[x->client].library)
        library_disconnected(w, x->client);
    clients_be_gone(w, x->client);
}

void clients_disturb(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_conn *x = c->conn < 0 ? NULL : &w->conn[c->conn];
    uint64_t kind = world_below(w, 5);

    if (!x || w->now_us < c->thaws_us)
        return;
    if (kind == 0 && !c->library) {
        world_trace(w, "client %u talks nonsense", k);
        x->nonsense = true;
        conns_say_nonsense(w, x);
    } else if (kind <= 1) {
        c->thaws_us = w->now_us + 1000 * (1 + world_below(w, 3 * SOAK_LEASE_MS));
        world_trace(w, "client %u is stopped", k);
    } else if (!x->local && !x->severed) {
        conns_break(w, x, (enum soak_break)(kind - 2));
    }
}

void clients_evict(struct world *w, uint32_t i)
{
    int number = w->mix.slots ? 3 : (int)world_below(w, SOAK_NAMES);
    struct soak_machine *m = &w->machine[i];
    struct client *asks = m->operates;
    char line[64];

    if (w->mix.rights && world_below(w, 2)) {
        asks = allowed_steal(w, i, number);
    } else {
        w->history[number].evicted_us = w->now_us;
        world_trace(w, "an operator at %s takes %s away", m->name, clients_names[number]);
        if (!asks)
            asks = m->operates = client_open(&m->node, NULL);
        asks->session->operates = true;
    }
    snprintf(line, sizeof line, "FORCE-UNLOCK %s\n", clients_names[number]);
    world_deliver(w, i,
                  (struct node_input){
                      .type = NODE_CLIENT_BYTES, .client = asks, .bytes = (const uint8_t *)line, .len = strlen(line)});
}

bool clients_may_be_evicted(const struct world *w, int name, uint64_t since_us)
{
    enum { LATE_US = 3000000 };
    uint64_t evicted_us = w->history[name].evicted_us;

    return evicted_us && evicted_us + LATE_US >= since_us;
}

void clients_tell_operator(struct world *w, const struct node_event *e)
{
    w->history[clients_find_name(e->answered->text, e->answered->text_len)].evicted_us = w->now_us;
}

void clients_act(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];

    if (c->waits || (c->conn < 0 && w->calm) || (c->conn < 0 && library_acts_away(w, k)))
        return;
    if (c->conn < 0 && (relays_serve(w, k) ? relays_can_connect(w, k) : w->machine[c->machine].runs))
        clients_connect(w, k);
    if (c->conn < 0) {
        clients_plan(w, k, 100 + world_below(w, 500));
    } else if (c->library) {
        library_act(w, k);
    } else if (c->agent) {
        tokens_act(w, k);
    } else if (c->kept && (c->waits || kept_act(w, k))) {
        return;
    } else if (changes_act(w, k)) {
        return;
    } else if (c->holds) {
        world_trace(w, "client %u releases %s", k, clients_names[c->name]);
        if (c->kept || world_below(w, 8))
            clients_let_go(w, k, false);
        else
            clients_leave(w, k, true);
    } else if (!w->calm && nested_is_open(c)) {
        clients_think(w, k);
    } else if (!w->calm) {
        clients_ask(w, k);
    }
}

void clients_confirm(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];

    if (c->library) {
        library_timer(w, k);
    } else if (c->holds && c->confirms) {
        if (c->awaited < SOAK_AWAITED_MAX / 2) /* else its daemon is slow, and has questions to answer */
            clients_ask_confirm(w, c);
        world_plan(w, c->confirm_us, SOAK_CONFIRM, k, 0)->generation = c->generation;
    }
}

/* ------------------------------------------------------------------------------------------------------------ hearing */

/* Draws for how long a greedy client holds a lock, in ms: mostly for up to some seconds, sometimes for longer than the faults last. */
static uint64_t clients_greed(struct world *w)
{
    return world_below(w, 20) ? 500 + world_below(w, 4000) : 100000;
}

void clients_lose(struct world *w, uint32_t k)
{
    if (w->client[k].holds) {
        kept_check_loss(w, k);
        world_trace(w, "client %u hears that it has lost %s", k, clients_names[w->client[k].name]);
        clients_let_go(w, k, true);
    }
}

/* The client hears the answer to CONFIRM: for how long, counted from its question, the daemon vouches for its locks. */
static void clients_hear_confirm(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];
    uint64_t ms = r->kind == ':' ? r->word[0].number : 0, until_us;

    if (ms == 0) {
        if (strncmp(r->word[0].at, "NOQUORUM ", 9) != 0 && strncmp(r->word[0].at, "LOST ", 5) != 0 &&
            strncmp(r->word[0].at, "NOTHELD ", 8) != 0)
            world_fail(w, "client %u is told: %.*s", k, (int)r->word[0].len, r->word[0].at);
        c->vouched_us = 0;
        if (c->kept && c->holds && strncmp(r->word[0].at, "NOQUORUM ", 9) == 0)
            c->believes_to_us = 0; /* its locks are in doubt, and it asks again */
        else if (a->fence == c->fence)
            clients_lose(w, k);
        return;
    }
    if (kept_is_detached(c))
        return;
    until_us = a->asked_us + (c->slow ? ms * 20000 / 19 : ms * 1000);
    if (c->vouched_us < until_us)
        c->vouched_us = until_us;
    if (c->kept && c->waits) /* it waits for its session, or for a lock */
        return;
    kept_attached(c, a);
    if (c->holds)
        beliefs_renew(w, k);
}

static void clients_hear_lock(struct world *w, uint32_t k, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];

    c->waits = false;
    if (r->kind == '-' && strncmp(r->word[0].at, "ERR ", 4) == 0)
        world_fail(w, "client %u is told: %.*s", k, (int)r->word[0].len, r->word[0].at);
    if (r->kind != '*') {
        kinds_refused(w, c, r);
        c->name = -1;
        clients_think(w, k);
        return;
    }
    kinds_granted(w, c);
    c->generation++;
    c->holds = true;
    c->changes = 0;
    if (c->stale_fence)
        clients_say_unlock(w, c, c->stale_name, c->stale_fence, true);
    c->stale_fence = 0;
    c->fence = r->word[1].number;
    values_granted(w, k, c->name, &(struct soak_use){.mode = c->mode, .slots = c->slots, .fence = c->fence}, c->value);
    c->since_us = w->conn[c->conn].held_us;
    c->dazed = w->conn[c->conn].dazed;
    c->believes_to_us = c->confirms ? c->vouched_us : UINT64_MAX;
    if (beliefs_holds(w, c))
        beliefs_check(w, k, c->name);
    if (c->confirms)
        world_plan(w, 0, SOAK_CONFIRM, k, 0)->generation = c->generation;
    if (w->mix.urgent && !c->kept && world_below(w, 3) == 0)
        nested_ask(w, c);
    clients_plan(w, k,
                 c->greedy && !w->calm ? clients_greed(w) : world_below(w, 2 * (w->calm ? 50 : w->mix.hold_ms) + 1));
}

/* A client with version 3 of the protocol hears the answer to UNLOCK. If it did not hold the lock any more, it must have been told of the loss
 * before. */
static void clients_hear_unlock(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];

    if (r->kind == '-' && c->protocol == 3 && a->fence && c->lost_fence != a->fence)
        world_fail(w, "client %u has lost a lock (fence %llu), and was not told: %.*s", k, (unsigned long long)a->fence,
                   (int)r->word[0].len, r->word[0].at);
    if (r->kind == '-' && a->fence && a->fence == c->fence)
        clients_lose(w, k); /* it wanted to release the second of two grants */
}

static void clients_hear_answer(struct world *w, uint32_t k, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];
    struct soak_awaited a;

    if (w->conn[c->conn].nonsense && r->kind == '-' && strncmp(r->word[0].at, "ERR ", 4) == 0)
        return; /* its daemon ends the connection */
    if (c->awaited == 0) {
        world_fail(w, "client %u is answered, and did not ask", k);
        return;
    }
    a = c->await[0];
    memmove(c->await, c->await + 1, --c->awaited * sizeof a);
    switch (a.to) {
    case SOAK_TO_HELLO:
        c->protocol = 3;
        break;
    case SOAK_TO_LOCK:
        clients_hear_lock(w, k, r);
        break;
    case SOAK_TO_CONFIRM:
        clients_hear_confirm(w, k, &a, r);
        break;
    case SOAK_TO_UNLOCK:
        clients_hear_unlock(w, k, &a, r);
        break;
    case SOAK_TO_AGAIN:
        nested_hear(w, k, &a, r);
        break;
    case SOAK_TO_UPGRADE:
    case SOAK_TO_DOWNGRADE:
        changes_hear(w, k, &a, r);
        break;
    case SOAK_TO_TOKEN_LOCK:
    case SOAK_TO_TOKEN:
        tokens_hear(w, k, &a, r);
        break;
    default:
        kept_hear(w, k, &a, r);
    }
}

/* The client hears the answer to the CONFIRM that has overtaken its UPGRADE. */
static void clients_hear_aside(struct world *w, uint32_t k, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];
    const struct soak_awaited a = c->aside;
    const struct soak_reply answer = {.kind = r->word[1].at[-1], .word = {r->word[1]}, .count = 1};

    if (!a.asked_us)
        world_fail(w, "client %u is answered meanwhile, and did not ask", k);
    c->aside.asked_us = 0;
    clients_hear_confirm(w, k, &a, &answer);
}

/* Parses one reply; `word` then has all its parts, one after the other. Returns the number of bytes that it takes, or 0 if it is not complete. */
static size_t clients_parse(const char *bytes, size_t len, struct soak_reply *r)
{
    const char *at = bytes, *end = bytes + len;

    *r = (struct soak_reply){.kind = len ? *bytes : 0};
    for (uint64_t left = 1; left; left--) {
        const char *line = at, *next = at < end ? memmem(at, (size_t)(end - at), "\r\n", 2) : NULL;
        struct soak_word word = {.at = line + 1};

        if (!next)
            return 0;
        word.len = (size_t)(next - line - 1);
        word.number = strtoull(line + 1, NULL, 10);
        at = next + 2;
        if (strncmp(line, "*-1", 3) == 0 || strncmp(line, "$-1", 3) == 0) {
            r->kind = '_';
        } else if (strchr("*>%", *line)) {
            left += word.number * (*line == '%' ? 2 : 1);
            continue;
        } else if (*line == '$') {
            word.at = at;
            word.len = word.number;
            at += word.number + 2;
            if (at > end)
                return 0;
        }
        if (r->count < SOAK_WORDS_MAX)
            r->word[r->count++] = word;
    }
    return (size_t)(at - bytes);
}

void clients_take_replies(struct world *w, struct soak_conn *x)
{
    uint32_t k = x->client;
    struct soak_client *c = &w->client[k];
    struct soak_reply r;
    size_t len;

    if (c->library && c->conn == (int)(x - w->conn)) {
        library_hear(w, k);
        return;
    }
    while (c->conn == (int)(x - w->conn) &&
           (len = clients_parse((const char *)x->in.at + x->in.start, bytes_len(&x->in), &r))) {
        if (r.kind != '>') {
            clients_hear_answer(w, k, &r);
        } else if (r.word[0].len == 4 && memcmp(r.word[0].at, "lost", 4) == 0) {
            if (c->fence == r.word[2].number) { /* else it was granted on a second request (nested.c) */
                clients_lose(w, k);
                c->lost_fence = r.word[2].number;
            }
        } else if (r.word[0].len == 9 && memcmp(r.word[0].at, "meanwhile", 9) == 0) {
            clients_hear_aside(w, k, &r);
        } else if (c->kept && r.word[0].len == 7 && memcmp(r.word[0].at, "session", 7) == 0) {
            c->believes_to_us = 0;   /* another connection has resumed its session, or its daemon ends */
            if (world_below(w, 4)) { /* it says goodbye; else it waits for the end of the connection */
                conns_close(w, x, true);
                clients_be_gone(w, k);
            }
        }
        if (c->conn == (int)(x - w->conn))
            bytes_consume(&x->in, len);
    }
}

/* After the faults have ended: does no client wait or hold a lock? A client that would hold a lock for ever releases it. */
bool clients_at_rest(struct world *w)
{
    bool rest = true;

    for (uint32_t k = 0; k < w->clients; k++) {
        struct soak_client *c = &w->client[k];

        if (c->conn >= 0 && !world_is_member(w, c->machine))
            clients_die(w, k); /* its daemon has been removed, and serves no client any more */
        if (c->kept && c->conn < 0)
            kept_die(c);
        if (c->library && c->conn < 0)
            library_forget(c);
        if (c->holds && c->greedy) {
            c->greedy = false;
            clients_plan(w, k, 0);
        }
        rest = rest && (!c->waits || (c->kept && c->conn < 0)) && !c->holds && (!c->library || library_is_at_rest(c));
    }
    return rest;
}
