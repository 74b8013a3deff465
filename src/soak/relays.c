/* relays.c - the agents of a soak (SOAK_AGENTS), by which clients connect to members. The frames, the choice of the
 * member (relay/mux.h, relay/agent.h) and the member's end of every channel are real. This file takes the place of src/serve/agent.c and
 * src/serve/relays.c.
 *
 * An *uplink* is a connection of an agent to a member. It may be cut, and each side finds out at a time of its own: the agent as relay/agent.h
 * decides, the member after some silence. An agent may crash, shut down, and be stopped. When an uplink ends, for whatever reason, the channels in it
 * break, and the member does not know what has become of the agent's clients. Only the orderly end of a channel proves that its client no longer uses
 * its locks. */
#include "world.h"

#include "base/memory.h"
#include "relay/agent.h"
#include "relay/mux.h"

#include <assert.h>
#include <stdlib.h>

enum { SILENCE_US = 5000000, RESTART_US = 3000000 };

struct soak_relay {
    bool runs;
    uint64_t process; /* the number of its process; no other process of the run has it */
    struct agent plan;
    struct soak_uplink *up; /* or null */
    uint64_t thaws_us;      /* it is stopped until then */
    uint64_t timer_us;      /* when the next timer is set for, or 0 */
};

struct soak_uplink {
    uint64_t id; /* 0: it is not in use */
    uint32_t agent, machine;
    bool here, there; /* the agent's end exists; the member's end exists */
    bool severed;     /* nothing arrives any more */
    struct mux mux_here, mux_there;
    uint64_t there_us, back_us; /* nothing arrives before what was sent before */
};

/* The content of the frame OPEN, in a soak. */
struct soak_opens {
    uint64_t id;
    uint32_t conn, zero;
};

static uint64_t relays_ms(const struct world *w)
{
    return w->now_us / 1000;
}

static struct soak_relay *relays_of(const struct world *w, uint32_t client)
{
    return w->relays && client % 4 != 3 ? &w->relay[client % w->relays] : NULL;
}

bool relays_serve(const struct world *w, uint32_t client)
{
    return relays_of(w, client);
}

uint64_t relays_thaw_us(const struct world *w, uint32_t client)
{
    return relays_of(w, client)->thaws_us;
}

bool relays_can_connect(struct world *w, uint32_t client)
{
    const struct soak_relay *r = relays_of(w, client);

    if (!r->runs || !r->up || w->now_us < r->thaws_us)
        return false;
    w->client[client].machine = r->up->machine;
    return true;
}

/* --------------------------------------------------------------------------------------------------------- uplinks */

static struct soak_event *relays_plan(struct world *w, const struct soak_uplink *u, enum soak_type type, uint64_t in_us)
{
    struct soak_event *e = world_plan(w, in_us, type, (uint32_t)(u - w->uplink), 0);

    e->generation = u->id;
    return e;
}

/* Sends the frames that wait at one of the ends. */
static void relays_flush(struct world *w, struct soak_uplink *u, bool here)
{
    struct bytes *out = here ? &u->mux_here.out : &u->mux_there.out;
    uint64_t *last_us = here ? &u->there_us : &u->back_us, at_us = w->now_us + 50 + world_below(w, 3000);
    size_t len = bytes_len(out);
    struct soak_event *e;

    if (len && !u->severed) {
        *last_us = at_us < *last_us ? *last_us : at_us;
        e = relays_plan(w, u, here ? SOAK_UP : SOAK_DOWN, *last_us - w->now_us);
        e->len = len;
        e->bytes = malloc(len);
        memcpy(e->bytes, out->at + out->start, len);
    }
    bytes_consume(out, len);
}

static void relays_forget(struct soak_uplink *u)
{
    if (!u->here && !u->there)
        u->id = 0;
}

