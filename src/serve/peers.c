/* peers.c - the connections to the other members. Of two members, the one whose name comes first connects to the other,
 * and connects again when the connection has ended. The peers follow the node's roster.
 *
 * An accepted connection belongs to a *stranger* until the other side has authenticated (by a key, a certificate or,
 * without these, its user: kin.h) and has sent the HELLO that the member's link expects. Only then does the connection
 * replace an existing one to that member. So an impostor does no harm to the member whose name it uses. */
#include "serve.h"

#include "kin.h"

#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RETRY_MS = 100,
    RETRY_MS_MIN = 5,
    REFUSED_RETRY_MS = 1000,
    CALL_MS_MIN = 1000,
    STRANGERS_MAX = 64,
    HELLO_ROOM = 512
};

static void peers_dial(uv_timer_t *timer);

static bool peers_dials(const struct serve_peer *p)
{
    return strcmp(p->serve->node.conf.name, p->member->name) < 0;
}

static struct link *peers_link(const struct serve_peer *p)
{
    return &p->member->link;
}

/* Logs why a connection ended, if the reason is not the one that was logged last: a few lines at once, and then one per second. */
static void peers_tell(struct serve_peer *p, const char *reason)
{
    enum { AT_ONCE = 10, EVERY_MS = 1000 };
    uint64_t now = uv_now(&p->serve->loop);

    if (strcmp(p->told, reason) == 0)
        return;
    snprintf(p->told, sizeof p->told, "%s", reason);
    if (p->quiet_ms < now)
        p->quiet_ms = now;
    if (p->quiet_ms - now >= (uint64_t)AT_ONCE * EVERY_MS) {
        p->untold++;
        return;
    }
    p->quiet_ms += EVERY_MS;
    if (p->untold)
        serve_log(p->serve, "%s: %" PRIu64 " lines were left out", p->member->name, p->untold);
    p->untold = 0;
    serve_say(p->serve, peers_link(p)->state == LINK_UP ? RECORD_INFO : RECORD_WARNING, "%s: %s", p->member->name,
              reason);
}

static void peers_tell_connected(struct serve_peer *p)
{
    const struct link *link = peers_link(p);
    char line[96];

    if (link->version == link->self->newest) { /* as nearly always, and this is called in every turn */
        peers_tell(p, "connected");
        return;
    }
    snprintf(line, sizeof line, "connected; it is older, and the link uses version %u of the protocol", link->version);
    peers_tell(p, line);
}

/* The pause before the next attempt to connect. A member that was connected for a while may just be restarted: the first
 * attempts follow each other quickly. */
static uint64_t peers_pause(struct serve_peer *p, uint64_t retry_ms)
{
    uint64_t pause_ms = p->pause_ms ? p->pause_ms : RETRY_MS_MIN;

    if (retry_ms != RETRY_MS)
        return retry_ms;
    p->pause_ms = 2 * pause_ms < RETRY_MS ? 2 * pause_ms : RETRY_MS;
    return pause_ms;
}

/* Closes the connection, or ends the attempt to make one. */
static void peers_drop(struct serve_peer *p, uint64_t retry_ms)
{
    if (p->stream) {
        stream_close(p->stream);
        p->stream = NULL;
    }
    resolve_forget(p->asked);
    p->asked = NULL;
    if (peers_dials(p) && !peers_link(p)->banned && !p->serve->stopping)
        uv_timer_start(&p->retry, peers_dial, peers_pause(p, retry_ms), 0);
}

/* The connection has ended, and the node is told so. */
static void peers_hang_up(struct serve_peer *p, uint64_t retry_ms)
{
    struct serve *s = p->serve;
    struct member *m = p->member;

    peers_drop(p, retry_ms);
    assert(!p->stream && !p->asked);
    serve_tell(s, (struct node_input){.type = NODE_PEER_CLOSED, .member = m});
}

static void peers_add(struct serve *s, struct member *m);
static void peers_remove(struct serve_peer *p);

