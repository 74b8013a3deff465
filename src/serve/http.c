/* http.c - an HTTP server for /metrics (Prometheus), /healthz (a supervisor that restarts the daemon), /status.json
 * (scripts) and / (the web page of page.h, for people; it shows the other three). libmicrohttpd parses requests and manages connections.
 *
 * libmicrohttpd runs in the daemon's loop: libuv watches its epoll descriptor, and calls it when the descriptor is
 * readable. So no other thread reads the node's state. An answer takes well under a millisecond, since it is made from
 * the node's counters.
 *
 * Callers are not authenticated, so their cost is bounded. A connection has one request, and HTTP_PATIENCE_MS for all
 * of it. There are at most HTTP_CALLERS_MAX; door.h chooses the one that has to make room. In one turn of the loop
 * libmicrohttpd handles each connection once. If it has more to do at once, an idle handle calls it in the next turn.
 * (A timer of 0 ms would not do: libuv runs a timer that is started by a timer in the same turn, and would do nothing
 * else as long as there is input.)
 *
 * Only daemons that serve HTTP load the library. It depends on GnuTLS and eight other libraries, and loading them would
 * delay every "dibs lock" by a millisecond or two. */
#include "http.h"

#include "door.h"
#include "page.h"

#include "base/memory.h"
#include "command/command.h"
#include "node/metrics.h"

#include <dlfcn.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#if MHD_VERSION >= 0x00097002
typedef enum MHD_Result http_result;
#else
typedef int http_result;
#endif

enum {
    HTTP_CALLERS_MAX = 32,
    HTTP_CONNECTIONS_MAX = 64, /* including those that have been sent away and are not closed yet */
    HTTP_PATIENCE_MS = 5000,
    HTTP_IDLE_S = 10,
    HTTP_MEMORY = 16384,
    HTTP_PIECE =
        1 << 16 /* bytes of an answer that the system takes at once: the page is long, and all callers may want it */
};

/* The functions of libmicrohttpd that are used, by their names. */
#define HTTP_FUNCTIONS(F)                                                                                              \
    F(start_daemon)                                                                                                    \
    F(stop_daemon)                                                                                                     \
    F(get_daemon_info)                                                                                                 \
    F(get_connection_info)                                                                                             \
    F(get_timeout) F(run) F(queue_response) F(create_response_from_buffer) F(add_response_header) F(destroy_response)

static struct {
#define HTTP_POINTER(name) __typeof__(MHD_##name) *name;
    HTTP_FUNCTIONS(HTTP_POINTER)
} mhd;

/* Loads the library. Returns false, after a line in the log, if it is not installed. */
static bool http_load(const struct serve *s)
{
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    bool found = library;

#define HTTP_LOAD(name) found = found && (*(void **)&mhd.name = dlsym(library, "MHD_" #name));
    HTTP_FUNCTIONS(HTTP_LOAD)
    if (!found)
        serve_log(s, "HTTP needs libmicrohttpd: install the package libmicrohttpd12, or leave out --http");
    return found;
}

struct http {
    struct serve *serve;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_idle_t again; /* active: libmicrohttpd has more to do in the next turn */
    struct door door;
    char *page; /* or null: it is not installed */
    size_t page_len;
    int open; /* handles of libuv */
};

/* A connection. */
struct http_caller {
    struct caller caller;
    int fd;
};

/* --------------------------------------------------------------------------------------------------------------- JSON */

/* Converts a reply of the node, in version 3 of the Redis protocol, to JSON. It is our own reply, so it is complete and
 * valid. */
static const char *http_json(const char *at, FILE *to)
{
    const char *end = strstr(at, "\r\n"), *rest = end + 2;
    unsigned long number = strtoul(at + 1, NULL, 10);

    switch (*at) {
    case ':':
        fprintf(to, "%lu", number);
        return rest;
    case '#':
        fputs(at[1] == 't' ? "true" : "false", to);
        return rest;
    case '$':
        putc('"', to);
        for (unsigned long k = 0; k < number; k++)
            if (rest[k] == '"' || rest[k] == '\\')
                fprintf(to, "\\%c", rest[k]);
            else if ((unsigned char)rest[k] < ' ')
                fprintf(to, "\\u%04x", rest[k]);
            else
                putc(rest[k], to);
        putc('"', to);
        return rest + number + 2;
    default: /* % or * */
        putc(*at == '%' ? '{' : '[', to);
        for (unsigned long k = 0; k < number; k++) {
            fprintf(to, k ? ", " : "");
            if (*at == '%') {
                rest = http_json(rest, to);
                fprintf(to, ": ");
            }
            rest = http_json(rest, to);
        }
        putc(*at == '%' ? '}' : ']', to);
        return rest;
    }
}

/* Returns the status as JSON, or null if there is no memory. */
static char *http_status(struct node *node, size_t *len)
{
    struct session nobody = {.node = node};
    struct client c = {.session = &nobody, .protocol = 3};
    const struct resp_request request = {.count = 1, .word = {{"STATUS", 6}}};
    char *text = NULL;
    FILE *to = open_memstream(&text, len);
    bool whole;

    if (!to)
        return NULL;
    ring_init(&nobody.subscriptions);
    client_execute(&c, &request);
    *bytes_add(&c.out, 1) = '\0';
    http_json((const char *)c.out.at, to);
    putc('\n', to);
    whole = !ferror(to);
    bytes_free(&c.out);
    if (fclose(to) == 0 && whole)
        return text;
    free(text);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ answers */

/* Sends an answer. If there is no memory for it, the connection is closed. */
static http_result http_send(struct MHD_Connection *to, unsigned status, const char *type, char *text, size_t len)
{
    struct MHD_Response *r = text ? mhd.create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE) : NULL;
    http_result result;

    if (!r) {
        free(text);
        return MHD_NO;
    }
    mhd.add_response_header(r, "Content-Type", type);
    mhd.add_response_header(r, "Connection", "close");
    mhd.add_response_header(r, "Cache-Control", "no-store");
    mhd.add_response_header(r, "X-Content-Type-Options", "nosniff");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        mhd.add_response_header(r, "Allow", "GET, HEAD");
    result = mhd.queue_response(to, status, r);
    mhd.destroy_response(r);
    return result;
}

