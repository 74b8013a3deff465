/* Banta, "Distributed Mutual Exclusion Algorithms", M.S. thesis, University of Nevada, Las Vegas, 1993: the simple
 * algorithm of chapter 4, made free from starvation as in section 4.6.
 *
 * Idea. The token carries the queue of sites to serve. A site that adds to the queue tells all sites that are not on it
 * which site is last: that is the good site, to which they send their requests, and which will add them when the token
 * has come to it. A site that is asked when it is good no longer passes the request on, and keeps a copy: should the
 * request run after the token for ever, each site that it has passed will queue it as soon as the token comes by. The
 * token remembers what has been queued, so copies do no harm.
 *
 * Messages. REQUEST(origin, number) to the good site, UPDATE(good, version) to the n-2 sites that are neither served
 * next nor the sender, TOKEN(queue, version, numbers queued): n at light load, 0 if the token is here already. At full
 * load all others are on the queue and no site is told anything: 2, or a few more where delays vary. A request is
 * passed on at most n-1 times.
 *
 * Algorithm. Site i:
 *     request                         if the token is here: enter; else number my request; send REQUEST(origin,
 *                                     number, hops) to the good site
 *     on REQUEST(origin, number, hops)  if it is old: ignore it; else keep it. If I neither wait nor have the token:
 *                                     send the REQUEST on to my good site. If I hold the idle token: queue what was
 *                                     kept; send UPDATE(last of the queue, version) to all that are not on the queue;
 *                                     send TOKEN to its first site
 *     on UPDATE(good, version)        if the version is newer: the good site is good
 *     on TOKEN(queue, version, taken)  enter
 *     release                         queue what was kept and not queued elsewhere; if there was any: send UPDATE to
 *                                     all that are not on the queue; if the queue is not empty: send TOKEN to its
 *                                     first site
 *
 * Invariant BS1. There is one token, held or in flight. Its queue holds no site twice, and never the holder.
 * Invariant BS2. An idle site's good site is another one. A request that is passed on or waits for a waiting site moves
 *     to strictly higher versions, so no circle of sites wait for each other.
 * Invariant BS4. A request is passed on at most n-1 times.
 * Invariant BS3. No site and no token knows of a number above that of the latest request made.
 *
 * Departures from the paper. The idle holder enters at once (as printed it asks itself and waits for ever). UPDATEs
 * have a version, and an older one is ignored (without it a slow UPDATE can undo a newer one, and lead a request back
 * to its own site). The token remembers what was queued, not what was served (else a copy of a queued request is queued
 * again). The end of an empty queue is never announced. A request that returns to its origin, or comes twice, is
 * dropped. Each of the first four can be watched in banta-simple-as-published. The version before section 4.6, which
 * keeps no copies and starves, is in banta_drafts.c. */
#include "core/alg.h"
#include "core/line.h"

enum { REQUEST, UPDATE, TOKEN };
enum { NO_VERSIONS, HOLDER_ASKS_ITSELF, REMEMBERS_SERVED, ANNOUNCES_NOBODY };

/* The second ticket of a REQUEST says, as its clock, how often it was passed on. The token has a ticket for every site
 * k: clock is the number queued of site k, site is the k-th site of the queue. Before them goes one for the version. */
static const struct dme_kind bs_kinds[] = {{"REQUEST", 2, 0}, {"UPDATE", 1, 0}, {"TOKEN", 1, 1}, {0}};
static const char *const bs_fields[] = {"* hops,,", "version,,good", "version,, taken,,queue"};
static const struct dme_mistake bs_mistakes[] = {
    {.name = "no-versions",
     .kind = DME_PUBLISHED,
     .where = "Banta 1993, section 4.3, page 35",
     .what = "an update carries no version, so an old one may be the last to arrive"},
    {.name = "holder-asks-itself",
     .kind = DME_PUBLISHED,
     .where = "Banta 1993, section 4.3, pages 34-35",
     .what = "the holder of the idle token asks its good site, which is itself, and keeps the request in its queue"},
    {.name = "remembers-served",
     .kind = DME_PUBLISHED,
     .where = "Banta 1993, section 4.6, page 41",
     .what = "the history array has the requests that were served, not those that were queued"},
    {.name = "announces-nobody",
     .kind = DME_PUBLISHED,
     .where = "Banta 1993, sections 4.3 and 4.6, pages 37 and 41",
     .what = "updates are sent if the local queue is not empty, also if all of it is old and nothing was queued"},
    {0},
};

