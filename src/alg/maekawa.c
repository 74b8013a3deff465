/* Maekawa, "A sqrt(N) Algorithm for Mutual Exclusion in Decentralized Systems", ACM TOCS 3(2), 1985, with the
 * correction of Sanders, "The Information Structure of Distributed Mutual Exclusion Algorithms", ACM TOCS 5(3), 1987.
 *
 * Idea. A site asks only its quorum. Any two quorums share a site, and each site, as arbiter, gives its grant to one
 * claim at a time. Claims that hold some grants and wait for each other's would block for ever, so an arbiter that
 * receives an older claim asks its grant back (INQUIRE); whoever has been told to expect a delay (FAILED) gives it back
 * (YIELD), and is granted again later.
 *
 * Messages. REQUEST, GRANT, RELEASE for every member of the quorum but oneself, 3(K-1) at light load, and a FAILED each
 * at full load; at most 7(K-1) amortised. K is about sqrt(n) on projective planes and 2 sqrt(n) on grids.
 *
 * Invariant M1. An arbiter's grant is with one claim; nobody waits at an arbiter that has not granted.
 * Invariant M2. If the first of the waiting claims is older than the granted one, INQUIRE is out for it.
 * Invariant M3. Every claim that waits at an arbiter, but one that is older than the granted and all other waiting
 * ones, knows that it failed there, or a FAILED is on its way.
 *
 * Departures from the paper. FAILED goes also to a waiting claim that a newcomer overtakes (Sanders): as published the
 * algorithm deadlocks. Every message names the claim that it is about, and an INQUIRE that overtakes its GRANT is kept,
 * so FIFO channels are not needed. GRANT carries the arbiter's clock, so that sites that arbitrate little do not stay
 * behind and win. With `--set yield=at-once` there is no FAILED: whoever is inquired and not inside yields. */
#include "core/alg.h"
#include "core/topology.h"

enum { REQUEST, YIELD, RELEASE, GRANT, FAILED, INQUIRE };
enum { OPTION_QUORUM, OPTION_YIELD };
enum { YIELD_IF_FAILED, YIELD_AT_ONCE };

/* GRANT has a second ticket, the arbiter's clock. */
static const struct dme_kind mk_kinds[] = {
    {"REQUEST", 1, 0}, {"YIELD", 1, 0}, {"RELEASE", 1, 0}, {"GRANT", 2, 0}, {"FAILED", 1, 0}, {"INQUIRE", 1, 0}, {0},
};
static const char *const mk_yield[] = {"if-failed", "at-once", NULL};
static const struct dme_option mk_options[] = {
    {.key = "quorum", .help = "whom a site asks", .choices = topo_quorum_names},
    {.key = "yield", .help = "when a grant is given back", .choices = mk_yield},
    {0},
};

struct mk {
    uint64_t clock;
    uint64_t mine;          /* time of this site's claim, 0: none */
    struct dme_ticket lock; /* as arbiter: the claim that has the grant; clock 0: none */
    uint32_t inquired;      /* as arbiter: INQUIRE is out for it */
    uint32_t missing;       /* grants that this site's claim still lacks */
    struct {
        uint64_t waits;   /* as arbiter: time of the peer's waiting claim, 0: none */
        uint8_t granted;  /* the peer's grant is here */
        uint8_t ever;     /* it has been here for this claim */
        uint8_t failed;   /* the peer said FAILED, or was given its grant back, and has not granted since */
        uint8_t inquired; /* the peer wants its grant back and has not got it */
        uint8_t early;    /* the peer's INQUIRE came before its GRANT */
        uint8_t zero[3];
    } peer[];
};

static dme_id mk_member(const struct dme *d, uint32_t k)
{
    return topo_quorum_member((enum topo_quorum)dme_option(d, OPTION_QUORUM), d->n, d->self, k);
}

static struct dme_ticket mk_ticket(uint64_t clock, dme_id site)
{
    return (struct dme_ticket){.clock = clock, .site = site};
}

static void mk_send_quorum(struct dme *d, uint8_t kind, uint64_t claim)
{
    dme_id j;

    for (uint32_t k = 0; (j = mk_member(d, k)) != DME_NONE; k++)
        dme_send_ticket(d, j, kind, mk_ticket(claim, d->self));
}

