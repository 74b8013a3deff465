/* agent.c - dibs serve --agent: a daemon that is no member, and serves the Unix socket of its machine through the members.
 *
 * It has one connection to one member. Each of its clients has a channel of it (relay/mux.h). When the member is lost, it closes the
 * connections of its clients, calls the next one (relay/agent.h) and goes on listening: clients with kept sessions come back at once,
 * and resume them there. Clients that come while there is no member wait for HOLD_MS, and are then told why.
 *
 * It keeps nothing and decides nothing about locks. What it says about a client that has gone is what the kernel says: the end of a
 * Unix socket is the client's own (stream.c: `goodbye`), and a process has ended or not. */
#include "agent.h"

#include "log.h"

#include "base/memory.h"
#include "base/slab.h"
#include "relay/agent.h"
#include "relay/mux.h"

#include <assert.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_MS = 3000, TICK_MS = 100, END_MS = 1000, ANSWER_MAX = 512 };

/* A connection to a member. */
struct agent_uplink {
    struct ring in_agent;
    struct agent_daemon *agent;
    struct serve_member at;
    struct stream *stream;
    struct mux mux;
    bool greeted;        /* AGENT has been sent */
    bool up;             /* .. and accepted */
    struct bytes answer; /* to AGENT, as far as it has come */
    uint64_t heard_ms;   /* when bytes came last */
};

struct agent_daemon {
    struct serve
        *serve; /* of it: conf, draft, loop, turn, log, clients_door, due, signals, resolving, descriptors, stopping */
    struct agent plan;
    struct agent_uplink *now; /* the connection for new clients; or null */
    struct ring uplinks;      /* that one, and those to members that are drained, until their clients have gone */
    struct resolve *asked;    /* the lookup of a member's name; or null */
    struct ring locals;       /* all clients */
    struct ring held;         /* clients that wait for a member, oldest first */
    struct ring ended;        /* clients whose sockets have ended, and perhaps their processes */
    uint64_t look_ms;         /* when to look at these again */
    bool callers;             /* more clients wait at the door than fit into this turn */
    char why[ANSWER_MAX];     /* there is no member */
    unsigned failures;        /* calls in vain since it had a member, as far as they were logged */
    uint64_t told_ms;         /* when one was logged last */
};

struct agent_local {
    struct ring in_agent, in_held, in_ended;
    struct agent_daemon *agent;
    struct stream *stream;
    struct agent_uplink *uplink; /* or null: there is no member yet */
    struct mux_channel *channel; /* or null: there is no member, or one of both has ended it */
    struct mux_channel *last;    /* .. the client has, and the member's last answers may come; or null */
    pid_t process;
    char who[MUX_WHO_MAX + 1];
    struct bytes rest; /* of the client, not sent yet */
    struct bytes out;  /* for the client, not written yet */
    size_t sent;       /* bytes that are being written, and not credited yet */
    bool closing;      /* the member has ended the channel */
    bool keeps;        /* its session may be a kept one: it has said SESSION */
    uint8_t spelled;   /* how many letters of that its last bytes are */
    uint64_t since_ms;
    uint64_t ended_ms; /* its socket has ended then */
};

static uint64_t agent_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static const struct serve_member *agent_place(const struct agent_daemon *a)
{
    return &a->serve->conf->connect[a->plan.turn % a->plan.places];
}

static void agent_mind(struct agent_daemon *a);

/* Sends what there is, as much as the connection takes. */
static void agent_flush(struct agent_uplink *u)
{
    struct bytes *out = &u->mux.out;

    if (!u->up || u->stream->writing || bytes_len(out) == 0)
        return;
    stream_write(u->stream, out->at + out->start, bytes_len(out));
    bytes_consume(out, bytes_len(out));
    if (out->room > MUX_OUT_MAX)
        bytes_free(out);
}

/* ---------------------------------------------------------------------------------------------------------- clients */

