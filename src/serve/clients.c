/* clients.c - the connections of clients: through a Unix socket that only its owner can open (mode 0600), or also a
 * group (0660), and over TCP if that is configured.
 *
 * One client must not keep others waiting (I31). So a turn of the loop is bounded (stream.h), and so are the commands of one
 * client that are executed in it (step/step.h). The buffers of all clients together are bounded as well: beyond
 * CLIENTS_MEMORY_MAX, or a quarter of --memory-max, clients that need more than SERVE_CLIENT_FAIR are refused. */
#include "serve.h"

#include "relays.h"

#include "base/slab.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { END_MS = 1000, BACKLOG = 512, KEEPALIVE_S = 15, SILENCE_MS = 25000, UNKNOWN_MAX = 256 };
enum { CLIENTS_MEMORY_MAX = 1 << 26 };

struct serve_client {
    struct serve_user user;
    struct ring in_serve;
    struct ring in_ended; /* see clients_end */
    uint64_t ended_ms;
    pid_t process;        /* the process that has connected to the Unix socket; 0: unknown */
    size_t buffered;      /* its share of serve.buffered */
    struct caller caller; /* in use until the client has authenticated, if it has to */
    struct serve *serve;
    struct stream *stream;
    struct client *client;
    struct relay *relay; /* it is an agent (relays.h); or null */
};

/* The client has authenticated, or its connection ends: it leaves the door. */
static void clients_known(struct serve_client *c)
{
    door_leave(&c->serve->unknown, &c->caller);
}

/* Closes a connection that the node has forgotten. */
static void clients_forget(struct serve_client *c)
{
    clients_known(c);
    ring_cut(&c->in_serve);
    ring_cut(&c->in_ended);
    assert(c->buffered <= c->serve->buffered);
    assert(c->serve->node.stats.connections[c->stream->uv.any.type == UV_TCP]);
    c->serve->buffered -= c->buffered;
    c->serve->node.stats.connections[c->stream->uv.any.type == UV_TCP]--;
    if (c->relay)
        relay_end(c->relay);
    stream_close(c->stream);
    slab_free(c);
}

bool serve_is_dead(pid_t process)
{
    struct pollfd polled = {.events = POLLIN};
    bool ended;

    polled.fd = (int)syscall(SYS_pidfd_open, process, 0);
    if (polled.fd < 0)
        return errno == ESRCH;
    ended = poll(&polled, 1, 0) > 0;
    close(polled.fd);
    return ended;
}

/* Has the process that has connected to the Unix socket ended? */
static bool clients_is_dead(const struct serve_client *c)
{
    return c->process && c->stream->goodbye && serve_is_dead(c->process);
}

/* Ends a connection. Unless the client itself has ended it, the client may not know: locks that were vouched for
 * linger. The caller calls serve_do() afterwards. */
static void clients_part(struct serve_client *c)
{
    serve_step(c->serve, (struct node_input){.type = c->stream->goodbye ? NODE_CLIENT_CLOSED : NODE_CLIENT_BROKEN,
                                             .client = c->client,
                                             .dead = clients_is_dead(c)});
    clients_forget(c);
}

size_t serve_clients_memory_max(const struct serve *s)
{
    uint64_t share = s->conf->memory_max / 4;

    return share && share < CLIENTS_MEMORY_MAX ? share : CLIENTS_MEMORY_MAX;
}

bool serve_fits_memory(struct serve *s, size_t *share, size_t now)
{
    assert(*share <= s->buffered); /* the sum of all shares */
    s->buffered += now - *share;
    *share = now;
    return now <= SERVE_CLIENT_FAIR || s->buffered <= serve_clients_memory_max(s);
}

/* Counts the client's buffers. Returns false if there are too many bytes in all and this client has more than its
 * share. */
static bool clients_fit_memory(struct serve_client *c)
{
    return serve_fits_memory(c->serve, &c->buffered, client_memory(c->client) + stream_backlog(c->stream));
}