void serve_peers_do(struct serve *s, struct node_output *out)
{
    struct serve_peer *p = out->member->user;

    switch (out->type) {
    case NODE_MEMBER_CAME:
        if (s->node.agree)
            peers_add(s, out->member);
        break;
    case NODE_MEMBER_WENT:
        if (!p)
            break;
        serve_log(s, "%s is no longer a member", out->member->name);
        peers_remove(p);
        break;
    case NODE_TO_PEER:
        assert(p && p->stream && out->len);
        if (p->stream->writing)
            out->taken = 0;
        else
            stream_write(p->stream, out->bytes, out->len);
        out->blocked = p->stream->writing;
        break;
    default:
        peers_tell(p, out->text);
        peers_drop(p, out->anew ? RETRY_MS : REFUSED_RETRY_MS);
    }
}

/* Has an attempt to connect taken too long? (The node ends connections on which nothing arrives.) */
static bool peers_is_unanswered(const struct serve_peer *p)
{
    uint64_t lease_ms = serve_lease_ms(p->serve);

    return p->stream && peers_link(p)->state == LINK_DOWN &&
           uv_now(&p->serve->loop) - p->called_ms >= (lease_ms > CALL_MS_MIN ? lease_ms : CALL_MS_MIN);
}

void serve_peers_mind(struct serve *s)
{
    for (struct ring *r = s->peers.next; r != &s->peers; r = r->next) {
        struct serve_peer *p = RING_OF(r, struct serve_peer, in_serve);

        if (peers_is_unanswered(p)) {
            peers_tell(p, "does not answer");
            peers_drop(p, RETRY_MS);
        }
        if (peers_link(p)->state == LINK_UP) {
            peers_tell_connected(p);
            if (uv_now(&p->serve->loop) - p->called_ms >= CALL_MS_MIN)
                p->pause_ms = 0;
        }
        if (p->stream)
            stream_read(p->stream, !link_is_full(peers_link(p)));
    }
}

/* Is this a TLS record where a frame was expected? No first frame has that length. */
static bool peers_is_tls(const uint8_t *bytes, size_t len)
{
    return len >= 2 && (bytes[0] == 0x15 || bytes[0] == 0x16) && bytes[1] == 3;
}

static const char peers_no_key[] = "speaks TLS, and this member has no key";

static void peers_read(struct stream *stream, const uint8_t *bytes, size_t len)
{
    struct serve_peer *p = stream->owner;

    assert(p->stream == stream && stream_is_known(stream) && len);
    if (!stream->tls && peers_link(p)->state == LINK_OPENING && peers_is_tls(bytes, len)) {
        peers_tell(p, peers_no_key);
        peers_hang_up(p, REFUSED_RETRY_MS);
        return;
    }
    if (!stream->tls && !p->is_kin) {
        const char *wrong = kin_objects(stream);

        if (wrong) {
            peers_tell(p, wrong);
            peers_hang_up(p, REFUSED_RETRY_MS);
            return;
        }
        p->is_kin = true;
    }
    serve_tell_in_turn(p->serve,
                       (struct node_input){.type = NODE_PEER_BYTES, .member = p->member, .bytes = bytes, .len = len});
}

static void peers_end(struct stream *stream)
{
    struct serve_peer *p = stream->owner;

    if (*stream_why(stream))
        peers_tell(p, stream_why(stream));
    else if (peers_link(p)->state == LINK_OPENING)
        peers_tell(p, stream->tls && stream_is_known(stream)
                          ? "has refused us; its log says why"
                          : "has ended the connection without a reason; does only one side have a key?");
    else
        peers_tell(p, "the connection has ended");
    peers_hang_up(p, stream_is_known(stream) ? RETRY_MS : REFUSED_RETRY_MS);
}

static void peers_room(struct stream *stream)
{
    struct serve_peer *p = stream->owner;

    serve_tell(p->serve, (struct node_input){.type = NODE_PEER_ROOM, .member = p->member});
}