static void agent_forget(struct agent_local *c)
{
    ring_cut(&c->in_agent);
    ring_cut(&c->in_held);
    ring_cut(&c->in_ended);
    bytes_free(&c->rest);
    bytes_free(&c->out);
    if (c->last)
        c->last->user = NULL;
    stream_close(c->stream);
    slab_free(c);
}

/* The client has gone, or its connection has broken. A client that has only ended its sending side may still read: it is told what the member
 * answers until the member has ended the channel, too. */
static void agent_part(struct agent_local *c)
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

/* A process closes its sockets shortly before it has ended. A kept session ends with its process: so if that seems to live, the agent
 * looks again for a while (END_MS), as a member does. What any other session holds is released at once. */
static void agent_local_end(struct stream *stream)
{
    struct agent_local *c = stream->owner;
    struct agent_daemon *a = c->agent;

    if (!ring_empty(&c->in_ended)) /* what was still to be told it could not be written */
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

/* Has the client said SESSION? It may also be a part of something else: that does no harm. */
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

/* Sends on what the client has said. It is read again when all of it could be sent. */
static void agent_pass_up(struct agent_local *c)
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

    if (!c->channel) /* the member has ended it, and the client does not know yet */
        return;
    agent_listen(c, bytes, len);
    sent = mux_send(&c->uplink->mux, c->channel, bytes, len);
    if (sent < len) {
        memcpy(bytes_add(&c->rest, len - sent), bytes + sent, len - sent);
        stream_read(stream, false);
    }
    agent_flush(c->uplink);
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
    if (u)
        agent_flush(u);
}

static void agent_refuse(struct agent_local *c, const char *code, const char *text)
{
    char line[ANSWER_MAX + 96];

    snprintf(line, sizeof line, "-%s %s\r\n", code, text);
    if (!c->stream->writing)
        stream_write(c->stream, (const uint8_t *)line, strlen(line));
    agent_forget(c);
}

static void agent_open(struct agent_local *c)
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

static void agent_come(uv_stream_t *door, int status)
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

/* ------------------------------------------------------------------------------------------------------- the member */

/* Calls in vain are logged once for each place, and then once in a minute. */
static void agent_tell_failure(struct agent_daemon *a)
{
    enum { LATER_MS = 60000 };
    uint64_t now_ms = agent_now_ms();

    if (a->failures >= a->plan.places && now_ms - a->told_ms < LATER_MS)
        return;
    a->failures++;
    a->told_ms = now_ms;
    serve_warn(a->serve, "reaches no member at %s", a->why);
}

/* Ends a connection to a member. Its clients are told by the end of theirs. */
static void agent_drop(struct agent_uplink *u)
{
    struct ring *next;

    for (struct ring *at = u->agent->locals.next; at != &u->agent->locals; at = next) {
        struct agent_local *c = RING_OF(at, struct agent_local, in_agent);

        next = at->next;
        if (c->uplink == u)
            agent_forget(c);
    }
    if (u->agent->now == u)
        u->agent->now = NULL;
    ring_cut(&u->in_agent);
    stream_close(u->stream);
    u->stream->owner = NULL;
    mux_free(&u->mux);
    bytes_free(&u->answer);
    free(u);
}

/* There is no member for new clients any more, or no answer to a call. */
static void agent_lose(struct agent_daemon *a, const char *why)
{
    const struct serve_member *at = agent_place(a);

    snprintf(a->why, sizeof a->why, "%s:%d: it %.400s", at->host, at->port, why);
    link_make_printable(a->why);
    if (a->plan.state == AGENT_UP)
        serve_warn(a->serve, "has lost its member at %s; %" PRIu32 " clients have to come again", a->why,
                   a->now->mux.count);
    else
        agent_tell_failure(a);
    resolve_forget(a->asked);
    a->asked = NULL;
    if (a->now)
        agent_drop(a->now);
    agent_lost(&a->plan, agent_now_ms());
}

