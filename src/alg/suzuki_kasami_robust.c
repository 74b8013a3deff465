/* Suzuki and Kasami, "A Distributed Mutual Exclusion Algorithm", ACM TOCS 3(4), 1985, among sites that fail and come
 * back, on a network that may be cut. The paper has no such thing: this is what the recovery of Singhal's algorithm
 * (singhal_heuristic_robust.c) becomes where every site hears every request.
 *
 * Idea. Whether the token is lost, a census tells (census.h). A new token is made from what all report: of each site
 * the request that was served last is its latest one, or the one before if it waits. After every census, a site that
 * waits asks again, under the same number: that reaches the sites that did not get its first request, and is no news to
 * others.
 *   A site that is back learns the number of its own last request from the others. The queue of the token is only what
 *   the holder will do next, so a site that cannot be reached is simply left out when its turn comes.
 *
 * Messages. As before, n or 0, while nothing fails. A failure costs at most n(n-1) FLUSH, n-1 STATUS, n-1 VERDICT and
 * n-1 REQUESTs of each that waits; a recovery 2(n-1) and such a census.
 *
 * Invariant KR1. Among sites that are up there is at most one token, held or in flight. */
#include "census.h"
#include "core/line.h"

static const struct dme_kind kr_kinds[] = {CENSUS_KINDS, {0}};
static const char *const kr_fields[16] = {[TOKEN] = "LN,,Q"};

struct kr {
    struct census census;
    uint32_t queued, zero; /* with the token: sites in its queue */
    struct {
        struct census_peer census; /* served: the number of the request served last */
        dme_id queue;              /* with the token: slot of its queue */
        uint32_t zero;
    } peer[];
};

static const struct census_user kr_user;

static struct census_view kr_view(struct kr *s)
{
    return (struct census_view){
        .census = &s->census, .first = &s->peer[0].census, .stride = sizeof s->peer[0], .user = &kr_user};
}

static struct dme_line kr_queue(const struct dme *d, struct kr *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static bool kr_fresh(const struct kr *s, dme_id j)
{
    return s->peer[j].census.number > s->peer[j].census.served;
}

/* --------------------------------------------------------------------------------------------- while nothing fails */

static void kr_ask(struct dme *d, struct kr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (census_reaches(d, kr_view(s), j))
            dme_send_ticket(d, j, REQUEST, dme_claim(d, s->peer[d->self].census.number));
}

static void kr_give(struct dme *d, struct kr *s, dme_id to)
{
    struct dme_msg *m = dme_send(d, to, TOKEN);

    s->census.has = 0;
    dme_line_pack(kr_queue(d, s), m->ticket);
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].census.served;
        s->peer[j].census.served = 0;
    }
}

/* An idle holder: every site with a fresh request joins the queue, from the right-hand neighbour onwards, and the first
 * that can be reached gets the token, unless a census keeps the token here. */
static void kr_pass(struct dme *d, struct kr *s)
{
    if (!s->census.has || !dme_idle(d) || s->census.runs)
        return;
    for (dme_id j = dme_after(d, d->self); j != d->self; j = dme_after(d, j))
        if (kr_fresh(s, j) && census_reaches(d, kr_view(s), j) && !dme_line_has(kr_queue(d, s), j))
            dme_line_push(kr_queue(d, s), j);
    while (s->queued) {
        dme_id next = dme_line_pop(kr_queue(d, s));

        if (census_reaches(d, kr_view(s), next)) {
            kr_give(d, s, next);
            return;
        }
    }
}

static void kr_request(struct dme *d, void *state)
{
    struct kr *s = state;

    if (s->census.has) {
        dme_enter(d);
    } else if (!s->census.recovering) {
        s->peer[d->self].census.number++;
        kr_ask(d, s);
    }
}

static void kr_release(struct dme *d, void *state)
{
    struct kr *s = state;

    s->peer[d->self].census.served = s->peer[d->self].census.number;
    kr_pass(d, s);
}