/* The member's end of a channel has ended: by the client's orderly end, or because the uplink has broken. */
static void relays_closed(struct world *w, struct soak_uplink *u, const struct mux_event *event)
{
    struct soak_conn *x = event->channel->user;
    struct node_input in = {.type = event->how == MUX_BROKEN ? NODE_CLIENT_BROKEN : NODE_CLIENT_CLOSED,
                            .client = x->end};
    uint32_t i = u->machine;

    x->there = NULL;
    mux_close(&u->mux_there, event->channel, MUX_BROKEN);
    world_step_node(w, i, (struct node_input){.type = NODE_TIME}); /* the client may have lost its lock before */
    if (!w->machine[i].doomed) {
        world_trace(w, "%s %s client %u of agent %u", w->machine[i].name,
                    event->how == MUX_BROKEN ? "has lost" : "hears the end of", x->client, u->agent);
        clients_abandon(w, x);
        x->end = NULL;
        world_step_node(w, i, in);
        conns_forget(x);
    }
    world_finish_step(w, i);
}

/* The member's end of an uplink ends. Bytes that are under way do not arrive. */
static void relays_end_there(struct world *w, struct soak_uplink *u, bool crashed)
{
    uint64_t process = w->machine[u->machine].process;
    struct mux_event event;

    while (!crashed && w->machine[u->machine].runs && w->machine[u->machine].process == process &&
           mux_lost(&u->mux_there, &event))
        relays_closed(w, u, &event);
    if (!u->there) /* the machine has crashed meanwhile */
        return;
    u->there = false;
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        struct soak_conn *x = &w->conn[k];

        if (!x->id || x->uplink != u)
            continue;
        x->coming = false;
        x->there = NULL;
        conns_forget(x);
    }
    mux_free(&u->mux_there);
    relays_forget(u);
}

/* The agent's end of an uplink ends. Its clients learn of that by the end of their connections. */
static void relays_end_here(struct world *w, struct soak_uplink *u)
{
    u->here = false;
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        struct soak_conn *x = &w->conn[k];

        if (!x->id || x->uplink != u || !x->here)
            continue;
        x->here = NULL;
        x->rest.start = x->rest.end = 0;
        if (x->open)
            conns_end_local(w, x);
        conns_forget(x);
    }
    mux_free(&u->mux_here);
    relays_forget(u);
}

static void relays_set_timer(struct world *w, struct soak_relay *r)
{
    uint64_t due_us = agent_due_ms(&r->plan) * 1000;

    due_us = due_us < w->now_us ? w->now_us : due_us;
    if (!r->timer_us || due_us < r->timer_us) {
        r->timer_us = due_us;
        world_plan(w, due_us - w->now_us, SOAK_AGENT, (uint32_t)(r - w->relay), 0)->generation = r->process;
    }
}

/* The agent gives its uplink up. The member finds out soon, or after some silence. */
static void relays_lose(struct world *w, struct soak_relay *r)
{
    struct soak_uplink *u = r->up;

    r->up = NULL;
    if (u) {
        if (u->there && !u->severed)
            relays_plan(w, u, SOAK_UP_END, (u->there_us > w->now_us ? u->there_us - w->now_us : 0) + 1);
        relays_end_here(w, u);
    }
    agent_lost(&r->plan, relays_ms(w));
}

static void relays_dial(struct world *w, struct soak_relay *r)
{
    uint32_t i = r->plan.turn % r->plan.places;
    struct soak_uplink *u = w->uplink;

    if (world_is_stopped(w, i) && w->machine[i].runs)
        return; /* no answer */
    while (u < w->uplink + w->uplinks && u->id)
        u++;
    if (!w->machine[i].runs || u == w->uplink + w->uplinks) {
        agent_lost(&r->plan, relays_ms(w));
        return;
    }
    *u = (struct soak_uplink){
        .id = ++w->connections, .agent = (uint32_t)(r - w->relay), .machine = i, .here = true, .there = true};
    mux_init(&u->mux_here, true);
    mux_init(&u->mux_there, false);
    u->mux_here.window = u->mux_there.window = w->window;
    r->up = u;
    agent_is_up(&r->plan, relays_ms(w));
    world_trace(w, "agent %u is connected to %s", u->agent, w->machine[i].name);
}