/* The same, or the member was drained: only the clients that it still had are concerned. */
static void agent_lose_uplink(struct agent_uplink *u, const char *why)
{
    if (u == u->agent->now) {
        agent_lose(u->agent, why);
        return;
    }
    serve_log(u->agent->serve,
              "has lost the member at %s:%d, which it had left: it %s; %" PRIu32 " clients have to come again",
              u->at.host, u->at.port, why, u->mux.count);
    agent_drop(u);
}

/* The member is being drained: new clients go elsewhere, and those that it has stay until they have gone. */
static void agent_leave(struct agent_daemon *a)
{
    serve_log(a->serve, "leaves the member at %s:%d, which is being drained; %" PRIu32 " clients stay", a->now->at.host,
              a->now->at.port, a->now->mux.count);
    a->now = NULL;
    agent_lost(&a->plan, agent_now_ms());
}

/* By an error of libuv. */
static void agent_fail(struct agent_daemon *a, int error)
{
    char why[128];

    snprintf(why, sizeof why, "cannot be called: %s", uv_strerror(error));
    agent_lose(a, why);
}

static void agent_greet(struct agent_uplink *u)
{
    const struct serve_conf *conf = u->agent->serve->conf;
    const char *name = conf->member[conf->self].name;
    char line[256];

    snprintf(line, sizeof line, "*3\r\n$5\r\nAGENT\r\n$1\r\n1\r\n$%zu\r\n%s\r\n", strlen(name), name);
    u->greeted = true;
    stream_write(u->stream, (const uint8_t *)line, strlen(line));
}

/* The member has accepted the agent: clients that have waited can begin. */
static void agent_begin(struct agent_uplink *u)
{
    struct agent_daemon *a = u->agent;

    u->up = true;
    agent_is_up(&a->plan, agent_now_ms());
    serve_log(a->serve, "is an agent of the member at %s:%d", u->at.host, u->at.port);
    notify_manager("STATUS=an agent of %s:%d", u->at.host, u->at.port);
    a->failures = 0;
    while (!ring_empty(&a->held))
        agent_open(RING_OF(a->held.next, struct agent_local, in_held));
}

static void agent_hear(struct agent_uplink *u, const struct mux_event *e)
{
    struct agent_local *c = e->channel ? e->channel->user : NULL;

    switch (e->type) {
    case MUX_BYTES:
        memcpy(bytes_add(&c->out, e->len), e->bytes, e->len);
        agent_pass_down(c);
        break;
    case MUX_CLOSED:
        if (c->channel)
            mux_close(&u->mux, c->channel, MUX_BROKEN);
        c->channel = c->last = NULL;
        c->closing = true;
        ring_cut(&c->in_ended);
        if (!c->stream->writing && bytes_len(&c->out) == 0)
            agent_forget(c);
        break;
    default:
        if (u == u->agent->now)
            agent_ponged(&u->agent->plan, e->state, agent_now_ms());
    }
}

/* The answer to AGENT has come, perhaps in pieces. Returns false if the connection is gone. */
static bool agent_answered(struct agent_uplink *u, const uint8_t *bytes, size_t len)
{
    const char *end, *text;
    char why[ANSWER_MAX];

    memcpy(bytes_add(&u->answer, len), bytes, len);
    text = (const char *)u->answer.at + u->answer.start;
    end = memchr(text, '\n', bytes_len(&u->answer));
    if (!end && bytes_len(&u->answer) < ANSWER_MAX)
        return true;
    if (end && end - text == 4 && memcmp(text, "+OK\r", 4) == 0) {
        mux_input(&u->mux, u->answer.at + u->answer.start + 5, bytes_len(&u->answer) - 5);
        bytes_free(&u->answer);
        agent_begin(u);
        return true;
    }
    len = end && end - text < 300 ? (size_t)(end - text) : 0;
    len -= len && text[len - 1] == '\r';
    snprintf(why, sizeof why, "does not accept an agent: %.*s", (int)len, text);
    agent_lose_uplink(u, why);
    return false;
}

