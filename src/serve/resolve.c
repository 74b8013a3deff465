/* resolve.c - lookups of machine names in addresses. See conf.h and serve.h.
 *
 * The name at which this daemon listens is looked up once, before it starts. The name of another member is looked up
 * each time this daemon connects to it, so a machine can change its address. libuv's threads do the lookup, and the
 * daemon goes on meanwhile. A name proves nothing: a peer is authenticated by its key or certificate. Without these,
 * all addresses of a name must be on loopback. */
#include "serve.h"

#include "base/memory.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

static const struct addrinfo resolve_hints = {
    .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};

static bool resolve_is_all_loopback(const struct addrinfo *found)
{
    char host[64];

    for (const struct addrinfo *a = found; a; a = a->ai_next)
        if (uv_ip_name(a->ai_addr, host, sizeof host) != 0 || !conf_is_on_loopback(host))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------- before it starts */

/* Of several addresses the daemon listens at one: an IPv4 address if there is one, since that is what clients
 * expect. */
static const struct addrinfo *resolve_choose(const struct addrinfo *found)
{
    for (const struct addrinfo *a = found; a; a = a->ai_next)
        if (a->ai_family == AF_INET)
            return a;
    return found;
}

/* Returns all addresses of the name; or reports a mistake and returns null. */
static struct addrinfo *resolve_find(struct conf_draft *d, const struct conf_setting *at, const struct serve_member *m)
{
    struct addrinfo *found = NULL;
    int error = getaddrinfo(m->host, NULL, &resolve_hints, &found);

    if (error) {
        conf_mistake(d, at, "%s is not known here: %s; write an address in numbers, or make the name known", m->host,
                     gai_strerror(error));
        return NULL;
    }
    if (!conf_is_secret(d) && !resolve_is_all_loopback(found)) {
        conf_beyond_loopback(d, at, m->host);
        freeaddrinfo(found);
        return NULL;
    }
    return found;
}

/* Replaces the name at which the daemon listens by its address. */
static void resolve_door(struct conf_draft *d, const struct conf_setting *at, struct serve_member *m)
{
    struct addrinfo *found;

    if (!m->port || conf_is_number(m->host) || !(found = resolve_find(d, at, m)))
        return;
    uv_ip_name(resolve_choose(found)->ai_addr, m->host, sizeof m->host);
    freeaddrinfo(found);
}

/* The setting that has this member. */
static const struct conf_setting *resolve_place(const struct conf_draft *d, const struct serve_member *m)
{
    size_t len = strlen(m->name);

    for (uint32_t k = 0; k < d->members && !d->set[CONF_MEMBERS].text; k++)
        if (strncmp(d->member[k].text, m->name, len) == 0 && d->member[k].text[len] == '=')
            return &d->member[k];
    return &d->set[CONF_MEMBERS];
}

bool conf_resolve(struct conf_draft *d, struct serve_conf *conf)
{
    const struct serve_member *self = &conf->member[conf->self];

    for (uint32_t j = 0; j < conf->n && !conf_is_secret(d); j++)
        if (conf->member[j].port && !conf_is_number(conf->member[j].host))
            freeaddrinfo(resolve_find(d, resolve_place(d, &conf->member[j]), &conf->member[j]));
    if (d->mistakes)
        return false;
    if (self->port && !conf->listen.port && !conf_is_number(self->host)) {
        conf->listen = *self;
        resolve_door(d, resolve_place(d, self), &conf->listen);
    }
    resolve_door(d, &d->set[CONF_LISTEN], &conf->listen);
    resolve_door(d, &d->set[CONF_CLIENTS], &conf->clients);
    resolve_door(d, &d->set[CONF_HTTP], &conf->http);
    return d->mistakes == 0;
}

/* ------------------------------------------------------------------------------------------------ while it is running */

struct resolve {
    uv_getaddrinfo_t request;
    struct serve *serve;
    char host[64];
    unsigned turn;
    resolve_found *found; /* null: the result is not needed any more */
    void *user;
};

static void resolve_answer(struct resolve *r, int status, const struct addrinfo *found)
{
    const struct addrinfo *a = found;
    struct sockaddr_storage address = {0};
    unsigned count = 0;
    char why[128];

    for (; a; a = a->ai_next)
        count++;
    if (status < 0 || count == 0) {
        snprintf(why, sizeof why, "%s is not known here: %s", r->host,
                 uv_strerror(status < 0 ? status : UV_EAI_NODATA));
        r->found(r->user, NULL, why);
        return;
    }
    if (!r->serve->conf->members_tls && !resolve_is_all_loopback(found)) {
        r->found(r->user, NULL, "its name is not on loopback only, and this member has no key");
        return;
    }
    a = found;
    for (unsigned k = r->turn % count; k > 0; k--)
        a = a->ai_next;
    memcpy(&address, a->ai_addr, a->ai_addrlen);
    r->found(r->user, &address, NULL);
}

static void resolve_done(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct resolve *r = request->data;

    r->serve->resolving--;
    if (r->found && !r->serve->stopping)
        resolve_answer(r, status, found);
    uv_freeaddrinfo(found);
    free(r);
}

struct resolve *resolve_start(struct serve *s, const struct serve_member *at, unsigned turn, resolve_found *found,
                              void *user)
{
    struct resolve *r = mem_new(sizeof *r);
    char port[8];

    snprintf(port, sizeof port, "%d", at->port);
    r->request.data = r;
    r->serve = s;
    snprintf(r->host, sizeof r->host, "%s", at->host);
    r->turn = turn;
    r->found = found;
    r->user = user;
    if (uv_getaddrinfo(&s->loop, &r->request, resolve_done, at->host, port, &resolve_hints) < 0) {
        free(r);
        return NULL;
    }
    s->resolving++;
    return r;
}

void resolve_forget(struct resolve *r)
{
    if (!r)
        return;
    r->found = NULL;
    uv_cancel((uv_req_t *)&r->request); /* has no effect if it is running */
}
