/* quorum.c - arbitration among quorums, after Maekawa, "A sqrt(N) Algorithm for Mutual Exclusion in Decentralized
 * Systems", ACM TOCS 3(2), 1985, with the correction of Sanders, "The Information Structure of Distributed Mutual
 * Exclusion Algorithms", ACM TOCS 5(3), 1987.
 *
 * Idea. A site asks only its quorum. Any two quorums share a site, and each site, as arbiter, gives its grant to one
 * claim at a time. Claims that hold some grants and wait for each other's would block for ever, so an arbiter that
 * receives an older claim asks its grant back (INQUIRE). A site that has been told to expect a delay (FAILED) gives it
 * back (YIELD), and is granted again later.
 *
 * Messages. REQUEST, GRANT, RELEASE for every member of the quorum but oneself, 3(K-1) at light load for a quorum of K,
 * and a FAILED each at full load; at most 7(K-1) amortised.
 *
 * Algorithm. Site i:
 *     request        number my claim; send REQUEST(claim) to all arbiters of my quorum; enter once all have granted
 *     on REQUEST(c)  if my grant is free: send GRANT to c. Else c waits; if it is older than the granted claim and
 *                    all that wait, send INQUIRE to the granted claim, if that was not done; else send FAILED to c. A
 *                    waiting claim that c overtakes is told FAILED, too
 *     on GRANT       the sender has granted; enter if all arbiters have. An INQUIRE of it that came before is
 *                    answered now: YIELD if I have failed somewhere
 *     on FAILED      I have failed there: send YIELD to each arbiter that has inquired
 *     on INQUIRE     if I have failed somewhere and am not inside: send YIELD to the arbiter; else remember it until
 *                    I fail, or leave
 *     on YIELD       the claim waits again; send GRANT to the oldest waiting claim, and FAILED to the one that
 *                    yielded if it does not know
 *     release        send RELEASE to all arbiters of my quorum
 *     on RELEASE     my grant is free; send GRANT to the oldest waiting claim
 *
 * Invariant M1. An arbiter's grant is with one claim; no claim waits at an arbiter that has not granted.
 * Invariant M2. If the first of the waiting claims is older than the granted one, INQUIRE is out for it.
 * Invariant M3. Every claim that waits at an arbiter, but one that is older than the granted and all other waiting
 * ones, knows that it failed there, or a FAILED is on its way.
 *
 * So in a circle of waiting claims one holds a grant, has failed elsewhere, and is asked for the grant: it yields.
 *
 * Departures from the paper. FAILED goes also to a waiting claim that a newcomer overtakes (Sanders): as published the
 * algorithm deadlocks. Every message names the claim that it is about, and an INQUIRE that overtakes its GRANT is kept,
 * so FIFO channels are not needed. GRANT carries the arbiter's clock, so that sites that arbitrate little do not stay
 * behind and win. With `--set yield=at-once` there is no FAILED: a site that is inquired and not inside yields.
 *
 * Where sites may stop (quorum_lost), a claim whose quorum changes keeps its time, asks only who was not asked before,
 * and takes nothing back before its RELEASE; so an arbiter may hear of claims that are over, and of ones that it never
 * granted.
 *
 * The mistakes are those of summaries of Maekawa's paper, and tempting ones; the paper itself was not at hand. */
#include "quorum.h"

#include "clocks.h"

enum { REQUEST, YIELD, RELEASE, GRANT, FAILED, INQUIRE };
enum { YIELD_IF_FAILED, YIELD_AT_ONCE };
enum {
    OVERTAKEN_NOT_TOLD,
    COMPARES_WITH_GRANTED,
    DROPS_INQUIRY,
    YIELDED_NOT_FAILED,
    IGNORES_EARLY_INQUIRY,
    NEVER_INQUIRES
};

/* GRANT has a second ticket, the arbiter's clock. */
const struct dme_kind quorum_kinds[] = {
    {"REQUEST", 1, 0}, {"YIELD", 1, 0}, {"RELEASE", 1, 0}, {"GRANT", 2, 0}, {"FAILED", 1, 0}, {"INQUIRE", 1, 0}, {0},
};
const char *const quorum_yield[] = {"if-failed", "at-once", NULL};
const struct dme_mistake quorum_mistakes[] = {
    {.name = "overtaken-not-told",
     .kind = DME_RETOLD,
     .where = "reproductions of Maekawa 1985; corrected by Sanders 1987",
     .what = "a waiting claim that a newcomer overtakes is not told that it failed"},
    {.name = "compares-with-granted",
     .kind = DME_RETOLD,
     .where = "textbook summaries",
     .what = "a newcomer is compared with the granted claim only"},
    {.name = "drops-inquiry",
     .kind = DME_TEMPTING,
     .where = "not in a publication",
     .what = "an INQUIRE that finds its claim undecided is forgotten"},
    {.name = "yielded-not-failed",
     .kind = DME_TEMPTING,
     .where = "not in a publication",
     .what = "a claim that yields a grant does not count it as failed"},
    {.name = "ignores-early-inquiry",
     .kind = DME_TEMPTING,
     .where = "not in a publication",
     .what = "an INQUIRE that overtakes its GRANT is ignored"},
    {.name = "never-inquires",
     .kind = DME_RETOLD,
     .where = "Banta 1993, section 2.2.5, pages 20-21",
     .what = "there are requests, replies and releases, and no other message"},
    {0},
};