/* Channels that had bytes to send, and can send some now, go on. */
static void agent_go_on(struct agent_uplink *u)
{
    struct mux_channel *channel;

    agent_flush(u);
    while (!u->stream->writing && (channel = mux_ready(&u->mux))) {
        agent_pass_up(channel->user);
        if (bytes_len(&u->mux.out) >= MUX_OUT_MAX)
            agent_flush(u);
    }
    agent_flush(u);
}

static void agent_up_read(struct stream *stream, const uint8_t *bytes, size_t len)
{
    struct agent_uplink *u = stream->owner;
    struct agent_daemon *a = u->agent;
    struct mux_event e = {.type = MUX_NOTHING};
    char why[128];

    u->heard_ms = agent_now_ms();
    if (u == a->now)
        agent_heard(&a->plan, u->heard_ms);
    if (u->up)
        mux_input(&u->mux, bytes, len);
    else if (!agent_answered(u, bytes, len)) {
        agent_mind(a);
        return;
    }
    while (u->up && mux_next(&u->mux, &e) != MUX_NOTHING && e.type != MUX_WRONG)
        agent_hear(u, &e);
    if (e.type == MUX_WRONG) {
        snprintf(why, sizeof why, "has sent %.100s", u->mux.wrong);
        agent_lose_uplink(u, why);
    } else if (u->up) {
        agent_go_on(u);
    }
    agent_mind(a);
}

static void agent_up_room(struct stream *stream)
{
    struct agent_uplink *u = stream->owner;

    if (!u->greeted)
        agent_greet(u);
    else if (u->up)
        agent_go_on(u);
}

static void agent_up_end(struct stream *stream)
{
    struct agent_uplink *u = stream->owner;
    struct agent_daemon *a = u->agent;
    char why[300];

    snprintf(why, sizeof why, "%.250s", *stream_why(stream) ? stream_why(stream) : "has ended the connection");
    agent_lose_uplink(u, why);
    agent_mind(a);
}

static void agent_connected(uv_connect_t *request, int status)
{
    struct stream *stream = request->handle->data;
    struct agent_uplink *u = stream->owner;
    struct tls *tls = NULL;
    uv_os_fd_t fd;
    unsigned silence_ms = AGENT_SILENCE_MS;

    free(request);
    if (stream->closing)
        return;
    if (status >= 0 && u->agent->serve->conf->members_tls) {
        tls = tls_call(u->agent->serve->conf->members_tls, NULL);
        status = tls ? 0 : UV_ENOMEM;
    }
    if (status < 0) {
        struct agent_daemon *a = u->agent;

        agent_fail(a, status);
        agent_mind(a);
        return;
    }
    uv_tcp_nodelay(&stream->uv.tcp, 1);
    if (uv_fileno((uv_handle_t *)&stream->uv.any, &fd) == 0)
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
    if (tls)
        stream_secure(stream, tls);
    else
        agent_greet(u);
    stream_read(stream, true);
}

static void agent_connect(struct agent_daemon *a, const struct sockaddr_storage *address)
{
    uv_connect_t *request = mem_new(sizeof *request);
    struct agent_uplink *u = mem_new(sizeof *u);
    int error;

    u->agent = a;
    u->at = *agent_place(a);
    u->heard_ms = agent_now_ms();
    mux_init(&u->mux, true);
    ring_push(&a->uplinks, &u->in_agent);
    a->now = u;
    u->stream = stream_new(&a->serve->loop, &a->serve->turn, true);
    u->stream->owner = u;
    u->stream->comes_first = true;
    u->stream->on_read = agent_up_read;
    u->stream->on_room = agent_up_room;
    u->stream->on_end = agent_up_end;
    error = uv_tcp_connect(request, &u->stream->uv.tcp, (const struct sockaddr *)address, agent_connected);
    if (error) {
        free(request);
        agent_fail(a, error);
    }
}