static void clients_do(struct serve *s, struct node_output *out)
{
    static const char busy[] =
        "-BUSY the buffers of this daemon are full, and this connection has its share of them\r\n";
    struct serve_client *c = client_user(out->client);

    assert(c->client == out->client && c->serve == s && out->taken == out->len);
    if (out->type == NODE_CLOSE_CLIENT) {
        serve_say(s, RECORD_DEBUG, "client %" PRIu64 ": its connection is closed", c->client->session->id);
        clients_forget(c);
        node_did(&s->node, out);
        return;
    }
    if (c->stream->writing)
        out->taken = 0;
    else if (out->len)
        stream_write(c->stream, out->bytes, out->len);
    out->blocked = c->stream->writing;
    stream_read(c->stream, out->reads);
    c->stream->greedy |= out->client->greedy;
    node_did(&s->node, out);
    if (c->client->relays && !c->relay && bytes_len(&c->client->out) == 0) {
        serve_say(s, RECORD_DEBUG, "client %" PRIu64 " is the agent %s, from %s", c->client->session->id,
                  c->client->session->who, c->client->session->from);
        c->relay = relay_begin(s, c->stream, c->client);
    }
    if (clients_fit_memory(c))
        return;
    if (!c->stream->writing)
        stream_write(c->stream, (const uint8_t *)busy, sizeof busy - 1);
    serve_log_refusal(s, c->stream, "is a client whose buffers do not fit; it does not read its answers");
    clients_part(c);
}

/* ----------------------------------------------------------------------------------------------------- what happens */

/* The client has authenticated, if it has to: records where it comes from and what it has proved. */
static void clients_meet(struct serve_client *c)
{
    const struct session *s = c->client->session;

    clients_known(c);
    if (c->client->session->proved)
        return;
    serve_identify(c->client, c->stream, &c->process);
    serve_say(c->serve, RECORD_DEBUG, "client %" PRIu64 " connects%s%s, as %s", s->id, *s->from ? " from " : "",
              s->from, s->party ? s->party->label : "unknown");
}

static void clients_read(struct stream *stream, const uint8_t *bytes, size_t len)
{
    struct serve_client *c = stream->owner;

    const char *why;

    assert(c->stream == stream && stream_is_known(stream) && len);
    if (!ring_empty(&c->caller.in_door))
        clients_meet(c);
    if (c->relay) {
        struct serve *s = c->serve;

        if (!relay_read(c->relay, bytes, len, &why)) {
            char reason[128];

            snprintf(reason, sizeof reason, "is an agent that has sent %.100s", why);
            serve_log_refusal(s, c->stream, reason);
            clients_part(c);
            serve_do(s);
        }
        return;
    }
    serve_tell_in_turn(c->serve,
                       (struct node_input){.type = NODE_CLIENT_BYTES, .client = c->client, .bytes = bytes, .len = len});
}

/* The kept session of a client whose process has ended ends with the process. A process closes its sockets shortly before it has ended.
 * So if the process seems to live, the daemon looks again for a while (END_MS). */
static void clients_end(struct stream *stream)
{
    struct serve_client *c = stream->owner;
    struct serve *s = c->serve;

    if (!stream_is_known(stream) && *stream_why(stream))
        serve_log_refusal(s, stream, stream_why(stream));
    if (!ring_empty(&c->in_ended)) /* the end was noted before, and now what was still to be written has failed */
        return;
    if (c->client->session->kept && c->process && !clients_is_dead(c)) {
        stream_read(stream, false);
        c->ended_ms = uv_now(&s->loop);
        if (ring_empty(
                &s->ended)) /* else the timer looks often already, and ends that come often shall not put it off */
            serve_be_patient(s, true);
        ring_push(&s->ended, &c->in_ended);
        return;
    }
    clients_part(c);
    serve_do(s);
}

static void clients_room(struct stream *stream)
{
    struct serve_client *c = stream->owner;

    clients_meet(c);
    if (c->relay)
        relay_room(c->relay);
    else
        serve_tell(c->serve, (struct node_input){.type = NODE_CLIENT_ROOM, .client = c->client});
}

/* Prepares a connection over TCP. Returns false if there is no memory for it, or it has ended. */
static bool clients_greet(struct serve_client *c)
{
    struct serve *s = c->serve;
    struct sockaddr_storage address;
    struct tls *tls;
    uv_os_fd_t fd;
    unsigned silence_ms = SILENCE_MS;

    /* A machine that vanishes closes no connection. Its waits must end all the same, whether or not bytes are in flight
     * to it. */
    uv_tcp_nodelay(&c->stream->uv.tcp, 1);
    uv_tcp_keepalive(&c->stream->uv.tcp, 1, KEEPALIVE_S);
    if (uv_fileno((uv_handle_t *)&c->stream->uv.any, &fd) == 0)
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
    if (!s->conf->clients_tls)
        return true;
    tls = serve_peer_address(c->stream, &address) ? tls_answer(s->conf->clients_tls) : NULL;
    if (!tls)
        return false;
    c->caller.stream = c->stream;
    door_enter(&s->unknown, &c->caller, (struct sockaddr *)&address, uv_now(&s->loop));
    serve_be_patient(s, false);
    stream_secure(c->stream, tls);
    return true;
}

