/* Ricart and Agrawala, "Author's Response to 'On Mutual Exclusion in Computer Networks'", CACM 26(2), 1983.
 *
 * Idea. Only the holder of the token enters. A site that wants the token numbers its request and tells all sites. The
 * token carries, for every site, the number of its request that was served last. A holder that leaves looks round, from
 * its right-hand neighbour onwards, for a site that has asked more often than it was served. There is no queue: the
 * order of the sites is the order of service.
 *
 * Messages. REQUEST(number) to all and TOKEN(served) once: n per entry, or 0 if the token is here already.
 *
 * Algorithm. Site i:
 *     request               if the token is here: enter; else number my request; send REQUEST(number) to all others
 *     on REQUEST(k) from j  requested[j] := max(requested[j], k); if I hold the idle token and requested[j] >
 *                           granted[j]: send TOKEN to j
 *     on TOKEN(granted)     enter
 *     release               granted[i] := requested[i]; going round from i+1, send TOKEN to the first j with
 *                           requested[j] > granted[j], if there is one
 *
 * Invariant RAT1. There is one token, held or in flight.
 * Invariant RAT2. The number of a site's latest request is the one served last, or the next.
 *
 * Departures from the paper. None. Surveys let the holder choose the lowest numbered site that has asked instead of
 * looking round, and call it unfair. It is worse: ricart-agrawala-token-as-retold does so, and starves. */
#include "clocks.h"

enum { REQUEST, TOKEN };
enum { LOWEST_FIRST };

/* The token has a ticket for every site: clock is the number served. */
static const struct dme_kind rat_kinds[] = {{"REQUEST", 1, 0}, {"TOKEN", 0, 1}, {0}};
static const char *const rat_fields[] = {NULL, "granted,,"};
static const struct dme_mistake rat_mistakes[] = {
    {.name = "lowest-first",
     .kind = DME_RETOLD,
     .where = "Banta 1993, section 2.1.2, page 10, which warns that it is not fair",
     .what = "the token goes to the lowest numbered site that has asked"},
    {0},
};

struct rat {
    uint64_t has; /* the token is here */
    struct {
        uint64_t asked;  /* highest request number known; of this site: its requests so far */
        uint64_t served; /* with the token: number of the request served last */
    } peer[];
};

static void rat_give(struct dme *d, struct rat *s, dme_id to)
{
    struct dme_msg *m = dme_send(d, to, TOKEN);

    s->has = 0;
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].served;
        s->peer[j].served = 0;
    }
}

static void rat_pass_on(struct dme *d, struct rat *s)
{
    /* The mistake: with the lowest number first, two low sites that ask in turn keep all others out for ever. */
    dme_id from = dme_mistake(d, LOWEST_FIRST) ? d->n - 1 : d->self;

    for (dme_id k = 0, j = dme_after(d, from); k < d->n; k++, j = dme_after(d, j))
        if (j != d->self && s->peer[j].asked > s->peer[j].served) {
            rat_give(d, s, j);
            return;
        }
}

static void rat_init(struct dme *d, void *state)
{
    struct rat *s = state;

    s->has = d->self == 0;
}

static void rat_request(struct dme *d, void *state)
{
    struct rat *s = state;

    s->peer[d->self].asked++;
    if (s->has)
        dme_enter(d);
    else
        dme_send_others(d, REQUEST, dme_claim(d, s->peer[d->self].asked));
}

static void rat_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct rat *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        s->peer[m->from].asked = dme_max(s->peer[m->from].asked, m->ticket[0].clock);
        if (s->has && dme_idle(d))
            rat_pass_on(d, s);
        break;
    case TOKEN:
        DME_EXPECT(d, !s->has);
        s->has = 1;
        for (dme_id j = 0; j < d->n; j++)
            s->peer[j].served = m->ticket[j].clock;
        dme_enter(d);
        break;
    }
}

static void rat_release(struct dme *d, void *state)
{
    struct rat *s = state;

    s->peer[d->self].served = s->peer[d->self].asked;
    rat_pass_on(d, s);
}

static const char *rat_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct rat *s = dme_state(now->node[i]);

        tokens += s->has != 0;
        for (dme_id j = 0; s->has && j < now->conf->n; j++) {
            const struct rat *other = dme_state(now->node[j]);

            if (other->peer[j].asked < s->peer[j].served || other->peer[j].asked > s->peer[j].served + 1)
                return "RAT2: a site's latest request is the one served last, or the next";
        }
    }
    return tokens == 1 ? NULL : "RAT1: there is one token";
}

static bool rat_has(const void *state)
{
    return ((const struct rat *)state)->has;
}

static bool rat_canon(const struct dme_draft *now)
{
    static const struct clocks_served layout = {.has = rat_has,
                                                .asked = offsetof(struct rat, peer[0].asked),
                                                .served = offsetof(struct rat, peer[0].served),
                                                .stride = sizeof(((struct rat *)0)->peer[0]),
                                                .request = REQUEST,
                                                .token = TOKEN};

    return clocks_canon_served(now, &layout);
}

static void rat_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct rat *s = state;

    dme_print_numbers(text, "asked", &s->peer[0].asked, sizeof s->peer[0], d->n);
    if (s->has)
        dme_print_numbers(text, " token served", &s->peer[0].served, sizeof s->peer[0], d->n);
}

#define RAT_SHARED                                                                                                     \
    .family = DME_TOKEN,                                                                                               \
    .paper = "G. Ricart, A. K. Agrawala, Author's response to 'On mutual exclusion in computer networks', "            \
             "CACM 26(2), 1983",                                                                                       \
    .cost = "n messages, or 0 where the token is, delay T", .kinds = rat_kinds, .fields = rat_fields,                  \
    .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE, .state_size = sizeof(struct rat),                  \
    .peer_size = sizeof(((struct rat *)0)->peer[0]), .init = rat_init, .request = rat_request, .receive = rat_receive, \
    .release = rat_release, .broken = rat_broken, .canon = rat_canon, .show = rat_show

const struct dme_alg ricart_agrawala_token = {.name = "ricart-agrawala-token", RAT_SHARED};

const struct dme_alg ricart_agrawala_token_as_retold = {
    .name = "ricart-agrawala-token-as-retold",
    .flaw = "starves: the token goes to the lowest numbered site that has asked",
    .mistakes = rat_mistakes,
    .mistaken = DME_RETOLD,
    RAT_SHARED,
};