static void agent_found(void *user, const struct sockaddr_storage *address, const char *why)
{
    struct agent_daemon *a = user;

    a->asked = NULL;
    if (address)
        agent_connect(a, address);
    else {
        char text[300];

        snprintf(text, sizeof text, "has no address: %.250s", why);
        agent_lose(a, text);
    }
    agent_mind(a);
}

static void agent_dial(struct agent_daemon *a)
{
    const struct serve_member *at = agent_place(a);
    struct sockaddr_storage address;

    if (serve_address(at, &address))
        agent_connect(a, &address);
    else if (!(a->asked = resolve_start(a->serve, at, a->plan.turn / a->plan.places, agent_found, a)))
        agent_lose(a, "cannot be looked up");
}

/* --------------------------------------------------------------------------------------------------------- the time */

static void agent_tick(uv_timer_t *timer)
{
    agent_mind(timer->loop->data);
}

/* Clients whose sockets have ended, and whose processes had not when they were looked at last. */
static void agent_mind_ended(struct agent_daemon *a, uint64_t now_ms)
{
    if (ring_empty(&a->ended) || now_ms < a->look_ms)
        return;
    a->look_ms = now_ms + TICK_MS;
    for (struct ring *at = a->ended.next, *next; at != &a->ended; at = next) {
        struct agent_local *c = RING_OF(at, struct agent_local, in_ended);

        next = at->next;
        if (serve_is_dead(c->process) || now_ms >= c->ended_ms + END_MS)
            agent_part(c);
    }
}

/* Connections to members that it has left: they are asked as well, and end when they have no clients. */
static void agent_mind_others(struct agent_daemon *a, uint64_t now_ms, bool asks)
{
    struct ring *next;

    for (struct ring *at = a->uplinks.next; at != &a->uplinks; at = next) {
        struct agent_uplink *u = RING_OF(at, struct agent_uplink, in_agent);

        next = at->next;
        if (u == a->now)
            continue;
        if (u->mux.count == 0) {
            agent_drop(u);
        } else if (now_ms >= u->heard_ms + AGENT_SILENCE_MS) {
            agent_lose_uplink(u, "does not answer");
        } else if (asks) {
            mux_ping(&u->mux);
            agent_flush(u);
        }
    }
}

/* Does what is due, and sets the timer for what comes next. */
static void agent_mind(struct agent_daemon *a)
{
    uint64_t now_ms = agent_now_ms(), due_ms;
    enum agent_act act;
    bool asks = false;

    if (a->serve->stopping)
        return;
    agent_mind_ended(a, now_ms);
    while ((act = agent_act(&a->plan, now_ms)) != AGENT_WAITS)
        if (act == AGENT_DIALS) {
            agent_dial(a);
        } else if (act == AGENT_LEAVES) {
            agent_leave(a);
        } else if (act == AGENT_PARTS) {
            agent_lose(a, a->plan.state == AGENT_UP ? "does not answer, or grants no locks" : "does not answer");
        } else {
            asks = true;
            mux_ping(&a->now->mux);
        }
    if (a->now)
        agent_flush(a->now);
    agent_mind_others(a, now_ms, asks);
    while (!ring_empty(&a->held)) {
        struct agent_local *c = RING_OF(a->held.next, struct agent_local, in_held);
        char text[ANSWER_MAX + 64];

        if (now_ms < c->since_ms + HOLD_MS)
            break;
        snprintf(text, sizeof text, "this agent reaches no member; the last one was %s", a->why);
        agent_refuse(c, "NOQUORUM", text);
    }
    due_ms = agent_due_ms(&a->plan);
    if (!ring_empty(&a->held) && due_ms > now_ms + TICK_MS)
        due_ms = now_ms + TICK_MS;
    if (!ring_empty(&a->ended) && due_ms > a->look_ms)
        due_ms = a->look_ms;
    uv_update_time(&a->serve->loop);
    uv_timer_start(&a->serve->due, agent_tick, due_ms > now_ms ? due_ms - now_ms : 1, 0);
}

