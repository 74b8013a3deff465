/* serve.c - see serve.h. */
#include "serve.h"

#include "agent.h"
#include "http.h"
#include "log.h"
#include "relays.h"

#include "alg/list.h"
#include "base/memory.h"
#include "base/spin.h"
#include "node/rules.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY_MUCH = 1 << 24, MEMORY_LOOK_MS = 1000 };

struct log_record serve_record(const struct serve *s, enum record_level level)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (struct log_record){.level = level,
                               .time_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
                               .member = s->conf->member[s->conf->self].name};
}

void serve_say(const struct serve *s, enum record_level level, const char *format, ...)
{
    char text[RECORD_LINE_MAX / 2], line[RECORD_LINE_MAX];
    struct log_record r;
    va_list args;

    if (level > s->conf->log_level)
        return;
    r = serve_record(s, level);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r.text = text;
    log_line(s->log, line, record_print(&r, s->conf->log_format, line));
}

/* Prints the line that says how many lines were dropped. */
static size_t serve_print_gap(const struct serve *s, enum record_format format, uint64_t dropped,
                              char line[RECORD_LINE_MAX])
{
    char text[128];
    struct log_record r = serve_record(s, RECORD_WARNING);

    snprintf(text, sizeof text, "%" PRIu64 " lines of this log were dropped, as they were not read in time", dropped);
    r.text = text;
    return record_print(&r, format, line);
}

static size_t serve_log_gap(void *user, uint64_t dropped, char *line)
{
    const struct serve *s = user;

    return serve_print_gap(s, s->conf->log_format, dropped, line);
}

static size_t serve_trail_gap(void *user, uint64_t dropped, char *line)
{
    return serve_print_gap(user, RECORD_JSON, dropped, line);
}

/* Opens the log, and the audit trail. Returns false after a line in the log if that fails. */
static bool serve_open_logs(struct serve *s)
{
    s->log = log_open(STDERR_FILENO, NULL, LOG_ROOM, serve_log_gap, s);
    if (s->conf->audit && !(s->trail = log_open(-1, s->conf->audit, LOG_AUDIT_ROOM, serve_trail_gap, s)))
        serve_fail(s, "cannot append to the audit trail %s: %s; choose another file with --audit", s->conf->audit,
                   strerror(errno));
    return !s->conf->audit || s->trail;
}

void serve_log_refusal(struct serve *s, const struct stream *stream, const char *reason)
{
    enum { SOON_MS = 1000, LATER_MS = 60000 };
    struct serve_refusals *r = &s->refusals;
    bool again = strcmp(r->told, reason) == 0;
    struct sockaddr_storage address;
    char name[64] = "somewhere", more[48] = "";

    if (r->told_ms && uv_now(&s->loop) - r->told_ms < (again ? LATER_MS : SOON_MS)) {
        r->untold++;
        return;
    }
    if (serve_peer_address(stream, &address))
        uv_ip_name((struct sockaddr *)&address, name, sizeof name);
    if (r->untold)
        snprintf(more, sizeof more, " (%" PRIu64 " more since the last one)", r->untold);
    serve_warn(s, "a connection from %s was refused: it %s%s", name, reason, more);
    snprintf(r->told, sizeof r->told, "%s", reason);
    r->told_ms = uv_now(&s->loop);
    r->untold = 0;
}

static void serve_look_at_doors(uv_timer_t *timer)
{
    struct serve *s = timer->data;
    bool peers = serve_peers_patience(s), clients = serve_clients_patience(s);

    if (peers || clients || !ring_empty(&s->ended))
        serve_be_patient(s, !ring_empty(&s->ended));
}

void serve_be_patient(struct serve *s, bool soon)
{
    if ((soon || !uv_is_active((uv_handle_t *)&s->patience)) && !s->stopping)
        uv_timer_start(&s->patience, serve_look_at_doors, soon ? SERVE_LOOK_MS : SERVE_PATIENCE_MS / 5, 0);
}