/* There is a connection, and the member at its other end has authenticated. */
static void peers_attach(struct serve_peer *p, struct stream *stream)
{
    if (p->stream && p->stream != stream)
        stream_close(p->stream);
    resolve_forget(p->asked); /* the member has connected before its name was found */
    p->asked = NULL;
    uv_timer_stop(&p->retry);
    p->stream = stream;
    p->is_kin = false;
    stream->owner = p;
    stream->on_read = peers_read;
    stream->on_end = peers_end;
    stream->on_room = peers_room;
    stream->comes_first = true; /* members are not delayed by clients */
    uv_tcp_nodelay(&stream->uv.tcp, 1);
    serve_tell(p->serve, (struct node_input){.type = NODE_PEER_OPENED, .member = p->member});
}

/* ---------------------------------------------------------------------------------------------------------- calling */

static void peers_answered(uv_connect_t *request, int status)
{
    struct stream *stream = request->handle->data;
    struct serve_peer *p = stream->owner;
    const struct serve_conf *conf;
    struct tls *tls = NULL;

    free(request);
    if (stream->closing) /* its owner may be gone, too */
        return;
    conf = p->serve->conf;
    if (status >= 0 && conf->members_tls) {
        tls = tls_call(conf->members_tls, conf->has_key ? NULL : p->member->name);
        status = tls ? 0 : UV_ENOMEM;
    }
    if (status < 0) {
        peers_tell(p, uv_strerror(status));
        peers_hang_up(p, RETRY_MS);
        return;
    }
    if (tls)
        stream_secure(stream, tls);
    peers_attach(p, stream);
}

static void peers_connect(struct serve_peer *p, const struct sockaddr_storage *address)
{
    uv_connect_t *request = mem_new(sizeof *request);
    int error;

    assert(!p->stream && !p->asked);
    p->stream = stream_new(&p->serve->loop, &p->serve->turn, true);
    p->stream->owner = p;
    p->called_ms = uv_now(&p->serve->loop);
    error = uv_tcp_connect(request, &p->stream->uv.tcp, (const struct sockaddr *)address, peers_answered);
    if (error) {
        free(request);
        peers_tell(p, uv_strerror(error));
        peers_hang_up(p, RETRY_MS);
    }
}

/* The member's name was looked up. If the lookup failed, the last known address is tried. */
static void peers_found(void *user, const struct sockaddr_storage *address, const char *why)
{
    struct serve_peer *p = user;

    p->asked = NULL;
    if (address) {
        p->found = *address;
    } else {
        peers_tell(p, why);
        if (!p->found.ss_family) {
            peers_hang_up(p, REFUSED_RETRY_MS);
            return;
        }
    }
    peers_connect(p, &p->found);
}

static void peers_dial(uv_timer_t *timer)
{
    struct serve_peer *p = timer->data;
    struct sockaddr_storage address;
    struct serve_member at;

    /* The roster of the view may differ from the configuration, so its addresses have not been checked. */
    conf_split_address(&at, p->member->address);
    if (!conf_is_number(at.host)) {
        p->asked = resolve_start(p->serve, &at, p->calls++, peers_found, p);
        if (!p->asked)
            peers_found(p, NULL, "its name cannot be looked up");
    } else if (!serve_address(&at, &address) || (!p->serve->conf->members_tls && !conf_is_on_loopback(at.host))) {
        peers_tell(p, "has an invalid address, or one that is not on loopback, and this member has no key");
        peers_hang_up(p, REFUSED_RETRY_MS);
    } else {
        peers_connect(p, &address);
    }
}

/* ----------------------------------------------------------------------------------------------------- being called */

/* An accepted connection whose other side has not authenticated or has not sent its HELLO. */
struct stranger {
    struct caller caller;
    struct serve *serve;
    struct door *door;
    struct stream *stream;
    bool refused; /* the reason was sent to it; it closes the connection when it has read that */
    size_t len;
    uint8_t said[HELLO_ROOM];
};

/* Frees a stranger. Its stream is closed, or goes on as that of a member. */
static void stranger_forget(struct stranger *x, bool close)
{
    if (close)
        stream_close(x->stream);
    door_leave(x->door, &x->caller);
    free(x);
}

static void stranger_refuse(struct stranger *x, const char *reason)
{
    serve_log_refusal(x->serve, x->stream, reason);
    stranger_forget(x, true);
}

static void stranger_end(struct stream *stream)
{
    struct stranger *x = stream->owner;

    if (*stream_why(stream))
        stranger_refuse(x, stream_why(stream));
    else
        stranger_forget(x, true);
}

