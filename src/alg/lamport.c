/* Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 21(7), 1978.
 *
 * Idea. Every site keeps the same queue of claims, ordered by logical time. A site goes in when its claim is the first
 * of its queue (L2) and it has heard something later than its claim from every other site (L1): on channels that keep
 * the order, no older claim can still be on its way.
 *
 * Messages. REQUEST to all, REPLY from all, RELEASE to all: 3(n-1) per entry. With `--set omit=lecture` a site whose
 * own claim is pending and later than the one it receives does not reply, because its own REQUEST serves for L1:
 * between 2(n-1) and 3(n-1). With `--set omit=all` it does not reply while any claim of its own is pending: where its
 * claim is the earlier one, its RELEASE serves for L1.
 *
 * Algorithm. Site i:
 *     request           clock := clock + 1; put (clock, i) into the queue; send REQUEST(clock, i) to all others;
 *                       enter if there are none
 *     on REQUEST(t, j)  clock := max(clock, t) + 1; put (t, j) into the queue; send REPLY(clock) to j; if the time is
 *                       later than my claim, j has been heard; enter if L1 and L2 hold
 *     on REPLY(t)       clock := max(clock, t) + 1; if the sender's time is later than my claim, it has been heard;
 *                       enter if all have been heard (L1) and my claim is the first of the queue (L2)
 *     release           take my claim out of the queue; send RELEASE(clock) to all others
 *     on RELEASE(t)     take the sender's claim out of the queue; it has been heard; enter if L1 and L2 hold
 *
 * Invariant L. Sites enter in the order of their claims (time, site).
 *
 * Departures from the paper. The largest time received from a site need not be kept: what was received before the claim
 * is smaller than the claim, so one flag per site, "heard something later than my claim", says the same. A receipt
 * moves the clock past the time received (the paper's rule IR2), but is no tick of its own; only *up to* that time
 * would not do, for then a reply could carry the claim's own time and never be later. Summaries that say max(clock,
 * time) make that mistake: lamport-as-retold. */
#include "clocks.h"

enum { REQUEST, REPLY, RELEASE };
enum { OMIT_NEVER, OMIT_LECTURE, OMIT_ALL };
enum { CLOCK_NOT_PAST };

static const struct dme_kind lamport_kinds[] = {{"REQUEST", 1, 0}, {"REPLY", 1, 0}, {"RELEASE", 1, 0}, {0}};
static const char *const lamport_omit[] = {"never", "lecture", "all", NULL};
static const struct dme_option lamport_options[] = {
    {.key = "omit", .help = "which replies are left out", .choices = lamport_omit},
    {0},
};
static const struct dme_mistake lamport_mistakes[] = {
    {.name = "clock-not-past",
     .kind = DME_RETOLD,
     .where = "summaries of Lamport 1978",
     .what = "a site that receives a time moves its clock up to it, not past it"},
    {0},
};

struct lamport {
    uint64_t clock;
    struct {
        uint64_t claim; /* the site's claim in the queue, by its time; 0: none */
        uint8_t later;  /* heard something later than my claim */
        uint8_t zero[7];
    } peer[];
};

static struct dme_ticket lamport_claim(const struct lamport *s, dme_id j)
{
    return (struct dme_ticket){.clock = s->peer[j].claim, .site = j};
}

/* L1 and L2. */
static void lamport_try(struct dme *d, const struct lamport *s)
{
    if (!dme_waiting(d))
        return;
    for (dme_id j = 0; j < d->n; j++)
        if (j != d->self) {
            if (!s->peer[j].later)
                return;
            if (s->peer[j].claim && dme_before(lamport_claim(s, j), lamport_claim(s, d->self)))
                return;
        }
    dme_enter(d);
}

static bool lamport_omits(const struct dme *d, const struct lamport *s, struct dme_ticket claim)
{
    switch (dme_option(d, 0)) {
    case OMIT_LECTURE:
        return !dme_idle(d) && dme_before(claim, lamport_claim(s, d->self));
    case OMIT_ALL:
        return !dme_idle(d);
    default:
        return false;
    }
}

static void lamport_request(struct dme *d, void *state)
{
    struct lamport *s = state;

    s->peer[d->self].claim = ++s->clock;
    dme_send_others(d, REQUEST, dme_claim(d, s->clock));
    lamport_try(d, s);
}

static void lamport_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct lamport *s = state;
    struct dme_ticket t = m->ticket[0];

    DME_EXPECT(d, t.site == m->from);
    s->clock = dme_max(s->clock, t.clock + !dme_mistake(d, CLOCK_NOT_PAST));
    if (dme_waiting(d) && dme_before(lamport_claim(s, d->self), t))
        s->peer[m->from].later = 1;
    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, s->peer[m->from].claim == 0);
        s->peer[m->from].claim = t.clock;
        if (!lamport_omits(d, s, t))
            dme_send_ticket(d, m->from, REPLY, dme_claim(d, s->clock));
        break;
    case RELEASE:
        s->peer[m->from].claim = 0;
        break;
    }
    lamport_try(d, s);
}

static void lamport_release(struct dme *d, void *state)
{
    struct lamport *s = state;

    s->peer[d->self].claim = 0;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].later = 0;
    dme_send_others(d, RELEASE, dme_claim(d, ++s->clock));
}