bool serve_peer_address(const struct stream *stream, struct sockaddr_storage *address)
{
    int len = sizeof *address;

    memset(address, 0, sizeof *address);
    return uv_tcp_getpeername(&stream->uv.tcp, (struct sockaddr *)address, &len) == 0;
}

bool serve_address(const struct serve_member *m, struct sockaddr_storage *address)
{
    memset(address, 0, sizeof *address);
    return uv_ip4_addr(m->host, m->port, (struct sockaddr_in *)address) == 0 ||
           uv_ip6_addr(m->host, m->port, (struct sockaddr_in6 *)address) == 0;
}

bool serve_listen(struct serve *s, uv_tcp_t *door, const struct serve_member *at, const char *option,
                  uv_connection_cb come)
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
        serve_fail(s, "cannot listen on %s:%d: %s; choose another place with %s", at->host, at->port,
                   uv_strerror(error), option);
    return !error;
}

/* Leases need a clock that cannot be set, and that goes on while the machine sleeps. */
uint64_t serve_lease_ms(const struct serve *s)
{
    return s->node.agree ? s->node.conf.lease_ms : s->conf->lease_ms;
}

static uint64_t serve_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Work that is done in pieces is due at once again, and each piece has to have a turn of its own (I31). libuv calls a timer that was started with
 * a delay of 0 again before it looks at connections; likewise one whose time has come while another timer's work was done. */
static void serve_due(uv_timer_t *timer)
{
    struct serve *s = timer->data;

    if (s->was_due) {
        uv_timer_start(timer, serve_due, 1, 0);
        return;
    }
    s->was_due = true;
    serve_tell(s, (struct node_input){.type = NODE_TIME});
}

static void serve_set_timer(struct serve *s)
{
    uint64_t due = node_due_ms(&s->node), now = serve_now_ms();

    if (s->leave_by_ms && s->leave_by_ms < due)
        due = s->leave_by_ms;
    if (s->memory_most >= MEMORY_MUCH && due > now + MEMORY_LOOK_MS) /* some memory may be free by then */
        due = now + MEMORY_LOOK_MS;
    if (due == s->due_ms && uv_is_active((uv_handle_t *)&s->due))
        return;
    s->due_ms = due;
    uv_update_time(&s->loop);
    if (due == UINT64_MAX)
        uv_timer_stop(&s->due);
    else
        uv_timer_start(&s->due, serve_due, due > now ? due - now : 1, 0); /* see serve_due */
}

/* The C library keeps freed memory between blocks that are in use. When many buffers have been freed, this tells it to give them back
 * to the system, and counts that as part of a turn. The library visits every free block in one piece. Blocks of which there may be very many are not
 * among them (base/slab.h), and buffers are bounded (clients.c). */
static void serve_give_back_memory(struct serve *s)
{
    if (s->buffered > s->memory_most)
        s->memory_most = s->buffered;
    if (s->memory_most < MEMORY_MUCH || s->buffered > s->memory_most / 2)
        return;
    turn_touch(&s->turn);
    malloc_trim(0);
    s->memory_most = s->buffered;
}