static struct dme_ticket quorum_ticket(uint64_t clock, dme_id site)
{
    return (struct dme_ticket){.clock = clock, .site = site};
}

static bool quorum_yields_at_once(const struct dme *d)
{
    return dme_option(d, QUORUM_OPTION_YIELD) == YIELD_AT_ONCE;
}

/* Is this a variant in which sites may crash? */
static bool quorum_outlives(const struct dme *d)
{
    return d->conf->alg->news;
}

/* ---------------------------------------------------------------------------------------------------- the requester */

static void quorum_forget(struct dme *d, struct quorum *s)
{
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].granted = s->peer[j].ever = s->peer[j].failed = s->peer[j].inquired = s->peer[j].early = 0;
}

void quorum_request(struct dme *d, void *state)
{
    struct quorum *s = state;

    s->mine = ++s->clock;
    quorum_ask(d, s);
}

void quorum_ask(struct dme *d, struct quorum *s)
{
    s->missing = 0;
    for (dme_id j = 0; j < d->n; j++) {
        if (!s->peer[j].member)
            continue;
        s->missing += !s->peer[j].granted;
        if (!s->peer[j].asked)
            dme_send_ticket(d, j, REQUEST, quorum_ticket(s->mine, d->self));
        s->peer[j].asked = 1;
    }
}

static bool quorum_has_failed(const struct dme *d, const struct quorum *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].failed)
            return true;
    return false;
}

static void quorum_give_back(struct dme *d, struct quorum *s, dme_id j)
{
    s->peer[j].granted = s->peer[j].inquired = 0;
    /* The arbiter has now granted another claim, which is as good as a FAILED. */
    s->peer[j].failed = !dme_mistake(d, YIELDED_NOT_FAILED);
    s->missing += s->peer[j].member;
    dme_send_ticket(d, j, YIELD, quorum_ticket(s->mine, d->self));
}

/* A claim that no arbiter has failed may be about to enter: it remembers the inquiry instead of yielding. */
static void quorum_asked_back(struct dme *d, struct quorum *s, dme_id j)
{
    if (quorum_yields_at_once(d) || quorum_has_failed(d, s))
        quorum_give_back(d, s, j);
    else
        s->peer[j].inquired = !dme_mistake(d, DROPS_INQUIRY);
}

static void quorum_granted(struct dme *d, struct quorum *s, dme_id j)
{
    DME_EXPECT(d, !s->peer[j].granted);
    s->peer[j].granted = s->peer[j].ever = 1;
    s->peer[j].failed = 0;
    s->missing -= s->peer[j].member;
    if (s->missing == 0) {
        quorum_forget(d, s);
        dme_enter(d);
    } else if (s->peer[j].early) {
        s->peer[j].early = 0;
        quorum_asked_back(d, s, j);
    }
}

static void quorum_failed(struct dme *d, struct quorum *s, dme_id j)
{
    if (s->peer[j].ever)
        return; /* an old one: the arbiter has granted since */
    s->peer[j].failed = 1;
    for (dme_id i = 0; i < d->n; i++)
        if (s->peer[i].inquired)
            quorum_give_back(d, s, i);
}

static void quorum_inquired(struct dme *d, struct quorum *s, dme_id j)
{
    if (s->peer[j].granted)
        quorum_asked_back(d, s, j);
    else
        s->peer[j].early = !dme_mistake(d, IGNORES_EARLY_INQUIRY);
}

void quorum_release(struct dme *d, void *state)
{
    struct quorum *s = state;
    uint64_t claim = s->mine;

    s->mine = 0;
    for (dme_id j = 0; j < d->n; j++) {
        if (s->peer[j].asked && !s->peer[j].down)
            dme_send_ticket(d, j, RELEASE, quorum_ticket(claim, d->self));
        s->peer[j].asked = 0;
    }
}

/* ------------------------------------------------------------------------------------------------------ the arbiter */

static void quorum_grant(struct dme *d, struct quorum *s, struct dme_ticket claim)
{
    struct dme_msg *m = dme_send(d, claim.site, GRANT);

    s->lock = claim;
    s->inquired = 0;
    m->ticket[0] = claim;
    m->ticket[1].clock = s->clock;
}

