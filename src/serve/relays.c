/* relays.c - see relays.h. */
#include "relays.h"

#include "base/memory.h"
#include "base/plain.h"
#include "base/slab.h"
#include "command/permit.h"
#include "relay/mux.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct relay {
    struct ring in_serve; /* in serve.relays; after the end of the connection, in serve.orphans */
    struct serve *serve;
    struct stream *stream; /* null: the connection has ended */
    struct mux mux;
    struct rights_who *who; /* the agent */
    char name[SESSION_WHO_MAX + 1], from[SESSION_FROM_MAX];
    uint64_t since_ms, heard_ms;
    uint64_t suspected_ms; /* since when it was silent whenever it was looked at; or 0 */
    unsigned busy;         /* functions that are using this relay now: it must not be freed */
};

struct relay_channel {
    struct serve_user user;
    struct serve *serve;
    struct relay *relay;
    struct mux_channel *mux;
    struct client *client;
    size_t owed; /* bytes that the node was told of, and that are not credited yet */
    size_t buffered;
};

void serve_relays_init(struct serve *s)
{
    ring_init(&s->relays);
    ring_init(&s->orphans);
}

/* Sends as much of what is to be sent as the connection takes. */
static void relay_flush(struct relay *r)
{
    struct bytes *out = &r->mux.out;

    if (!r->stream || r->stream->writing || bytes_len(out) == 0)
        return;
    stream_write(r->stream, out->at + out->start, bytes_len(out));
    bytes_consume(out, bytes_len(out));
    if (out->room > 4096)
        bytes_free(out);
}

static void relay_forget(struct relay_channel *ch)
{
    assert(ch->buffered <= ch->serve->buffered && ch->serve->node.stats.connections[1]);
    ch->serve->buffered -= ch->buffered;
    ch->serve->node.stats.connections[1]--;
    slab_free(ch);
}

/* Counts the channel's buffers. Returns false if there are too many bytes in all, and this channel has more than its share. */
static bool relay_fits(struct relay_channel *ch)
{
    return serve_fits_memory(ch->serve, &ch->buffered, client_memory(ch->client));
}

/* Ends the channel, and tells the agent. */
static void relay_part(struct relay_channel *ch, enum node_input_type type, bool dead)
{
    struct relay *r = ch->relay;

    mux_close(&r->mux, ch->mux, MUX_BROKEN);
    serve_step(ch->serve, (struct node_input){.type = type, .client = ch->client, .dead = dead});
    relay_forget(ch);
    relay_flush(r);
}

/* Carries out an output of the node for a channel. Frames keep the order, so losses are told before other clients are granted the locks (I17). */
static void relay_do(struct serve *s, struct node_output *out)
{
    struct relay_channel *ch = client_user(out->client);
    struct relay *r = ch->relay;

    assert(ch->client == out->client && ch->serve == s);
    if (out->type == NODE_CLOSE_CLIENT) {
        mux_close(&r->mux, ch->mux, MUX_BROKEN);
        relay_forget(ch);
        node_did(&s->node, out);
        relay_flush(r);
        return;
    }
    if (out->len && r->stream) {
        out->taken = mux_send(&r->mux, ch->mux, out->bytes, out->len);
        assert(out->taken <= out->len);
        out->blocked = out->taken < out->len;
    }
    if (out->reads && ch->owed) {
        mux_took(&r->mux, ch->mux, ch->owed);
        ch->owed = 0;
    }
    node_did(&s->node, out);
    relay_flush(r);
    if (r->stream && !relay_fits(ch)) {
        serve_log_refusal(s, r->stream,
                          "is the agent of a client whose buffers do not fit; it does not read its answers");
        relay_part(ch, NODE_CLIENT_BROKEN, false);
    }
}

/* ------------------------------------------------------------------------------------------------- what the agent says */

/* The origin of the client, for people: what the agent has proved comes first, and then what it says. */
static void relay_name(const struct relay *r, const struct mux_event *e, struct session *session)
{
    char text[SESSION_FROM_MAX + SESSION_WHO_MAX + MUX_WHO_MAX + 32], said[MUX_WHO_MAX + 1] = "";
    size_t len;

    if (e->len && plain_text((const char *)e->bytes, e->len))
        memcpy(said, e->bytes, e->len);
    snprintf(text, sizeof text, "%s, agent %.*s%s%s", r->from, (int)plain_cut(r->name, strlen(r->name), 20), r->name,
             *said ? ": " : "", said);
    len = plain_cut(text, strlen(text), sizeof session->from - 1);
    memcpy(session->from, text, len);
}

