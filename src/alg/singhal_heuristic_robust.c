/* Singhal, "A Heuristically-Aided Algorithm for Mutual Exclusion in Distributed Systems", IEEE Transactions on
 * Computers 38(5), 1989, section VI: failures of sites, of the token, and of the network.
 *
 * Idea. The algorithm of singhal_heuristic.c among the sites that can be reached.
 *   A site fails. The others cease to count it, and so does the token; whether it had the token, a census tells
 *     (census.h). If so, the coordinator makes a new one from what all report.
 *   It recovers. RECOVERING to all; they answer with the number of its last request, or it would count from 1 again,
 *     and be taken for outdated. It counts everybody; nobody needs to count it. A token that was sent to it before is
 *     lost, also if it arrives now: the census does not know of it.
 *   The network is cut. The side with the token is active, and goes on by itself. The other waits: it must not make a
 *     token, for it cannot know that there is none. When the cut heals, a census tells all where the token is. Sites of
 *     the inactive side then count all of the active one, and each other (all, or in a fixed order each those behind
 *     it: `--set reintegration=..`), take a new number if they wait, and send it.
 *
 * Messages. As before, while nothing fails. A failure costs at most n(n-1) FLUSH, n-1 STATUS, n-1 VERDICT, and n-1
 * REQUESTs if the token was lost; a recovery 2(n-1) and such a census.
 *
 * Invariant SR1. Among sites that are up there is at most one token, held or in flight.
 *
 * Departures from the paper. A failed site is taken out of the token, too, or the next merge would count it again and
 * send the token there. The number of a recovering site is not reset. A token that comes to a site which does not wait,
 * because the token knew of a request from before a crash, is passed on; the paper has no rule for that. What a new token
 * contains and how others learn of it is not said in the paper. Sites that wait on the inactive side send their request
 * again, under a new number. The paper's first method of reintegration only ever ceases to count, and may leave two sites
 * that do not know of each other; what is called `order` here is its second, and `all` the plain version of that. A site
 * of the inactive side that gets the token before it hears the verdict makes itself known by requests instead. */
#include "census.h"

enum { OPTION_ARBITRATION, OPTION_REINTEGRATION };
enum { NEAREST, LOWEST };
enum { ORDER, ALL };

/* The states of the paper: idle, requesting, executing, holding the idle token. */
enum sr_state { N, R, E, H };

/* TOKEN: see singhal_heuristic.c. */
static const struct dme_kind sr_kinds[] = {CENSUS_KINDS};
static const char *const sr_arbitration[] = {"nearest", "lowest", NULL};
static const char *const sr_reintegration[] = {"order", "all", NULL};
static const struct dme_option sr_options[] = {
    {.key = "arbitration", .help = "who is next: the nearest, or the lowest request number", .choices = sr_arbitration},
    {.key = "reintegration", .help = "whom does the inactive side count of itself", .choices = sr_reintegration},
    {0},
};

struct sr {
    struct census census;
    struct {
        struct census_peer census; /* served: the number that the token knows */
        uint8_t requests;          /* this site counts the peer as requesting: its own request goes there too */
        uint8_t told;              /* its latest request has gone there */
        uint8_t token_waits;       /* with the token: what it knows */
        uint8_t zero[5];
    } peer[];
};

static const struct census_user sr_user;

static struct census_view sr_view(const struct sr *s)
{
    return (struct census_view){(struct census *)&s->census, (struct census_peer *)&s->peer[0].census,
                                sizeof s->peer[0], &sr_user};
}

static enum sr_state sr_state(const struct dme *d, const struct sr *s)
{
    return s->census.has ? (dme_idle(d) ? H : E) : dme_idle(d) || s->census.recovering ? N : R;
}

/* --------------------------------------------------------------------------------------------- while nothing fails */

static void sr_tell(struct dme *d, struct sr *s, dme_id j)
{
    if (!census_reaches(d, sr_view(s), j))
        return;
    s->peer[j].told = 1;
    dme_send_ticket(d, j, REQUEST, dme_claim(d, s->peer[d->self].census.number));
}

static void sr_tell_counted(struct dme *d, struct sr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].requests)
            sr_tell(d, s, j);
}

static void sr_give(struct dme *d, struct sr *s, dme_id to)
{
    struct dme_msg *m = dme_send(d, to, TOKEN);

    s->census.has = 0;
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].census.served;
        m->ticket[j].site = s->peer[j].token_waits ? j : DME_NONE;
        s->peer[j].census.served = 0;
        s->peer[j].token_waits = s->peer[j].told = 0;
    }
}

