/* Banta, "Distributed Mutual Exclusion Algorithms", M.S. thesis, University of Nevada, Las Vegas, 1993: the way to the
 * simple algorithm of banta_simple.c, in three steps. None of them serves every site, and the thesis says so of each.
 *
 * Idea. The token carries the queue of sites to serve; the three drafts differ in who is asked for it, and in what
 * becomes of a request that finds the token elsewhere.
 *
 * banta-first-draft (section 3.4, pages 25-30). A request goes to all others. A site that holds the idle token sends it
 *     to the one who asks; any other site ignores the request. A request that finds the token in use or on its way is
 *     lost. banta-basic (section 3.4, pages 25-30). A request goes to one site, the last of the token's queue as far as
 *     its sender knows, and is held there until the token comes. The site then adds what it holds to the queue, and
 *     tells all who are not on it who is last now. A request that comes after the token has left is held until the
 *     token comes again, which may be never.
 * banta-preliminary (section 4.3, pages 34-38). A site that neither has the token nor waits for it passes the request
 *     on to the last of the queue. The request may run after the token for ever (section 4.5.2, page 39).
 *
 * Messages. First draft: n, of which n-1 are REQUESTs. Basic and preliminary: REQUEST, n-2 UPDATE, TOKEN at light load,
 * 2 at full load, and in the latter one more for each time that a request is passed on.
 *
 * Invariant BD1. There is one token, held or in flight, and its holder is not on its queue.
 *
 * Departures from the paper. The idle holder enters at once, and UPDATEs have versions, as in banta_simple.c, so that
 * what is seen is the doing of the rule above alone. With `updates=printed` they have none; then a site whose own
 * request comes back passes it on. Without versions nothing grows, and the checker can go round: `dibs check
 * banta-preliminary --set updates=printed --sites 4 --order fifo --requests unlimited --in-flight 2` finds the endless
 * chase. */
#include "core/alg.h"
#include "core/line.h"

enum { REQUEST, UPDATE, TOKEN };
enum { FIRST_DRAFT, BASIC, PRELIMINARY };
enum { OPTION_UPDATES };
enum { NUMBERED, PRINTED };

/* The token: the version, and of the k-th ticket behind it the k-th site of the queue. */
static const struct dme_kind bd_kinds[] = {{"REQUEST", 1, 0}, {"UPDATE", 1, 0}, {"TOKEN", 1, 1}, {0}};
static const char *const bd_fields[] = {NULL, "version,,good", "version,, ,,queue"};

static const char *const bd_updates[] = {"numbered", "printed", NULL};
static const struct dme_option bd_options[] = {
    {.key = "updates", .help = "does an update have a version?", .choices = bd_updates},
    {0},
};

struct bd {
    uint64_t version; /* of the latest announcement known */
    dme_id good;      /* the last of the queue by that announcement */
    uint32_t has;     /* the token is here */
    uint32_t kept;    /* requests held */
    uint32_t queued;  /* with the token: sites in its queue */
    struct {
        dme_id keep, queue; /* slots of these two lines */
    } peer[];
};

static struct dme_line bd_kept(const struct dme *d, struct bd *s)
{
    return (struct dme_line){&s->kept, &s->peer[0].keep, sizeof s->peer[0], d->n};
}

static struct dme_line bd_queue(const struct dme *d, struct bd *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static bool bd_is(const struct dme *d, unsigned step)
{
    return d->conf->alg->variant == step;
}

static void bd_give(struct dme *d, struct bd *s)
{
    struct dme_msg *m = dme_send(d, dme_line_pop(bd_queue(d, s)), TOKEN);

    m->ticket[0].clock = s->version;
    dme_line_pack(bd_queue(d, s), m->ticket + 1);
    s->has = 0;
}

/* Adds what is held to the queue, tells about it, and sends the token to the first of the queue. */
static void bd_pass_on(struct dme *d, struct bd *s)
{
    bool news = s->kept && !bd_is(d, FIRST_DRAFT);

    while (s->kept)
        dme_line_push(bd_queue(d, s), dme_line_pop(bd_kept(d, s)));
    s->good = s->queued ? dme_line_last(bd_queue(d, s)) : d->self;
    s->version += news && dme_option(d, OPTION_UPDATES) == NUMBERED;
    for (dme_id j = 0; j < d->n && news; j++)
        if (j != d->self && !dme_line_has(bd_queue(d, s), j))
            dme_send_ticket(d, j, UPDATE, (struct dme_ticket){.clock = s->version, .site = s->good});
    if (s->queued)
        bd_give(d, s);
}

static void bd_init(struct dme *d, void *state)
{
    struct bd *s = state;

    s->has = d->self == 0;
}

/* Sends a request to the good site. A site without the token that takes itself for the good site would ask itself for
 * ever. */
static void bd_pass(struct dme *d, const struct bd *s, struct dme_ticket claim)
{
    DME_EXPECT(d, s->good != d->self);
    dme_send_ticket(d, s->good, REQUEST, claim);
}

static void bd_request(struct dme *d, void *state)
{
    struct bd *s = state;

    if (s->has)
        dme_enter(d);
    else if (bd_is(d, FIRST_DRAFT))
        dme_send_others(d, REQUEST, dme_claim(d, 0));
    else
        bd_pass(d, s, dme_claim(d, 0));
}

static void bd_asked(struct dme *d, struct bd *s, struct dme_ticket claim)
{
    bool returned = claim.site == d->self && dme_option(d, OPTION_UPDATES) == PRINTED;

    DME_EXPECT(d, claim.site != DME_NONE && (claim.site != d->self || returned));
    if (bd_is(d, FIRST_DRAFT) && !(s->has && dme_idle(d)))
        return; /* not here, or in use */
    if (bd_is(d, PRELIMINARY) && !s->has && (dme_idle(d) || returned)) {
        bd_pass(d, s, claim);
        return;
    }
    DME_EXPECT(d, !dme_line_has(bd_kept(d, s), claim.site) && !dme_line_has(bd_queue(d, s), claim.site));
    dme_line_push(bd_kept(d, s), claim.site);
    if (s->has && dme_idle(d))
        bd_pass_on(d, s);
}

static void bd_take(struct dme *d, struct bd *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->has && dme_waiting(d));
    DME_EXPECT(d, dme_line_unpack(bd_queue(d, s), m->ticket + 1));
    DME_EXPECT(d, !dme_line_has(bd_queue(d, s), d->self));
    s->has = 1;
    s->version = m->ticket[0].clock;
    s->good = s->queued ? dme_line_last(bd_queue(d, s)) : d->self;
    dme_enter(d);
}