struct bs {
    uint64_t version; /* of the latest announcement known */
    dme_id good;      /* the last of the queue by that announcement; with the token, of the queue here, or self */
    uint32_t has;     /* the token is here */
    uint32_t kept;    /* requests kept */
    uint32_t queued;  /* with the token: sites in its queue */
    struct {
        uint64_t seen;  /* highest number of a request of that site received; at the site itself: made */
        uint64_t taken; /* with the token: highest number ever put on its queue */
        dme_id keep;    /* slot of the line of requests kept, by site */
        dme_id queue;   /* with the token: slot of its queue */
    } peer[];
};

static struct dme_line bs_kept(const struct dme *d, struct bs *s)
{
    return (struct dme_line){&s->kept, &s->peer[0].keep, sizeof s->peer[0], d->n};
}

static struct dme_line bs_queue(const struct dme *d, struct bs *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static void bs_give(struct dme *d, struct bs *s)
{
    struct dme_msg *m = dme_send(d, dme_line_pop(bs_queue(d, s)), TOKEN);

    m->ticket[0].clock = s->version;
    dme_line_pack(bs_queue(d, s), m->ticket + 1);
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[1 + j].clock = s->peer[j].taken;
        s->peer[j].taken = 0;
    }
    s->has = 0;
}

static void bs_take(struct dme *d, struct bs *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->has && dme_waiting(d));
    DME_EXPECT(d, dme_line_unpack(bs_queue(d, s), m->ticket + 1));
    DME_EXPECT(d, !dme_line_has(bs_queue(d, s), d->self));
    s->has = 1;
    s->version = m->ticket[0].clock;
    s->good = s->queued ? dme_line_last(bs_queue(d, s)) : d->self;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].taken = m->ticket[1 + j].clock;
    dme_enter(d);
}

static void bs_announce(struct dme *d, struct bs *s)
{
    DME_EXPECT(d, s->queued > 0);
    s->version++;
    s->good = dme_line_last(bs_queue(d, s));
    for (dme_id j = 0; j < d->n; j++)
        if (j != d->self && !dme_line_has(bs_queue(d, s), j))
            dme_send_ticket(d, j, UPDATE, (struct dme_ticket){.clock = s->version, .site = s->good});
}

static void bs_queue_request(struct dme *d, struct bs *s, dme_id j)
{
    DME_EXPECT(d, !dme_line_has(bs_queue(d, s), j));
    dme_line_push(bs_queue(d, s), j);
    if (!dme_mistake(d, REMEMBERS_SERVED))
        s->peer[j].taken = s->peer[j].seen;
}

/* Queue what was kept, unless it has been queued elsewhere; tell about it; and let the token go where it is wanted. */
static void bs_pass_on(struct dme *d, struct bs *s)
{
    uint32_t before = s->queued;
    bool news = s->kept && dme_mistake(d, ANNOUNCES_NOBODY); /* printed: if the local queue is not empty */

    while (s->kept) {
        dme_id j = dme_line_pop(bs_kept(d, s));

        if (s->peer[j].seen > s->peer[j].taken)
            bs_queue_request(d, s, j);
    }
    if (news || s->queued > before)
        bs_announce(d, s);
    if (s->queued)
        bs_give(d, s);
    else
        s->good = d->self;
}

static void bs_init(struct dme *d, void *state)
{
    struct bs *s = state;

    s->has = d->self == 0;
}

static void bs_ask(struct dme *d, dme_id to, struct dme_ticket claim, uint64_t hops)
{
    struct dme_msg *m = dme_send(d, to, REQUEST);

    m->ticket[0] = claim;
    m->ticket[1].clock = hops;
}

static void bs_request(struct dme *d, void *state)
{
    struct bs *s = state;

    if (s->has && !dme_mistake(d, HOLDER_ASKS_ITSELF))
        dme_enter(d);
    else
        bs_ask(d, s->good, dme_claim(d, ++s->peer[d->self].seen), 0);
}

