/* Singhal, "A Dynamic Information-Structure Mutual Exclusion Algorithm for Distributed Systems", ICDCS 1989; IEEE TPDS
 * 3(1), 1992.
 *
 * Idea. Every site keeps a set of the sites that it must ask and a set of those that it must answer on leaving. At
 * first the sets form a staircase: site i asks all sites below it, so of any two sites exactly one asks the other.
 * Later the sets follow how often each site asks. A site that seldom asks is soon asked by no other.
 *
 * Messages. REQUEST(claim) and REPLY: n-1 on the average at light load, 2(n-1) at full load. (The author estimates
 * 3(n-1)/2 there, but if all sites ask all the time, every other site has asked in between.)
 *
 * Algorithm. Site i:
 *     request           clock := clock + 1; send REQUEST(clock, i) to the request set; enter if it is empty
 *     on REQUEST(t, j)  clock := max(clock, t); if I am inside, or wait with an older claim: put j into the inform
 *                       set; else send REPLY to j, and if I wait and have not asked j, send my REQUEST to j; put j
 *                       into the request set
 *     on REPLY          take the sender out of the request set; enter if it is empty
 *     release           send REPLY to the inform set, and move it into the request set
 *
 * Invariant SD1. Of two sites at least one must ask the other; both only while a REPLY between them is in flight.
 * Invariant SD2. An idle site owes no answer.
 *
 * Departures from the paper. Sites do not stand in their own sets, which only serves the drawing of the staircase. The
 * REQUEST that a waiting site sends behind its REPLY carries the time of its claim; the printed REQUEST(C, i) carries a
 * clock that has just moved past it. See singhal-dynamic-as-retold.
 *
 * Started from the same staircase, Carvalho and Roucairol's algorithm sends the same messages: a site does not ask
 * those whose permission it holds. A test runs the two side by side. */
#include "clocks.h"

enum { REQUEST, REPLY };
enum { SENDS_CLOCK, COMPARES_CLOCK };

static const struct dme_kind sd_kinds[] = {{"REQUEST", 1, 0}, {"REPLY", 0, 0}, {0}};
static const struct dme_mistake sd_mistakes[] = {
    {.name = "sends-clock",
     .kind = DME_RETOLD,
     .where = "reproductions of Singhal 1992",
     .what = "the second REQUEST of a claim carries the clock, which has moved past the claim"},
    {.name = "compares-clock",
     .kind = DME_RETOLD,
     .where = "reproductions of Singhal 1992",
     .what = "a request is compared with the clock, not with the claim"},
    {0},
};

struct sd {
    uint64_t clock;         /* C: the latest time heard of */
    struct dme_ticket mine; /* the claim; zero when idle */
    struct {
        uint8_t ask;    /* R: must be asked, or has been asked and has not answered */
        uint8_t answer; /* I: is to be answered on leaving */
    } peer[];
};

static void sd_init(struct dme *d, void *state)
{
    struct sd *s = state;

    for (dme_id j = 0; j < d->self; j++)
        s->peer[j].ask = 1;
}

static void sd_enter_if_all_agree(struct dme *d, const struct sd *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].ask)
            return;
    dme_enter(d);
}

static void sd_request(struct dme *d, void *state)
{
    struct sd *s = state;

    s->mine = dme_claim(d, ++s->clock);
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].ask)
            dme_send_ticket(d, j, REQUEST, s->mine);
    sd_enter_if_all_agree(d, s);
}

static bool sd_goes_first(const struct dme *d, const struct sd *s, struct dme_ticket claim)
{
    if (dme_mistake(d, COMPARES_CLOCK))
        return dme_waiting(d) && dme_before(dme_claim(d, s->clock), claim);
    return dme_waiting(d) && dme_before(s->mine, claim);
}

static void sd_asked(struct dme *d, struct sd *s, struct dme_ticket claim)
{
    dme_id j = claim.site;

    s->clock = dme_max(s->clock, claim.clock);
    if (dme_inside(d) || sd_goes_first(d, s, claim)) {
        s->peer[j].answer = 1;
        return;
    }
    dme_send(d, j, REPLY);
    /* What j now has from this site, this site can no longer have from j. */
    if (dme_waiting(d) && !s->peer[j].ask)
        dme_send_ticket(d, j, REQUEST, dme_mistake(d, SENDS_CLOCK) ? dme_claim(d, s->clock) : s->mine);
    s->peer[j].ask = 1;
}

static void sd_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct sd *s = state;

    DME_EXPECT(d, m->from != d->self);
    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from && !s->peer[m->from].answer);
        sd_asked(d, s, m->ticket[0]);
        break;
    case REPLY:
        DME_EXPECT(d, dme_waiting(d) && s->peer[m->from].ask);
        s->peer[m->from].ask = 0;
        sd_enter_if_all_agree(d, s);
        break;
    }
}