static void kr_take(struct dme *d, struct kr *s, const struct dme_msg *m)
{
    struct census_peer *me = &s->peer[d->self].census;

    DME_EXPECT(d, !s->census.has);
    s->census.has = 1;
    for (dme_id k = 0; k < d->n; k++)
        s->peer[k].census.served = m->ticket[k].clock;
    for (dme_id k = 0; k < d->n && m->ticket[k].site != DME_NONE; k++) {
        DME_EXPECT(d, !dme_line_has(kr_queue(d, s), m->ticket[k].site));
        dme_line_push(kr_queue(d, s), m->ticket[k].site);
    }
    dme_line_remove(kr_queue(d, s), d->self);
    me->number = dme_max(me->number, me->served);
    if (dme_waiting(d))
        dme_enter(d);
    else
        kr_release(d, s); /* the token still knew of a request of the earlier incarnation */
}

/* ----------------------------------------------------------------------------------------------------------- failures */

/* Makes a new token. A site that waits has not been served with its latest number. */
static void kr_make(struct dme *d, void *state)
{
    struct kr *s = state;

    s->census.has = 1;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].census.served = s->peer[j].census.reported - s->peer[j].census.waits;
    if (dme_waiting(d))
        dme_enter(d);
}

static void kr_go_on(struct dme *d, void *state, dme_id holder)
{
    struct kr *s = state;

    (void)holder;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].census.beyond = 0;
    if (census_waits(d, &s->census))
        kr_ask(d, s);
    kr_pass(d, s);
}

static const struct census_user kr_user = {.make = kr_make, .go_on = kr_go_on, .ask = kr_request};

static void kr_news(struct dme *d, void *state, enum dme_news what, dme_id of)
{
    census_news(d, kr_view(state), what, of);
}

/* What it remembers is out of date, but for its own number. */
static void kr_restart(struct dme *d, void *state, bool remembers)
{
    struct kr *s = state;

    (void)remembers;
    s->queued = 0;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].queue = 0;
    census_restart(d, kr_view(s));
}

/* -------------------------------------------------------------------------------------------------------- the handlers */

static void kr_init(struct dme *d, void *state)
{
    struct kr *s = state;

    s->census.has = d->self == 0;
}

static void kr_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct kr *s = state;

    if (census_receive(d, kr_view(s), m))
        return;
    if (m->kind == TOKEN) {
        kr_take(d, s, m);
    } else {
        DME_EXPECT(d, m->ticket[0].site == m->from);
        s->peer[m->from].census.number = dme_max(s->peer[m->from].census.number, m->ticket[0].clock);
        kr_pass(d, s);
    }
}

static const char *kr_malformed(const struct dme *d, void *state)
{
    struct kr *s = state;

    DME_HOLDS(dme_line_is_sound(kr_queue(d, s), d->n));
    return NULL;
}

static const char *kr_broken(const struct dme_moment *now)
{
    return census_tokens(now, offsetof(struct kr, peer), sizeof(((struct kr *)0)->peer[0])) <= 1
               ? NULL
               : "KR1: among sites that are up there is at most one token";
}

static void kr_show(const struct dme *d, const void *state, struct dme_text *text)
{
    struct kr *s = (struct kr *)state;

    census_show(d, kr_view(s), text);
    if (s->census.has) {
        dme_print_numbers(text, " token served", &s->peer[0].census.served, sizeof s->peer[0], d->n);
        dme_print_line(text, " queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
    }
}

const struct dme_alg suzuki_kasami_robust = {
    .name = "suzuki-kasami-robust",
    .paper =
        "I. Suzuki, T. Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985; recovery after M. "
        "Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, IEEE TC 38(5), 1989",
    .cost = "n messages, or 0 where the token is, delay T; a failure costs up to 2n(n+1) more",
    .kinds = kr_kinds,
    .fields = kr_fields,
    .upkeep = FLUSH,
    .family = DME_TOKEN,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_FIFO | DME_RELIABLE | DME_DETECTION,
    .state_size = sizeof(struct kr),
    .peer_size = sizeof(((struct kr *)0)->peer[0]),
    .init = kr_init,
    .request = kr_request,
    .receive = kr_receive,
    .release = kr_release,
    .restart = kr_restart,
    .news = kr_news,
    .broken = kr_broken,
    .malformed = kr_malformed,
    .show = kr_show,
};