static void relays_start(struct world *w, struct soak_relay *r)
{
    r->runs = true;
    r->process = ++w->processes;
    r->timer_us = 0;
    agent_init(&r->plan, w->n, (unsigned)world_below(w, w->n), relays_ms(w));
    relays_set_timer(w, r);
}

void relays_act(struct world *w, const struct soak_event *e)
{
    struct soak_relay *r = &w->relay[e->a];
    enum agent_act act;

    if (e->generation == 0 && !r->runs) {
        relays_start(w, r);
        return;
    }
    if (!r->runs || r->process != e->generation || r->timer_us > e->at_us)
        return;
    r->timer_us = 0;
    while ((act = agent_act(&r->plan, relays_ms(w))) != AGENT_WAITS)
        if (act == AGENT_DIALS)
            relays_dial(w, r);
        else if (act == AGENT_PARTS || act == AGENT_LEAVES)
            relays_lose(w, r);
        else
            mux_ping(&r->up->mux_here);
    if (r->up)
        relays_flush(w, r->up, true);
    relays_set_timer(w, r);
}

/* --------------------------------------------------------------------------------------------- at the agent: clients */

void relays_open(struct world *w, struct soak_conn *x)
{
    struct soak_uplink *u = relays_of(w, x->client)->up;
    struct soak_opens opens = {.id = x->id, .conn = (uint32_t)(x - w->conn)};

    x->uplink = u;
    x->coming = true;
    x->here = mux_open(&u->mux_here, (const char *)&opens, sizeof opens, x);
    relays_flush(w, u, true);
}

/* Passes on what the client has sent, as far as the channel's window allows, and then, if the client has ended its connection, the end of the channel. */
static void relays_pass_up(struct world *w, struct soak_conn *x)
{
    struct soak_uplink *u = x->uplink;

    if (bytes_len(&x->rest))
        bytes_consume(&x->rest, mux_send(&u->mux_here, x->here, x->rest.at + x->rest.start, bytes_len(&x->rest)));
    if (x->hangs_up && bytes_len(&x->rest) == 0) {
        mux_close(&u->mux_here, x->here, MUX_LEFT);
        x->here = NULL;
        conns_forget(x);
    }
    relays_flush(w, u, true);
}

void relays_say(struct world *w, struct soak_conn *x, const uint8_t *bytes, size_t len)
{
    if (!x->here)
        return;
    memcpy(bytes_add(&x->rest, len), bytes, len);
    relays_pass_up(w, x);
}

void relays_hang_up(struct world *w, struct soak_conn *x)
{
    if (!x->here)
        return;
    x->hangs_up = true;
    relays_pass_up(w, x);
}

void relays_hear(struct world *w, const struct soak_event *e)
{
    struct soak_uplink *u = &w->uplink[e->a];
    struct soak_relay *r;
    struct mux_event event;
    struct mux_channel *channel;

    if (u->id != e->generation || !u->here || u->severed)
        return;
    r = &w->relay[u->agent];
    agent_heard(&r->plan, relays_ms(w));
    mux_input(&u->mux_here, e->bytes, e->len);
    while (mux_next(&u->mux_here, &event) != MUX_NOTHING && event.type != MUX_WRONG) {
        struct soak_conn *x = event.channel ? event.channel->user : NULL;

        if (event.type == MUX_PONGED) {
            agent_ponged(&r->plan, event.state, relays_ms(w));
        } else if (event.type == MUX_BYTES) {
            mux_took(&u->mux_here, event.channel, event.len);
            conns_pass_back(w, x, event.bytes, event.len);
        } else {
            mux_close(&u->mux_here, event.channel, MUX_BROKEN);
            x->here = NULL;
            if (x->open)
                conns_end_local(w, x);
            conns_forget(x);
        }
    }
    if (event.type == MUX_WRONG)
        world_fail(w, "an agent hears %s", u->mux_here.wrong);
    while ((channel = mux_ready(&u->mux_here)))
        relays_pass_up(w, channel->user);
    relays_flush(w, u, true);
}

