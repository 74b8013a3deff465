/* agent_clients.c - the clients of an agent: each has a channel of the connection to a member. See agent.c. */
#include "agent_inside.h"

#include "base/memory.h"
#include "base/slab.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void agent_forget(struct agent_local *c)
{
    ring_cut(&c->in_agent);
    ring_cut(&c->in_held);
    ring_cut(&c->in_ended);
    bytes_free(&c->rest);
    bytes_free(&c->out);
    c->agent->serve->buffered -= c->buffered;
    if (c->last)
        c->last->user = NULL;
    stream_close(c->stream);
    slab_free(c);
}

void agent_part(struct agent_local *c)
{
    struct agent_uplink *u = c->uplink;

    if (c->channel && c->stream->goodbye) {
        mux_finish(&u->mux, c->channel, c->process && serve_is_dead(c->process) ? MUX_DEAD : MUX_LEFT);
        c->last = c->channel;
        c->channel = NULL;
        ring_cut(&c->in_ended);
        stream_read(c->stream, false);
    } else {
        if (c->channel)
            mux_close(&u->mux, c->channel, MUX_BROKEN);
        agent_forget(c);
    }
    if (u)
        agent_flush(u);
}

/* A process closes its sockets shortly before it has ended. A kept session ends with its process: so if the process seems to live, the agent
 * looks again for a while (END_MS), as a member does. The locks of any other session are released at once. */
static void agent_local_end(struct stream *stream)
{
    struct agent_local *c = stream->owner;
    struct agent_daemon *a = c->agent;

    if (!ring_empty(&c->in_ended)) /* the end was noted before, and now what was still to be written has failed */
        return;
    if (c->channel && c->keeps && c->process && !serve_is_dead(c->process)) {
        c->ended_ms = agent_now_ms();
        if (ring_empty(&a->ended))
            a->look_ms = c->ended_ms + 1;
        stream_read(stream, false);
        ring_push(&a->ended, &c->in_ended);
    } else {
        agent_part(c);
    }
    agent_mind(a);
}

/* Notes whether the client has said SESSION. The word may also be a part of something else: that does no harm. */
static void agent_listen(struct agent_local *c, const uint8_t *bytes, size_t len)
{
    static const char word[] = "session";

    for (size_t k = 0; k < len && !c->keeps; k++) {
        uint8_t letter = bytes[k] | 0x20;

        while (c->spelled && letter != (uint8_t)word[c->spelled])
            c->spelled = c->spelled == 3 || c->spelled == 4; /* "ses" and "sess" end with its first letter */
        c->spelled += letter == (uint8_t)word[c->spelled];
        c->keeps = c->spelled == sizeof word - 1;
    }
}

/* Counts the client's buffers. If those of all clients are beyond the bound, and this client has more than its share, the agent ends its connection: the
 * client does not read its answers. */
static void agent_bound(struct agent_local *c)
{
    static const char busy[] =
        "-BUSY the buffers of this agent are full, and this connection has its share of them\r\n";
    struct agent_uplink *u = c->uplink;

    if (serve_fits_memory(c->agent->serve, &c->buffered, c->rest.room + c->out.room + stream_backlog(c->stream)))
        return;
    c->agent->count.refused++;
    if (!c->stream->writing)
        stream_write(c->stream, (const uint8_t *)busy, sizeof busy - 1);
    serve_log_refusal(c->agent->serve, c->stream, "is a client whose buffers do not fit; it does not read its answers");
    if (c->channel)
        mux_close(&u->mux, c->channel, MUX_BROKEN);
    agent_forget(c);
    agent_flush(u);
}

void agent_pass_up(struct agent_local *c)
{
    size_t sent = mux_send(&c->uplink->mux, c->channel, c->rest.at + c->rest.start, bytes_len(&c->rest));

    bytes_consume(&c->rest, sent);
    if (bytes_len(&c->rest))
        return;
    bytes_free(&c->rest);
    if (ring_empty(&c->in_ended))
        stream_read(c->stream, true);
}

static void agent_local_read(struct stream *stream, const uint8_t *bytes, size_t len)
{
    struct agent_local *c = stream->owner;
    size_t sent;

    if (!c->channel) /* the member has ended the channel, and the client does not know yet */
        return;
    agent_listen(c, bytes, len);
    sent = mux_send(&c->uplink->mux, c->channel, bytes, len);
    if (sent < len) {
        memcpy(bytes_add(&c->rest, len - sent), bytes + sent, len - sent);
        stream_read(stream, false);
    }
    agent_flush(c->uplink);
    agent_bound(c);
}

