/* http.c - the connections of the daemon's HTTP server, and its place in the loop. The answers are in http_answer.c.
 * libmicrohttpd parses requests and manages connections.
 *
 * libmicrohttpd runs in the daemon's loop: libuv watches its epoll descriptor, and calls it when the descriptor is
 * readable. So no other thread reads the node's state.
 *
 * Most callers are not authenticated, so their cost is bounded. A connection has one request, and HTTP_PATIENCE_MS for all
 * of it. There are at most HTTP_CALLERS_MAX; door.h chooses the one that has to make room. In one turn of the loop
 * libmicrohttpd handles each connection once. If it has more to do at once, an idle handle calls it in the next turn.
 * (A timer of 0 ms would not do: libuv runs a timer that is started by a timer in the same turn, and would do nothing
 * else as long as there is input.)
 *
 * A request of a browser that has logged in may need the node's answer, which may need other members. Its connection is
 * suspended meanwhile. The node is never told of anything from within libmicrohttpd, since the daemon may end then, and
 * the library with it: requests wait in a ring until the library has returned (http_ask).
 *
 * Only daemons that serve HTTP load the library. It depends on GnuTLS and eight other libraries, and loading them would
 * delay every "dibs lock" by a millisecond or two. */
#include "http_inside.h"

#include "page.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

struct http_library mhd;

#define HTTP_SONAME "libmicrohttpd.so.12"

const char *serve_http_version(void)
{
    void *library = dlopen(HTTP_SONAME, RTLD_NOW | RTLD_LOCAL);
    const char *(*version)(void) = NULL;

    if (library)
        *(void **)&version = dlsym(library, "MHD_get_version");
    return version ? version() : NULL;
}

/* Loads the library. Returns false, after a line in the log, if it is not installed. */
static bool http_load(const struct serve *s)
{
    void *library = dlopen(HTTP_SONAME, RTLD_NOW | RTLD_LOCAL);
    bool found = library;

#define HTTP_LOAD(name) found = found && (*(void **)&mhd.name = dlsym(library, "MHD_" #name));
    HTTP_FUNCTIONS(HTTP_LOAD)
    if (!found)
        serve_fail(s, "HTTP needs libmicrohttpd: install the package libmicrohttpd12, or leave out --http");
    return found;
}

uint64_t http_now_ms(const struct http *h)
{
    return uv_now(&h->serve->loop);
}

bool http_random(uint8_t *bytes, size_t len)
{
    return getrandom(bytes, len, 0) == (ssize_t)len;
}

/* ----------------------------------------------------------------------------------------------------------- requests */

static http_result http_hear(void *user, struct MHD_Connection *from, const char *url, const char *method,
                             const char *version, const char *body, size_t *body_len, void **seen)
{
    struct http_request *r = *seen;
    bool known;

    (void)version;
    if (!r) { /* the head; the answer comes after the body */
        *seen = r = mem_new(sizeof *r);
        ring_init(&r->in_http);
        r->http = user;
        r->connection = from;
        r->route = http_find_route(user, url, method, &known);
        return MHD_YES;
    }
    if (*body_len) {
        r->too_long |= bytes_len(&r->body) + *body_len > HTTP_BODY_MAX;
        if (r->too_long)
            bytes_free(&r->body);
        else
            memcpy(bytes_add(&r->body, *body_len), body, *body_len);
        *body_len = 0;
        return MHD_YES;
    }
    http_find_route(user, url, method, &known);
    return http_answer_request(r, known);
}

/* The connection is over, or the request has been answered: the visits are closed later (http_work). */
static void http_over(void *user, struct MHD_Connection *connection, void **seen, enum MHD_RequestTerminationCode why)
{
    struct http *h = user;
    struct http_request *r = *seen;

    (void)connection;
    (void)why;
    if (!r)
        return;
    h->reader_count -= r->follows;
    ring_cut(&r->in_http);
    ring_push(&h->finished, &r->in_http);
    *seen = NULL;
}

void http_suspend(struct http_request *r)
{
    r->suspended = true;
    mhd.suspend_connection(r->connection);
}

void http_put(struct http_request *r)
{
    ring_push(&r->http->asking, &r->in_http);
    http_stir(r->http);
}

static void http_news(void *owner)
{
    http_stir(((struct http_request *)owner)->http);
}