/* ------------------------------------------------------------------------------------------------------ at the member */

static void relays_opened(struct world *w, struct soak_uplink *u, const struct mux_event *event)
{
    struct soak_opens opens;
    struct soak_conn *x;

    assert(event->len == sizeof opens);
    memcpy(&opens, event->bytes, sizeof opens);
    x = &w->conn[opens.conn];
    assert(x->id == opens.id && x->coming); /* the connection waits for this frame */
    x->coming = false;
    x->there = event->channel;
    event->channel->user = x;
    x->end = client_open(&w->machine[u->machine].node, x);
    allowed_meet(w, x);
}

void relays_arrive(struct world *w, const struct soak_event *e)
{
    struct soak_uplink *u = &w->uplink[e->a];
    struct mux_event event = {.type = MUX_NOTHING};
    struct mux_channel *channel;

    if (u->id != e->generation || !u->there || u->severed)
        return;
    mux_input(&u->mux_there, e->bytes, e->len);
    /* The machine may crash during this loop, and the uplink end with it. */
    while (u->id == e->generation && u->there && mux_next(&u->mux_there, &event) != MUX_NOTHING &&
           event.type != MUX_WRONG) {
        struct soak_conn *x = event.channel ? event.channel->user : NULL;

        if (event.type == MUX_OPENED) {
            relays_opened(w, u, &event);
        } else if (event.type == MUX_BYTES) {
            mux_took(&u->mux_there, event.channel, event.len);
            world_deliver(w, u->machine,
                          (struct node_input){
                              .type = NODE_CLIENT_BYTES, .client = x->end, .bytes = event.bytes, .len = event.len});
        } else if (event.type == MUX_CLOSED) {
            relays_closed(w, u, &event);
        } else {
            mux_pong(&u->mux_there, node_state(&w->machine[u->machine].node) == NODE_GRANTS ? MUX_GRANTS : MUX_IDLE);
        }
    }
    if (event.type == MUX_WRONG)
        world_fail(w, "a member hears %s", u->mux_there.wrong);
    while (u->id == e->generation && u->there && (channel = mux_ready(&u->mux_there)))
        world_deliver(
            w, u->machine,
            (struct node_input){.type = NODE_CLIENT_ROOM, .client = ((struct soak_conn *)channel->user)->end});
    if (u->id == e->generation && u->there)
        relays_flush(w, u, false);
}

size_t relays_tell(struct world *w, struct soak_conn *x, const uint8_t *bytes, size_t len)
{
    if (x->there) {
        len = mux_send(&x->uplink->mux_there, x->there, bytes, len);
        relays_flush(w, x->uplink, false);
    }
    return len;
}

void relays_hang_up_on(struct world *w, struct soak_conn *x)
{
    if (!x->there)
        return;
    mux_close(&x->uplink->mux_there, x->there, MUX_BROKEN);
    x->there = NULL;
    relays_flush(w, x->uplink, false);
}

void relays_noticed(struct world *w, const struct soak_event *e)
{
    struct soak_uplink *u = &w->uplink[e->a];

    if (u->id == e->generation && u->there)
        relays_end_there(w, u, false);
}

void relays_drop_process(struct world *w, uint32_t i)
{
    for (struct soak_uplink *u = w->uplink; u < w->uplink + w->uplinks; u++)
        if (u->id && u->there && u->machine == i) {
            relays_end_there(w, u, true);
            if (u->here && !u->severed && world_below(w, 4)) /* else the agent finds out by the silence */
                relays_plan(w, u, SOAK_DOWN_END, (u->back_us > w->now_us ? u->back_us - w->now_us : 0) + 1);
        }
}