static void sd_release(struct dme *d, void *state)
{
    struct sd *s = state;

    s->mine = (struct dme_ticket){0};
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].answer) {
            s->peer[j].answer = 0;
            s->peer[j].ask = 1;
            dme_send(d, j, REPLY);
        }
}

static const char *sd_broken(const struct dme_moment *now)
{
    for (dme_id i = 0; i < now->conf->n; i++)
        for (dme_id j = 0; j < i; j++) {
            const struct sd *s = dme_state(now->node[i]), *other = dme_state(now->node[j]);
            uint32_t replies = dme_in_flight(now, REPLY, i, j) + dme_in_flight(now, REPLY, j, i);

            if ((now->node[i]->phase == DME_IDLE && s->peer[j].answer) ||
                (now->node[j]->phase == DME_IDLE && other->peer[i].answer))
                return "SD2: an idle site owes no answer";
            if (!s->peer[j].ask && !other->peer[i].ask)
                return "SD1: of two sites at least one must ask the other";
            if (s->peer[j].ask && other->peer[i].ask && !replies)
                return "SD1: both must ask only while a REPLY between them is in flight";
        }
    return NULL;
}

static void sd_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct sd *s = state;

    dme_print(text, "clock=%llu claim=%llu ", (unsigned long long)s->clock, (unsigned long long)s->mine.clock);
    dme_print_set(text, "ask", &s->peer[0].ask, sizeof s->peer[0], d->n);
    dme_print_set(text, " answer", &s->peer[0].answer, sizeof s->peer[0], d->n);
}

/* The canonical form (clocks.h): a site that need ask no other numbers its claims without hearing of others. */
static uint64_t *sd_number(const struct dme_draft *now, dme_id i, unsigned k)
{
    struct sd *s = dme_state(now->node[i]);

    return k == 0 ? &s->clock : k == 1 ? &s->mine.clock : NULL;
}

static bool sd_canon(const struct dme_draft *now)
{
    return clocks_canon_order(now, sd_number);
}

static uint64_t *sd_clock(void *state)
{
    return &((struct sd *)state)->clock;
}

/* For any number of sites. Site 2 must be asked while any other site must be. Which of the others are to be answered concerns those
 * only; that they must be asked when the site has left is as if they asked then. They may answer, and ask with an older claim, at
 * any time. */
static void sd_merge(const struct dme_conf *conf, const struct dme_node *node, const dme_id pair[2],
                     struct dme_node *into)
{
    const struct sd *s = dme_state(node);
    struct sd *t = dme_state(into);
    dme_id other = 1 - into->self;

    t->clock = s->clock;
    t->mine = s->mine;
    if (node->phase != DME_IDLE)
        t->mine.site = into->self;
    t->peer[other] = s->peer[pair[other]];
    for (dme_id j = 0; j < conf->n; j++)
        if (j != pair[0] && j != pair[1])
            t->peer[2].ask |= s->peer[j].ask;
}

static bool sd_crowd_sends(const struct dme_node *node, unsigned k, struct dme_msg *m)
{
    const struct sd *s = dme_state(node);

    m->kind = k == 0 ? REQUEST : REPLY;
    if (k == 0)
        m->ticket[0] = (struct dme_ticket){.site = 2};
    return k == 0 || (k == 1 && node->phase == DME_WAITING && s->peer[2].ask);
}

static const struct dme_crowd sd_crowd = {sd_merge, sd_crowd_sends, sd_canon, sd_clock};

#define SD_COMMON                                                                                                      \
    .family = DME_PERMISSION, .cost = "n-1 messages at light load, 2(n-1) at full load, delay T", .kinds = sd_kinds,   \
    .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE, .state_size = sizeof(struct sd),                   \
    .peer_size = sizeof(((struct sd *)0)->peer[0]), .init = sd_init, .request = sd_request, .receive = sd_receive,     \
    .release = sd_release, .broken = sd_broken, .canon = sd_canon, .clock = sd_clock, .crowd = &sd_crowd,              \
    .show = sd_show

const struct dme_alg singhal_dynamic = {
    .name = "singhal-dynamic",
    .paper =
        "M. Singhal, A dynamic information-structure mutual exclusion algorithm for distributed systems, IEEE TPDS "
        "3(1), 1992",
    SD_COMMON,
};

const struct dme_alg singhal_dynamic_as_retold = {
    .name = "singhal-dynamic-as-retold",
    .paper =
        "M. Singhal, A dynamic information-structure mutual exclusion algorithm for distributed systems, IEEE TPDS "
        "3(1), 1992",
    .flaw = "a claim is given the time of the site's clock instead of its own",
    .mistakes = sd_mistakes,
    .mistaken = DME_RETOLD,
    SD_COMMON,
};
