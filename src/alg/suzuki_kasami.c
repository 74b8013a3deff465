/* Suzuki and Kasami, "A Distributed Mutual Exclusion Algorithm", ACM TOCS 3(4), 1985.
 *
 * Idea. Only the holder of the token enters. A site that wants the token numbers its request and tells all sites. The
 * token carries a queue of sites to serve and, for every site, the number of its request that was served last: that is
 * how the holder tells a fresh request from one that was merely slow.
 *
 * Messages. REQUEST(number) to all and TOKEN(queue, served) once: n per entry, or 0 if the token is here already.
 *
 * Algorithm. Site i:
 *     request               if the token is here: enter; else RN[i] := RN[i] + 1; send REQUEST(RN[i]) to all others
 *     on REQUEST(k) from j  RN[j] := max(RN[j], k); if I hold the idle token and RN[j] > LN[j]: send TOKEN to j
 *     on TOKEN(LN, Q)       enter
 *     release               LN[i] := RN[i]; append each j with RN[j] > LN[j] that is not in Q; if Q is not empty:
 *                           send TOKEN(LN, Q) to its first site
 *
 * Invariant SK1. There is one token, held or in flight.
 * Invariant SK2. A site is at most once in the token's queue; the queue of an idle holder is empty.
 * Invariant SK3. The number of a site's latest request is the one served last, or the next.
 *
 * Departures from the paper. A leaving holder looks for new requests from its right-hand neighbour onwards instead of
 * from site 0, which is as good and gives a definite order. Numbers are not bounded; the paper's second half, which
 * bounds them with more messages, is not here. suzuki-kasami-as-retold and suzuki-kasami-tempting make one of these mistakes:
 *   numbers-wrap       the survey by Banta lets numbers run from 1 to n: a wrapped one looks old and is not served.
 *   gives-uncompared   an idle holder gives the token to any site that asks, without a look at what was served.
 *   queues-twice       a leaving holder does not look whether a site is in the queue already. */
#include "queue_token.h"

enum { NUMBERS_WRAP, GIVES_UNCOMPARED, QUEUES_TWICE };

static const struct dme_mistake sk_mistakes[] = {
    {.name = "numbers-wrap",
     .kind = DME_RETOLD,
     .where = "Banta 1993, section 2.1.1, page 8",
     .what = "requests are numbered from 1 to n"},
    {.name = "gives-uncompared",
     .kind = DME_TEMPTING,
     .where = "not in a publication",
     .what = "an idle holder gives the token to any site that asks, without a look at what was served"},
    {.name = "queues-twice",
     .kind = DME_TEMPTING,
     .where = "Banta 1993, section 2.1.1, page 9, says that it looks",
     .what = "a leaving holder does not look whether a site is in the queue already"},
    {0},
};

static void sk_init(struct dme *d, void *state)
{
    struct qt *s = state;

    s->has = d->self == 0;
}

static void sk_request(struct dme *d, void *state)
{
    struct qt *s = state;
    uint64_t *number = &s->peer[d->self].asked;

    if (s->has) {
        dme_enter(d);
        return;
    }
    *number = *number == d->n && dme_mistake(d, NUMBERS_WRAP) ? 1 : *number + 1;
    dme_send_others(d, REQUEST, dme_claim(d, *number));
}

static void sk_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct qt *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        s->peer[m->from].asked = dme_max(s->peer[m->from].asked, m->ticket[0].clock);
        if (s->has && dme_idle(d) && (qt_fresh(s, m->from) || dme_mistake(d, GIVES_UNCOMPARED)))
            qt_give(d, s, m->from);
        break;
    case TOKEN:
        qt_take(d, s, m);
        break;
    }
}

static void sk_release(struct dme *d, void *state)
{
    struct qt *s = state;

    for (dme_id j = 0; j < d->n && dme_mistake(d, QUEUES_TWICE); j++)
        s->peer[j].stands = 0; /* as if the queue were empty */
    qt_served(d, s);
    if (s->queued)
        qt_give(d, s, dme_line_pop(qt_queue(d, s)));
}

#define SK_COMMON                                                                                                      \
    .family = DME_TOKEN, .cost = "n messages, or 0 where the token is, delay T", .kinds = qt_kinds,                    \
    .fields = qt_fields, .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE,                               \
    .state_size = sizeof(struct qt), .peer_size = sizeof(((struct qt *)0)->peer[0]), .init = sk_init,                  \
    .request = sk_request, .receive = sk_receive, .release = sk_release, .broken = qt_broken,                          \
    .malformed = qt_malformed, .canon = qt_canon, .show = qt_show

const struct dme_alg suzuki_kasami = {
    .name = "suzuki-kasami",
    .paper = "I. Suzuki, T. Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985",
    SK_COMMON,
};

const struct dme_alg suzuki_kasami_tempting = {
    .name = "suzuki-kasami-tempting",
    .paper = "I. Suzuki, T. Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985",
    .flaw = "an old request is taken for a fresh one",
    .mistakes = sk_mistakes,
    .mistaken = DME_TEMPTING,
    SK_COMMON,
};

const struct dme_alg suzuki_kasami_as_retold = {
    .name = "suzuki-kasami-as-retold",
    .paper = "as told in P. Banta, Distributed mutual exclusion algorithms, thesis, 1993",
    .flaw = "a fresh request is taken for an old one",
    .mistakes = sk_mistakes,
    .mistaken = DME_RETOLD,
    SK_COMMON,
};