void relays_lost(struct world *w, const struct soak_event *e)
{
    struct soak_uplink *u = &w->uplink[e->a];

    if (u->id == e->generation && u->here) {
        struct soak_relay *r = &w->relay[u->agent];

        relays_lose(w, r);
        relays_set_timer(w, r);
    }
}

/* ------------------------------------------------------------------------------------------------------------ trouble */

/* The agent's process shuts down or crashes, and the system ends its connections. Bytes that it has sent may arrive or not. */
static void relays_crash(struct world *w, struct soak_relay *r)
{
    world_trace(w, "agent %u ends", (uint32_t)(r - w->relay));
    if (r->up && world_below(w, 2)) {
        r->up->severed = true;
        relays_plan(w, r->up, SOAK_UP_END, world_below(w, 2) ? 1 : world_below(w, SILENCE_US));
    }
    relays_lose(w, r);
    r->runs = false;
    r->thaws_us = 0;
    world_plan(w, 1 + world_below(w, RESTART_US), SOAK_AGENT, (uint32_t)(r - w->relay), 0);
}

static void relays_cut(struct world *w, struct soak_uplink *u)
{
    world_trace(w, "the connection of agent %u breaks", u->agent);
    u->severed = true;
    if (world_below(w, 2))
        relays_plan(w, u, SOAK_DOWN_END, 1 + world_below(w, 1000)); /* else by the silence */
    relays_plan(w, u, SOAK_UP_END, world_below(w, 2) ? 1 : world_below(w, SILENCE_US));
}

void relays_trouble(struct world *w)
{
    struct soak_relay *r = &w->relay[world_below(w, w->relays)];
    uint64_t kind = world_below(w, 4), span_us;

    if (!r->runs || w->now_us < r->thaws_us)
        return;
    if (kind == 0) {
        relays_crash(w, r);
    } else if (kind == 1) {
        span_us = world_below(w, 2 * SILENCE_US);
        world_trace(w, "agent %u is stopped", (uint32_t)(r - w->relay));
        r->thaws_us = w->now_us + span_us;
        if (r->up && span_us > SILENCE_US)
            relays_plan(w, r->up, SOAK_UP_END, SILENCE_US);
    } else if (r->up && !r->up->severed) {
        relays_cut(w, r->up);
    }
}

uint64_t relays_waits_us(const struct world *w, const struct soak_event *e)
{
    const struct soak_uplink *u = &w->uplink[e->a];
    const struct soak_machine *m;

    if (e->type == SOAK_AGENT)
        return w->relay[e->a].runs ? w->relay[e->a].thaws_us : 0;
    if (u->id != e->generation)
        return 0;
    m = &w->machine[u->machine];
    if (e->type == SOAK_DOWN || e->type == SOAK_DOWN_END)
        return w->relay[u->agent].thaws_us;
    return m->thaws_us > m->turn_us ? m->thaws_us : m->turn_us;
}

void relays_begin(struct world *w)
{
    if (!w->mix.agents)
        return;
    w->relays = w->conf->agents ? w->conf->agents : 1 + (uint32_t)world_below(w, 6);
    w->uplinks = 8 * w->relays;
    w->window = world_below(w, 2) ? MUX_WINDOW : 4 + (uint32_t)world_below(w, 60);
    w->relay = mem_new(w->relays * sizeof w->relay[0]);
    w->uplink = mem_new(w->uplinks * sizeof w->uplink[0]);
    for (uint32_t g = 0; g < w->relays; g++)
        world_plan(w, 200000 + world_below(w, 500000), SOAK_AGENT, g, 0);
}

void relays_finish(struct world *w)
{
    for (uint32_t k = 0; k < w->uplinks; k++)
        if (w->uplink[k].id) {
            if (w->uplink[k].here)
                mux_free(&w->uplink[k].mux_here);
            if (w->uplink[k].there)
                mux_free(&w->uplink[k].mux_there);
        }
    free(w->relay);
    free(w->uplink);
    w->relays = w->uplinks = 0;
}