/* A long turn delays heartbeats and all clients, so it is logged, with what the node was told in it. */
static void serve_end_turn(struct serve *s)
{
    enum { SOON_MS = 1000 };
    static const char *const what[] = {[NODE_TIME] = "the time",
                                       [NODE_PEER_OPENED] = "a connection to a member",
                                       [NODE_PEER_BYTES] = "bytes of a member",
                                       [NODE_PEER_ROOM] = "room for bytes to a member",
                                       [NODE_PEER_CLOSED] = "the end of a connection to a member",
                                       [NODE_CLIENT_BYTES] = "bytes of a client",
                                       [NODE_CLIENT_ROOM] = "room for bytes to a client",
                                       [NODE_CLIENT_CLOSED] = "a client that has gone",
                                       [NODE_CLIENT_BROKEN] = "a client whose connection has broken",
                                       [NODE_WRITTEN] = "the disk",
                                       [NODE_LEAVE] = "the end of the daemon",
                                       [NODE_GO_ON] = "commands of clients that had to wait"};
    _Static_assert(sizeof what / sizeof what[0] == NODE_GO_ON + 1, "an event has a name");
    unsigned reads = s->turn.reads;
    uint64_t ms = 0, cpu_ms = 0, limit_ms = serve_lease_ms(s) / 8;
    int error;

    serve_give_back_memory(s);
    if (turn_end(&s->turn, &ms, &cpu_ms)) {
        stats_add_time(&s->node.stats.turn, ms);
        stats_add_time(&s->node.stats.turn_cpu, cpu_ms);
    }
    s->node.stats.log_dropped = log_dropped(s->log, &error) + serve_mind_trail(s);
    if (ms > limit_ms && (cpu_ms > limit_ms || uv_now(&s->loop) - s->slow_ms >= SOON_MS)) {
        serve_warn(s,
                   "a turn took %" PRIu64 " ms, %" PRIu64
                   " ms of them on the processor, in which nothing else was done (an eighth of the lease is %" PRIu64
                   " ms): %u reads, view %" PRIu64 ", %zu locks; the longest event was %s, with %" PRIu64 " ms",
                   ms, cpu_ms, limit_ms, reads, s->node.view.number, s->node.locks.count, what[s->longest.type],
                   s->longest.ns / 1000000);
        s->slow_ms = uv_now(&s->loop);
    }
    s->longest.ns = 0;
}

/* libuv is about to wait for events. The turn ends here, and the events of the poll begin another one. */
static void serve_before_poll(uv_prepare_t *prepare)
{
    struct serve *s = prepare->data;

    serve_end_turn(s);
    s->was_due = false;
}

static void serve_again(uv_idle_t *again)
{
    struct serve *s = again->data;

    turn_touch(&s->turn);
    uv_idle_stop(&s->again);
    for (unsigned k = 0; k < sizeof s->kept / sizeof s->kept[0]; k++) {
        uv_stream_t *door = s->kept[k];

        s->kept[k] = NULL;
        if (door && !s->stopping)
            door->connection_cb(door, 0);
    }
    /* Every client that has commands left gets one turn; what does not fit into the time waits for the next call. */
    serve_relays_go_on(s);
    for (uint32_t left = node_wants_turns(&s->node); left && turn_touch(&s->turn) < TURN_NS; left--)
        serve_step(s, (struct node_input){.type = NODE_GO_ON});
    serve_do(s);
}

/* libuv reports no further caller at a socket until the first one has been accepted. */
bool serve_lets_in(struct serve *s, uv_stream_t *door)
{
    unsigned k = 0;

    if (turn_touch(&s->turn) < TURN_NS &&
        s->turn.callers < (unsigned)(s->turn.contended ? TURN_CALLERS_BUSY : TURN_CALLERS)) {
        s->turn.callers++;
        return true;
    }
    while (s->kept[k] && s->kept[k] != door)
        k++;
    assert(k < sizeof s->kept / sizeof s->kept[0]);
    s->kept[k] = door;
    serve_go_on(s);
    return false;
}

void serve_go_on(struct serve *s)
{
    if (!s->stopping)
        uv_idle_start(&s->again, serve_again);
}

