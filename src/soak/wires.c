/* wires.c - the network between the members of a soak. A connection carries bytes in order, each piece with a delay of its own. It can
 * break at any moment: bytes that are under way are lost, and either side may find out much later. A blocked direction keeps the bytes that are
 * sent into it until it is healed, as TCP does by retransmission. An attempt to connect may get lost; as in TCP it is repeated a second
 * later. A process ends a connection by which it has heard nothing for a while (step/step.c): else a connection of which only one side
 * knows would last for ever. */
#include "world.h"

#include <stdlib.h>

enum { REDIAL_US = 100000, BLOCKED_AGAIN_US = 20000, LOST_CALL_US = 1000000, SILENT_US = 1000 * SOAK_LEASE_MS };

/* Returns machine k as the process of machine i knows it; null: there it is no member. */
static struct member *wires_member(struct world *w, uint32_t i, uint32_t k)
{
    struct node *node = &w->machine[i].node;

    for (uint32_t p = 0; p < node->view.count; p++)
        if (node->member[p] && strcmp(node->member[p]->name, w->machine[k].name) == 0)
            return node->member[p];
    return NULL;
}

static uint32_t wires_machine(const struct world *w, const struct member *m)
{
    uint32_t k = 0;

    while (strcmp(w->machine[k].name, m->name) != 0)
        k++;
    return k;
}

static uint64_t wires_delay(struct world *w)
{
    return 1 + w->mix.delay_us + world_below(w, w->mix.jitter_us + 1);
}

static void wires_redial(struct world *w, uint32_t i, uint32_t k, uint64_t in_us)
{
    uint32_t from = i < k ? i : k, to = i < k ? k : i;

    if (w->machine[from].runs && !w->pipe[from][to].dialing) {
        w->pipe[from][to].dialing = true;
        world_plan(w, in_us, SOAK_DIAL, from, to);
    }
}

void wires_dial(struct world *w, uint32_t i, uint32_t k)
{
    struct soak_event *e;
    uint64_t there, back;

    if (!w->machine[i].runs || w->pipe[k][i].connection)
        return;
    if (!w->machine[k].runs || w->pipe[i][k].blocked || w->pipe[k][i].blocked || world_is_stopped(w, k)) {
        wires_redial(w, i, k, REDIAL_US);
        return;
    }
    if (!w->pipe[i][k].unheard && world_below(w, 8) == 0) {
        w->pipe[i][k].unheard = true;
        wires_redial(w, i, k, LOST_CALL_US);
        return;
    }
    w->pipe[i][k].unheard = false;
    there = wires_delay(w);
    back = there + wires_delay(w);
    w->connections++;
    e = world_plan(w, there, SOAK_CONNECTED, k, i);
    e->generation = w->connections;
    e->len = w->machine[k].process;
    e = world_plan(w, back, SOAK_CONNECTED, i, k);
    e->generation = w->connections;
    e->len = w->machine[i].process;
    w->pipe[i][k].last_us = w->now_us + there;
    w->pipe[k][i].last_us = w->now_us + back;
}

/* Machine a learns that it is connected to machine b. */
void wires_connected(struct world *w, const struct soak_event *e)
{
    struct member *m;

    if (!w->machine[e->a].runs || w->machine[e->a].process != e->len || w->pipe[e->b][e->a].connection > e->generation)
        return;
    m = wires_member(w, e->a, e->b);
    if (!m) { /* to machine a, machine b is no member: it ends the connection */
        world_plan(w, wires_delay(w), SOAK_BROKEN, e->b, e->a)->generation = e->generation;
        wires_redial(w, e->a, e->b, REDIAL_US);
        return;
    }
    w->pipe[e->b][e->a].connection = e->generation;
    if (!w->machine[e->b].runs) /* machine b has crashed meanwhile */
        world_plan(w, wires_delay(w), SOAK_BROKEN, e->a, e->b)->generation = e->generation;
    world_deliver(w, e->a, (struct node_input){.type = NODE_PEER_OPENED, .member = m});
}

void wires_broken(struct world *w, const struct soak_event *e)
{
    struct member *m;

    if (!w->machine[e->a].runs || w->pipe[e->b][e->a].connection != e->generation)
        return;
    w->pipe[e->b][e->a].connection = 0;
    m = wires_member(w, e->a, e->b);
    wires_redial(w, e->a, e->b, REDIAL_US);
    world_deliver(w, e->a, (struct node_input){.type = m ? NODE_PEER_CLOSED : NODE_TIME, .member = m});
}

/* The connection breaks. Each side finds out later, at a time of its own. */
void wires_break(struct world *w, uint32_t i, uint32_t k)
{
    uint64_t generation = w->pipe[i][k].connection ? w->pipe[i][k].connection : w->pipe[k][i].connection;

    if (!generation)
        return;
    w->report->breaks++;
    world_plan(w, world_below(w, 300000), SOAK_BROKEN, i, k)->generation = generation;
    world_plan(w, world_below(w, 300000), SOAK_BROKEN, k, i)->generation = generation;
    /* Bytes that are under way are lost: no connection has the number 0. */
    for (size_t h = 1; h <= w->count; h++)
        if (w->heap[h].type == SOAK_BYTES && w->heap[h].generation == generation)
            w->heap[h].generation = 0;
}

/* Returns the event of the next bytes that are under way from machine i to machine k by this connection, after those of `last`; or null. */
static struct soak_event *wires_next(struct world *w, uint32_t i, uint32_t k, uint64_t connection,
                                     const struct soak_event *last)
{
    struct soak_event *next = NULL;

    for (size_t h = 1; h <= w->count; h++) {
        struct soak_event *e = &w->heap[h];

        if (e->type == SOAK_BYTES && e->a == i && e->b == k && e->generation == connection &&
            (!last || e->order > last->order) && (!next || e->order < next->order))
            next = e;
    }
    return next;
}

