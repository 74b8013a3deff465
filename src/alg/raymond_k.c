/* Raymond, "A Distributed Algorithm for Multiple Entries to a Critical Section", IPL 30(4), 1989.
 *
 * Idea. Ricart and Agrawala's algorithm, but k sites may be inside together, so n-k replies will do. The other k-1
 * replies come late, perhaps after the next claim; they are counted site by site, so that a late reply is never taken
 * for an answer to a newer claim.
 *
 * Messages. REQUEST(claim) to all; REPLY(count), which answers `count` REQUESTs at once: 2n-k-1 to 2(n-1) per entry.
 *
 * Algorithm. Site i:
 *     request           number my claim; each other site owes one more reply; send REQUEST(number, i) to all others;
 *                       enter if k > n-1
 *     on REQUEST(t, j)  highest := max(highest, t); if I am inside, or wait with an older claim: defer j, and count
 *                       how often; else send REPLY(1) to j
 *     on REPLY(count)   the sender owes count replies less; enter if I wait and at most k-1 sites owe me replies
 *     release           send REPLY(count) to all that are deferred
 *
 * Invariant RK1. owed_i[j] = REQUESTs i->j in flight + deferred_j[i] + the counts of REPLYs j->i in flight.
 *
 * Departures from the paper. None known: replies owed and deferred are both counted, site by site. Reproductions
 * simplify that, and raymond-k-as-retold shows what comes of it:
 *   one-counter        one count of replies for each claim: late replies to the last claim count for this one.
 *   one-deferred-bit   a deferred site is remembered, but not how often: it is owed a reply for ever. */
#include "core/alg.h"

enum { REQUEST, REPLY };
enum { ONE_COUNTER, ONE_DEFERRED_BIT };

static const struct dme_kind rk_kinds[] = {{"REQUEST", 1, 0}, {"REPLY", 1, 0}, {0}};
static const char *const rk_fields[] = {NULL, "count,,"};
static const struct dme_mistake rk_mistakes[] = {
    {.name = "one-counter",
     .kind = DME_RETOLD,
     .where = "reproductions of Raymond 1989",
     .what = "one count of replies for each claim: late replies to the last claim count for this one"},
    {.name = "one-deferred-bit",
     .kind = DME_RETOLD,
     .where = "reproductions of Raymond 1989",
     .what = "that a site is deferred is remembered, but not how often"},
    {0},
};

struct rk {
    uint64_t highest;       /* number of any claim sent or received */
    struct dme_ticket mine; /* the current claim, or the last one */
    struct {
        uint32_t owed;     /* replies that this site still has to get from the peer */
        uint32_t deferred; /* replies that it still has to send */
    } peer[];
};

/* How many others agree to the claim. */
static uint32_t rk_agreed(const struct dme *d, const struct rk *s)
{
    uint32_t agreed = 0;

    if (dme_mistake(d, ONE_COUNTER))
        return s->peer[d->self].owed; /* its own record has no other use */
    for (dme_id j = 0; j < d->n; j++)
        agreed += j != d->self && s->peer[j].owed == 0;
    return agreed;
}

static void rk_try(struct dme *d, const struct rk *s)
{
    if (dme_waiting(d) && rk_agreed(d, s) + d->conf->limit >= d->n)
        dme_enter(d);
}

static void rk_request(struct dme *d, void *state)
{
    struct rk *s = state;

    s->mine = dme_claim(d, ++s->highest);
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].owed += j != d->self;
    if (dme_mistake(d, ONE_COUNTER))
        s->peer[d->self].owed = 0;
    dme_send_others(d, REQUEST, s->mine);
    rk_try(d, s);
}

static void rk_reply(struct dme *d, dme_id to, uint32_t count)
{
    dme_send_ticket(d, to, REPLY, (struct dme_ticket){.clock = count, .site = DME_NONE});
}

static void rk_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct rk *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        s->highest = dme_max(s->highest, m->ticket[0].clock);
        if (dme_inside(d) || (dme_waiting(d) && dme_before(s->mine, m->ticket[0])))
            s->peer[m->from].deferred += !(s->peer[m->from].deferred && dme_mistake(d, ONE_DEFERRED_BIT));
        else
            rk_reply(d, m->from, 1);
        break;
    case REPLY:
        DME_EXPECT(d, m->ticket[0].clock >= 1 && m->ticket[0].clock <= s->peer[m->from].owed);
        s->peer[m->from].owed -= (uint32_t)m->ticket[0].clock;
        s->peer[d->self].owed += dme_mistake(d, ONE_COUNTER);
        rk_try(d, s);
        break;
    }
}

static void rk_release(struct dme *d, void *state)
{
    struct rk *s = state;

    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].deferred) {
            rk_reply(d, j, s->peer[j].deferred);
            s->peer[j].deferred = 0;
        }
}

/* Replies from j that are under way to i. */
static uint64_t rk_replies_in_flight(const struct dme_moment *now, dme_id j, dme_id i)
{
    uint64_t replies = 0;

    for (size_t k = 0; k < now->msgs; k++)
        if (now->msg[k]->kind == REPLY && now->msg[k]->from == j && now->to[k] == i)
            replies += now->msg[k]->ticket[0].clock;
    return replies;
}

static const char *rk_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < now->conf->n; j++) {
            const struct rk *s = dme_state(now->node[i]), *other = dme_state(now->node[j]);

            if (i != j && s->peer[j].owed != dme_in_flight(now, REQUEST, i, j) + other->peer[i].deferred +
                                                 rk_replies_in_flight(now, j, i))
                return "RK1: every reply that a site is owed is asked for, deferred or under way";
        }
    return NULL;
}

static void rk_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct rk *s = state;

    dme_print(text, "highest=%llu claim=%llu owed=", (unsigned long long)s->highest, (unsigned long long)s->mine.clock);
    for (dme_id j = 0; j < d->n; j++)
        dme_print(text, "%s%u", j ? "," : "", s->peer[j].owed);
    dme_print(text, " deferred=");
    for (dme_id j = 0; j < d->n; j++)
        dme_print(text, "%s%u", j ? "," : "", s->peer[j].deferred);
}

#define RK_COMMON                                                                                                      \
    .family = DME_PERMISSION, .cost = "2n-k-1 to 2(n-1) messages", .kinds = rk_kinds, .fields = rk_fields,             \
    .rules = 1 << DME_SLOTS, .needs = DME_RELIABLE | DME_ALIVE, .state_size = sizeof(struct rk),                       \
    .peer_size = sizeof(((struct rk *)0)->peer[0]), .request = rk_request, .receive = rk_receive,                      \
    .release = rk_release, .broken = rk_broken, .show = rk_show

const struct dme_alg raymond_k = {
    .name = "raymond-k",
    .paper = "K. Raymond, A distributed algorithm for multiple entries to a critical section, IPL 30(4), 1989",
    RK_COMMON,
};

const struct dme_alg raymond_k_as_retold = {
    .name = "raymond-k-as-retold",
    .paper = "K. Raymond, A distributed algorithm for multiple entries to a critical section, IPL 30(4), 1989",
    .flaw = "replies that come late are taken for others, or are lost",
    .mistakes = rk_mistakes,
    .mistaken = DME_RETOLD,
    RK_COMMON,
};
