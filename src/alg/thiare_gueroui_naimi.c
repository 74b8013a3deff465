/* Thiare, Gueroui and Naimi, "Distributed Groups Mutual Exclusion Based on Clients/Servers Model", PDCAT 2006.
 *
 * Idea. Every session has a server. A process that wants a session is a client of its server: it asks the server, is
 * told when it may enter, and tells the server when it leaves. The servers pass one token among themselves. The server
 * that has it may open its session: it lets in all its clients, and later ones too until another server asks for the
 * token. When all clients have left, the token goes on.
 *
 * Messages. REQUEST(mode), START, COMPLETE between client and server: 3 per entry, none where both are one site.
 * ASK(server), forwarded, and TOKEN between servers, once for every session that is opened: from 0, where the token is
 * already, to m; O(log m) on average, for m servers.
 *
 * Algorithm. Site i:
 *     request              send REQUEST(session) to the server of the session
 *     on REQUEST(session)  server: queue it. If its session is open and no other server or session waits: send START
 *                          to the client. If the server does not want the token: want it, and send ASK(server) to the
 *                          father, or open the session if the token is here
 *     on START             enter
 *     release              send COMPLETE to the server
 *     on COMPLETE          server: one client less; if it was the last: send TOKEN to the next server, if there is
 *                          one, and ASK for it again if clients wait; else open the next session: send START to its
 *                          clients
 *     on ASK(origin)       send the ASK on to the father; without a father: send TOKEN to the origin if it is idle
 *                          here, else next := origin. father := origin
 *     on TOKEN             open the session of the first client that waits: send START to all clients of that session
 *
 * Invariant TG1. There is one token, held or in flight.
 * Invariant TG2. A server counts those of its clients that are inside, and every START to and COMPLETE from them in
 *     flight. It counts some only while it has the token, and they share one session.
 * Invariant TG3. A server that has clients, waiting or let in, wants the token; else it does not.
 * Invariant TG4. While a server wants the token, it has a father exactly if it has a next.
 *
 * Based on the abstract of the paper alone, which tells of clients, servers and dynamic data structures, that at most
 * one session is open at any time, that opening one costs 0 to m messages and O(log m) on average, and that n processes
 * may be inside together. Reconstructed: the servers' structure (path reversal as in naimi-trehel, which has these
 * costs and an author in common), the messages of the clients, and when a session closes.
 *
 * Session m is served by site (m-1) mod n; with more sessions than sites a server has several, and opens one at a time.
 * A claim in mode 0 is a session of its own, served by the site that makes it: with the rule `exclusive` this is
 * naimi-trehel. */
#include "core/alg.h"
#include "core/line.h"

enum { REQUEST, START, COMPLETE, ASK, TOKEN };

static const struct dme_kind tg_kinds[] = {{"REQUEST", 1, 0}, {"START", 0, 0}, {"COMPLETE", 0, 0},
                                           {"ASK", 1, 0},     {"TOKEN", 0, 0}, {0}};

/* All of it is the server's; a client needs nothing but its phase and mode. */
struct tg {
    dme_id father;   /* the last server known to have asked, or DME_NONE: this one is it */
    dme_id next;     /* the server that gets the token after this one, or DME_NONE */
    uint32_t has;    /* the token is here */
    uint32_t wants;  /* the token was asked for, or a session is open */
    uint32_t open;   /* mode of the open session */
    uint32_t out;    /* clients that were let in and have not reported that they left */
    uint32_t queued; /* clients that wait */
    uint32_t zero;
    struct {
        uint32_t mode; /* that this client waits for, if it is in the queue */
        dme_id queue;  /* slot of the queue */
    } peer[];
};