static void serve_end(struct serve *s, int status)
{
    s->stopping = true;
    s->status = status;
    serve_http_stop(s);
    serve_clients_stop(s);
    serve_peers_stop(s);
    uv_close((uv_handle_t *)&s->due, NULL);
    uv_close((uv_handle_t *)&s->patience, NULL);
    uv_close((uv_handle_t *)&s->again, NULL);
    uv_close((uv_handle_t *)&s->before_poll, NULL);
    uv_close((uv_handle_t *)&s->term, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
    uv_close((uv_handle_t *)&s->hangup, NULL);
}

static void serve_leave(struct serve *s, const char *why);

void serve_step(struct serve *s, struct node_input in)
{
    uint64_t began_ns, took_ns;

    if (s->stopping)
        return;
    s->events++;
    serve_mind_memory(s);
    began_ns = turn_touch(&s->turn);
    in.late = began_ns > TURN_NS;
    in.now_ms = serve_now_ms(); /* after the bytes of the event have come (step.h) */
    node_step(&s->node, &in);
    took_ns = turn_touch(&s->turn) - began_ns;
    if (s->longest.ns <= took_ns) {
        s->longest.ns = took_ns;
        s->longest.type = in.type;
    }
}

void serve_do(struct serve *s)
{
    struct node_output out;

    s->undone = 0;
    if (s->stopping)
        return;
    while (node_next_output(&s->node, &out)) {
        if (out.client) {
            ((struct serve_user *)client_user(out.client))->carry_out(s, &out);
            continue;
        }
        assert(out.member || out.text);
        if (out.member)
            serve_peers_do(s, &out);
        else
            serve_say(s, out.warns ? RECORD_WARNING : RECORD_INFO, "%s", out.text);
        node_did(&s->node, &out);
    }
    serve_peers_mind(s);
    if (s->node.rules.unsure)
        serve_mind_lookups(s);
    if (node_wants_turns(&s->node))
        serve_go_on(s);
    serve_set_timer(s);
    if (node_broken(&s->node)) {
        serve_fail(s, "cannot go on: %s", node_broken(&s->node));
        serve_end(s, 1);
    } else if (s->leave_by_ms && (node_has_left(&s->node) || serve_now_ms() >= s->leave_by_ms)) {
        serve_hand_over(s);
        serve_end(s, 0);
    } else if (s->node.drained && !s->leave_by_ms) {
        serve_leave(s, "drained");
    }
}

void serve_tell(struct serve *s, struct node_input in)
{
    serve_step(s, in);
    serve_do(s);
}

void serve_tell_in_turn(struct serve *s, struct node_input in)
{
    struct node_output out;

    serve_step(s, in);
    while (!s->stopping && node_next_urgent(&s->node, &out))
        ((struct serve_user *)client_user(out.client))->carry_out(s, &out);
    if (++s->undone >= SERVE_BATCH)
        serve_do(s);
}

/* Ends the daemon. In a cluster, it tells the other members first, so that they need not wait for its lease to run
 * out. */
static void serve_leave(struct serve *s, const char *why)
{
    serve_log(s, "%s: ends; locks of its clients are released, except those of kept sessions", why);
    notify_manager("STOPPING=1");
    if (s->leave_by_ms || !s->node.takes_part) {
        serve_hand_over(s);
        serve_end(s, 0);
        return;
    }
    s->leave_by_ms = serve_now_ms() + serve_lease_ms(s) / 4;
    serve_tell(s, (struct node_input){.type = NODE_LEAVE});
}

static void serve_stop(uv_signal_t *signal, int number)
{
    struct serve *s = signal->data;

    if (!s->stopping)
        serve_leave(s, strsignal(number));
}

static uint64_t serve_random(void *user)
{
    static uint64_t counter;
    uint64_t x;

    (void)user;
    if (getrandom(&x, sizeof x, 0) != sizeof x) /* no random numbers: use the clock */
        x = serve_now_ms() * 0x9e3779b97f4a7c15 + ++counter;
    return x;
}

static const char *serve_objects(void *user, const char *name, const char *address)
{
    const struct serve *s = user;

    return conf_objects(s->conf, name, address);
}

static const char *serve_invite(void *user, const struct client *c, char *url, size_t size)
{
    return serve_http_invite(user, c->session->proved, c->session->from, url, size);
}

static enum node_login serve_login(void *user, const char *name, size_t name_len, const char *password, size_t len)
{
    struct serve *s = user;

    return passwords_check(&s->passwords, rules_in_use(&s->node), serve_now_ms(), name, name_len, password, len);
}

/* Makes the view before the first from the list of members. */
static void serve_roster(const struct serve_conf *conf, struct view *view)
{
    view_begin(view);
    for (uint32_t k = 0; k < conf->n; k++) {
        char address[VIEW_ADDRESS_MAX + 1];

        conf_join_address(&conf->member[k], address, sizeof address);
        view_add(view, conf->member[k].name, conf->n > 1 || conf->member[k].port ? address : "-", VIEW_MEMBER);
    }
}

/* The members of the journal take precedence over those of the command line: logs if they differ. */
static void serve_tell_roster(const struct serve *s, const struct view *roster)
{
    const struct view *view = &s->node.view;
    bool same = view->count == roster->count;

    for (uint32_t k = 0; same && k < view->count; k++)
        same = strcmp(view->member[k].name, roster->member[k].name) == 0 &&
               strcmp(view->member[k].address, roster->member[k].address) == 0;
    if (!same)
        serve_warn(
            s,
            "the members are those of its journal in %s, not those it was started with; for another cluster choose "
            "another directory with --data",
            s->conf->data);
}

static void serve_written(void *user, unsigned records, uint64_t took_ms, int error)
{
    struct serve *s = user;

    if (records)
        stats_add_time(&s->node.stats.disk, took_ms);
    if (error)
        serve_fail(s, "cannot write to its journal in %s: %s; check the disk, and start it again", s->conf->data,
                   strerror(error));
    else if (took_ms >= serve_lease_ms(s) / 4)
        serve_warn(s,
                   "the disk under %s took %" PRIu64
                   " ms to write some bytes; the cluster waits for it when its members "
                   "change: check the disk",
                   s->conf->data, took_ms);
    if (records)
        serve_tell(s, (struct node_input){.type = NODE_WRITTEN, .writes = records, .failed = error != 0});
}

/* The rights on which the members have agreed take the place of those in the configuration. */
static void serve_tell_rights(struct serve *s)
{
    const struct settings_text *agreed = &s->node.view.rights;
    char counts[RIGHTS_COUNTS_MAX], file[RIGHTS_COUNTS_MAX];

    if (!agreed->len)
        return;
    serve_look_up_now(s);
    rights_count(rules_in_use(&s->node), counts);
    rights_count(s->conf->rights, file);
    serve_log(s,
              "the rights of clients are the agreed ones of view %" PRIu64 ", set by %s: %s. Those of this daemon's "
              "configuration do not count: %s",
              agreed->set, agreed->by, counts, file);
}

static bool serve_join_cluster(struct serve *s, const struct view *roster)
{
    char line[512];
    struct dme_text why;
    bool opened;

    dme_text_init(&why, line, sizeof line);
    s->disk = (struct disk_file){.user = s, .on_written = serve_written};
    opened = disk_open(&s->disk, s->conf->data, s->node.conf.name, &why);

    if (opened)
        serve_take_over(s, s->conf->n == 1, serve_now_ms());
    if (!opened || !node_agree(&s->node, &s->disk.disk, s->disk.content.at, bytes_len(&s->disk.content), roster,
                               s->conf->join, serve_now_ms(), &why)) {
        serve_fail(s, "%s", line);
        return false;
    }
    disk_use_loop(&s->disk, &s->loop);
    serve_tell_roster(s, roster);
    serve_tell_rights(s);
    return true;
}

/* Starts the node. A single member without an address for others needs no agreement. Its fences begin at the calendar
 * time, so they are larger than those of its earlier processes. */
static bool serve_begin(struct serve *s)
{
    bool alone = s->conf->n == 1 && !s->conf->member[0].port;
    struct view roster;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    node_init(&s->node, &(struct node_conf){.name = s->conf->member[s->conf->self].name,
                                            .summary = s->conf->summary,
                                            .algorithm = s->conf->algorithm,
                                            .slots_algorithm = s->conf->slots_algorithm,
                                            .find_algorithm = alg_find,
                                            .algorithms = alg_digest(),
                                            .policy = s->conf->policy,
                                            .policies = s->conf->policies,
                                            .lease_ms = alone ? 0 : s->conf->lease_ms,
                                            .deadlock_ms = s->conf->deadlock_ms,
                                            .incarnation = alone ? 1 : (uint64_t)now.tv_sec,
                                            .fence = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000,
                                            .secret = serve_random(s) | 1,
                                            .user = s,
                                            .expiry_optional = s->conf->expiry_optional,
                                            .rights = s->conf->rights,
                                            .login = serve_login,
                                            .audit_locks = s->conf->audit_locks,
                                            .audit = serve_audit,
                                            .random = serve_random,
                                            .is_short = serve_is_short,
                                            .objects = serve_objects,
                                            .invite = serve_invite});
    serve_roster(s->conf, &roster);
    return alone || serve_join_cluster(s, &roster);
}

/* Without agreement, there is one view for ever. It begins when this process has the socket, before any client is heard. */
static bool serve_begin_alone(struct serve *s)
{
    struct view roster;

    if (s->node.agree)
        return true;
    serve_roster(s->conf, &roster);
    s->node.now_ms = serve_now_ms(); /* the age of the view begins here */
    serve_take_over(s, true, s->node.now_ms);
    roster.number = roster.member[0].incarnation = 1;
    node_install(&s->node, &roster);
    return true;
}

static void serve_watch(struct serve *s)
{
    uv_signal_init(&s->loop, &s->term);
    uv_signal_init(&s->loop, &s->interrupt);
    uv_signal_init(&s->loop, &s->hangup);
    s->term.data = s->interrupt.data = s->hangup.data = s;
    uv_signal_start(&s->hangup, serve_renew, SIGHUP);
    uv_signal_start(&s->term, serve_stop, SIGTERM);
    uv_signal_start(&s->interrupt, serve_stop, SIGINT);
}

static void serve_introduce(const struct serve *s)
{
    const struct serve_conf *conf = s->conf;
    const struct serve_member *self = &conf->member[conf->self];

    serve_log(s, "serves %s%s", conf->socket, s->node.agree ? "" : "; it is not part of a cluster");
    notify_manager("READY=1\nSTATUS=serves %s", conf->socket);
    if (s->node.agree)
        serve_log(s, "talks to the other members %s", conf_door(conf, true));
    /* On many machines the machine's own name is a loopback address, while other machines look up another address for
     * it. */
    if (s->node.agree && conf->members_tls && !conf_is_number(self->host) && conf_is_on_loopback(conf->listen.host))
        serve_warn(s,
                   "listens on %s, the address of %s on this machine, which no other machine can reach; choose another "
                   "one with --listen",
                   conf->listen.host, self->host);
    if (conf->clients.port)
        serve_log(s, "serves %s:%d as well, %s", conf->clients.host, conf->clients.port, conf_door(conf, false));
    if (conf->http.port)
        serve_log(s,
                  "serves metrics at http://%s:%d/metrics, without authentication; \"dibs page-token\" opens the page "
                  "there",
                  conf->http.host, conf->http.port);
}

static void serve_count(uv_handle_t *handle, void *count)
{
    (void)handle;
    ++*(unsigned *)count;
}

/* Are lookups of names, whose results are not needed, all that is left? */
static bool serve_is_over(struct serve *s)
{
    unsigned handles = 0;

    if (!s->stopping || !(s->resolving || s->renewing) || s->disk.busy)
        return false;
    uv_walk(&s->loop, serve_count, &handles);
    return handles == 0;
}

/* Letters to members that no client waits for: see company.h. */
static void serve_mind_waiting(struct serve *s, bool awake)
{
    bool waiting = node_has_waiting(&s->node);

    if (!company_is_over(&s->company, waiting, awake, waiting ? uv_hrtime() : 0))
        return;
    node_let_wait(&s->node, false);
    serve_do(s);
    node_let_wait(&s->node, true);
    assert(!node_has_waiting(&s->node)); /* all have gone */
}

/* Runs the loop until no event can happen any more. */
static void serve_loop(struct serve *s)
{
    struct spin spin = {0};
    uint64_t events = s->events;
    bool awake = false;

    node_let_wait(&s->node, true);
    while (!serve_is_over(s) && uv_run(&s->loop, awake || !ring_empty(&s->turn.later) ? UV_RUN_NOWAIT : UV_RUN_ONCE)) {
        if (s->undone)
            serve_do(s);
        if (s->events == events) {
            awake = spin_on(&spin);
        } else {
            spin_end(&spin);
            spin_begin(&spin);
            events = s->events;
            awake = spin.until_ns; /* else it sleeps at once: to look first would be one system call in vain */
        }
        serve_mind_waiting(s, awake);
        serve_end_turn(s);
        turn_next(&s->turn);
    }
}

/* Every client needs a descriptor, so the soft limit is raised to the hard limit. Some descriptors are kept from
 * clients, so that there are always enough for members, the journal and metrics. Returns false, after a line in the
 * log, if the limit is too low to start. */
static bool serve_raise_limits(struct serve *s)
{
    enum { LEAST = 48, KEPT = 128 };
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    s->descriptors = limit.rlim_cur > 2 * KEPT ? limit.rlim_cur - KEPT : limit.rlim_cur / 2;
    if (limit.rlim_cur < LEAST)
        serve_fail(s, "may open no more than %d files, and needs %d at least; raise the limit (ulimit -n)",
                   (int)limit.rlim_cur, LEAST);
    return limit.rlim_cur >= LEAST;
}

/* Lookups run in threads that cannot be interrupted, and exit() would wait for them. */
static void serve_quit(const struct serve *s, int status)
{
    if (s->resolving || s->renewing) {
        log_end();
        _exit(status);
    }
}

static int serve_run_agent(struct serve *s)
{
    int status = agent_run(s);

    uv_loop_close(&s->loop);
    serve_quit(s, status);
    free(s);
    return status;
}

/* A connection that breaks, and a file that may not grow (ulimit -f), are errors like others. The caller may have blocked signals
 * that the daemon waits for. */
static void serve_choose_signals(void)
{
    sigset_t awaited;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGHUP);
    sigprocmask(SIG_UNBLOCK, &awaited, NULL);
}