/* A channel needs no descriptor, but counts as if it did: so the number of clients has the same bound. Returns null, or why there is no room. */
static const char *relay_is_full(struct serve *s)
{
    const uint64_t *connections = s->node.stats.connections;

    return connections[0] + connections[1] > s->descriptors ? "this daemon has no room for more clients"
                                                            : serve_is_short(s);
}

static void relay_open(struct relay *r, const struct mux_event *e)
{
    struct relay_channel *ch = slab_new(sizeof *ch);
    const char *full;

    ch->user.carry_out = relay_do;
    ch->serve = r->serve;
    ch->relay = r;
    ch->mux = e->channel;
    e->channel->user = ch;
    r->serve->node.stats.connections[1]++;
    ch->client = client_open(&r->serve->node, ch);
    ch->client->agent = mem_new(sizeof r->name);
    memcpy(ch->client->agent, r->name, sizeof r->name);
    ch->client->agent_ms = r->since_ms;
    relay_name(r, e, ch->client->session);
    full = relay_is_full(r->serve);
    if (full) {
        resp_error(&ch->client->out, "BUSY", full);
        ch->client->closing = true;
    }
    if (!permit_relay(ch->client, r->who) || full)
        serve_tell_in_turn(r->serve,
                           (struct node_input){.type = NODE_CLIENT_ROOM, .client = ch->client}); /* it is told */
}

static void relay_hear(struct relay *r, const struct mux_event *e)
{
    struct serve *s = r->serve;
    struct relay_channel *ch = e->channel ? e->channel->user : NULL;

    switch (e->type) {
    case MUX_OPENED:
        relay_open(r, e);
        break;
    case MUX_BYTES:
        assert(ch && ch->relay == r && ch->mux == e->channel && e->len);
        ch->owed += e->len;
        serve_tell_in_turn(
            s, (struct node_input){.type = NODE_CLIENT_BYTES, .client = ch->client, .bytes = e->bytes, .len = e->len});
        break;
    case MUX_CLOSED:
        assert(ch && ch->relay == r && ch->mux == e->channel);
        /* What the client has said before is answered: it may still read. That may end the channel. */
        if (e->how != MUX_BROKEN && bytes_len(&ch->client->out))
            serve_do(s);
        if (e->channel->user != ch)
            break;
        relay_part(ch, e->how == MUX_BROKEN ? NODE_CLIENT_BROKEN : NODE_CLIENT_CLOSED, e->how == MUX_DEAD);
        break;
    default:
        mux_pong(&r->mux, node_state(&s->node) == NODE_GRANTS   ? MUX_GRANTS
                          : node_state(&s->node) == NODE_DRAINS ? MUX_DRAINS
                                                                : MUX_IDLE);
    }
}

/* Frees a relay whose connection and whose channels have ended. */
static void relay_free(struct relay *r)
{
    if (r->busy)
        return;
    assert(!r->stream);
    mux_free(&r->mux);
    rights_free(r->who);
    ring_cut(&r->in_serve);
    free(r);
}

bool relay_read(struct relay *r, const uint8_t *bytes, size_t len, const char **why)
{
    struct mux_event e;
    bool good = true;

    r->busy++;
    r->heard_ms = uv_now(&r->serve->loop);
    r->suspected_ms = 0;
    mux_input(&r->mux, bytes, len);
    while (good && r->stream && mux_next(&r->mux, &e) != MUX_NOTHING) {
        good = e.type != MUX_WRONG;
        if (good)
            relay_hear(r, &e);
        else
            *why = r->mux.wrong;
    }
    if (good && r->stream)
        relay_room(r);
    if (r->stream)
        serve_do(r->serve); /* channels may have ended */
    /* An agent that does not read what it is told is not read, either: otherwise the answers to its PINGs and CLOSEs would pile up (I19). */
    if (r->stream && r->stream->writing && bytes_len(&r->mux.out) >= MUX_OUT_MAX)
        stream_read(r->stream, false);
    r->busy--;
    return good || !r->stream;
}