/* ------------------------------------------------------------------------------------------------ begin and the end */

static void agent_close(struct agent_daemon *a)
{
    struct serve *s = a->serve;

    s->stopping = true;
    resolve_forget(a->asked);
    while (!ring_empty(&a->uplinks))
        agent_drop(RING_OF(a->uplinks.next, struct agent_uplink, in_agent));
    while (!ring_empty(&a->locals))
        agent_forget(RING_OF(a->locals.next, struct agent_local, in_agent));
    uv_close((uv_handle_t *)&s->clients_door, NULL);
    uv_close((uv_handle_t *)&s->due, NULL);
    uv_close((uv_handle_t *)&s->term, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
    uv_close((uv_handle_t *)&s->hangup, NULL);
}

static void agent_stop(uv_signal_t *signal, int number)
{
    struct agent_daemon *a = signal->loop->data;

    if (a->serve->stopping)
        return;
    serve_log(a->serve, "%s: ends; its clients have to come again", strsignal(number));
    notify_manager("STOPPING=1");
    agent_close(a);
}

/* SIGHUP: the key is read again, for connections to come. */
static void agent_renew(uv_signal_t *signal, int number)
{
    struct serve *s = ((struct agent_daemon *)signal->loop->data)->serve;
    struct secrets fresh;

    (void)number;
    if (conf_read_secrets(s->draft, &fresh)) {
        conf_use_secrets(s->conf, &fresh);
        serve_log(s, "SIGHUP: the key was read again, for connections to come");
    } else {
        serve_warn(s, "SIGHUP: the key stays as it was: %s", s->draft->mistake[0].text);
    }
}

/* Each agent goes through the places in an order of its own: when a member is lost, its agents spread over all others. */
static void agent_shuffle(struct serve_conf *conf)
{
    for (uint32_t left = conf->connects; left > 1; left--) {
        struct serve_member last = conf->connect[left - 1];
        uint32_t k = 0;

        (void)!getrandom(&k, sizeof k, GRND_NONBLOCK);
        conf->connect[left - 1] = conf->connect[k % left];
        conf->connect[k % left] = last;
    }
}

int agent_run(struct serve *s)
{
    static struct agent_daemon agent;
    struct agent_daemon *a = &agent;
    uint64_t ms;
    bool listens;

    a->serve = s;
    s->loop.data = a;
    ring_init(&a->locals);
    ring_init(&a->held);
    ring_init(&a->ended);
    ring_init(&a->uplinks);
    agent_shuffle(s->conf);
    agent_init(&a->plan, s->conf->connects, 0, agent_now_ms());
    uv_timer_init(&s->loop, &s->due);
    uv_signal_init(&s->loop, &s->term);
    uv_signal_init(&s->loop, &s->interrupt);
    uv_signal_init(&s->loop, &s->hangup);
    listens = serve_listen_unix(s, agent_come);
    if (listens) {
        uv_signal_start(&s->term, agent_stop, SIGTERM);
        uv_signal_start(&s->interrupt, agent_stop, SIGINT);
        uv_signal_start(&s->hangup, agent_renew, SIGHUP);
        serve_log(s, "serves %s; an agent, for clients of this machine", s->conf->socket);
        notify_manager("READY=1\nSTATUS=serves %s", s->conf->socket);
        agent_mind(a);
    } else {
        agent_close(a);
    }
    while (uv_run(&s->loop, ring_empty(&s->turn.later) && !a->callers ? UV_RUN_ONCE : UV_RUN_NOWAIT)) {
        turn_end(&s->turn, &ms, &ms);
        turn_next(&s->turn);
        if (a->callers && !s->stopping) {
            a->callers = false;
            agent_come((uv_stream_t *)&s->clients_door, 0);
        }
        if (s->stopping && s->resolving)
            break;
    }
    return listens ? 0 : 1;
}