static void clients_send_away(struct caller *caller)
{
    clients_part(RING_OF(caller, struct serve_client, caller));
}

void serve_clients_init(struct serve *s)
{
    door_init(&s->unknown, UNKNOWN_MAX, clients_send_away);
    ring_init(&s->ended);
    serve_relays_init(s);
}

/* The first client whose socket has ended, if its process has ended, too, or has not ended for a while; else null. */
static struct serve_client *clients_ended(const struct serve *s)
{
    struct serve_client *c = ring_empty(&s->ended) ? NULL : RING_OF(s->ended.next, struct serve_client, in_ended);

    return c && (clients_is_dead(c) || uv_now(&s->loop) >= c->ended_ms + END_MS) ? c : NULL;
}

bool serve_clients_patience(struct serve *s)
{
    struct caller *late;
    struct stream *silent;
    struct serve_client *ended;

    while (turn_touch(&s->turn) < TURN_NS && (ended = clients_ended(s))) { /* the others in the next turn */
        clients_part(ended);
        serve_do(s);
    }
    while ((late = door_overdue(&s->unknown, uv_now(&s->loop), SERVE_PATIENCE_MS))) {
        struct serve_client *c = RING_OF(late, struct serve_client, caller);

        serve_log_refusal(s, c->stream, "has not authenticated in time");
        clients_part(c);
        serve_do(s);
    }
    while ((silent = relays_silent(s))) {
        serve_log_refusal(s, silent, "is an agent that no longer answers");
        clients_part(silent->owner);
        serve_do(s);
    }
    return s->unknown.count || !ring_empty(&s->relays);
}

/* Are there descriptors and memory left for the client? If not, the client gets an error, and the log a line. */
static bool clients_fits(struct serve_client *c)
{
    bool tcp = c->stream->uv.any.type == UV_TCP;
    const char *full = tcp ? serve_is_short(c->serve) : NULL;
    char line[256];
    uv_os_fd_t fd;

    if (!full && uv_fileno((uv_handle_t *)&c->stream->uv.any, &fd) == 0 && (uint64_t)fd < c->serve->descriptors)
        return true;
    snprintf(line, sizeof line, "-%s %s\r\n", full ? "BUSY" : "ERR",
             full ? full : "this daemon has no room for more clients");
    if (!c->serve->conf->clients_tls || !tcp)
        stream_write(c->stream, (const uint8_t *)line, strlen(line));
    serve_log_refusal(c->serve, c->stream,
                      full ? "is refused, as this daemon has no memory left for it"
                           : "is one client too many; raise the limit of open files (ulimit -n)");
    return false;
}

static void clients_come(uv_stream_t *door, int status)
{
    struct serve *s = door->data;
    bool tcp = door->type == UV_TCP;
    struct serve_client *c;

    if (status < 0 || !serve_lets_in(s, door))
        return;
    c = slab_new(sizeof *c);
    c->user.carry_out = clients_do;
    c->serve = s;
    ring_init(&c->caller.in_door);
    ring_init(&c->in_ended);
    c->stream = stream_new(&s->loop, &s->turn, tcp);
    c->stream->owner = c;
    c->stream->on_read = clients_read;
    c->stream->on_end = clients_end;
    c->stream->on_room = clients_room;
    c->client = client_open(&s->node, c);
    c->client->session->remote = c->client->may_relay = tcp;
    ring_push(&s->clients, &c->in_serve);
    s->node.stats.connections[tcp]++;
    if (uv_accept(door, &c->stream->uv.any) < 0 || !clients_fits(c) || (tcp && !clients_greet(c)))
        clients_part(c);
    else {
        if (!c->stream->tls)
            clients_meet(c);
        stream_read(c->stream, true);
    }
    serve_do(s); /* a caller may have been sent away, and the node was told the time */
}

/* ------------------------------------------------------------------------------------------------------- the socket */

/* Does a process accept connections at this path? If not, *stale says whether a killed daemon has left the file of its socket behind. */
static bool clients_are_served(const char *path, bool *stale)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), answer;
    struct stat file;

    memcpy(address.sun_path, path, strlen(path)); /* it fits: serve_listen_unix has checked that */
    answer = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address);
    *stale = answer < 0 && errno == ECONNREFUSED && lstat(path, &file) == 0 && S_ISSOCK(file.st_mode);
    if (fd >= 0)
        close(fd);
    return answer == 0;
}