/* Channels that had bytes to send, and can send some now, go on. */
void relay_room(struct relay *r)
{
    enum { SOME = 64 };
    struct serve *s = r->serve;
    struct mux_channel *mux;

    r->busy++;
    relay_flush(r);
    if (r->stream && bytes_len(&r->mux.out) < MUX_OUT_MAX)
        stream_read(r->stream, true);
    while (r->stream && !r->stream->writing && !ring_empty(&r->mux.ready) && turn_touch(&s->turn) < TURN_NS) {
        for (unsigned k = 0; k < SOME && (mux = mux_ready(&r->mux)); k++)
            serve_step(s, (struct node_input){.type = NODE_CLIENT_ROOM,
                                              .client = ((struct relay_channel *)mux->user)->client});
        serve_do(s);
    }
    if (r->stream && !r->stream->writing && !ring_empty(&r->mux.ready)) {
        s->relays_more = true;
        serve_go_on(s);
    }
    r->busy--;
}

/* --------------------------------------------------------------------------------------------------- begin and end */

struct relay *relay_begin(struct serve *s, struct stream *stream, const struct client *agent)
{
    struct relay *r = mem_new(sizeof *r);

    assert(stream && !stream->closing);
    r->serve = s;
    r->stream = stream;
    r->since_ms = s->node.now_ms;
    r->who = rights_copy(agent->session->proved);
    memcpy(r->name, agent->session->who, sizeof r->name);
    memcpy(r->from, agent->session->from, sizeof r->from);
    mux_init(&r->mux, false);
    r->heard_ms = uv_now(&s->loop);
    ring_push(&s->relays, &r->in_serve);
    serve_be_patient(s, false);
    return r;
}

/* An agent counts as silent when it was silent at two looks: if this process was stopped, it reads the bytes that have come meanwhile between the two. */
struct stream *relays_silent(const struct serve *s)
{
    for (const struct ring *at = s->relays.next; at != &s->relays; at = at->next) {
        struct relay *r = RING_OF(at, struct relay, in_serve);
        uint64_t now_ms = uv_now(&s->loop);

        if (now_ms - r->heard_ms < RELAY_SILENCE_MS)
            r->suspected_ms = 0;
        else if (!r->suspected_ms)
            r->suspected_ms = now_ms;
        else if (r->suspected_ms != now_ms)
            return r->stream;
    }
    return NULL;
}

/* There may be thousands of channels: the node is told of their end in the next turns (I31). */
void relay_end(struct relay *r)
{
    assert(r->stream); /* a connection ends once */
    r->stream = NULL;
    ring_cut(&r->in_serve);
    ring_push(&r->serve->orphans, &r->in_serve);
    serve_go_on(r->serve);
}

/* Tells the node that channels have broken, as long as there is time. */
static void relays_break(struct serve *s)
{
    struct mux_event e;

    while (!ring_empty(&s->orphans) && turn_touch(&s->turn) < TURN_NS && !s->stopping) {
        struct relay *r = RING_OF(s->orphans.next, struct relay, in_serve);

        if (mux_lost(&r->mux, &e))
            relay_hear(r, &e);
        else if (r->busy)
            break;
        else
            relay_free(r);
    }
}

void serve_relays_go_on(struct serve *s)
{
    relays_break(s);
    if (s->relays_more) {
        unsigned left = 0;

        s->relays_more = false;
        for (const struct ring *at = s->relays.next; at != &s->relays; at = at->next)
            left++;
        for (; left && !ring_empty(&s->relays) && !s->stopping; left--) { /* some may end meanwhile */
            struct relay *r = RING_OF(s->relays.next, struct relay, in_serve);

            ring_cut(&r->in_serve);
            ring_push(&s->relays, &r->in_serve);
            if (!ring_empty(&r->mux.ready))
                relay_room(r);
        }
    }
    if (!ring_empty(&s->orphans))
        serve_go_on(s);
}

void serve_relays_stop(struct serve *s)
{
    struct mux_event e;

    while (!ring_empty(&s->orphans)) {
        struct relay *r = RING_OF(s->orphans.next, struct relay, in_serve);

        while (mux_lost(&r->mux, &e)) {
            struct relay_channel *ch = e.channel->user;

            mux_close(&r->mux, e.channel, MUX_BROKEN);
            relay_forget(ch);
        }
        ring_cut(&r->in_serve);
        relay_free(r);
    }
}