/* Whoever knows of the later request is right. Afterwards this site and the token agree. */
static void sr_merge(struct dme *d, struct sr *s)
{
    s->peer[d->self].token_waits = 0;
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].census.number > s->peer[j].census.served) {
            s->peer[j].census.served = s->peer[j].census.number;
            s->peer[j].token_waits = s->peer[j].requests;
        } else {
            s->peer[j].census.number = s->peer[j].census.served;
            s->peer[j].requests = s->peer[j].token_waits;
        }
}

static dme_id sr_next(const struct dme *d, const struct sr *s)
{
    dme_id next = DME_NONE;

    for (dme_id j = dme_after(d, d->self); j != d->self; j = dme_after(d, j)) {
        if (!s->peer[j].requests || !census_reaches(d, sr_view(s), j))
            continue;
        if (dme_option(d, OPTION_ARBITRATION) == NEAREST)
            return j;
        if (next == DME_NONE || s->peer[j].census.number < s->peer[next].census.number)
            next = j;
    }
    return next;
}

/* From an idle holder to who is next, unless a census keeps the token here. */
static void sr_pass(struct dme *d, struct sr *s)
{
    dme_id next = sr_next(d, s);

    if (sr_state(d, s) == H && !s->census.runs && next != DME_NONE)
        sr_give(d, s, next);
}

static void sr_release(struct dme *d, void *state)
{
    sr_merge(d, state);
    sr_pass(d, state);
}

static void sr_request(struct dme *d, void *state)
{
    struct sr *s = state;

    if (s->census.has) {
        dme_enter(d);
    } else if (!s->census.recovering) {
        s->peer[d->self].census.number++;
        sr_tell_counted(d, s);
    }
}

/* The token forgets who is down. */
static void sr_drop_from_token(struct sr *s, dme_id f)
{
    s->peer[f].token_waits = 0;
    s->peer[f].census.served = dme_max(s->peer[f].census.served, s->peer[f].census.number);
}

static void sr_take(struct dme *d, struct sr *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->census.has);
    s->census.has = 1;
    for (dme_id j = 0; j < d->n; j++) {
        DME_EXPECT(d, m->ticket[j].site == j || m->ticket[j].site == DME_NONE);
        s->peer[j].census.served = m->ticket[j].clock;
        s->peer[j].token_waits = m->ticket[j].site == j;
        if (s->peer[j].census.down)
            sr_drop_from_token(s, j);
    }
    if (dme_waiting(d)) {
        dme_enter(d);
    } else { /* the token still knew of a request of the former life */
        s->peer[d->self].census.number = dme_max(s->peer[d->self].census.number, s->peer[d->self].census.served);
        sr_release(d, s);
    }
}

static void sr_asked(struct dme *d, struct sr *s, dme_id j, uint64_t number)
{
    bool fresh = number > s->peer[j].census.number && (!s->census.has || number > s->peer[j].census.served);

    if (fresh)
        s->peer[j].census.number = number;
    switch (sr_state(d, s)) {
    case N:
        s->peer[j].requests = 1;
        break;
    case R:
        if (!s->peer[j].requests)
            sr_tell(d, s, j);
        s->peer[j].requests = 1;
        break;
    case E:
        if (fresh)
            s->peer[j].requests = 1;
        else if (!s->peer[j].token_waits && !s->peer[j].told)
            sr_tell(d, s, j);
        break;
    case H:
        if (fresh) {
            s->peer[j].requests = s->peer[j].token_waits = 1;
            s->peer[j].census.served = number;
            sr_pass(d, s);
        } else if (!s->peer[j].told) {
            sr_tell(d, s, j);
        }
        break;
    }
}

/* --------------------------------------------------------------------------------------------------------- the census */

/* Nobody has it. A new token knows what all have reported; all are told who has it, by a request that may be old. */
static void sr_make(struct dme *d, void *state)
{
    struct sr *s = state;

    s->census.has = 1;
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].census.served = s->peer[j].census.reported;
        s->peer[j].token_waits = s->peer[j].census.waits;
        s->peer[j].told = 0;
    }
    for (dme_id j = 0; j < d->n; j++)
        sr_tell(d, s, j);
    if (dme_waiting(d))
        dme_enter(d);
    else
        sr_merge(d, s);
}

