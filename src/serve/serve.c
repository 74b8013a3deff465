/* serve.c - see serve.h. */
#include "serve.h"

#include "http.h"

#include "lab/memory.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

void serve_log(const struct serve *s, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "dibs: %s: ", s->conf->member[s->conf->self].name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
}

void serve_log_refusal(struct serve *s, const struct stream *stream, const char *reason)
{
    enum { SOON_MS = 1000, LATER_MS = 60000 };
    struct serve_refusals *r = &s->refusals;
    bool again = strcmp(r->told, reason) == 0;
    struct sockaddr_storage address;
    int len = sizeof address;
    char name[64] = "somewhere", more[48] = "";

    if (r->told_ms && uv_now(&s->loop) - r->told_ms < (again ? LATER_MS : SOON_MS)) {
        r->untold++;
        return;
    }
    if (uv_tcp_getpeername(&stream->uv.tcp, (struct sockaddr *)&address, &len) == 0)
        uv_ip_name((struct sockaddr *)&address, name, sizeof name);
    if (r->untold)
        snprintf(more, sizeof more, " (%" PRIu64 " more since the last one)", r->untold);
    serve_log(s, "a connection from %s was refused: it %s%s", name, reason, more);
    snprintf(r->told, sizeof r->told, "%s", reason);
    r->told_ms = uv_now(&s->loop);
    r->untold = 0;
}

static void serve_look_at_doors(uv_timer_t *timer)
{
    struct serve *s = timer->data;
    bool peers = serve_peers_patience(s), clients = serve_clients_patience(s);

    if (peers || clients)
        serve_be_patient(s);
    serve_work(s);
}

void serve_be_patient(struct serve *s)
{
    if (!uv_is_active((uv_handle_t *)&s->patience) && !s->stopping)
        uv_timer_start(&s->patience, serve_look_at_doors, SERVE_PATIENCE_MS / 5, 0);
}

void serve_address(const struct serve_member *m, struct sockaddr_storage *address)
{
    if (uv_ip4_addr(m->host, m->port, (struct sockaddr_in *)address) != 0)
        uv_ip6_addr(m->host, m->port, (struct sockaddr_in6 *)address);
}

bool serve_listen(struct serve *s, uv_tcp_t *door, const struct serve_member *at, uv_connection_cb come)
{
    enum { BACKLOG = 512 };
    struct sockaddr_storage address;
    int error;

    uv_tcp_init(&s->loop, door);
    door->data = s;
    serve_address(at, &address);
    error = uv_tcp_bind(door, (struct sockaddr *)&address, 0);
    if (!error)
        error = uv_listen((uv_stream_t *)door, BACKLOG, come);
    if (error)
        serve_log(s, "cannot listen on %s:%d: %s", at->host, at->port, uv_strerror(error));
    return !error;
}

static void serve_due(uv_timer_t *timer)
{
    serve_work(timer->data);
}

static void serve_set_timer(struct serve *s)
{
    uint64_t due = node_due_ms(&s->node), now = uv_now(&s->loop);

    if (due == UINT64_MAX)
        uv_timer_stop(&s->due);
    else
        uv_timer_start(&s->due, serve_due, due > now ? due - now : 0, 0);
}

void serve_work(struct serve *s)
{
    if (s->stopping)
        return;
    node_advance(&s->node, uv_now(&s->loop));
    node_pump(&s->node);
    serve_clients_work(s);
    serve_peers_flush(s);
    serve_set_timer(s);
    if (node_is_open(&s->node) && !s->was_open && s->conf->n > 1)
        serve_log(s, "all %u members have met: locks are granted from now on", s->conf->n);
    s->was_open = node_is_open(&s->node);
}

static void serve_stop(uv_signal_t *signal, int number)
{
    struct serve *s = signal->data;

    if (s->stopping)
        return;
    serve_log(s, "%s: ends; all locks of its clients are released", strsignal(number));
    s->stopping = true;
    serve_http_stop(s);
    serve_clients_stop(s);
    serve_peers_stop(s);
    uv_close((uv_handle_t *)&s->due, NULL);
    uv_close((uv_handle_t *)&s->patience, NULL);
    uv_close((uv_handle_t *)&s->term, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
}

/* A life of this member is told from all others by chance, and its fences from those of former lives by the clock. */
static void serve_begin_life(struct serve *s)
{
    struct timespec now;
    struct node_conf conf = {.n = s->conf->n,
                             .self = s->conf->self,
                             .name = s->names,
                             .summary = s->conf->summary,
                             .modes = s->conf->modes,
                             .slots = s->conf->slots,
                             .policy = s->conf->policy,
                             .policies = s->conf->policies};

    for (uint32_t j = 0; j < s->conf->n; j++)
        s->names[j] = s->conf->member[j].name;
    clock_gettime(CLOCK_REALTIME, &now);
    conf.fence = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    if (getrandom(&conf.incarnation, sizeof conf.incarnation, 0) != sizeof conf.incarnation)
        conf.incarnation = conf.fence; /* no chance to be had: the clock will do */
    conf.incarnation |= 1;
    node_init(&s->node, &conf);
}

static void serve_watch(struct serve *s)
{
    uv_signal_init(&s->loop, &s->term);
    uv_signal_init(&s->loop, &s->interrupt);
    s->term.data = s->interrupt.data = s;
    uv_signal_start(&s->term, serve_stop, SIGTERM);
    uv_signal_start(&s->interrupt, serve_stop, SIGINT);
}

static void serve_tell(const struct serve *s)
{
    const struct serve_conf *conf = s->conf;

    serve_log(s, "serves %s%s", conf->socket, conf->n > 1 ? "" : "; a cluster of one, for clients of this machine");
    if (conf->n > 1)
        serve_log(s, "talks to the other members %s", conf_door(conf, true));
    if (conf->clients.port)
        serve_log(s, "serves %s:%d as well, %s", conf->clients.host, conf->clients.port, conf_door(conf, false));
    if (conf->http.port)
        serve_log(s, "tells its metrics at http://%s:%d/metrics to whoever asks", conf->http.host, conf->http.port);
}

int serve_run(const struct serve_conf *conf)
{
    struct serve *s = mem_new(sizeof *s);
    bool started;

    s->conf = conf;
    ring_init(&s->strangers);
    ring_init(&s->clients);
    ring_init(&s->news);
    ring_init(&s->unknown);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&s->loop);
    uv_timer_init(&s->loop, &s->due);
    uv_timer_init(&s->loop, &s->patience);
    s->due.data = s->patience.data = s;
    serve_begin_life(s);
    started = serve_clients_start(s) && serve_http_start(s) && serve_peers_start(s);
    if (started) {
        serve_watch(s);
        serve_tell(s);
        serve_work(s);
    } else {
        s->stopping = true;
        serve_http_stop(s);
        serve_clients_stop(s);
        uv_close((uv_handle_t *)&s->due, NULL);
        uv_close((uv_handle_t *)&s->patience, NULL);
    }
    uv_run(&s->loop, UV_RUN_DEFAULT);
    uv_loop_close(&s->loop);
    node_free(&s->node);
    free(s);
    return started ? 0 : 1;
}