/* Writes what there is for the client, and credits what its socket has taken. */
static void agent_pass_down(struct agent_local *c)
{
    while (!c->stream->writing) {
        size_t len = bytes_len(&c->out);

        if (c->sent && c->channel)
            mux_took(&c->uplink->mux, c->channel, c->sent);
        c->sent = 0;
        if (len == 0)
            break;
        c->sent = len;
        stream_write(c->stream, c->out.at + c->out.start, len);
        bytes_consume(&c->out, len);
    }
    if (!c->stream->writing && c->out.room > 4096)
        bytes_free(&c->out);
}

static void agent_local_room(struct stream *stream)
{
    struct agent_local *c = stream->owner;
    struct agent_uplink *u = c->uplink;

    agent_pass_down(c);
    if (c->closing && !c->stream->writing)
        agent_forget(c);
    else
        agent_bound(c);
    if (u)
        agent_flush(u);
}

void agent_refuse(struct agent_local *c, const char *code, const char *text)
{
    char line[ANSWER_MAX + 96];

    c->agent->count.refused++;
    snprintf(line, sizeof line, "-%s %s\r\n", code, text);
    if (!c->stream->writing)
        stream_write(c->stream, (const uint8_t *)line, strlen(line));
    agent_forget(c);
}

void agent_open(struct agent_local *c)
{
    ring_cut(&c->in_held);
    c->uplink = c->agent->now;
    c->channel = mux_open(&c->uplink->mux, c->who, strlen(c->who), c);
    if (!c->channel) {
        agent_refuse(c, "BUSY", "this agent has no room for more clients");
        return;
    }
    stream_read(c->stream, true);
}

void agent_come(uv_stream_t *door, int status)
{
    struct agent_daemon *a = door->loop->data;
    struct agent_local *c;
    struct ucred peer;
    socklen_t len = sizeof peer;
    uv_os_fd_t fd;

    if (status < 0)
        return;
    turn_touch(&a->serve->turn);
    if (a->serve->turn.callers >= TURN_CALLERS) {
        a->callers = true;
        return;
    }
    a->serve->turn.callers++;
    a->count.clients++;
    c = slab_new(sizeof *c);
    c->agent = a;
    c->since_ms = agent_now_ms();
    ring_init(&c->in_held);
    ring_init(&c->in_ended);
    ring_push(&a->locals, &c->in_agent);
    c->stream = stream_new(&a->serve->loop, &a->serve->turn, false);
    c->stream->owner = c;
    c->stream->on_read = agent_local_read;
    c->stream->on_end = agent_local_end;
    c->stream->on_room = agent_local_room;
    if (uv_accept(door, &c->stream->uv.any) < 0 || uv_fileno((uv_handle_t *)&c->stream->uv.any, &fd) != 0) {
        agent_forget(c);
        return;
    }
    if ((uint64_t)fd >= a->serve->descriptors) {
        agent_refuse(c, "ERR", "this agent has no room for more clients");
        return;
    }
    serve_mind_memory(a->serve);
    if (serve_is_short(a->serve)) {
        agent_refuse(c, "BUSY", serve_is_short(a->serve));
        return;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0) {
        c->process = peer.pid;
        snprintf(c->who, sizeof c->who, "user %u", (unsigned)peer.uid);
    }
    if (a->plan.state == AGENT_UP) {
        agent_open(c);
        agent_flush(a->now);
    } else {
        ring_push(&a->held, &c->in_held);
    }
    agent_mind(a);
}

void agent_hear_client(struct agent_uplink *u, const struct mux_event *e)
{
    struct agent_local *c = e->channel->user;

    if (e->type == MUX_BYTES) {
        memcpy(bytes_add(&c->out, e->len), e->bytes, e->len);
        agent_pass_down(c);
        agent_bound(c);
        return;
    }
    if (c->channel)
        mux_close(&u->mux, c->channel, MUX_BROKEN);
    c->channel = c->last = NULL;
    c->closing = true;
    ring_cut(&c->in_ended);
    if (!c->stream->writing && bytes_len(&c->out) == 0)
        agent_forget(c);
}