static void bd_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct bd *s = state;

    switch (m->kind) {
    case REQUEST:
        bd_asked(d, s, m->ticket[0]);
        break;
    case UPDATE:
        DME_EXPECT(d, m->ticket[0].site != DME_NONE && m->ticket[0].site != d->self);
        if (m->ticket[0].clock > s->version || dme_option(d, OPTION_UPDATES) == PRINTED) {
            s->version = m->ticket[0].clock;
            s->good = m->ticket[0].site;
        }
        break;
    case TOKEN:
        bd_take(d, s, m);
        break;
    }
}

static void bd_release(struct dme *d, void *state)
{
    bd_pass_on(d, state);
}

static const char *bd_malformed(const struct dme *d, void *state)
{
    struct bd *s = state;

    DME_HOLDS(s->good < d->n);
    DME_HOLDS(dme_line_is_sound(bd_kept(d, s), d->n));
    DME_HOLDS(dme_line_is_sound(bd_queue(d, s), d->n));
    return NULL;
}

static const char *bd_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct bd *s = dme_state(now->node[i]);

        tokens += s->has;
        for (uint32_t k = 0; k < s->queued; k++)
            if (s->peer[k].queue == i)
                return "BD1: the holder of the token is not on its queue";
    }
    return tokens == 1 ? NULL : "BD1: there is one token";
}

static void bd_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct bd *s = state;

    (void)d;
    dme_print(text, "good=%u version=%llu", s->good, (unsigned long long)s->version);
    dme_print_line(text, " kept", &s->peer[0].keep, sizeof s->peer[0], s->kept);
    if (s->has)
        dme_print_line(text, " token queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
}

#define BANTA_DRAFT                                                                                                    \
    .family = DME_TOKEN,                                                                                               \
    .paper = "P. Banta, Distributed mutual exclusion algorithms, M.S. thesis, University of Nevada, Las Vegas, 1993, " \
             "chapters 3 and 4",                                                                                       \
    .kinds = bd_kinds, .fields = bd_fields, .options = bd_options, .rules = 1 << DME_EXCLUSIVE,                        \
    .needs = DME_RELIABLE | DME_ALIVE, .state_size = sizeof(struct bd),                                                \
    .peer_size = sizeof(((struct bd *)0)->peer[0]), .init = bd_init, .request = bd_request, .receive = bd_receive,     \
    .release = bd_release, .malformed = bd_malformed, .broken = bd_broken, .show = bd_show

const struct dme_alg banta_first_draft = {
    .name = "banta-first-draft",
    .variant = FIRST_DRAFT,
    .cost = "n messages, delay T",
    .flaw = "deadlocks, as its author says: a request that finds the token in use or on its way is ignored",
    BANTA_DRAFT,
};

const struct dme_alg banta_basic = {
    .name = "banta-basic",
    .variant = BASIC,
    .cost = "n messages at light load, or 0 where the token is, 2 at full load, delay T",
    .flaw = "deadlocks: a request that comes after the token has left is held until the token comes again",
    BANTA_DRAFT,
};

const struct dme_alg banta_preliminary = {
    .name = "banta-preliminary",
    .variant = PRELIMINARY,
    .cost = "n messages at light load, or 0 where the token is, 2 at full load, delay T",
    .flaw = "starves, as its author says: a request may run after the token for ever",
    BANTA_DRAFT,
};