/* Puts the requests that wait for it to the node. Returns false if the daemon ends. */
static bool http_ask(struct http *h)
{
    struct serve *s = h->serve;

    while (!ring_empty(&h->asking)) {
        struct http_request *r = RING_OF(h->asking.next, struct http_request, in_http);

        ring_cut(&r->in_http);
        ring_push(r->follows ? &h->readers : &h->asked, &r->in_http);
        r->due_ms = http_now_ms(h) + (r->follows ? HTTP_SILENCE_MS : HTTP_ANSWER_MS);
        for (unsigned k = 0; k < r->count; k++) {
            struct http_ask *a = &r->ask[k];

            a->visit = visit_open(s, r->who, r->login.from, &h->replies, http_news, r);
            visit_say(s, a->visit, &a->commands);
        }
        serve_do(s);
        if (s->http != h)
            return false;
        http_stir(h);
    }
    return true;
}

static void http_free_request(struct http_request *r, bool tells)
{
    for (unsigned k = 0; k < r->count; k++) {
        bytes_free(&r->ask[k].commands);
        if (r->ask[k].visit && tells)
            visit_close(r->http->serve, r->ask[k].visit);
        else if (r->ask[k].visit)
            visit_forget(r->ask[k].visit);
    }
    ring_cut(&r->in_http);
    bytes_free(&r->body);
    bytes_free(&r->events);
    rights_free(r->who);
    free(r);
}

/* Closes the visits of requests that are over. Returns false if the daemon ends. */
static bool http_finish(struct http *h)
{
    struct serve *s = h->serve;
    bool any = !ring_empty(&h->finished);

    while (!ring_empty(&h->finished))
        http_free_request(RING_OF(h->finished.next, struct http_request, in_http), true);
    if (any && !s->conf->agent) /* an agent has no node, and no visits */
        serve_do(s);
    return s->http == h;
}

static bool http_is_answered(const struct http_request *r)
{
    for (unsigned k = 0; k < r->count; k++)
        if (!visit_is_done(r->ask[k].visit))
            return false;
    return true;
}

/* Resumes the connections of requests that can be answered, some of them in a turn, and of readers with news. */
static void http_resume(struct http *h)
{
    enum { PIECE = 4 };
    unsigned left = PIECE;

    for (struct ring *at = h->asked.next, *next; at != &h->asked; at = next) {
        struct http_request *r = RING_OF(at, struct http_request, in_http);
        bool answered = http_is_answered(r);

        next = at->next;
        if (!answered && http_now_ms(h) < r->due_ms)
            continue;
        if (!left--) {
            http_stir(h);
            break;
        }
        ring_cut(&r->in_http);
        r->is_asked = true;
        r->late = !answered;
        r->suspended = false;
        mhd.resume_connection(r->connection);
    }
    for (struct ring *at = h->readers.next; at != &h->readers; at = at->next)
        http_mind_reader(RING_OF(at, struct http_request, in_http));
}

/* ----------------------------------------------------------------------------------------------------------- the loop */

/* Shuts the connection down; libmicrohttpd notices that and closes it. */
static void http_send_away(struct caller *caller)
{
    shutdown(RING_OF(caller, struct http_caller, caller)->fd, SHUT_RDWR);
}

static void http_comes_or_goes(void *user, struct MHD_Connection *connection, void **context,
                               enum MHD_ConnectionNotificationCode what)
{
    struct http *h = user;
    struct http_caller *c = *context;
    int piece = HTTP_PIECE;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        door_leave(&h->door, &c->caller);
        free(c);
        return;
    }
    *context = c = mem_new(sizeof *c);
    ring_init(&c->caller.in_door);
    c->fd = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &piece, sizeof piece);
    door_enter(&h->door, &c->caller,
               mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr,
               uv_now(&h->serve->loop));
}

static void http_wake(uv_timer_t *timer);
static void http_go_on(uv_idle_t *again);

void http_stir(struct http *h)
{
    h->stirred = true;
    uv_idle_start(&h->again, http_go_on);
}

static void http_work(struct http *h)
{
    MHD_UNSIGNED_LONG_LONG ms = UINT_MAX;
    struct caller *late;
    unsigned before;

    while ((late = door_overdue(&h->door, uv_now(&h->serve->loop), HTTP_PATIENCE_MS)))
        http_send_away(late);
    before = mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
    h->stirred = false;
    http_resume(h);
    mhd.run(h->daemon);
    if (!http_ask(h) || !http_finish(h))
        return;
    if (mhd.get_timeout(h->daemon, &ms) == MHD_YES && ms > HTTP_PATIENCE_MS / 5)
        ms = HTTP_PATIENCE_MS / 5;
    /* At its limit libmicrohttpd does not listen. It listens again in the turn after the one in which a connection was
     * closed. */
    if (mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections < before)
        ms = 0;
    uv_timer_stop(&h->timer);
    uv_idle_stop(&h->again);
    if (ms == 0 || h->stirred)
        uv_idle_start(&h->again, http_go_on);
    else if (h->door.count || h->reader_count || !ring_empty(&h->asked))
        uv_timer_start(&h->timer, http_wake, ms < HTTP_PATIENCE_MS ? ms : HTTP_PATIENCE_MS / 5, 0);
}

