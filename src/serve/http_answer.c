/* http_answer.c - what is answered over HTTP. Without a login: /metrics (Prometheus), /healthz (a supervisor that restarts
 * the daemon), /status.json and /views.json (scripts) and / (the web page of page.h, for people). They are made from the node's counters,
 * in well under a millisecond, and tell no names of locks.
 *
 * A browser that has logged in (logins.h) is answered more, with the rights of the client that asked for its token.
 * Whatever concerns logins passes the gate first (gate.h); at a daemon whose HTTP is on loopback, the rest passes a smaller one. */
#include "http_inside.h"

#include "agent.h"
#include "gate.h"
#include "page.h"
#include "reply_json.h"

#include "command/command.h"
#include "node/metrics.h"
#include "node/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define HTTP_NO_PAGE                                                                                                   \
    "there are /metrics, /healthz, /status.json and /views.json; the page is not installed: "                          \
    "\"./run page\" makes it\n"

/* What a request needs: nothing; to come from the daemon's own page, as far as the gate can tell; a login. */
enum http_needs { HTTP_ANYONE, HTTP_OWN_PAGE, HTTP_LOGIN };

struct http_route {
    const char *path, *method;
    enum http_needs needs;
    /* Answers the request; or, at the first call, asks the node (http_put), and is called again when r->is_asked. */
    http_result (*answer)(struct http_request *r);
};

/* ------------------------------------------------------------------------------------------------------------ answers */