void wires_tear(struct world *w, uint32_t i, uint32_t k)
{
    struct soak_pipe *p = &w->pipe[i][k];
    uint64_t connection = w->pipe[k][i].connection, arrives_us = w->now_us;
    size_t len = 0, left;

    if (!connection || p->torn == connection)
        return;
    for (const struct soak_event *e = NULL; (e = wires_next(w, i, k, connection, e));)
        len += e->len;
    left = world_below(w, 3) ? world_below(w, len + 1) : len;
    for (struct soak_event *e = NULL; (e = wires_next(w, i, k, connection, e));) {
        e->len = e->len < left ? e->len : left;
        left -= e->len;
        if (e->len)
            arrives_us = e->at_us;
        else
            e->generation = 0;
    }
    p->torn = connection;
    w->report->breaks++;
    world_plan(w, world_below(w, 300000), SOAK_BROKEN, i, k)->generation = connection;
    world_plan(w, arrives_us - w->now_us + world_below(w, 300000), SOAK_BROKEN, k, i)->generation = connection;
}

/* The process of machine i has ended. Other members find out, most of the time soon. */
void wires_drop_process(struct world *w, uint32_t i)
{
    for (uint32_t k = 0; k < w->n; k++) {
        uint64_t generation = w->pipe[i][k].connection, late = world_below(w, 4) ? 1000 : 3000000;

        w->pipe[k][i].connection = 0;
        if (generation)
            world_plan(w, wires_delay(w) + world_below(w, late), SOAK_BROKEN, k, i)->generation = generation;
        if (k != i)
            wires_redial(w, i, k, REDIAL_US);
    }
}

void wires_arrive(struct world *w, struct soak_event *e)
{
    struct soak_pipe *p = &w->pipe[e->a][e->b];
    struct member *m;

    if (!w->machine[e->b].runs || p->connection != e->generation) {
        if (e->generation) /* no process receives them: the sender is told, or, as the daemon does, concludes it from the silence */
            world_plan(w, w->pipe[e->b][e->a].blocked ? SILENT_US : wires_delay(w), SOAK_BROKEN, e->a, e->b)
                ->generation = e->generation;
        free(e->bytes);
        return;
    }
    if (p->blocked) {
        world_repeat(w, e, BLOCKED_AGAIN_US);
        p->last_us = w->now_us + BLOCKED_AGAIN_US;
        return;
    }
    m = wires_member(w, e->b, e->a);
    if (m)
        world_deliver(w, e->b,
                      (struct node_input){.type = NODE_PEER_BYTES, .member = m, .bytes = e->bytes, .len = e->len});
    free(e->bytes);
}

static void wires_write(struct world *w, uint32_t i, uint32_t k, const uint8_t *bytes, size_t len)
{
    struct soak_pipe *p = &w->pipe[i][k];
    uint64_t at_us = w->now_us + wires_delay(w);
    struct soak_event *e;

    if (at_us < p->last_us)
        at_us = p->last_us;
    p->last_us = at_us;
    e = world_plan(w, at_us - w->now_us, SOAK_BYTES, i, k);
    e->generation = p->torn == w->pipe[k][i].connection ? 0 : w->pipe[k][i].connection;
    e->len = len;
    e->bytes = malloc(len);
    memcpy(e->bytes, bytes, len);
}

/* Machine i ends the connection, and machine k finds out. */
static void wires_hang_up(struct world *w, uint32_t i, uint32_t k, uint64_t in_us)
{
    uint64_t generation = w->pipe[k][i].connection;

    w->pipe[k][i].connection = 0;
    world_plan(w, in_us, SOAK_BROKEN, k, i)->generation = generation;
    wires_redial(w, i, k, REDIAL_US);
}

void wires_do(struct world *w, uint32_t i, const struct node_output *out)
{
    uint32_t k = wires_machine(w, out->member);
    uint64_t last_us = w->pipe[i][k].last_us;

    if (out->type == NODE_TO_PEER) {
        checks_tell(w, i);
        wires_write(w, i, k, out->bytes, out->len);
    } else if (out->type == NODE_MEMBER_WENT && w->pipe[k][i].connection) {
        wires_hang_up(w, i, k, wires_delay(w));
    } else if (out->type == NODE_CLOSE_PEER) { /* after the bytes that were written last */
        world_trace(w, "%s ends the connection to %s: %s", w->machine[i].name, w->machine[k].name, out->text);
        wires_hang_up(w, i, k, last_us > w->now_us ? last_us - w->now_us + 1 : 1);
    }
}

void wires_tell(struct world *w)
{
    static const char *const states[] = {"down", "greeting", "up", "ending"};

    _Static_assert(sizeof states / sizeof states[0] == LINK_ENDING + 1, "a state of a link has a name");
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < w->n; k++) {
            const struct member *m = w->machine[i].runs && i != k ? wires_member(w, i, k) : NULL;
            const struct link *link = m ? &m->link : NULL;

            if (link && (link->state != LINK_UP || w->pipe[k][i].connection != w->pipe[i][k].connection))
                world_trace(w, "%s to %s: %s %s, connection %llu, there %llu%s", w->machine[i].name, w->machine[k].name,
                            states[link->state], link->reason, (unsigned long long)w->pipe[k][i].connection,
                            (unsigned long long)w->pipe[i][k].connection, w->pipe[i][k].dialing ? ", dialing" : "");
        }
}