/* ----------------------------------------------------------------------------------------------------- the requester
 */

static void mk_forget(struct dme *d, struct mk *s)
{
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].granted = s->peer[j].ever = s->peer[j].failed = s->peer[j].inquired = s->peer[j].early = 0;
}

static void mk_request(struct dme *d, void *state)
{
    struct mk *s = state;

    s->mine = ++s->clock;
    while (mk_member(d, s->missing) != DME_NONE)
        s->missing++;
    mk_send_quorum(d, REQUEST, s->mine);
}

static bool mk_has_failed(const struct dme *d, const struct mk *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].failed)
            return true;
    return false;
}

static void mk_give_back(struct dme *d, struct mk *s, dme_id j)
{
    s->peer[j].granted = s->peer[j].inquired = 0;
    s->peer[j].failed = 1;
    s->missing++;
    dme_send_ticket(d, j, YIELD, mk_ticket(s->mine, d->self));
}

static void mk_asked_back(struct dme *d, struct mk *s, dme_id j)
{
    if (dme_option(d, OPTION_YIELD) == YIELD_AT_ONCE || mk_has_failed(d, s))
        mk_give_back(d, s, j);
    else
        s->peer[j].inquired = 1;
}

static void mk_granted(struct dme *d, struct mk *s, dme_id j)
{
    DME_EXPECT(d, dme_waiting(d) && !s->peer[j].granted);
    s->peer[j].granted = s->peer[j].ever = 1;
    s->peer[j].failed = 0;
    if (--s->missing == 0) {
        mk_forget(d, s);
        dme_enter(d);
    } else if (s->peer[j].early) {
        s->peer[j].early = 0;
        mk_asked_back(d, s, j);
    }
}

static void mk_failed(struct dme *d, struct mk *s, dme_id j)
{
    if (s->peer[j].ever)
        return; /* an old one: the arbiter has granted since */
    s->peer[j].failed = 1;
    for (dme_id i = 0; i < d->n; i++)
        if (s->peer[i].inquired)
            mk_give_back(d, s, i);
}

static void mk_inquired(struct dme *d, struct mk *s, dme_id j)
{
    if (s->peer[j].granted)
        mk_asked_back(d, s, j);
    else
        s->peer[j].early = 1;
}

static void mk_release(struct dme *d, void *state)
{
    struct mk *s = state;
    uint64_t claim = s->mine;

    s->mine = 0;
    mk_send_quorum(d, RELEASE, claim);
}

/* ------------------------------------------------------------------------------------------------------- the arbiter
 */

static void mk_grant(struct dme *d, struct mk *s, struct dme_ticket claim)
{
    struct dme_msg *m = dme_send(d, claim.site, GRANT);

    s->lock = claim;
    s->inquired = 0;
    m->ticket[0] = claim;
    m->ticket[1].clock = s->clock;
}

/* The oldest waiting claim; its clock is 0 if there is none. */
static struct dme_ticket mk_first(const struct dme *d, const struct mk *s)
{
    struct dme_ticket first = mk_ticket(0, DME_NONE);

    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].waits && (first.clock == 0 || dme_before(mk_ticket(s->peer[j].waits, j), first)))
            first = mk_ticket(s->peer[j].waits, j);
    return first;
}

static void mk_grant_first(struct dme *d, struct mk *s)
{
    struct dme_ticket first = mk_first(d, s);

    s->peer[first.site].waits = 0;
    mk_grant(d, s, first);
}

static void mk_asked(struct dme *d, struct mk *s, struct dme_ticket claim)
{
    struct dme_ticket first = mk_first(d, s);
    bool at_once = dme_option(d, OPTION_YIELD) == YIELD_AT_ONCE;

    s->clock = dme_max(s->clock, claim.clock);
    if (s->lock.clock == 0) {
        mk_grant(d, s, claim);
        return;
    }
    DME_EXPECT(d, s->peer[claim.site].waits == 0);
    s->peer[claim.site].waits = claim.clock;
    if (dme_before(claim, s->lock) && (first.clock == 0 || dme_before(claim, first))) {
        if (!at_once && first.clock && dme_before(first, s->lock))
            dme_send_ticket(d, first.site, FAILED, first); /* Sanders: it is no longer the best, and must know */
        if (!s->inquired)
            dme_send_ticket(d, s->lock.site, INQUIRE, s->lock);
        s->inquired = 1;
    } else if (!at_once) {
        dme_send_ticket(d, claim.site, FAILED, claim);
    }
}