/* The oldest waiting claim; its clock is 0, and its site DME_NONE, if there is none. */
static struct dme_ticket quorum_first(const struct dme *d, const struct quorum *s)
{
    struct dme_ticket first = quorum_ticket(0, DME_NONE);

    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].waits && (first.clock == 0 || dme_before(quorum_ticket(s->peer[j].waits, j), first)))
            first = quorum_ticket(s->peer[j].waits, j);
    return first;
}

static void quorum_grant_first(struct dme *d, struct quorum *s)
{
    struct dme_ticket first = quorum_first(d, s);

    DME_EXPECT(d, first.site != DME_NONE);
    s->peer[first.site].waits = 0;
    quorum_grant(d, s, first);
}

static void quorum_fail(struct dme *d, struct dme_ticket claim)
{
    if (!quorum_yields_at_once(d))
        dme_send_ticket(d, claim.site, FAILED, claim);
}

/* A claim begins to wait; `first` was the first claim until now. A site whose claim is no longer the first must be
 * told. */
static void quorum_wait(struct dme *d, struct quorum *s, struct dme_ticket claim, struct dme_ticket first)
{
    bool before_first = first.clock == 0 || dme_before(claim, first);

    s->peer[claim.site].waits = claim.clock;
    if (dme_mistake(d, NEVER_INQUIRES))
        return;
    if (dme_before(claim, s->lock) && before_first) {
        if (first.site != DME_NONE && dme_before(first, s->lock) && !dme_mistake(d, OVERTAKEN_NOT_TOLD))
            quorum_fail(d, first); /* Sanders; Maekawa tells only the newcomer */
        if (!s->inquired)
            dme_send_ticket(d, s->lock.site, INQUIRE, s->lock);
        s->inquired = 1;
    } else if (!dme_before(claim, s->lock) || !dme_mistake(d, COMPARES_WITH_GRANTED)) {
        quorum_fail(d, claim); /* textbooks: only if it is younger than the granted one */
    }
}

/* Is the claim over, or followed by another of its site? */
static bool quorum_outdated(const struct quorum *s, struct dme_ticket claim)
{
    uint64_t waits = s->peer[claim.site].waits, locked = s->lock.site == claim.site ? s->lock.clock : 0;

    return claim.clock <= s->peer[claim.site].done || s->peer[claim.site].down || claim.clock < dme_max(waits, locked);
}

static void quorum_asked(struct dme *d, struct quorum *s, struct dme_ticket claim)
{
    s->clock = dme_max(s->clock, claim.clock);
    if (quorum_outlives(d)) {
        if (quorum_outdated(s, claim))
            return;
        s->peer[claim.site].waits = 0; /* an earlier one is over, and its RELEASE on the way */
    }
    if (s->lock.clock == 0) {
        quorum_grant(d, s, claim);
    } else {
        DME_EXPECT(d, s->peer[claim.site].waits == 0);
        quorum_wait(d, s, claim, quorum_first(d, s));
    }
}

static bool quorum_locked_by(const struct quorum *s, struct dme_ticket claim)
{
    return s->lock.clock == claim.clock && s->lock.site == claim.site;
}

static void quorum_yielded(struct dme *d, struct quorum *s, struct dme_ticket claim)
{
    if (quorum_outlives(d) && !quorum_locked_by(s, claim))
        return;
    DME_EXPECT(d, quorum_locked_by(s, claim) && s->peer[claim.site].waits == 0);
    s->peer[claim.site].waits = claim.clock;
    quorum_grant_first(d, s);
}

/* The arbiter's grant is free: grants the oldest waiting claim, if there is one. */
static void quorum_free(struct dme *d, struct quorum *s)
{
    if (quorum_first(d, s).clock) {
        quorum_grant_first(d, s);
    } else {
        s->lock = quorum_ticket(0, 0);
        s->inquired = 0;
    }
}

static void quorum_released(struct dme *d, struct quorum *s, struct dme_ticket claim)
{
    if (quorum_outlives(d)) {
        s->peer[claim.site].done = dme_max(s->peer[claim.site].done, claim.clock);
        if (s->peer[claim.site].waits == claim.clock)
            s->peer[claim.site].waits = 0;
        if (!quorum_locked_by(s, claim))
            return;
    }
    DME_EXPECT(d, quorum_locked_by(s, claim));
    quorum_free(d, s);
}

bool quorum_lost(struct dme *d, struct quorum *s, dme_id j)
{
    s->peer[j].down = 1;
    s->peer[j].waits = 0;
    s->peer[j].granted = s->peer[j].ever = s->peer[j].failed = s->peer[j].inquired = s->peer[j].early = 0;
    if (s->lock.clock && s->lock.site == j)
        quorum_free(d, s);
    return dme_waiting(d) && s->peer[j].member;
}

