/* Singhal, "A Heuristically-Aided Algorithm for Mutual Exclusion in Distributed Systems", IEEE Transactions on
 * Computers 38(5), 1989.
 *
 * Idea. There is a token. A site guesses of every other whether it may be requesting, and sends its own request only to
 * those: one of them has the token, or will have it first. The token carries such guesses too, with the number of the
 * request that each rests on; a holder that leaves merges its own with those of the token, by the higher number, and
 * then knows who really waits.
 *
 * Messages. REQUEST(number) to the sites counted as requesting and TOKEN(numbers, who waits) once: 0 if the token is
 * here, (n-1)/2 + (n-1)/n on average at light load, n at full load and never more.
 *
 * Algorithm. Site i:
 *     request               if the token is here: enter; else SN[i] := SN[i] + 1; send REQUEST(SN[i]) to each j with
 *                           SV[j] = R
 *     on REQUEST(k) from j  SN[j] := max(SN[j], k). Not requesting: SV[j] := R. Requesting: if SV[j] was not R, send
 *                           my REQUEST to j; SV[j] := R. Inside: SV[j] := R. Holding the idle token: send TOKEN to j,
 *                           or, if the request is old, tell j of me by a REQUEST
 *     on TOKEN(TSN, TSV)    enter
 *     release               merge SN, SV with TSN, TSV by the higher number; send TOKEN to the nearest j with SV[j] =
 *                           R; if there is none, hold it
 *
 * Invariant SH1. There is one token, held or in flight, and it is sent only to sites that wait.
 * Invariant SH2. Of any two sites one counts the other, or a REQUEST between them is in flight, or one is inside and
 *     its token counts the other. (As published, theorem 2 claims more, a staircase of guesses, which does not hold.)
 * Invariant SH3. The holder of an idle token counts no site; so by SH2 all others count it, or will.
 *
 * Departures from the paper. As published, an outdated request is discarded. By then its sender may have ceased to
 * count the receiver, which does not count the sender either: the two have lost each other, and one may wait for ever
 * while the other holds the idle token. So an outdated request makes its receiver count the sender, or tell it of
 * itself; `told` keeps this to one REQUEST for each number and site. FIFO channels are then not needed. Guesses are
 * merged by one short rule on release, and only then; the paper's long form does not cover `count-every-entry`. */
#include "core/alg.h"

enum { REQUEST, TOKEN };
enum { OPTION_ARBITRATION, OPTION_COUNT_EVERY_ENTRY };
enum { NEAREST, LOWEST };

/* The states of the paper: idle, requesting, executing, holding the idle token. */
enum sh_state { N, R, E, H };

/* As published all old requests are discarded. The others leave out one case of the repair: that of state N, R, E, H.
 */
enum { DISCARDS_OLD_REQUESTS, DISCARDS_IN_N, IGNORES_TOKEN = DISCARDS_IN_N + H + 1 };

/* The token has a ticket for every site: clock is the number of its latest request that the token knows of, site is the
 * site itself if it waits. */
static const struct dme_kind sh_kinds[] = {{"REQUEST", 1, 0}, {"TOKEN", 0, 1}, {0}};
static const char *const sh_fields[] = {NULL, "TSN,,R"};
static const char *const sh_arbitration[] = {"nearest", "lowest", NULL};
static const char *const sh_no_yes[] = {"no", "yes", NULL};
static const struct dme_option sh_options[] = {
    {.key = "arbitration", .help = "who is next: the nearest, or the lowest request number", .choices = sh_arbitration},
    {.key = "count-every-entry", .help = "does an entry without a message take a number?", .choices = sh_no_yes},
    {0},
};
static const struct dme_mistake sh_mistakes[] = {
    {.name = "discards-old-requests",
     .kind = DME_PUBLISHED,
     .where = "Singhal 1989, section III.G.3",
     .what = "a request whose number is known already is discarded"},
    {.name = "discards-when-idle",
     .kind = DME_TEMPTING,
     .where = "not in the paper",
     .what = "the same, in state N only"},
    {.name = "discards-when-waiting",
     .kind = DME_TEMPTING,
     .where = "not in the paper",
     .what = "the same, in state R only"},
    {.name = "discards-when-inside",
     .kind = DME_TEMPTING,
     .where = "not in the paper",
     .what = "the same, in state E only"},
    {.name = "discards-when-holding",
     .kind = DME_TEMPTING,
     .where = "not in the paper",
     .what = "the same, in state H only"},
    {.name = "ignores-token-numbers",
     .kind = DME_TEMPTING,
     .where = "not in the paper",
     .what = "a request is compared with the site's own vector only, not with the token's"},
    {0},
};

