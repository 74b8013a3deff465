/* conns.c - the connections between clients and daemons of a soak. They carry bytes in order, each piece with a delay of its own. The client's
 * end is simulated (clients.c), the daemon's end is real (command/client.h).
 *
 * A connection is *local*, a Unix socket: it cannot break, and its end proves that the client no longer uses its locks. Or it is
 * *remote*: it may break for one side only, or for each side at another time, and only a goodbye of the client proves that the client no longer
 * uses its locks. A local connection may be *instant*: the client hears at once what the daemon says. */
#include "world.h"

#include <assert.h>
#include <stdlib.h>

static uint64_t conns_delay(struct world *w, const struct soak_conn *x)
{
    return x->delay_us + world_below(w, x->jitter_us + 1);
}

int conns_open(struct world *w, uint32_t k)
{
    struct node *node = &w->machine[w->client[k].machine].node;

    assert(k < SOAK_CLIENTS_MAX && w->client[k].machine < w->n);
    for (uint32_t at = 0; at < SOAK_CONNS_MAX; at++) {
        struct soak_conn *x = &w->conn[at];

        if (x->id)
            continue;
        *x = (struct soak_conn){.id = ++w->connections, .client = k, .machine = w->client[k].machine, .open = true};
        if (relays_serve(w, k))
            relays_open(w, x);
        else
            x->end = client_open(node, x);
        allowed_meet(w, x); /* for a client of an agent, this has no effect before the member hears of its channel */
        return (int)at;
    }
    return -1;
}

void conns_forget(struct soak_conn *x)
{
    if (x->open || x->end || x->here || x->coming)
        return;
    bytes_free(&x->in);
    bytes_free(&x->rest);
    x->id = 0;
}

static struct soak_event *conns_plan(struct world *w, struct soak_conn *x, enum soak_type type, uint64_t at_us)
{
    struct soak_event *e;

    assert(w->now_us <= at_us && x->id && x >= w->conn && x < w->conn + SOAK_CONNS_MAX);
    e = world_plan(w, at_us - w->now_us, type, (uint32_t)(x - w->conn), 0);
    e->generation = x->id;
    return e;
}

/* Returns when bytes that are sent now arrive at one of the ends: not before those that were sent earlier. */
static uint64_t conns_arrival(struct world *w, struct soak_conn *x, uint64_t *last_us)
{
    uint64_t at_us = w->now_us + conns_delay(w, x);

    if (at_us < *last_us)
        at_us = *last_us;
    return *last_us = at_us;
}

static void conns_send(struct world *w, struct soak_conn *x, enum soak_type type, const uint8_t *bytes, size_t len)
{
    struct soak_event *e;

    if (x->severed)
        return;
    e = conns_plan(w, x, type, conns_arrival(w, x, type == SOAK_SAY ? &x->there_us : &x->back_us));
    e->len = len;
    e->bytes = malloc(len);
    memcpy(e->bytes, bytes, len);
}

void conns_say(struct world *w, struct soak_conn *x, const char *const *words, size_t count)
{
    char text[512];
    struct dme_text line;

    dme_text_init(&line, text, sizeof text);
    dme_print(&line, "*%zu\r\n", count);
    for (size_t k = 0; k < count; k++)
        dme_print(&line, "$%zu\r\n%s\r\n", strlen(words[k]), words[k]);
    assert(strlen(text) + 1 < sizeof text); /* nothing was cut off */
    conns_send(w, x, SOAK_SAY, (const uint8_t *)text, strlen(text));
}

void conns_say_bytes(struct world *w, struct soak_conn *x, const char *bytes, size_t len)
{
    conns_send(w, x, SOAK_SAY, (const uint8_t *)bytes, len);
}

void conns_say_nonsense(struct world *w, struct soak_conn *x)
{
    conns_send(w, x, SOAK_SAY, (const uint8_t *)"*1\r\n:4\r\n", 8);
}