/* --------------------------------------------------------------------------------------------------------- messages */

/* A message of an arbiter about a claim. If the claim no longer waits, the only answer is the RELEASE that this site
 * has sent or will send. */
static void quorum_told(struct dme *d, struct quorum *s, const struct dme_msg *m)
{
    DME_EXPECT(d, m->ticket[0].site == d->self && (s->peer[m->from].member || quorum_outlives(d)));
    if (m->kind == GRANT)
        s->clock = dme_max(s->clock, m->ticket[1].clock);
    if (m->ticket[0].clock != s->mine || !dme_waiting(d))
        return;
    if (m->kind == GRANT)
        quorum_granted(d, s, m->from);
    else if (m->kind == FAILED)
        quorum_failed(d, s, m->from);
    else
        quorum_inquired(d, s, m->from);
}

void quorum_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct quorum *s = state;
    struct dme_ticket claim = m->ticket[0];

    DME_EXPECT(d, claim.clock > 0);
    if (m->kind == GRANT || m->kind == FAILED || m->kind == INQUIRE) {
        quorum_told(d, s, m);
        return;
    }
    DME_EXPECT(d, claim.site == m->from);
    if (m->kind == REQUEST)
        quorum_asked(d, s, claim);
    else if (m->kind == YIELD)
        quorum_yielded(d, s, claim);
    else
        quorum_released(d, s, claim);
}

/* ------------------------------------------------------------------------------------------------------- invariants */

const char *quorum_malformed(const struct dme *d, void *state)
{
    struct quorum *s = state;

    DME_HOLDS(s->lock.site < d->n);
    return NULL;
}

/* Does j, or will it, know that its claim failed at arbiter a? */
static bool quorum_knows(const struct dme_moment *now, dme_id a, dme_id j)
{
    const struct quorum *s = dme_state(now->node[j]);

    return s->peer[a].failed || dme_in_flight(now, FAILED, a, j) > 0;
}

static const char *quorum_broken_at(const struct dme_moment *now, dme_id a)
{
    const struct quorum *s = dme_state(now->node[a]);
    struct dme d = {.conf = now->conf, .n = now->conf->n};
    struct dme_ticket first = quorum_first(&d, s);

    if (first.clock && s->lock.clock == 0)
        return "M1: no claim waits at an arbiter that has not granted";
    if (first.clock && dme_before(first, s->lock) && !s->inquired)
        return "M2: if the first of the waiting claims is older than the granted one, INQUIRE is out";
    for (dme_id j = 0; j < now->conf->n && !quorum_yields_at_once(&d); j++)
        if (s->peer[j].waits && (j != first.site || dme_before(s->lock, first)) && !quorum_knows(now, a, j))
            return "M3: a waiting claim that is not the first to be served knows that it failed, or will know";
    return NULL;
}

const char *quorum_broken(const struct dme_moment *now)
{
    const char *broken = NULL;

    for (dme_id a = 0; a < now->conf->n && !broken; a++)
        broken = quorum_broken_at(now, a);
    return broken;
}

/* -------------------------------------------------------------------------------------------------- canonical forms */

static uint64_t *quorum_number(const struct dme_draft *now, dme_id i, unsigned k)
{
    struct quorum *s = dme_state(now->node[i]);

    switch (k) {
    case 0:
        return &s->clock;
    case 1:
        return &s->mine;
    case 2:
        return &s->lock.clock;
    default:
        return k - 3 < now->conf->n ? &s->peer[k - 3].waits : NULL;
    }
}

/* Does the site take no notice of this message, now and later? It is about a claim that is over or inside, or about one that the
 * arbiter has granted since. */
static bool quorum_ignores(const struct dme_draft *now, size_t k)
{
    const struct dme_msg *m = now->msg[k];
    const struct dme_node *node = now->node[now->to[k]];
    const struct quorum *s = dme_state(node);

    if (m->kind != FAILED && m->kind != INQUIRE)
        return false;
    return m->ticket[0].clock != s->mine || node->phase != DME_WAITING || (m->kind == FAILED && s->peer[m->from].ever);
}

/* The canonical form (clocks.h): sites that are in no common quorum do not hear of each other's numbers. */
bool quorum_canon(const struct dme_draft *now)
{
    bool changed = false;

    for (size_t k = 0; k < now->msgs; k++)
        if (quorum_ignores(now, k)) {
            now->msg[k]->ticket[0].clock = 0; /* a number that is in use no more */
            changed = now->gone[k] = true;
        }
    return clocks_canon_order(now, quorum_number) || changed;
}

uint64_t *quorum_clock(void *state)
{
    return &((struct quorum *)state)->clock;
}

void quorum_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct quorum *s = state;

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