static void lamport_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct lamport *s = state;
    const char *between = "";

    dme_print(text, "clock=%llu claims=", (unsigned long long)s->clock);
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].claim) {
            dme_print(text, "%s%llu.%u", between, (unsigned long long)s->peer[j].claim, j);
            between = ",";
        }
    dme_print_set(text, *between ? " later" : "- later", &s->peer[0].later, sizeof s->peer[0], d->n);
}

/* A claim that is served late would be seen here: while its site still waits, one with a later claim is inside. */
static const char *lamport_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++)
            if (now->node[i]->phase == DME_INSIDE && now->node[j]->phase == DME_WAITING &&
                dme_before(lamport_claim(dme_state(now->node[j]), j), lamport_claim(dme_state(now->node[i]), i)))
                return "L: sites enter in the order of their claims";
    return NULL;
}

/* The canonical form (clocks.h). Later times are at least the least clock, and a message with a time below it moves no
 * clock: so times up to the least clock less one are ranked. A claim of time 0 is none. */
static bool lamport_canon(const struct dme_draft *now)
{
    struct clocks c = {.low = UINT64_MAX};
    bool changed = false;

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct lamport *s = dme_state(now->node[i]);

        c.low = s->clock < c.low ? s->clock : c.low;
    }
    if (c.low-- == 0)
        return false;
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct lamport *s = dme_state(now->node[i]);

            if (s->peer[j].claim)
                clocks_note(&c, s->peer[j].claim);
        }
    for (size_t k = 0; k < now->msgs; k++)
        clocks_note(&c, now->msg[k]->ticket[0].clock);
    if (c.too_many)
        return false;
    for (dme_id i = 0; i < now->conf->n; i++) {
        struct lamport *s = dme_state(now->node[i]);

        changed |= clocks_replace(&c, &s->clock);
        for (dme_id j = 0; j < now->conf->n; j++)
            changed |= s->peer[j].claim && clocks_replace(&c, &s->peer[j].claim);
    }
    for (size_t k = 0; k < now->msgs; k++)
        changed |= clocks_replace(&c, &now->msg[k]->ticket[0].clock);
    return changed;
}

/* For any number of sites. Site 2 has been heard when all others have been, and none of them has an older claim: FIFO channels bring
 * an older claim before anything later, so that stays so. The others may send something later at any time. */
static void lamport_merge(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                          struct dme_node *into)
{
    const struct lamport *s = dme_state(node);
    struct lamport *t = dme_state(into);
    struct dme_ticket mine = lamport_claim(s, pair[into->self]);

    t->clock = s->clock;
    t->peer[0] = s->peer[pair[0]];
    t->peer[1] = s->peer[pair[1]];
    t->peer[2].later = node->phase != DME_IDLE;
    for (dme_id j = 0; j < conf->n; j++)
        if (j != pair[0] && j != pair[1])
            t->peer[2].later &= s->peer[j].later && !(s->peer[j].claim && dme_before(lamport_claim(s, j), mine));
}

static bool lamport_crowd_sends(const struct dme_node *node, unsigned k, struct dme_msg *m)
{
    const struct lamport *s = dme_state(node);

    m->kind = REPLY;
    m->ticket[0] = (struct dme_ticket){.clock = s->peer[node->self].claim, .site = 2};
    return k == 0 && node->phase == DME_WAITING && !s->peer[2].later;
}

static uint64_t *lamport_number(const struct dme_draft *now, dme_id i, unsigned k)
{
    struct lamport *s = dme_state(now->node[i]);

    return k == 0 ? &s->clock : k - 1 < now->conf->n ? &s->peer[k - 1].claim : NULL;
}

static bool lamport_canon_order(const struct dme_draft *now)
{
    return clocks_canon_order(now, lamport_number);
}

static uint64_t *lamport_clock(void *state)
{
    return &((struct lamport *)state)->clock;
}

static const struct dme_crowd lamport_crowd = {lamport_merge, lamport_crowd_sends, lamport_canon_order, lamport_clock};

#define LAMPORT_COMMON                                                                                                 \
    .family = DME_PERMISSION, .cost = "3(n-1) messages, delay T; with omit=lecture 2(n-1) to 3(n-1)",                  \
    .kinds = lamport_kinds, .options = lamport_options, .rules = 1 << DME_EXCLUSIVE,                                   \
    .needs = DME_FIFO | DME_RELIABLE | DME_ALIVE, .state_size = sizeof(struct lamport),                                \
    .peer_size = sizeof(((struct lamport *)0)->peer[0]), .request = lamport_request, .receive = lamport_receive,       \
    .release = lamport_release, .broken = lamport_broken, .canon = lamport_canon, .crowd = &lamport_crowd,             \
    .show = lamport_show

const struct dme_alg lamport = {
    .name = "lamport",
    .paper = "L. Lamport, Time, clocks, and the ordering of events in a distributed system, CACM 21(7), 1978",
    LAMPORT_COMMON,
};

const struct dme_alg lamport_as_retold = {
    .name = "lamport-as-retold",
    .paper = "L. Lamport, Time, clocks, and the ordering of events in a distributed system, CACM 21(7), 1978",
    .flaw = "a clock moves up to the time received, not past it, and a reply may not be later than the claim",
    .mistakes = lamport_mistakes,
    .mistaken = DME_RETOLD,
    LAMPORT_COMMON,
};