void conns_ran(struct world *w, struct soak_conn *x, const struct claim *asked)
{
    const char *name;

    if (asked)
        clients_asked(w, x, asked);
    allowed_ran(w, x, asked);
    several_look(w, x, false);
    name = clients_names[x->name];
    x->holds = x->holds && session_holds(x->end->session, name, strlen(name), 0);
    changes_ran(w, x);
    /* A daemon alone vouches beyond its own end for the locks of kept sessions only. */
    if (w->conf->focus == SOAK_ALONE)
        x->dazed = !x->end->session->kept;
    else
        x->dazed |= w->alone || w->machine[x->machine].stills;
}

/* ------------------------------------------------------------------------------------------------------ both its ends */

void conns_close(struct world *w, struct soak_conn *x, bool goodbye)
{
    x->open = false;
    if (x->uplink ? x->here != NULL : x->end && !x->severed)
        conns_plan(w, x, SOAK_HANGUP, conns_arrival(w, x, &x->there_us))->b = goodbye || x->local;
    conns_forget(x);
}

/* The connection breaks. Each side finds out at a time of its own: a daemon that hears nothing asks whether the other side is still
 * there, and so may a client. */
void conns_break(struct world *w, struct soak_conn *x, enum soak_break how)
{
    static const char *const names[] = {"the daemon", "the client", "both"};
    _Static_assert(sizeof names / sizeof names[0] == SOAK_BREAK_BOTH + 1, "each way to break has a name");
    uint64_t soon_us = w->now_us + conns_delay(w, x);

    world_trace(w, "the connection of client %u breaks; soon noticed by: %s", x->client, names[how]);
    x->severed = true;
    conns_plan(w, x, SOAK_HANGUP, soon_us + (how == SOAK_BREAK_CLIENT ? world_below(w, 26000000) : 0));
    conns_plan(w, x, SOAK_CLOSED, soon_us + (how == SOAK_BREAK_DAEMON ? world_below(w, 10000000) : 0));
}

/* The client's end finds out that it is closed. */
static void conns_lose(struct world *w, struct soak_conn *x)
{
    clients_disconnected(w, x);
    x->open = false;
    conns_forget(x);
}

void conns_drop_process(struct world *w, uint32_t i)
{
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        struct soak_conn *x = &w->conn[k];

        if (!x->id || x->machine != i || !x->end)
            continue;
        clients_abandon(w, x);
        x->end = NULL;
        if (x->uplink) /* its agent finds out */
            continue;
        if (x->open && x->instant)
            conns_lose(w, x);
        else if (x->open && !x->severed) /* few find out late */
            conns_plan(w, x, SOAK_CLOSED,
                       conns_arrival(w, x, &x->back_us) +
                           (x->local || world_below(w, 4) ? 0 : world_below(w, 5000000)));
        else
            conns_forget(x);
    }
    relays_drop_process(w, i);
}

void conns_end(struct world *w)
{
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) {
        bytes_free(&w->conn[k].in);
        bytes_free(&w->conn[k].rest);
        w->conn[k] = (struct soak_conn){0};
    }
    for (uint32_t k = 0; k < w->clients; k++) {
        library_forget(&w->client[k]);
        kept_end(&w->client[k]);
        tokens_end(&w->client[k]);
    }
}

/* ------------------------------------------------------------------------------------------------- what arrives where */

/* The connection that an event is about, or null: it has ended. */
static struct soak_conn *conns_of(struct world *w, const struct soak_event *e)
{
    return w->conn[e->a].id == e->generation ? &w->conn[e->a] : NULL;
}

void conns_arrive(struct world *w, const struct soak_event *e)
{
    struct soak_conn *x = conns_of(w, e);

    if (x && x->uplink)
        relays_say(w, x, e->bytes, e->len);
    else if (x && x->end && !x->severed)
        world_deliver(
            w, x->machine,
            (struct node_input){.type = NODE_CLIENT_BYTES, .client = x->end, .bytes = e->bytes, .len = e->len});
    free(e->bytes);
}