static struct dme_line tg_queue(const struct dme *d, struct tg *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static dme_id tg_server(const struct dme_conf *conf, uint32_t mode, dme_id client)
{
    return mode ? (mode - 1) % conf->n : client;
}

/* ------------------------------------------------------------------------------------------------------- the server */

static void tg_let_in(struct dme *d, struct tg *s, uint32_t slot)
{
    dme_id client = s->peer[slot].queue;

    dme_line_cut(tg_queue(d, s), slot);
    s->open = s->peer[client].mode;
    s->peer[client].mode = 0;
    s->out++;
    dme_send(d, client, START);
}

/* The session of the client that has waited longest, for all that wait for it. */
static void tg_open(struct dme *d, struct tg *s)
{
    uint32_t k = 0;

    DME_EXPECT(d, s->queued > 0);
    tg_let_in(d, s, 0);
    while (k < s->queued)
        if (dme_compatible(s->open, s->peer[s->peer[k].queue].mode))
            tg_let_in(d, s, k);
        else
            k++;
}

static void tg_want(struct dme *d, struct tg *s)
{
    s->wants = 1;
    if (s->has) {
        tg_open(d, s);
    } else {
        DME_EXPECT(d, s->father != DME_NONE);
        dme_send_ticket(d, s->father, ASK, (struct dme_ticket){.site = d->self});
        s->father = DME_NONE;
    }
}

static void tg_give(struct dme *d, struct tg *s, dme_id to)
{
    DME_EXPECT(d, s->has);
    s->has = 0;
    dme_send(d, to, TOKEN);
}

/* A claim reaches its server. It joins the open session unless another one has been asked for since: then it waits, or
 * that other one might wait for ever. */
static void tg_requested(struct dme *d, struct tg *s, struct dme_ticket claim)
{
    DME_EXPECT(d, !dme_line_has(tg_queue(d, s), claim.site));
    s->peer[claim.site].mode = claim.mode;
    dme_line_push(tg_queue(d, s), claim.site);
    if (!s->wants)
        tg_want(d, s);
    else if (s->out && s->queued == 1 && s->next == DME_NONE && dme_compatible(s->open, claim.mode))
        tg_let_in(d, s, 0);
}

/* The last client has left: the token goes to the next server, or the next session of this one is opened. */
static void tg_close(struct dme *d, struct tg *s)
{
    s->open = s->wants = 0;
    if (s->next != DME_NONE) {
        tg_give(d, s, s->next);
        s->next = DME_NONE;
    }
    if (s->queued)
        tg_want(d, s);
}

static void tg_asked(struct dme *d, struct tg *s, dme_id origin)
{
    DME_EXPECT(d, origin != DME_NONE && origin != d->self);
    if (s->father != DME_NONE)
        dme_send_ticket(d, s->father, ASK, (struct dme_ticket){.site = origin});
    else if (s->wants)
        s->next = origin;
    else
        tg_give(d, s, origin);
    s->father = origin;
}

/* --------------------------------------------------------------------------------------------------------- handlers */

static void tg_init(struct dme *d, void *state)
{
    struct tg *s = state;

    s->father = d->self == 0 ? DME_NONE : 0;
    s->next = DME_NONE;
    s->has = d->self == 0;
}

static void tg_request(struct dme *d, void *state)
{
    (void)state;
    dme_send_ticket(d, tg_server(d->conf, d->node->mode, d->self), REQUEST, dme_claim(d, 0));
}

static void tg_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct tg *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from && tg_server(d->conf, m->ticket[0].mode, m->from) == d->self);
        tg_requested(d, s, m->ticket[0]);
        break;
    case START:
        DME_EXPECT(d, tg_server(d->conf, d->node->mode, d->self) == m->from);
        dme_enter(d);
        break;
    case COMPLETE:
        DME_EXPECT(d, s->out > 0);
        if (--s->out == 0)
            tg_close(d, s);
        break;
    case ASK:
        tg_asked(d, s, m->ticket[0].site);
        break;
    case TOKEN:
        DME_EXPECT(d, !s->has && s->wants);
        s->has = 1;
        tg_open(d, s);
        break;
    }
}

static void tg_release(struct dme *d, void *state)
{
    (void)state;
    dme_send(d, tg_server(d->conf, d->node->mode, d->self), COMPLETE);
}

static const char *tg_malformed(const struct dme *d, void *state)
{
    struct tg *s = state;

    DME_HOLDS(s->father < d->n || s->father == DME_NONE);
    DME_HOLDS(s->next < d->n || s->next == DME_NONE);
    DME_HOLDS(dme_line_is_sound(tg_queue(d, s), d->n));
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- to show */

static const char *tg_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct tg *s = dme_state(now->node[i]);
        uint32_t out = dme_in_flight(now, START, i, DME_NONE) + dme_in_flight(now, COMPLETE, DME_NONE, i);

        for (dme_id j = 0; j < now->conf->n; j++)
            if (now->node[j]->phase == DME_INSIDE && tg_server(now->conf, now->node[j]->mode, j) == i) {
                out++;
                if (now->node[j]->mode != s->open)
                    return "TG2: clients that are inside share the open session of their server";
            }
        tokens += s->has;
        if (out != s->out || (out && !s->has))
            return "TG2: a server counts the clients it has let in, and has the token meanwhile";
        if (s->wants != (s->out || s->queued))
            return "TG3: a server wants the token exactly while it has clients";
        if (s->wants && (s->father == DME_NONE) != (s->next == DME_NONE))
            return "TG4: a server that wants the token has a father exactly if it has a next";
    }
    return tokens == 1 ? NULL : "TG1: there is one token";
}

static void tg_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct tg *s = state;

    (void)d;
    dme_print_site(text, "father", s->father);
    dme_print_site(text, " next", s->next);
    dme_print_line(text, " queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
    if (s->has)
        dme_print(text, " token open=%u out=%u", s->open, s->out);
}

const struct dme_alg thiare_gueroui_naimi = {
    .name = "thiare-gueroui-naimi",
    .family = DME_TOKEN,
    .paper = "O. Thiare, M. Gueroui, M. Naimi, Distributed groups mutual exclusion based on clients/servers model, "
             "PDCAT 2006",
    .cost = "3 messages, and O(log m) for each session that is opened, of m servers; delay T to 3T",
    .kinds = tg_kinds,
    .rules = 1 << DME_EXCLUSIVE | 1 << DME_SHARED | 1 << DME_GROUP,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct tg),
    .peer_size = sizeof(((struct tg *)0)->peer[0]),
    .init = tg_init,
    .request = tg_request,
    .receive = tg_receive,
    .release = tg_release,
    .broken = tg_broken,
    .malformed = tg_malformed,
    .show = tg_show,
};