static http_result http_line(struct MHD_Connection *to, unsigned status, const char *line)
{
    size_t len = strlen(line);

    return http_send(to, status, "text/plain; charset=utf-8", strdup(line), len);
}

/* The page is the same for all, and is not copied. */
static http_result http_send_page(const struct http *h, struct MHD_Connection *to)
{
    struct MHD_Response *r = mhd.create_response_from_buffer(h->page_len, h->page, MHD_RESPMEM_PERSISTENT);
    http_result result;

    if (!r)
        return MHD_NO;
    for (unsigned k = 0; page_headers[k][0]; k++)
        mhd.add_response_header(r, page_headers[k][0], page_headers[k][1]);
    mhd.add_response_header(r, "Connection", "close");
    result = mhd.queue_response(to, MHD_HTTP_OK, r);
    mhd.destroy_response(r);
    return result;
}

static http_result http_answer(void *user, struct MHD_Connection *from, const char *url, const char *method,
                               const char *version, const char *body, size_t *body_len, void **seen)
{
    struct http *h = user;
    struct node *node = &h->serve->node;
    struct bytes metrics = {0};
    char line[128];
    size_t len;

    (void)version;
    (void)body;
    if (!*seen || *body_len) { /* the head, or a part of the body, which is ignored; the answer comes after it */
        *seen = h;
        *body_len = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return http_line(from, MHD_HTTP_METHOD_NOT_ALLOWED, "there is nothing to change here\n");
    if (strcmp(url, "/metrics") == 0) {
        metrics_write(node, &metrics);
        return http_send(from, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", (char *)metrics.at,
                         bytes_len(&metrics));
    }
    if (strcmp(url, "/status.json") == 0) {
        char *text = http_status(node, &len);

        return http_send(from, MHD_HTTP_OK, "application/json", text, len);
    }
    if (strcmp(url, "/healthz") == 0) {
        snprintf(line, sizeof line, "%s\n", node_is_open(node) ? "ok" : node_why_not(node));
        return http_line(from, node_is_open(node) ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, line);
    }
    if (strcmp(url, "/") == 0 && h->page)
        return http_send_page(h, from);
    return http_line(from, MHD_HTTP_NOT_FOUND,
                     h->page ? "there are /, /metrics, /healthz and /status.json\n"
                             : "there are /metrics, /healthz and /status.json; the page is not installed\n");
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

static void http_work(struct http *h)
{
    MHD_UNSIGNED_LONG_LONG ms = UINT_MAX;
    struct caller *late;
    unsigned before;

    while ((late = door_overdue(&h->door, uv_now(&h->serve->loop), HTTP_PATIENCE_MS)))
        http_send_away(late);
    before = mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
    mhd.run(h->daemon);
    if (mhd.get_timeout(h->daemon, &ms) == MHD_YES && ms > HTTP_PATIENCE_MS / 5)
        ms = HTTP_PATIENCE_MS / 5;
    /* At its limit libmicrohttpd does not listen. It listens again in the turn after the one in which a connection was
     * closed. */
    if (mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections < before)
        ms = 0;
    uv_timer_stop(&h->timer);
    uv_idle_stop(&h->again);
    if (ms == 0)
        uv_idle_start(&h->again, http_go_on);
    else if (h->door.count)
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

bool serve_http_start(struct serve *s)
{
    const struct serve_member *at = &s->conf->http;
    unsigned flags = MHD_USE_EPOLL | (strchr(at->host, ':') ? MHD_USE_IPv6 : 0);
    const union MHD_DaemonInfo *info;
    struct sockaddr_storage address;
    struct http *h;
    char wrong[256];

    if (!at->port)
        return true;
    if (!http_load(s))
        return false;
    h = s->http = calloc(1, sizeof *h);
    if (!h)
        return false;
    h->serve = s;
    h->page = page_read(NULL, &h->page_len, wrong, sizeof wrong);
    door_init(&h->door, HTTP_CALLERS_MAX, http_send_away);
    serve_address(at, &address);
    h->daemon =
        mhd.start_daemon(flags, (uint16_t)at->port, NULL, NULL, http_answer, h, MHD_OPTION_SOCK_ADDR, &address,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
                         (unsigned)HTTP_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY,
                         MHD_OPTION_NOTIFY_CONNECTION, http_comes_or_goes, h, MHD_OPTION_END);
    info = h->daemon ? mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info || uv_poll_init(&s->loop, &h->poll, info->epoll_fd) < 0) {
        serve_log(s, "cannot listen on %s:%d for HTTP; choose another port with --http", at->host, at->port);
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
        free(h->page);
        free(h);
    }
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
        mhd.stop_daemon(h->daemon);
    if (!h->open) {
        free(h->page);
        free(h);
        return;
    }
    uv_close((uv_handle_t *)&h->poll, http_closed);
    uv_close((uv_handle_t *)&h->timer, http_closed);
    uv_close((uv_handle_t *)&h->again, http_closed);
}