int serve_run(struct serve_conf *conf, struct conf_draft *draft)
{
    struct serve *s;
    int error = 0;
    bool begun;

    serve_keep_memory();
    s = mem_new(sizeof *s);
    s->conf = conf;
    s->draft = draft;
    s->began_s = time(NULL);
    s->disk.file = s->disk.lock = s->disk.dir = -1;
    turn_init(&s->turn);
    ring_init(&s->peers);
    ring_init(&s->clients);
    serve_peers_init(s);
    serve_clients_init(s);
    serve_choose_signals();
    if (!serve_open_logs(s) || !serve_raise_limits(s) || (error = uv_loop_init(&s->loop)) < 0) {
        if (error)
            serve_fail(s, "cannot begin: %s", uv_strerror(error));
        free(s);
        return 1;
    }
    if (conf->agent)
        return serve_run_agent(s);
    uv_timer_init(&s->loop, &s->due);
    uv_timer_init(&s->loop, &s->patience);
    uv_idle_init(&s->loop, &s->again);
    uv_prepare_init(&s->loop, &s->before_poll);
    uv_prepare_start(&s->before_poll, serve_before_poll);
    s->due.data = s->patience.data = s->again.data = s->before_poll.data = s;
    s->status = 1;
    begun = serve_begin(s);
    if (begun && serve_clients_start(s) && serve_begin_alone(s) && serve_http_start(s) && serve_peers_start(s)) {
        s->status = 0;
        serve_watch(s);
        serve_introduce(s);
        serve_tell(s, (struct node_input){.type = NODE_TIME});
    } else {
        s->stopping = true;
        serve_http_stop(s);
        if (begun)
            serve_clients_stop(s);
        uv_close((uv_handle_t *)&s->due, NULL);
        uv_close((uv_handle_t *)&s->patience, NULL);
        uv_close((uv_handle_t *)&s->again, NULL);
        uv_close((uv_handle_t *)&s->before_poll, NULL);
    }
    serve_loop(s);
    uv_loop_close(&s->loop);
    begun = s->status == 0;
    serve_quit(s, s->status);
    node_free(&s->node);
    disk_close(&s->disk);
    free(s);
    return begun ? 0 : 1;
}