/* Nothing is sent to a stranger before it has sent its HELLO. */
static void stranger_room(struct stream *stream)
{
    (void)stream;
}

static struct serve_peer *stranger_is(struct serve *s, const char *name, size_t len)
{
    for (struct ring *r = s->peers.next; r != &s->peers; r = r->next) {
        struct serve_peer *p = RING_OF(r, struct serve_peer, in_serve);

        if (strlen(p->member->name) == len && memcmp(p->member->name, name, len) == 0)
            return p;
    }
    return NULL;
}

/* The stranger has authenticated as the member that it claims to be, but its HELLO is refused. It is sent the reason,
 * which both sides log. The caller ends the connection. If this side did, the kernel could no longer tell the caller
 * which user had this end (kin.h), and the caller would ignore the reason. */
static void stranger_disagree(struct stranger *x, struct serve_peer *p, const char *reason)
{
    uint8_t bytes[LINK_REFUSAL_MAX];
    struct link *k = peers_link(p);

    if (!x->stream->writing)
        stream_write(x->stream, bytes, link_refusal(reason, bytes));
    if (k->state == LINK_DOWN) {
        snprintf(k->reason, sizeof k->reason, "%s", reason);
        peers_tell(p, reason);
        x->refused = true;
    } else {
        char line[LINK_REASON_MAX + 64];

        snprintf(line, sizeof line, "says that it is %s, but %s", p->member->name, reason);
        stranger_refuse(x, line);
    }
}

/* Returns null if the stranger may be the member `p` that it claims to be, as far as can be known without its HELLO;
 * else why not. */
static const char *stranger_objects(const struct stranger *x, const struct serve_peer *p)
{
    if (p && peers_dials(p)) /* else both sides would connect, and each new connection would replace the other */
        return "says that it is a member to which this one connects, and not the reverse";
    if (!p || peers_link(p)->banned)
        return !x->stream->tls && peers_is_tls(x->said, x->len) ? peers_no_key : "is not from a member";
    if (!x->stream->tls)
        return kin_objects(x->stream);
    return tls_is_named(x->stream->tls, p->member->name) ? NULL : "has a certificate for another name than its own";
}

static void stranger_read(struct stream *stream, const uint8_t *bytes, size_t len)
{
    struct stranger *x = stream->owner;
    struct serve *s = x->serve;
    size_t some = len < HELLO_ROOM - x->len ? len : HELLO_ROOM - x->len;
    struct serve_peer *p = NULL;
    char buf[LINK_REASON_MAX];
    uint8_t said[HELLO_ROOM];
    const char *name, *wrong;
    size_t said_len;
    int name_len;

    if (x->refused)
        return;
    memcpy(x->said + x->len, bytes, some);
    x->len += some;
    name_len = link_who(x->said, x->len, &name);
    if (name_len == 0 && x->len < HELLO_ROOM)
        return;
    if (name_len > 0)
        p = stranger_is(s, name, (size_t)name_len);
    if ((wrong = stranger_objects(x, p))) {
        stranger_refuse(x, wrong);
        return;
    }
    if ((wrong = link_objects(peers_link(p), x->said, x->len, buf, sizeof buf))) {
        stranger_disagree(x, p, wrong);
        return;
    }
    memcpy(said, x->said, x->len);
    said_len = x->len;
    stranger_forget(x, false);
    peers_attach(p, stream);
    p->is_kin = true;
    if (!stream->closing) /* each of these may end the connection, or the daemon */
        peers_read(stream, said, said_len);
    if (!stream->closing && len > some)
        peers_read(stream, bytes + some, len - some);
}

static void stranger_send_away(struct caller *caller)
{
    stranger_forget(RING_OF(caller, struct stranger, caller), true);
}

void serve_peers_init(struct serve *s)
{
    door_init(&s->strangers, STRANGERS_MAX, stranger_send_away);
    door_init(&s->kin, STRANGERS_MAX, stranger_send_away);
}

static bool peers_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr == ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr,
                  sizeof(struct in6_addr)) == 0;
}