struct sh {
    uint64_t has; /* the token is here */
    struct {
        uint64_t number;       /* highest request number known */
        uint64_t token_number; /* with the token: what it knows */
        uint8_t requests;      /* this site counts the peer as requesting: its own request goes there too */
        uint8_t told;          /* its latest request has gone there */
        uint8_t token_waits;   /* with the token: what it knows */
        uint8_t zero[5];
    } peer[];
};

static enum sh_state sh_state(const struct dme *d, const struct sh *s)
{
    return s->has ? (dme_idle(d) ? H : E) : dme_idle(d) ? N : R;
}

static void sh_tell(struct dme *d, struct sh *s, dme_id j)
{
    s->peer[j].told = 1;
    dme_send_ticket(d, j, REQUEST, dme_claim(d, s->peer[d->self].number));
}

static void sh_give(struct dme *d, struct sh *s, dme_id to)
{
    struct dme_msg *m = dme_send(d, to, TOKEN);

    s->has = 0;
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].token_number;
        m->ticket[j].site = s->peer[j].token_waits ? j : DME_NONE;
        s->peer[j].token_number = 0;
        s->peer[j].token_waits = s->peer[j].told = 0;
    }
}

static void sh_take(struct dme *d, struct sh *s, const struct dme_msg *m)
{
    DME_EXPECT(d, sh_state(d, s) == R);
    s->has = 1;
    for (dme_id j = 0; j < d->n; j++) {
        DME_EXPECT(d, m->ticket[j].site == j || m->ticket[j].site == DME_NONE);
        s->peer[j].token_number = m->ticket[j].clock;
        s->peer[j].token_waits = m->ticket[j].site == j;
    }
    dme_enter(d);
}

/* At first site i counts the i sites before it: a staircase. */
static void sh_init(struct dme *d, void *state)
{
    struct sh *s = state;

    s->has = d->self == 0;
    for (dme_id j = 0; j < d->self; j++)
        s->peer[j].requests = 1;
}

static void sh_request(struct dme *d, void *state)
{
    struct sh *s = state;

    if (s->has) {
        s->peer[d->self].number += dme_option(d, OPTION_COUNT_EVERY_ENTRY);
        dme_enter(d);
        return;
    }
    s->peer[d->self].number++;
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].requests)
            sh_tell(d, s, j);
}

static void sh_asked(struct dme *d, struct sh *s, dme_id j, uint64_t number)
{
    enum sh_state state = sh_state(d, s);
    bool published = dme_mistake(d, DISCARDS_OLD_REQUESTS);
    bool fresh = number > s->peer[j].number;

    /* Own numbers are out of date while inside, for guesses are merged on release. */
    if (s->has && !published && !dme_mistake(d, IGNORES_TOKEN))
        fresh = fresh && number > s->peer[j].token_number;
    if (!fresh && (published || dme_mistake(d, DISCARDS_IN_N + state)))
        return;
    if (fresh)
        s->peer[j].number = number;

    switch (state) {
    case N:
        s->peer[j].requests = 1;
        break;
    case R:
        if (!s->peer[j].requests)
            sh_tell(d, s, j);
        s->peer[j].requests = 1;
        break;
    case E:
        if (fresh)
            s->peer[j].requests = 1;
        else if (!s->peer[j].token_waits && !s->peer[j].told)
            sh_tell(d, s, j);
        break;
    case H:
        if (fresh) {
            s->peer[j].requests = s->peer[j].token_waits = 1;
            s->peer[j].token_number = number;
            sh_give(d, s, j);
        } else if (!s->peer[j].told) {
            sh_tell(d, s, j);
        }
        break;
    }
}

static void sh_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct sh *s = state;

    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        sh_asked(d, s, m->from, m->ticket[0].clock);
        break;
    case TOKEN:
        sh_take(d, s, m);
        break;
    }
}