void http_headers(struct MHD_Response *r, const char *type)
{
    mhd.add_response_header(r, "Content-Type", type);
    mhd.add_response_header(r, "Connection", "close");
    mhd.add_response_header(r, "Cache-Control", "no-store");
    mhd.add_response_header(r, "X-Content-Type-Options", "nosniff");
    mhd.add_response_header(r, "Referrer-Policy", "no-referrer");
    mhd.add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    mhd.add_response_header(r, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
}

/* Sends an answer, and sets a cookie if that is not null. If there is no memory for it, the connection is closed. */
static http_result http_send(struct MHD_Connection *to, unsigned status, const char *type, char *text, size_t len,
                             const char *cookie)
{
    struct MHD_Response *r = text ? mhd.create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE) : NULL;
    http_result result;

    if (!r) {
        free(text);
        return MHD_NO;
    }
    http_headers(r, type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        mhd.add_response_header(r, "Allow", "GET, HEAD");
    if (cookie)
        mhd.add_response_header(r, "Set-Cookie", cookie);
    result = mhd.queue_response(to, status, r);
    mhd.destroy_response(r);
    return result;
}

http_result http_line(struct MHD_Connection *to, unsigned status, const char *line)
{
    return http_send(to, status, "text/plain; charset=utf-8", strdup(line), strlen(line), NULL);
}

/* The page is the same for all callers, and is not copied. */
static http_result http_send_page(struct http_request *request)
{
    const struct http *h = request->http;
    struct MHD_Response *r;
    http_result result;

    if (!h->page)
        return http_line(request->connection, MHD_HTTP_NOT_FOUND, HTTP_NO_PAGE);
    r = mhd.create_response_from_buffer(h->page_len, h->page, MHD_RESPMEM_PERSISTENT);
    if (!r)
        return MHD_NO;
    for (unsigned k = 0; page_headers[k][0]; k++)
        mhd.add_response_header(r, page_headers[k][0], page_headers[k][1]);
    mhd.add_response_header(r, "Connection", "close");
    result = mhd.queue_response(request->connection, MHD_HTTP_OK, r);
    mhd.destroy_response(r);
    return result;
}

/* Measures what the node cannot know of the process. */
static void http_measure(struct serve *s)
{
    struct stats *m = &s->node.stats;
    struct rusage used;

    m->began_s = s->began_s;
    m->certificate_ends_s = tls_ends(s->conf->members_tls);
    if (getrusage(RUSAGE_SELF, &used) == 0)
        m->cpu_ms = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                    (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

static http_result http_metrics(struct http_request *r)
{
    struct bytes metrics = {0};

    http_measure(r->http->serve);
    metrics_write(&r->http->serve->node, &metrics);
    return http_send(r->connection, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", (char *)metrics.at,
                     bytes_len(&metrics), NULL);
}

static http_result http_health(struct http_request *r)
{
    const struct node *node = &r->http->serve->node;
    char line[128];

    snprintf(line, sizeof line, "%s\n", node_is_open(node) ? "ok" : node_why_not(node));
    return http_line(r->connection, node_is_open(node) ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, line);
}

/* Ends the stream and sends what was written to it. */
static http_result http_send_json(struct http_request *r, unsigned status, FILE *to, char **text, const size_t *len,
                                  const char *cookie)
{
    bool whole = !ferror(to);

    if (fclose(to) == 0 && whole)
        return http_send(r->connection, status, "application/json", *text, *len, cookie);
    free(*text);
    return MHD_NO;
}

/* Answers with the reply to a command that needs no rights and no other member. */
static http_result http_answer_now(struct http_request *r, const char *command)
{
    struct session nobody = {.node = &r->http->serve->node};
    struct client c = {.session = &nobody, .protocol = 3};
    const struct resp_request request = {.count = 1, .word = {{command, strlen(command)}}};
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (!to)
        return MHD_NO;
    ring_init(&nobody.subscriptions);
    client_execute(&c, &request);
    *bytes_add(&c.out, 1) = '\0';
    reply_to_json((const char *)c.out.at, to);
    putc('\n', to);
    bytes_free(&c.out);
    return http_send_json(r, MHD_HTTP_OK, to, &text, &len, NULL);
}

static http_result http_status(struct http_request *r)
{
    return http_answer_now(r, "STATUS");
}

static http_result http_views(struct http_request *r)
{
    return http_answer_now(r, "VIEWS");
}

/* ------------------------------------------------------------------------------------------------------------- logins */

static const char *http_header(const struct http_request *r, const char *name)
{
    return mhd.lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* What the page is told about its login. */
static void http_describe_login(const struct http_request *r, const struct login *login, FILE *to)
{
    uint64_t age_ms = http_now_ms(r->http) - login->since_ms;

    fprintf(to, "{\"operator\": %s, \"from\": ",
            rights_operates(rules_in_use(&r->http->serve->node), login->who) ? "true" : "false");
    reply_text_to_json(login->from, strlen(login->from), to);
    fprintf(to, ", \"seconds\": %" PRIu64, (LOGINS_MS - age_ms) / 1000);
}

static http_result http_log_in(struct http_request *r)
{
    uint8_t random[2 * LOGINS_RANDOM];
    char token[LOGINS_SECRET] = "", cookie[160], *text = NULL;
    const struct login *login;
    size_t len;
    FILE *to;

    if (bytes_len(&r->body) == sizeof token - 1)
        memcpy(token, r->body.at + r->body.start, sizeof token - 1);
    login =
        http_random(random, sizeof random) ? logins_open(&r->http->logins, token, random, http_now_ms(r->http)) : NULL;
    if (!login)
        return http_line(r->connection, MHD_HTTP_FORBIDDEN,
                         "this token is unknown, too old or used already: dibs page-token makes another one\n");
    if (!(to = open_memstream(&text, &len)))
        return MHD_NO;
    http_describe_login(r, login, to);
    fprintf(to, ", \"pass\": \"%s\"}\n", login->pass);
    snprintf(cookie, sizeof cookie, "%s=%s; Max-Age=%d; Path=/; HttpOnly; SameSite=Strict", r->http->cookie,
             login->cookie, LOGINS_MS / 1000);
    return http_send_json(r, MHD_HTTP_OK, to, &text, &len, cookie);
}

static http_result http_log_out(struct http_request *r)
{
    char cookie[160];

    logins_close(&r->http->logins, r->login.number);
    http_stir(r->http); /* its streams end */
    snprintf(cookie, sizeof cookie, "%s=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict", r->http->cookie);
    return http_send(r->connection, MHD_HTTP_OK, "application/json", strdup("{}\n"), 3, cookie);
}

static http_result http_login(struct http_request *r)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (!to)
        return MHD_NO;
    http_describe_login(r, &r->login, to);
    fputs("}\n", to);
    return http_send_json(r, MHD_HTTP_OK, to, &text, &len, NULL);
}

/* ----------------------------------------------------------------------------------------------------------- questions */

/* The status for a reply of the node. */
static unsigned http_status_of(const char *reply)
{
    static const struct {
        const char *code;
        unsigned status;
    } codes[] = {
        {"-NOPERM ", MHD_HTTP_FORBIDDEN}, {"-BUSY ", MHD_HTTP_SERVICE_UNAVAILABLE}, {"-", MHD_HTTP_BAD_REQUEST}};

    for (unsigned k = 0; k < sizeof codes / sizeof codes[0]; k++)
        if (strncmp(reply, codes[k].code, strlen(codes[k].code)) == 0)
            return codes[k].status;
    return MHD_HTTP_OK;
}

/* The replies to an ask, with a zero byte at their end; or null if they are not all there. */
static const char *http_replies(struct http_ask *a)
{
    struct visit *v = a->visit;

    if (!v || v->overflows || !bytes_len(&v->reply) || !visit_is_done(v) || bytes_len(&v->reply) > HTTP_REPLIES_MAX)
        return NULL;
    *bytes_add(&v->reply, 1) = '\0';
    v->reply.end--;
    return (const char *)v->reply.at + v->reply.start;
}

/* The connection waits until the node has answered. */
static http_result http_wait(struct http_request *r)
{
    http_suspend(r);
    http_put(r);
    return MHD_YES;
}

static http_result http_no_answer(struct http_request *r)
{
    return http_line(r->connection, r->late ? MHD_HTTP_GATEWAY_TIMEOUT : MHD_HTTP_SERVICE_UNAVAILABLE,
                     r->late ? "the members take too long to answer: ask again\n"
                             : "the answer is too long, or the daemon ends: ask for less\n");
}

/* Asks the node one command, and answers with its reply. */
static http_result http_ask_one(struct http_request *r, const char *const word[VISIT_WORDS_MAX])
{
    const char *reply;
    char *text = NULL;
    size_t len;
    FILE *to;

    if (!r->is_asked) {
        r->count = 1;
        visit_command(&r->ask[0].commands, word);
        return http_wait(r);
    }
    reply = http_replies(&r->ask[0]);
    if (!reply)
        return http_no_answer(r);
    if (!(to = open_memstream(&text, &len)))
        return MHD_NO;
    reply_to_json(reply, to);
    putc('\n', to);
    return http_send_json(r, http_status_of(reply), to, &text, &len, NULL);
}

static const char *http_argument(const struct http_request *r, const char *name, const char *otherwise)
{
    const char *value = mhd.lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);

    return value && *value ? value : otherwise;
}

static http_result http_locks(struct http_request *r)
{
    return http_ask_one(
        r, (const char *const[]){"LOCKS", http_argument(r, "pattern", "*"), "CURSOR", http_argument(r, "cursor", "0")});
}

static http_result http_members(struct http_request *r)
{
    return http_ask_one(r, (const char *const[]){"MEMBER", "LIST", NULL, NULL});
}

static http_result http_replay(struct http_request *r)
{
    return http_ask_one(r, (const char *const[]){"REPLAY", http_argument(r, "name", ""), NULL, NULL});
}

static http_result http_force_unlock(struct http_request *r)
{
    char name[HTTP_BODY_MAX + 1] = "";

    if (bytes_len(&r->body))
        memcpy(name, r->body.at + r->body.start, bytes_len(&r->body));
    if (strlen(name) != bytes_len(&r->body))
        return http_line(r->connection, MHD_HTTP_BAD_REQUEST, "this cannot be the name of a lock\n");
    return http_ask_one(r, (const char *const[]){"FORCE-UNLOCK", name, NULL, NULL});
}

/* Adds the lock of another "name=" of the address. Each lock has a visit of its own, so that a member that does not answer delays all of
 * them only once. */
static http_result http_add_name(void *user, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct http_request *r = user;
    struct http_ask *a = &r->ask[r->count];

    (void)kind;
    if (strcmp(key, "name") != 0 || !value || r->count == HTTP_ASKS_MAX || strlen(value) >= sizeof a->name)
        return MHD_YES;
    memcpy(a->name, value, strlen(value));
    visit_command(&a->commands, (const char *const[]){"HOLDERS", value, NULL, NULL});
    visit_command(&a->commands, (const char *const[]){"WAITERS", value, NULL, NULL});
    visit_command(&a->commands, (const char *const[]){"MAY", "me", "force-unlock", value});
    r->count++;
    return MHD_YES;
}

/* The clients that hold and await each of these locks, and whether the login may take it away from them, and why. */
static http_result http_claims(struct http_request *r)
{
    char *text = NULL;
    size_t len, used = 0;
    FILE *to;

    if (!r->is_asked) {
        mhd.get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, http_add_name, r);
        if (!r->count)
            return http_line(r->connection, MHD_HTTP_BAD_REQUEST, "which locks? /claims.json?name=NAME&name=NAME\n");
        return http_wait(r);
    }
    if (!(to = open_memstream(&text, &len)))
        return MHD_NO;
    putc('[', to);
    for (unsigned k = 0; k < r->count; k++) {
        const char *reply = r->late || used > HTTP_REPLIES_MAX ? NULL : http_replies(&r->ask[k]);

        used += reply ? bytes_len(&r->ask[k].visit->reply) : 0;
        fprintf(to, "%s{\"name\": ", k ? ",\n" : "");
        reply_text_to_json(r->ask[k].name, strlen(r->ask[k].name), to);
        fputs(reply ? ", \"holders\": "
                    : ", \"error\": \"the members take too long to answer, or too many clients are concerned\"",
              to);
        if (reply) {
            reply = reply_to_json(reply, to);
            fputs(", \"waiters\": ", to);
            reply = reply_to_json(reply, to);
            fputs(", \"force\": ", to);
            reply_to_json(reply, to);
        }
        putc('}', to);
    }
    fputs("]\n", to);
    return http_send_json(r, MHD_HTTP_OK, to, &text, &len, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- routes */

static http_result http_agent_metrics(struct http_request *r)
{
    struct bytes metrics = {0};

    agent_metrics(r->http->serve, &metrics);
    return http_send(r->connection, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", (char *)metrics.at,
                     bytes_len(&metrics), NULL);
}

static http_result http_agent_health(struct http_request *r)
{
    const char *why = agent_why_not(r->http->serve);
    char line[768] = "ok\n";

    if (why)
        snprintf(line, sizeof line, "this agent reaches no member%s%.600s\n", *why ? "; the last one was " : "", why);
    return http_line(r->connection, why ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK, line);
}

static const struct http_route http_agent_routes[] = {
    {"/metrics", "GET", HTTP_ANYONE, http_agent_metrics},
    {"/healthz", "GET", HTTP_ANYONE, http_agent_health},
    {0},
};

static const struct http_route http_routes[] = {
    {"/", "GET", HTTP_ANYONE, http_send_page},
    {"/metrics", "GET", HTTP_ANYONE, http_metrics},
    {"/healthz", "GET", HTTP_ANYONE, http_health},
    {"/status.json", "GET", HTTP_ANYONE, http_status},
    {"/login", "POST", HTTP_OWN_PAGE, http_log_in},
    {"/logout", "POST", HTTP_LOGIN, http_log_out},
    {"/login.json", "GET", HTTP_LOGIN, http_login},
    {"/members.json", "GET", HTTP_LOGIN, http_members},
    {"/locks.json", "GET", HTTP_LOGIN, http_locks},
    {"/claims.json", "GET", HTTP_LOGIN, http_claims},
    {"/replay.json", "GET", HTTP_LOGIN, http_replay},
    {"/views.json", "GET", HTTP_ANYONE, http_views},
    {"/events", "GET", HTTP_LOGIN, http_follow},
    {"/force-unlock", "POST", HTTP_LOGIN, http_force_unlock},
    {0},
};

const struct http_route *http_find_route(const struct http *h, const char *url, const char *method, bool *known)
{
    *known = false;
    for (const struct http_route *r = h->serve->conf->agent ? http_agent_routes : http_routes; r->path; r++)
        if (strcmp(url, r->path) == 0) {
            *known = true;
            if (strcmp(method, r->method) == 0 || (strcmp(method, "HEAD") == 0 && r->needs == HTTP_ANYONE))
                return r;
        }
    return NULL;
}

static const char *http_paths(const struct http *h)
{
    return h->serve->conf->agent ? "there are /metrics and /healthz\n"
           : h->page             ? "there are /, /metrics, /healthz, /status.json and /views.json\n"
                                 : HTTP_NO_PAGE;
}

http_result http_answer_request(struct http_request *r, bool known)
{
    const struct gate_head head = {http_header(r, "Host"), http_header(r, "Origin"), http_header(r, "Sec-Fetch-Site")};
    const struct login *login = NULL;
    const char *wrong = NULL;

    if (!r->route)
        return known ? http_line(r->connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are possible here\n")
                     : http_line(r->connection, MHD_HTTP_NOT_FOUND, http_paths(r->http));
    if (r->is_asked)
        return r->route->answer(r);
    if (r->route->needs == HTTP_ANYONE) {
        wrong = conf_is_on_loopback(r->http->serve->conf->http.host) ? gate_objects_to_host(head.host) : NULL;
        return wrong ? http_line(r->connection, MHD_HTTP_FORBIDDEN, wrong) : r->route->answer(r);
    }
    if (r->too_long)
        return http_line(r->connection, MHD_HTTP_CONTENT_TOO_LARGE, "that is too long\n");
    if ((wrong = gate_objects(&head)))
        return http_line(r->connection, MHD_HTTP_FORBIDDEN, wrong);
    if (r->route->needs == HTTP_LOGIN) {
        login =
            logins_find(&r->http->logins, mhd.lookup_connection_value(r->connection, MHD_COOKIE_KIND, r->http->cookie),
                        http_header(r, "X-Dibs-Pass"), http_now_ms(r->http));
        if (!login)
            return http_line(r->connection, MHD_HTTP_UNAUTHORIZED,
                             "log in first: dibs page-token prints an address that does\n");
        r->login = *login;
        r->login.who = r->who = rights_copy(login->who);
    }
    return r->route->answer(r);
}