static bool mk_locked_by(const struct mk *s, struct dme_ticket claim)
{
    return s->lock.clock == claim.clock && s->lock.site == claim.site;
}

static void mk_yielded(struct dme *d, struct mk *s, struct dme_ticket claim)
{
    DME_EXPECT(d, mk_locked_by(s, claim) && s->peer[claim.site].waits == 0);
    s->peer[claim.site].waits = claim.clock;
    mk_grant_first(d, s);
}

static void mk_released(struct dme *d, struct mk *s, struct dme_ticket claim)
{
    DME_EXPECT(d, mk_locked_by(s, claim));
    if (mk_first(d, s).clock) {
        mk_grant_first(d, s);
    } else {
        s->lock = mk_ticket(0, 0);
        s->inquired = 0;
    }
}

/* --------------------------------------------------------------------------------------------------------- messages */

static void mk_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct mk *s = state;
    struct dme_ticket claim = m->ticket[0];

    DME_EXPECT(d, claim.clock > 0);
    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, claim.site == m->from);
        mk_asked(d, s, claim);
        return;
    case YIELD:
        mk_yielded(d, s, claim);
        return;
    case RELEASE:
        mk_released(d, s, claim);
        return;
    case GRANT:
        s->clock = dme_max(s->clock, m->ticket[1].clock);
        break;
    }
    /* The arbiter speaks of a claim: one that is not waiting any more gets no answer but the RELEASE it has sent or
     * will send. */
    DME_EXPECT(d, claim.site == d->self);
    if (claim.clock != s->mine || !dme_waiting(d))
        return;
    if (m->kind == GRANT)
        mk_granted(d, s, m->from);
    else if (m->kind == FAILED)
        mk_failed(d, s, m->from);
    else
        mk_inquired(d, s, m->from);
}

static void mk_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct mk *s = state;

    dme_print(text, "clock=%llu claim=%llu ", (unsigned long long)s->clock, (unsigned long long)s->mine);
    dme_print_set(text, "granted", &s->peer[0].granted, sizeof s->peer[0], d->n);
    dme_print_set(text, " failed", &s->peer[0].failed, sizeof s->peer[0], d->n);
    dme_print_set(text, " inquired", &s->peer[0].inquired, sizeof s->peer[0], d->n);
    if (s->lock.clock)
        dme_print(text, " lock=%llu.%u%s", (unsigned long long)s->lock.clock, s->lock.site, s->inquired ? "?" : "");
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].waits)
            dme_print(text, " waits=%llu.%u", (unsigned long long)s->peer[j].waits, j);
}

static const char *mk_check(const struct dme_conf *conf)
{
    if (!topo_quorum_exists((enum topo_quorum)conf->option[OPTION_QUORUM], conf->n))
        return "quorum=plane needs 3, 7, 13, 21, 31, 57, 73 or 91 sites; quorum=grid works for any number";
    return NULL;
}

const struct dme_alg maekawa = {
    .name = "maekawa",
    .family = DME_QUORUM,
    .paper = "M. Maekawa, A sqrt(N) algorithm for mutual exclusion in decentralized systems, ACM TOCS 3(2), 1985; "
             "B. Sanders, ACM TOCS 5(3), 1987",
    .cost = "3(K-1) to 7(K-1) messages for quorums of K sites, delay 2T",
    .kinds = mk_kinds,
    .options = mk_options,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_RELIABLE | DME_ALIVE,
    .state_size = sizeof(struct mk),
    .peer_size = sizeof(((struct mk *)0)->peer[0]),
    .check = mk_check,
    .request = mk_request,
    .receive = mk_receive,
    .release = mk_release,
    .show = mk_show,
};
