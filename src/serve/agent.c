/* agent.c - dibs serve --agent: a daemon that is no member, and serves the Unix socket of its machine through the members.
 *
 * An agent has one connection to one member, and over it a channel for each of its clients (relay/mux.h). When the member is lost, the agent
 * closes the connections of its clients, calls the next member (relay/agent.h) and goes on listening: clients with kept sessions come back at
 * once, and resume them there. Clients that come while there is no member wait for HOLD_MS, and are then told why.
 *
 * An agent keeps nothing and decides nothing about locks. What it says about a client that has gone is what the kernel says: the end of a
 * Unix socket is the client's own (stream.c: `goodbye`), and a process has ended or has not. */
#include "agent_inside.h"

#include "http.h"
#include "log.h"

#include "base/memory.h"

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

uint64_t agent_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static const struct serve_member *agent_place(const struct agent_daemon *a)
{
    return &a->serve->conf->connect[a->plan.turn % a->plan.places];
}

void agent_flush(struct agent_uplink *u)
{
    struct bytes *out = &u->mux.out;

    if (!u->up || u->stream->writing || bytes_len(out) == 0)
        return;
    stream_write(u->stream, out->at + out->start, bytes_len(out));
    bytes_consume(out, bytes_len(out));
    if (out->room > MUX_OUT_MAX)
        bytes_free(out);
}

/* ------------------------------------------------------------------------------------------------------- the member */

/* Calls in vain are logged once for each place, and after that once in a minute. */
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

/* Ends a connection to a member. Its clients notice by the end of their own connections. */
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

/* The member for new clients is lost, or a call was not answered. */
static void agent_lose(struct agent_daemon *a, const char *why)
{
    const struct serve_member *at = agent_place(a);

    snprintf(a->why, sizeof a->why, "%s:%d: it %.400s", at->host, at->port, why);
    link_make_printable(a->why);
    a->count.lost += a->plan.state == AGENT_UP;
    if (a->plan.state == AGENT_UP)
        serve_warn(a->serve, "has lost its member at %s; %" PRIu32 " clients have to connect again", a->why,
                   a->now->mux.count);
    else
        agent_tell_failure(a);
    resolve_forget(a->asked);
    a->asked = NULL;
    if (a->now)
        agent_drop(a->now);
    agent_lost(&a->plan, agent_now_ms());
}

/* A connection is lost. If it is one to a member that this agent has left because that is being drained, only the clients that are still there are concerned. */
static void agent_lose_uplink(struct agent_uplink *u, const char *why)
{
    if (u == u->agent->now) {
        agent_lose(u->agent, why);
        return;
    }
    u->agent->count.lost++;
    serve_log(u->agent->serve,
              "has lost the member at %s:%d, which it had left: it %s; %" PRIu32 " clients have to connect again",
              u->at.host, u->at.port, why, u->mux.count);
    agent_drop(u);
}

/* The member is being drained: new clients go to another one, and its clients stay until they have gone. */
static void agent_leave(struct agent_daemon *a)
{
    serve_log(a->serve, "leaves the member at %s:%d, which is being drained; %" PRIu32 " clients stay", a->now->at.host,
              a->now->at.port, a->now->mux.count);
    a->now = NULL;
    a->count.left++;
    agent_lost(&a->plan, agent_now_ms());
}

/* A call has failed by an error of libuv. */
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
    a->count.accepted++;
    agent_is_up(&a->plan, agent_now_ms());
    serve_log(a->serve, "is an agent of the member at %s:%d", u->at.host, u->at.port);
    notify_manager("STATUS=an agent of %s:%d", u->at.host, u->at.port);
    a->failures = 0;
    while (!ring_empty(&a->held))
        agent_open(RING_OF(a->held.next, struct agent_local, in_held));
}

static void agent_hear(struct agent_uplink *u, const struct mux_event *e)
{
    if (e->type == MUX_BYTES || e->type == MUX_CLOSED)
        agent_hear_client(u, e);
    else if (u == u->agent->now)
        agent_ponged(&u->agent->plan, e->state, agent_now_ms());
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
        const char *name = *u->at.name ? u->at.name : u->at.host;

        tls = tls_call(u->agent->serve->conf->members_tls, u->agent->serve->conf->has_cert ? name : NULL);
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

    a->count.calls++;
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

/* Looks again at clients whose sockets have ended, and whose processes had not ended before. */
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

/* Connections to members that this agent has left: it sends them PING as well, also while it has no other member, and ends those that have no clients. If
 * the call is very late, this process was stopped, and the silence of the members says nothing, as in agent_act. Returns true if there are any. */
static bool agent_mind_others(struct agent_daemon *a, uint64_t now_ms)
{
    bool asks = now_ms >= a->asked_ms + AGENT_PING_MS, late = now_ms > a->asked_ms + 2 * AGENT_PING_MS, any = false;
    struct ring *next;

    for (struct ring *at = a->uplinks.next; at != &a->uplinks; at = next) {
        struct agent_uplink *u = RING_OF(at, struct agent_uplink, in_agent);

        next = at->next;
        if (u == a->now)
            continue;
        any = true;
        if (late)
            u->heard_ms = now_ms;
        if (u->mux.count == 0) {
            agent_drop(u);
        } else if (now_ms >= u->heard_ms + AGENT_SILENCE_MS) {
            agent_lose_uplink(u, "does not answer");
        } else if (asks) {
            mux_ping(&u->mux);
            agent_flush(u);
        }
    }
    if (asks)
        a->asked_ms = now_ms;
    return any;
}

void agent_mind(struct agent_daemon *a)
{
    uint64_t now_ms = agent_now_ms(), due_ms;
    enum agent_act act;
    bool others;

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
            mux_ping(&a->now->mux);
        }
    if (a->now)
        agent_flush(a->now);
    others = agent_mind_others(a, now_ms);
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
    if (others && due_ms > a->asked_ms + AGENT_PING_MS)
        due_ms = a->asked_ms + AGENT_PING_MS;
    uv_update_time(&a->serve->loop);
    uv_timer_start(&a->serve->due, agent_tick, due_ms > now_ms ? due_ms - now_ms : 1, 0);
}

/* ------------------------------------------------------------------------------------------------ begin and the end */

static void agent_close(struct agent_daemon *a)
{
    struct serve *s = a->serve;

    s->stopping = true;
    serve_http_stop(s);
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
    serve_log(a->serve, "%s: ends; its clients have to connect again", strsignal(number));
    notify_manager("STOPPING=1");
    agent_close(a);
}

/* Each agent tries the places in an order of its own: when a member is lost, its agents spread over all others. */
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
    listens = serve_listen_unix(s, agent_come) && serve_http_start(s);
    if (listens) {
        uv_signal_start(&s->term, agent_stop, SIGTERM);
        uv_signal_start(&s->interrupt, agent_stop, SIGINT);
        s->hangup.data = s;
        uv_signal_start(&s->hangup, serve_renew_agent, SIGHUP);
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