/* Callers from the address of a member have a door of their own, so callers from elsewhere cannot take their room. */
static struct door *peers_door_for(struct serve *s, const struct sockaddr_storage *from)
{
    for (struct ring *r = s->peers.next; r != &s->peers; r = r->next) {
        const struct serve_peer *p = RING_OF(r, struct serve_peer, in_serve);
        struct sockaddr_storage address = p->found;
        struct serve_member at;

        conf_split_address(&at, p->member->address);
        if (conf_is_number(at.host))
            serve_address(&at, &address);
        if (peers_same_host(&address, from))
            return &s->kin;
    }
    return &s->strangers;
}

static void peers_come(uv_stream_t *door, int status)
{
    struct serve *s = door->data;
    struct sockaddr_storage from;
    struct stranger *x;
    struct tls *tls = NULL;
    bool here;

    if (status < 0 || !serve_lets_in(s, door))
        return;
    x = mem_new(sizeof *x);
    x->serve = s;
    x->stream = stream_new(&s->loop, &s->turn, true);
    x->stream->owner = x;
    x->stream->on_read = stranger_read;
    x->stream->on_end = stranger_end;
    x->stream->on_room = stranger_room;
    x->caller.stream = x->stream;
    serve_be_patient(s, false);
    here = uv_accept(door, &x->stream->uv.any) == 0 && serve_peer_address(x->stream, &from);
    x->door = here ? peers_door_for(s, &from) : &s->strangers;
    ring_init(&x->caller.in_door);
    if (!here || (s->conf->members_tls && !(tls = tls_answer(s->conf->members_tls)))) {
        stranger_forget(x, true);
        return;
    }
    door_enter(x->door, &x->caller, (struct sockaddr *)&from, uv_now(&s->loop));
    if (tls)
        stream_secure(x->stream, tls);
    stream_read(x->stream, true);
}

bool serve_peers_patience(struct serve *s)
{
    struct door *doors[] = {&s->strangers, &s->kin};
    struct caller *late;

    for (unsigned k = 0; k < 2; k++)
        while ((late = door_overdue(doors[k], uv_now(&s->loop), SERVE_PATIENCE_MS))) {
            struct stranger *x = RING_OF(late, struct stranger, caller);

            if (x->refused)
                stranger_forget(x, true);
            else
                stranger_refuse(x, "has not authenticated in time");
        }
    return s->strangers.count || s->kin.count;
}

/* ------------------------------------------------------------------------------------------------ begin and the end */

static void peers_add(struct serve *s, struct member *m)
{
    struct serve_peer *p = mem_new(sizeof *p);

    p->serve = s;
    p->member = m;
    m->user = p;
    ring_push(&s->peers, &p->in_serve);
    uv_timer_init(&s->loop, &p->retry);
    p->retry.data = p;
    if (peers_dials(p))
        uv_timer_start(&p->retry, peers_dial, 0, 0);
}

static void peers_freed(uv_handle_t *timer)
{
    free(timer->data);
}

static void peers_remove(struct serve_peer *p)
{
    peers_drop(p, 0);
    ring_cut(&p->in_serve);
    p->member->user = NULL;
    uv_timer_stop(&p->retry);
    uv_close((uv_handle_t *)&p->retry, peers_freed);
}

bool serve_peers_start(struct serve *s)
{
    if (!s->node.agree)
        return true;
    if (!serve_listen(s, &s->peers_door, s->conf->listen.port ? &s->conf->listen : &s->conf->member[s->conf->self],
                      "--listen", peers_come)) {
        uv_close((uv_handle_t *)&s->peers_door, NULL);
        return false;
    }
    return true;
}

void serve_peers_stop(struct serve *s)
{
    if (!s->node.agree)
        return;
    while (!ring_empty(&s->strangers.callers))
        stranger_send_away(RING_OF(s->strangers.callers.next, struct caller, in_door));
    while (!ring_empty(&s->kin.callers))
        stranger_send_away(RING_OF(s->kin.callers.next, struct caller, in_door));
    while (!ring_empty(&s->peers))
        peers_remove(RING_OF(s->peers.next, struct serve_peer, in_serve));
    uv_close((uv_handle_t *)&s->peers_door, NULL);
}