/* The token is beyond a cut that has healed: this side was inactive, and makes itself known to the other. */
static void sr_reintegrate(struct dme *d, struct sr *s, dme_id holder)
{
    bool inactive = holder != d->self && s->peer[holder].census.beyond;

    for (dme_id j = 0; j < d->n; j++) {
        if (inactive && (s->peer[j].census.beyond || j > d->self || dme_option(d, OPTION_REINTEGRATION) == ALL)) {
            if (s->census.has) /* it came before the verdict; a holder counts only who waits, so others must count it */
                sr_tell(d, s, j);
            else
                s->peer[j].requests = census_reaches(d, sr_view(s), j);
        }
        s->peer[j].census.beyond = 0;
    }
    if (inactive && sr_state(d, s) == R) {
        s->peer[d->self].census.number++;
        for (dme_id j = 0; j < d->n; j++)
            s->peer[j].told = 0;
        sr_tell_counted(d, s);
    }
}

static void sr_go_on(struct dme *d, void *state, dme_id holder)
{
    if (holder != DME_NONE)
        sr_reintegrate(d, state, holder);
    sr_pass(d, state);
}

static const struct census_user sr_user = {.make = sr_make, .go_on = sr_go_on, .ask = sr_request};

/* --------------------------------------------------------------------------------------------------- failure, recovery */

static bool sr_any_told(const struct dme *d, const struct sr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].told)
            return true;
    return false;
}

static void sr_fails(struct dme *d, struct sr *s, dme_id f)
{
    s->peer[f].census.down = 1;
    s->peer[f].requests = s->peer[f].told = 0;
    if (s->census.has)
        sr_drop_from_token(s, f);
    if (sr_state(d, s) == R && !sr_any_told(d, s))
        for (dme_id j = 0; j < d->n; j++)
            sr_tell(d, s, j);
}

static void sr_news(struct dme *d, void *state, enum dme_news what, dme_id of)
{
    struct sr *s = state;

    if (what == DME_DOWN)
        sr_fails(d, s, of);
    census_news(d, sr_view(s), what, of);
}

/* What it remembers is out of date, but for its own number. It counts everybody. */
static void sr_restart(struct dme *d, void *state, bool remembers)
{
    struct sr *s = state;

    (void)remembers;
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].told = s->peer[j].token_waits = 0;
        s->peer[j].requests = j != d->self;
    }
    census_restart(d, sr_view(s));
}

/* -------------------------------------------------------------------------------------------------------- the handlers */

/* At first site i counts the i sites before it: a staircase. */
static void sr_init(struct dme *d, void *state)
{
    struct sr *s = state;

    s->census.has = d->self == 0;
    for (dme_id j = 0; j < d->self; j++)
        s->peer[j].requests = 1;
}

static void sr_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct sr *s = state;

    if (m->kind == RECOVERING && !s->census.recovering)
        s->peer[m->from].requests = s->peer[m->from].told = 0;
    if (census_receive(d, sr_view(s), m))
        return;
    if (m->kind == TOKEN) {
        sr_take(d, s, m);
    } else {
        DME_EXPECT(d, m->ticket[0].site == m->from);
        sr_asked(d, s, m->from, m->ticket[0].clock);
    }
}

static const char *sr_broken(const struct dme_moment *now)
{
    return census_tokens(now, offsetof(struct sr, peer), sizeof(((struct sr *)0)->peer[0])) <= 1
               ? NULL
               : "SR1: among sites that are up there is at most one token";
}

static void sr_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct sr *s = state;

    dme_print_set(text, "counts", &s->peer[0].requests, sizeof s->peer[0], d->n);
    dme_print(text, " ");
    census_show(d, sr_view(s), text);
    if (s->census.has) {
        dme_print_set(text, " token waits", &s->peer[0].token_waits, sizeof s->peer[0], d->n);
        dme_print_numbers(text, " numbers", &s->peer[0].census.served, sizeof s->peer[0], d->n);
    }
}

const struct dme_alg singhal_heuristic_robust = {
    .name = "singhal-heuristic-robust",
    .paper = "M. Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, "
             "IEEE Transactions on Computers 38(5), 1989, section VI",
    .cost = "0 to n messages, (n-1)/2 + (n-1)/n at light load, delay T; a failure costs up to n(n+2) more",
    .kinds = sr_kinds,
    .upkeep = FLUSH,
    .options = sr_options,
    .family = DME_TOKEN,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_FIFO | DME_RELIABLE | DME_DETECTION,
    .state_size = sizeof(struct sr),
    .peer_size = sizeof(((struct sr *)0)->peer[0]),
    .init = sr_init,
    .request = sr_request,
    .receive = sr_receive,
    .release = sr_release,
    .restart = sr_restart,
    .news = sr_news,
    .broken = sr_broken,
    .show = sr_show,
};