static void http_wake(uv_timer_t *timer)
{
    http_work(timer->data);
}

static void http_go_on(uv_idle_t *again)
{
    http_work(again->data);
}

static void http_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    http_work(poll->data);
}

const char *serve_http_invite(struct serve *s, const struct rights_who *who, const char *from, char *url, size_t size)
{
    const struct serve_member *at = &s->conf->http;
    bool v6 = strchr(at->host, ':');
    uint8_t random[LOGINS_RANDOM];

    if (!s->http)
        return "this daemon has no page: start it with --http 127.0.0.1:7480";
    if (!conf_is_on_loopback(at->host))
        return "the page of this daemon is not on loopback, and HTTP does not protect what it shows: start the daemon "
               "with --http 127.0.0.1:7480, and reach it from elsewhere by ssh -L 7480:127.0.0.1:7480";
    if (!http_random(random, sizeof random))
        return "there are no random numbers on this machine";
    snprintf(url, size, "http://%s%s%s:%d/#login=%s", v6 ? "[" : "", at->host, v6 ? "]" : "", at->port,
             logins_invite(&s->http->logins, who, from, random, http_now_ms(s->http)));
    return NULL;
}

bool serve_http_start(struct serve *s)
{
    const struct serve_member *at = &s->conf->http;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (strchr(at->host, ':') ? MHD_USE_IPv6 : 0);
    const union MHD_DaemonInfo *info;
    struct sockaddr_storage address;
    struct http *h;
    uint32_t random = 0;
    char wrong[256];

    if (!at->port)
        return true;
    if (!http_load(s))
        return false;
    h = s->http = calloc(1, sizeof *h);
    if (!h)
        return false;
    h->serve = s;
    if (!s->conf->agent)
        h->page = page_read(NULL, &h->page_len, wrong, sizeof wrong);
    door_init(&h->door, HTTP_CALLERS_MAX, http_send_away);
    ring_init(&h->asking);
    ring_init(&h->asked);
    ring_init(&h->readers);
    ring_init(&h->finished);
    http_random((uint8_t *)&random, sizeof random);
    snprintf(h->cookie, sizeof h->cookie, "dibs-%08x", (unsigned)random);
    serve_address(at, &address);
    h->daemon = mhd.start_daemon(flags, (uint16_t)at->port, NULL, NULL, http_hear, h, MHD_OPTION_SOCK_ADDR, &address,
                                 MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,
                                 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_S,
                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
                                 http_comes_or_goes, h, MHD_OPTION_NOTIFY_COMPLETED, http_over, h, MHD_OPTION_END);
    info = h->daemon ? mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info || uv_poll_init(&s->loop, &h->poll, info->epoll_fd) < 0) {
        serve_fail(s, "cannot listen on %s:%d for HTTP; choose another port with --http", at->host, at->port);
        serve_http_stop(s);
        return false;
    }
    uv_timer_init(&s->loop, &h->timer);
    uv_idle_init(&s->loop, &h->again);
    h->poll.data = h->timer.data = h->again.data = h;
    h->open = 3;
    uv_poll_start(&h->poll, UV_READABLE, http_readable);
    return true;
}

static void http_closed(uv_handle_t *handle)
{
    struct http *h = handle->data;

    if (--h->open == 0) {
        logins_free(&h->logins);
        free(h->page);
        free(h);
    }
}

/* Ends the library, which must have no suspended connections then, and forgets all requests. */
static void http_end(struct http *h)
{
    struct ring *const rings[] = {&h->asking, &h->asked, &h->readers};

    for (unsigned k = 0; k < sizeof rings / sizeof rings[0]; k++)
        for (struct ring *at = rings[k]->next; at != rings[k]; at = at->next) {
            struct http_request *r = RING_OF(at, struct http_request, in_http);

            r->ended = r->is_asked = true;
            if (r->suspended)
                mhd.resume_connection(r->connection);
            r->suspended = false;
        }
    mhd.stop_daemon(h->daemon);
    while (!ring_empty(&h->finished))
        http_free_request(RING_OF(h->finished.next, struct http_request, in_http), false);
}

void serve_http_stop(struct serve *s)
{
    struct http *h = s->http;

    s->http = NULL;
    if (!h)
        return;
    if (h->open)
        uv_poll_stop(&h->poll);
    if (h->daemon)
        http_end(h);
    if (!h->open) {
        logins_free(&h->logins);
        free(h->page);
        free(h);
        return;
    }
    uv_close((uv_handle_t *)&h->poll, http_closed);
    uv_close((uv_handle_t *)&h->timer, http_closed);
    uv_close((uv_handle_t *)&h->again, http_closed);
}