void conns_hang_up(struct world *w, const struct soak_event *e)
{
    struct soak_conn *x = conns_of(w, e);
    uint32_t i = x ? x->machine : 0;
    struct node_input in = {.type = e->b ? NODE_CLIENT_CLOSED : NODE_CLIENT_BROKEN};

    if (x && x->uplink)
        relays_hang_up(w, x);
    if (!x || !x->end || x->uplink)
        return;
    world_step_node(w, i, (struct node_input){.type = NODE_TIME}); /* it may have lost its lock before */
    if (!w->machine[i].doomed) {
        world_trace(w, "%s %s client %u", w->machine[i].name,
                    e->b ? "hears the goodbye of" : "has lost the connection of", x->client);
        clients_abandon(w, x);
        in.client = x->end;
        x->end = NULL; /* it is gone before others get its locks */
        world_step_node(w, i, in);
        conns_forget(x);
    }
    world_finish_step(w, i);
}

void conns_hear(struct world *w, const struct soak_event *e)
{
    struct soak_conn *x = conns_of(w, e);

    if (x && x->open && !x->severed) {
        memcpy(bytes_add(&x->in, e->len), e->bytes, e->len);
        clients_take_replies(w, x);
    }
    free(e->bytes);
}

void conns_closed(struct world *w, const struct soak_event *e)
{
    struct soak_conn *x = conns_of(w, e);

    if (x && x->open)
        conns_lose(w, x);
}

/* Sends bytes of the daemon to the client. */
static void conns_say_back(struct world *w, struct soak_conn *x, struct node_output *out)
{
    if (x->uplink) {
        out->taken = relays_tell(w, x, out->bytes, out->len);
        out->blocked = out->taken < out->len;
    } else if (!x->instant) {
        conns_send(w, x, SOAK_HEAR, out->bytes, out->len);
    } else if (x->open) {
        memcpy(bytes_add(&x->in, out->len), out->bytes, out->len);
        clients_take_replies(w, x);
    }
}

/* The daemon ends the connection. */
static void conns_hang_up_on(struct world *w, struct soak_conn *x)
{
    if (x->uplink)
        relays_hang_up_on(w, x);
    else if (x->open && x->instant)
        conns_lose(w, x);
    else if (x->open && !x->severed)
        conns_plan(w, x, SOAK_CLOSED, conns_arrival(w, x, &x->back_us));
    clients_abandon(w, x);
    x->end = NULL;
    conns_forget(x);
}

void conns_pass_back(struct world *w, struct soak_conn *x, const uint8_t *bytes, size_t len)
{
    if (x->open)
        conns_send(w, x, SOAK_HEAR, bytes, len);
}

void conns_end_local(struct world *w, struct soak_conn *x)
{
    conns_plan(w, x, SOAK_CLOSED, conns_arrival(w, x, &x->back_us));
}

void conns_do(struct world *w, struct node_output *out)
{
    struct soak_conn *x = client_user(out->client);

    if (!x) /* this client has no soak_conn: an operator, or one that holds many locks. The caller of the node reads for it */
        return;
    if (out->type == NODE_CLOSE_CLIENT)
        conns_hang_up_on(w, x);
    else if (out->len)
        conns_say_back(w, x, out);
}

const char *conns_operate(struct world *w, uint32_t i, const char *line)
{
    static char text[256];
    struct client *c = client_open(&w->machine[i].node, NULL);

    c->session->operates = true;
    world_step_node(w, i,
                    (struct node_input){
                        .type = NODE_CLIENT_BYTES, .client = c, .bytes = (const uint8_t *)line, .len = strlen(line)});
    snprintf(text, sizeof text, "%.*s", (int)strcspn((const char *)c->out.at + c->out.start, "\r"),
             (const char *)c->out.at + c->out.start);
    world_step_node(w, i, (struct node_input){.type = NODE_CLIENT_CLOSED, .client = c});
    world_finish_step(w, i);
    return text[0] == '-' ? text + 1 : NULL;
}