/* Of this site and the token, the one that knows of the later request is right. Afterwards both agree. */
static void sh_merge(struct dme *d, struct sh *s)
{
    s->peer[d->self].token_waits = 0;
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].number > s->peer[j].token_number) {
            s->peer[j].token_number = s->peer[j].number;
            s->peer[j].token_waits = s->peer[j].requests;
        } else {
            s->peer[j].number = s->peer[j].token_number;
            s->peer[j].requests = s->peer[j].token_waits;
        }
}

/* The next to have the token, or DME_NONE: the nearest site that waits, going round; or of those with the lowest
 * request number the nearest. */
static dme_id sh_next(const struct dme *d, const struct sh *s)
{
    dme_id next = DME_NONE;

    for (dme_id j = dme_after(d, d->self); j != d->self; j = dme_after(d, j)) {
        if (!s->peer[j].requests)
            continue;
        if (dme_option(d, OPTION_ARBITRATION) == NEAREST)
            return j;
        if (next == DME_NONE || s->peer[j].number < s->peer[next].number)
            next = j;
    }
    return next;
}

static void sh_release(struct dme *d, void *state)
{
    struct sh *s = state;
    dme_id next;

    sh_merge(d, s);
    next = sh_next(d, s);
    if (next != DME_NONE)
        sh_give(d, s, next);
}

static const char *sh_broken(const struct dme_moment *now)
{
    uint32_t tokens = dme_in_flight(now, TOKEN, DME_NONE, DME_NONE);

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct sh *s = dme_state(now->node[i]);

        tokens += s->has != 0;
        for (dme_id j = 0; j < now->conf->n; j++)
            if (s->has && now->node[i]->phase == DME_IDLE && (s->peer[j].requests || s->peer[j].token_waits))
                return "SH3: the holder of an idle token counts no site";
        for (dme_id j = 0; j < i; j++) {
            const struct sh *other = dme_state(now->node[j]);

            if (!s->peer[j].requests && !other->peer[i].requests && !s->peer[j].token_waits &&
                !other->peer[i].token_waits && !dme_in_flight(now, REQUEST, i, j) && !dme_in_flight(now, REQUEST, j, i))
                return "SH2: of two sites one counts the other, or its token does, or a REQUEST is in flight";
        }
    }
    return tokens == 1 ? NULL : "SH1: there is one token";
}

static void sh_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct sh *s = state;

    dme_print_set(text, "counts", &s->peer[0].requests, sizeof s->peer[0], d->n);
    dme_print_set(text, " told", &s->peer[0].told, sizeof s->peer[0], d->n);
    dme_print_numbers(text, " numbers", &s->peer[0].number, sizeof s->peer[0], d->n);
    if (s->has) {
        dme_print_set(text, " token waits", &s->peer[0].token_waits, sizeof s->peer[0], d->n);
        dme_print_numbers(text, " numbers", &s->peer[0].token_number, sizeof s->peer[0], d->n);
    }
}

#define SH_SHARED                                                                                                      \
    .family = DME_TOKEN,                                                                                               \
    .paper = "M. Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, "               \
             "IEEE Transactions on Computers 38(5), 1989",                                                             \
    .cost = "0 to n messages, (n-1)/2 + (n-1)/n at light load, delay T", .kinds = sh_kinds, .fields = sh_fields,       \
    .options = sh_options, .rules = 1 << DME_EXCLUSIVE, .needs = DME_RELIABLE | DME_ALIVE,                             \
    .state_size = sizeof(struct sh), .peer_size = sizeof(((struct sh *)0)->peer[0]), .init = sh_init,                  \
    .request = sh_request, .receive = sh_receive, .release = sh_release, .broken = sh_broken, .show = sh_show

const struct dme_alg singhal_heuristic = {.name = "singhal-heuristic", SH_SHARED};

const struct dme_alg singhal_heuristic_as_published = {
    .name = "singhal-heuristic-as-published",
    .flaw = "deadlocks: an outdated request is discarded, and two sites lose each other",
    .mistakes = sh_mistakes,
    .mistaken = DME_PUBLISHED,
    SH_SHARED,
};

const struct dme_alg singhal_heuristic_tempting = {
    .name = "singhal-heuristic-tempting",
    .flaw = "one case of an outdated request is not repaired: two sites lose each other",
    .mistakes = sh_mistakes,
    .mistaken = DME_TEMPTING,
    SH_SHARED,
};