static void bs_asked(struct dme *d, struct bs *s, struct dme_ticket claim, uint64_t hops)
{
    bool forward = dme_idle(d) && !s->has;

    DME_EXPECT(d, claim.site != DME_NONE);
    if (claim.clock <= s->peer[claim.site].seen)
        return; /* it has been here before, or is this site's own */
    DME_EXPECT(d, claim.site != d->self);
    s->peer[claim.site].seen = claim.clock;
    dme_line_remove(bs_kept(d, s), claim.site);
    dme_line_push(bs_kept(d, s), claim.site);
    if (forward &&
        s->good != claim.site) /* if it is good, it is already on the queue for this request or a later one */
        bs_ask(d, s->good, claim, hops + 1);
    else if (s->has && dme_idle(d))
        bs_pass_on(d, s);
}

static void bs_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct bs *s = state;

    switch (m->kind) {
    case REQUEST:
        bs_asked(d, s, m->ticket[0], m->ticket[1].clock);
        break;
    case UPDATE:
        DME_EXPECT(d, m->ticket[0].site != DME_NONE && m->ticket[0].site != d->self);
        if (m->ticket[0].clock > s->version || dme_mistake(d, NO_VERSIONS)) {
            s->version = m->ticket[0].clock;
            s->good = m->ticket[0].site;
        }
        break;
    case TOKEN:
        bs_take(d, s, m);
        break;
    }
}

static void bs_release(struct dme *d, void *state)
{
    struct bs *s = state;

    if (dme_mistake(d, REMEMBERS_SERVED)) /* printed: the token has "the last request serviced" of each site */
        s->peer[d->self].taken = s->peer[d->self].seen;
    bs_pass_on(d, s);
}

static const char *bs_malformed(const struct dme *d, void *state)
{
    struct bs *s = state;

    DME_HOLDS(s->good < d->n);
    DME_HOLDS(dme_line_is_sound(bs_kept(d, s), d->n));
    DME_HOLDS(dme_line_is_sound(bs_queue(d, s), d->n));
    return NULL;
}

static const char *bs_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct bs *s = dme_state(now->node[i]);

        tokens += s->has;
        if (now->node[i]->phase == DME_IDLE && !s->has && s->good == i)
            return "BS2: an idle site's good site is another one";
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct bs *other = dme_state(now->node[j]);

            if (s->peer[j].seen > other->peer[j].seen || s->peer[j].taken > other->peer[j].seen)
                return "BS3: no site knows of a request that was not made";
        }
        for (uint32_t k = 0; k < s->queued; k++)
            if (s->peer[k].queue == i)
                return "BS1: the holder of the token is not on its queue";
    }
    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == REQUEST && now->msg[k]->ticket[1].clock >= now->conf->n)
            return "BS4: a request is passed on at most n-1 times";
    return tokens == 1 ? NULL : "BS1: there is one token";
}

static void bs_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct bs *s = state;

    dme_print(text, "good=%u version=%llu", s->good, (unsigned long long)s->version);
    dme_print_numbers(text, " seen", &s->peer[0].seen, sizeof s->peer[0], d->n);
    dme_print_line(text, " kept", &s->peer[0].keep, sizeof s->peer[0], s->kept);
    if (s->has) {
        dme_print_numbers(text, " token taken", &s->peer[0].taken, sizeof s->peer[0], d->n);
        dme_print_line(text, " queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
    }
}

#define BANTA_SIMPLE                                                                                                   \
    .family = DME_TOKEN,                                                                                               \
    .paper = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, 1993, " \
             "chapter 4",                                                                                              \
    .cost = "n messages at light load, or 0 where the token is, 2 at full load, delay T", .kinds = bs_kinds,           \
    .fields = bs_fields, .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE,                               \
    .state_size = sizeof(struct bs), .peer_size = sizeof(((struct bs *)0)->peer[0]), .init = bs_init,                  \
    .request = bs_request, .receive = bs_receive, .release = bs_release, .malformed = bs_malformed, .show = bs_show

const struct dme_alg banta_simple = {
    .name = "banta-simple",
    .broken = bs_broken,
    BANTA_SIMPLE,
};

const struct dme_alg banta_simple_as_published = {
    .name = "banta-simple-as-published",
    .flaw = "slow updates without versions make sites wait in a circle",
    .mistakes = bs_mistakes,
    .mistaken = DME_PUBLISHED,
    BANTA_SIMPLE,
};