/* Two daemons of one path would grant the same locks, each to its own clients. The socket alone does not exclude that: its file may have
 * been removed; and while two daemons start, neither listens yet. So a daemon holds a lock on SOCKET.socket-lock for as long as it runs; the
 * descriptor stays open. A daemon that is about to end has closed its socket already; this one waits for it. Returns 0, or an error. */
static int clients_lock_path(const char *path)
{
    enum { TRIES = 300, PAUSE_MS = 10 };
    char name[sizeof((struct sockaddr_un *)0)->sun_path + 16];
    int fd, error = 0;

    snprintf(name, sizeof name, "%s.socket-lock", path);
    fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    for (unsigned k = 0; fd >= 0 && k < TRIES; k++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        poll(NULL, 0, PAUSE_MS);
    }
    error = errno;
    if (fd >= 0)
        close(fd);
    return error;
}

/* Takes the path for this process. If that is impossible, returns false after a line in the log. */
static bool clients_take_path(struct serve *s, const char *path)
{
    bool stale;
    int error;

    if (clients_are_served(path, &stale)) {
        serve_fail(s, "another process serves %s already; stop it, or choose another path with --socket", path);
        return false;
    }
    error = clients_lock_path(path);
    if (error == EWOULDBLOCK)
        serve_fail(s,
                   "another process serves %s already, though the file of its socket was removed; stop it (fuser "
                   "%s.socket-lock tells its number), or choose another path with --socket",
                   path, path);
    else if (error && error != ENOENT) /* without its directory, uv_pipe_bind fails */
        serve_fail(s, "cannot lock %s.socket-lock: %s; remove that file, or choose another path with --socket", path,
                   strerror(error));
    if (error && error != ENOENT)
        return false;
    if (clients_are_served(path, &stale)) { /* by a program that takes no such lock */
        serve_fail(s, "another process serves %s already; stop it, or choose another path with --socket", path);
        return false;
    }
    if (stale)
        unlink(path);
    return true;
}

static bool clients_has_directory(const char *path)
{
    char dir[sizeof((struct sockaddr_un *)0)->sun_path];
    struct stat file;

    snprintf(dir, sizeof dir, "%s", path);
    return stat(dirname(dir), &file) == 0;
}

/* The reason for an error of libuv that is not specific enough, as a phrase for people. */
static const char *clients_why(const char *path, int error)
{
    if (error == UV_EADDRINUSE)
        return "there is a file of that name, which is no socket";
    if (error == UV_EACCES && !clients_has_directory(path))
        return "its directory does not exist";
    return uv_strerror(error);
}

bool serve_listen_unix(struct serve *s, uv_connection_cb come)
{
    const char *path = s->conf->socket;
    mode_t mask;
    int error;

    uv_pipe_init(&s->loop, &s->clients_door, 0);
    s->clients_door.data = s;
    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path) {
        serve_fail(s, "the path of the socket is too long: %s", path);
        return false;
    }
    if (!clients_take_path(s, path))
        return false;
    mask = umask(0177);
    error = uv_pipe_bind(&s->clients_door, path);
    umask(mask);
    if (!error && s->conf->socket_group && (chown(path, (uid_t)-1, s->conf->socket_gid) || chmod(path, 0660))) {
        serve_fail(s, "cannot give %s to the group %s: %s; only root, or a member of it, can", path,
                   s->conf->socket_group, strerror(errno));
        return false;
    }
    if (!error)
        error = uv_listen((uv_stream_t *)&s->clients_door, BACKLOG, come);
    if (error)
        serve_fail(s, "cannot listen on %s: %s; choose another path with --socket", path, clients_why(path, error));
    return !error;
}

bool serve_clients_start(struct serve *s)
{
    return serve_listen_unix(s, clients_come) &&
           (!s->conf->clients.port ||
            serve_listen(s, &s->clients_tcp_door, &s->conf->clients, "--clients", clients_come));
}

void serve_clients_stop(struct serve *s)
{
    while (!ring_empty(&s->clients)) /* the node ends, too */
        clients_forget(RING_OF(s->clients.next, struct serve_client, in_serve));
    serve_relays_stop(s);
    uv_close((uv_handle_t *)&s->clients_door, NULL); /* libuv removes the file */
    if (s->clients_tcp_door.loop)
        uv_close((uv_handle_t *)&s->clients_tcp_door, NULL);
}
