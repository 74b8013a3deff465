/* Singhal, "A Heuristically-Aided Algorithm for Mutual Exclusion in Distributed Systems", IEEE Transactions on
 * Computers 38(5), 1989, section VI: lost messages, failures of sites, of the token, and of the network.
 *
 * Idea. The algorithm of singhal_heuristic.c among the sites that can be reached.
 *   A site fails (VI.B). The others cease to count it, and so does the token. A site that had asked only that one asks
 *     all (case IV). Whether the token is lost, and who makes a new one, is found out in one of two ways:
 *     singhal-heuristic-robust by a census at every failure (census.h), which needs no bound on delays;
 *     singhal-heuristic-time-outs by a site that has waited too long, for which the others are consulted (consult.h,
 *     VI.A): that also finds lost messages, and needs a bound.
 *   It recovers. RECOVERING to all; they answer with the number of its last request, or it would count from 1 again,
 *     and be taken for outdated. It counts all sites; no site needs to count it. A token that was sent to it before is
 *     lost, also if it arrives now: others may have counted it as lost.
 *   The network is cut (VI.C). The side with the token is active, and goes on by itself. The other waits: it must not
 *     make a token, for it cannot know that there is none. When the cut heals, a census tells all where the token is.
 *     Sites of the inactive side then count all of the active one, and each other (`--set reintegration=..`): all; or,
 *     in a fixed order, each those behind it, at once (`order`, the second method of the paper) or when RECOVERING_PART
 *     has come along the line to them (`part`, the first). They take a new number if they wait, and send it. By
 *     time-outs, a site that waits is late and is told where the token is.
 *
 * Messages. As before, while nothing fails. A failure costs at most n(n-1) FLUSH, n-1 STATUS, n-1 VERDICT, and n-1
 * REQUESTs if the token was lost; a recovery 2(n-1) and such a census. A site that is late costs a LATE, 2(n-1)
 * messages of a consultation, or 4(n-1) if the token was not found at once, n-1 RESUME, and a REQUEST of each that
 * waits.
 *
 * Invariant SR1. Among sites that are up there is at most one token, held or in flight.
 *
 * Departures from the paper. The -as-published versions have it as printed. A failed site is taken out of the token,
 * too, or the next merge would count it again and send the token there. The number of a recovering site is not reset. A
 * token that comes to a site which does not wait, because the token knew of a request from before a crash, is passed
 * on; the paper has no rule for that. What a new token contains and how others learn of it is not said in the paper.
 * Sites that wait on the inactive side send their request again, under a new number. RECOVERING_PART makes its receiver
 * cease to count its sender; here the sender counts the receiver from then on, or the two may lose each other.
 * consult.h says which site consults, and why a token on its way is not lost. A site of the inactive side that gets the
 * token before it hears the verdict makes itself known by requests instead. */
#include "consult.h"

enum { OPTION_ARBITRATION, OPTION_REINTEGRATION, OPTION_PATIENCE = OPTION_REINTEGRATION };
enum { NEAREST, LOWEST };
enum { ORDER, ALL, PART };
enum { BY_CENSUS, BY_TIME_OUTS }; /* the variants */

/* Of the variant with a census; consult.h has those of the other. */
enum { COUNTS_FROM_1, TOKEN_NOT_TOLD, ONLY_CEASES_TO_COUNT, WAITS_SILENTLY };

/* The states of the paper: idle, requesting, executing, holding the idle token. */
enum sr_state { N, R, E, H };

/* TOKEN: see singhal_heuristic.c. */
static const struct dme_kind sr_kinds[] = {CENSUS_KINDS, {"RECOVERING_PART", 0, 0}, {0}};
static const struct dme_kind sr_time_out_kinds[] = {CENSUS_KINDS, {"RECOVERING_PART", 0, 0}, CONSULT_KINDS, {0}};
static const char *const sr_fields[16] = {[TOKEN] = "TSN,,R"};
static const char *const sr_arbitration[] = {"nearest", "lowest", NULL};
static const char *const sr_reintegration[] = {"order", "all", "part", NULL};
#define SR_ARBITRATION                                                                                                 \
    {                                                                                                                  \
        .key = "arbitration", .help = "who is next: the nearest, or the lowest request number",                        \
        .choices = sr_arbitration                                                                                      \
    }
static const struct dme_option sr_options[] = {
    SR_ARBITRATION,
    {.key = "reintegration", .help = "whom does the inactive side count of itself", .choices = sr_reintegration},
    {0},
};
static const struct dme_option sr_time_out_options[] = {
    SR_ARBITRATION,
    {.key = "patience",
     .help = "how long, in T, a site waits for the token before it is late",
     .initial = 60,
     .min = 1,
     .max = 200},
    {0},
};

static const struct dme_mistake sr_mistakes[] = {
    {.name = "counts-from-1",
     .kind = DME_PUBLISHED,
     .where = "Singhal 1989, section VI.B, crash recovery procedure, step 2",
     .what = "a recovering site sets all request numbers to 0, its own too"},
    {.name = "token-not-told",
     .kind = DME_PUBLISHED,
     .where = "Singhal 1989, section VI.B, cases I to III",
     .what = "sites cease to count a site that has failed, and the token goes on counting it"},
    {.name = "only-ceases-to-count",
     .kind = DME_PUBLISHED,
     .where = "Singhal 1989, section VI.C, first method",
     .what = "the receiver of RECOVERING_PART ceases to count the sender, and the sender need not count the receiver"},
    {.name = "waits-silently",
     .kind = DME_TEMPTING,
     .where = "Singhal 1989, section VI.C, is silent",
     .what = "sites of the inactive side that wait count the active side, and send nothing"},
    {0},
};
static const struct dme_mistake sr_time_out_mistakes[] = {
    {.name = "declares-at-once",
     .kind = DME_TEMPTING,
     .where = "Singhal 1989, section VI.A, warns of false declarations",
     .what = "a site that has waited for a specified time declares that the token is lost"},
    {.name = "consults-once",
     .kind = DME_TEMPTING,
     .where = "Singhal 1989, section VI.A, says only that it is safer to consult",
     .what = "when a site has waited too long, the others are consulted once, and go on meanwhile"},
    {.name = "keeps-old-token",
     .kind = DME_PUBLISHED,
     .where = "Singhal 1989, section VI.B, case III",
     .what = "a token that was sent to a site before its failure was known, and finds it recovered, is kept"},
    {0},
};

struct sr {
    struct census census;
    struct consult consult; /* by time-outs */
    struct {
        struct census_peer census; /* served: the number that the token knows */
        uint8_t requests;          /* this site counts the peer as requesting: its own request goes there too */
        uint8_t told;              /* its latest request has gone there */
        uint8_t token_waits;       /* with the token: what it knows */
        uint8_t apart;             /* reintegration=part: it was beyond the last cut */
        uint8_t zero[4];
    } peer[];
};

static const struct census_user sr_user;

static struct census_view sr_view(const struct sr *s)
{
    return (struct census_view){.census = (struct census *)&s->census,
                                .first = (struct census_peer *)&s->peer[0].census,
                                .stride = sizeof s->peer[0],
                                .user = &sr_user};
}

static bool sr_by_time_outs(const struct dme *d)
{
    return d->conf->alg->variant == BY_TIME_OUTS;
}

/* The same, where the census or what takes its place is asked to do something. */
static struct census_view sr_watch(const struct dme *d, struct sr *s)
{
    struct census_view v = sr_view(s);

    v.consult = sr_by_time_outs(d) ? &s->consult : NULL;
    return v;
}

static bool sr_mistake(const struct dme *d, unsigned which)
{
    return !sr_by_time_outs(d) && dme_mistake(d, which);
}

static bool sr_by_part(const struct dme *d)
{
    return !sr_by_time_outs(d) && (dme_option(d, OPTION_REINTEGRATION) == PART || sr_mistake(d, ONLY_CEASES_TO_COUNT));
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

/* Of this site and the token, the one that knows of the later request is right. Afterwards both agree. */
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
        if (!s->peer[j].requests || (!census_reaches(d, sr_view(s), j) && !sr_mistake(d, TOKEN_NOT_TOLD)))
            continue;
        if (dme_option(d, OPTION_ARBITRATION) == NEAREST)
            return j;
        if (next == DME_NONE || s->peer[j].census.number < s->peer[next].census.number)
            next = j;
    }
    return next;
}

/* An idle holder passes the token to the next site, unless a census keeps the token here. */
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
        return;
    }
    if (sr_by_time_outs(d))
        consult_start(d, (uint32_t)dme_option(d, OPTION_PATIENCE));
    if (!s->census.recovering) {
        s->peer[d->self].census.number++;
        sr_tell_counted(d, s);
    }
}

/* The first request after recovery. */
static void sr_ask(struct dme *d, void *state)
{
    struct sr *s = state;

    if (sr_mistake(d, COUNTS_FROM_1))
        s->peer[d->self].census.number = 0;
    sr_request(d, s);
}

/* The token forgets who is down. */
static void sr_drop_from_token(struct dme *d, struct sr *s, dme_id f)
{
    if (sr_mistake(d, TOKEN_NOT_TOLD))
        return;
    s->peer[f].token_waits = 0;
    s->peer[f].census.served = dme_max(s->peer[f].census.served, s->peer[f].census.number);
}

static void sr_take(struct dme *d, struct sr *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->census.has);
    s->census.has = 1;
    if (sr_by_time_outs(d) && !s->census.recovering)
        dme_stop(d, TIMER_LATE);
    for (dme_id j = 0; j < d->n; j++) {
        DME_EXPECT(d, m->ticket[j].site == j || m->ticket[j].site == DME_NONE);
        s->peer[j].census.served = m->ticket[j].clock;
        s->peer[j].token_waits = m->ticket[j].site == j;
        if (s->peer[j].census.down)
            sr_drop_from_token(d, s, j);
    }
    if (dme_waiting(d)) {
        dme_enter(d);
    } else { /* the token still knew of a request of the earlier incarnation */
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

/* No site has the token. A new one is made from what all sites have reported. A request, which may be old, tells all
 * sites which site has it. */
static void sr_make(struct dme *d, void *state)
{
    struct sr *s = state;

    s->census.has = 1;
    if (sr_by_time_outs(d))
        dme_stop(d, TIMER_LATE);
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

/* Under a new number, since what others know of the present one may have been overwritten. */
static void sr_ask_again(struct dme *d, struct sr *s)
{
    if (sr_state(d, s) != R || sr_mistake(d, WAITS_SILENTLY))
        return;
    s->peer[d->self].census.number++;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].told = 0;
    sr_tell_counted(d, s);
}

/* From now on this site counts that one. A holder counts only who waits, so then it makes itself known instead. */
static void sr_count(struct dme *d, struct sr *s, dme_id j)
{
    if (s->census.has)
        sr_tell(d, s, j);
    else
        s->peer[j].requests = census_reaches(d, sr_view(s), j);
}

/* The first method of reintegration: along the inactive side each site tells those behind it to count it no more. As
 * printed that is all; so that two sites do not lose each other, it has to count them. */
static void sr_part(struct dme *d, struct sr *s)
{
    for (dme_id j = d->self + 1; j < d->n; j++)
        if (!s->peer[j].apart && census_reaches(d, sr_view(s), j)) {
            dme_send(d, j, RECOVERING_PART);
            if (!sr_mistake(d, ONLY_CEASES_TO_COUNT))
                sr_count(d, s, j);
        }
}

static bool sr_is_ally_between(const struct dme *d, const struct sr *s, dme_id from, dme_id to)
{
    for (dme_id j = from; j < to; j++)
        if (!s->peer[j].apart && census_reaches(d, sr_view(s), j))
            return true;
    return false;
}

static void sr_parted(struct dme *d, struct sr *s, dme_id from)
{
    s->peer[from].requests = 0;
    if (from < d->self && !sr_is_ally_between(d, s, from + 1, d->self)) {
        sr_part(d, s);
        sr_ask_again(d, s);
    }
}

/* The token is beyond a cut that has healed: this side was inactive, and makes itself known to the other. */
static void sr_reintegrate(struct dme *d, struct sr *s, dme_id holder)
{
    bool inactive = holder != d->self && s->peer[holder].census.beyond;
    bool order = dme_option(d, OPTION_REINTEGRATION) == ORDER, all = dme_option(d, OPTION_REINTEGRATION) == ALL;

    for (dme_id j = 0; j < d->n; j++) {
        if (inactive && (s->peer[j].census.beyond || (!sr_by_part(d) && (all || (order && j > d->self)))))
            sr_count(d, s, j);
        s->peer[j].census.beyond = 0;
    }
    if (inactive && sr_by_part(d) && !sr_is_ally_between(d, s, 0, d->self))
        sr_part(d, s);
    if (inactive)
        sr_ask_again(d, s);
}

static void sr_go_on(struct dme *d, void *state, dme_id holder)
{
    struct sr *s = state;

    if (holder == DME_NONE)
        ;
    else if (!sr_by_time_outs(d))
        sr_reintegrate(d, s, holder);
    else if (sr_state(d, s) == R && holder != d->self) { /* the request may have been lost */
        s->peer[holder].requests = 1;
        sr_tell(d, s, holder);
    }
    sr_pass(d, s);
}

static const struct census_user sr_user = {.make = sr_make, .go_on = sr_go_on, .ask = sr_ask};

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
        sr_drop_from_token(d, s, f);
    if (sr_state(d, s) == R && !sr_any_told(d, s))
        for (dme_id j = 0; j < d->n; j++)
            sr_tell(d, s, j);
}

static void sr_news(struct dme *d, void *state, enum dme_news what, dme_id of)
{
    struct sr *s = state;

    if (what == DME_DOWN)
        sr_fails(d, s, of);
    if (what == DME_CUT && sr_by_part(d)) {
        for (dme_id j = 0; j < d->n; j++)
            s->peer[j].apart &= s->peer[j].census.cut; /* those of an earlier cut are not meant */
        s->peer[of].apart = 1;
    }
    census_news(d, sr_watch(d, s), what, of);
    if (sr_by_time_outs(d) && what == DME_HEALED)
        consult_give_up(d, sr_watch(d, s));
    else if (sr_by_time_outs(d))
        consult_without(d, sr_watch(d, s));
}

/* The memory of the site is out of date, except for its own number. It counts all sites. */
static void sr_restart(struct dme *d, void *state, bool remembers)
{
    struct sr *s = state;

    (void)remembers;
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].told = s->peer[j].token_waits = s->peer[j].apart = 0;
        s->peer[j].requests = j != d->self;
    }
    s->consult = (struct consult){0};
    if (sr_by_time_outs(d))
        consult_start(d, (uint32_t)dme_option(d, OPTION_PATIENCE));
    census_restart(d, sr_watch(d, s));
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

/* Behind a message of the recovery. */
static void sr_recovered(struct dme *d, struct sr *s, unsigned kind)
{
    if (kind == RECOVERED && !s->census.recovering && !dme_waiting(d) && sr_mistake(d, COUNTS_FROM_1))
        s->peer[d->self].census.number = 0;
}

static void sr_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct sr *s = state;
    struct census_view v = sr_watch(d, s);

    if (m->kind == TOKEN && sr_by_time_outs(d) && dme_mistake(d, KEEPS_OLD_TOKEN)) {
        sr_take(d, s, m);
        return;
    }
    if (m->kind == RECOVERING && !s->census.recovering)
        s->peer[m->from].requests = s->peer[m->from].told = 0;
    if (m->kind == RECOVERING && sr_by_time_outs(d))
        consult_give_up(d, v);
    if (census_receive(d, v, m)) {
        sr_recovered(d, s, m->kind);
    } else if (m->kind == TOKEN) {
        sr_take(d, s, m);
    } else if (m->kind == RECOVERING_PART) {
        sr_parted(d, s, m->from);
    } else if (m->kind == REQUEST) {
        DME_EXPECT(d, m->ticket[0].site == m->from);
        sr_asked(d, s, m->from, m->ticket[0].clock);
    } else {
        consult_receive(d, v, m);
    }
}

static void sr_timer(struct dme *d, void *state, unsigned timer)
{
    consult_timer(d, sr_watch(d, state), timer, (uint32_t)dme_option(d, OPTION_PATIENCE));
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

#define SR_SHARED                                                                                                      \
    .paper = "M. Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, "               \
             "IEEE Transactions on Computers 38(5), 1989, section VI",                                                 \
    .upkeep = FLUSH, .family = DME_TOKEN, .rules = 1 << DME_EXCLUSIVE, .state_size = sizeof(struct sr),                \
    .peer_size = sizeof(((struct sr *)0)->peer[0]), .init = sr_init, .request = sr_request, .receive = sr_receive,     \
    .release = sr_release, .restart = sr_restart, .news = sr_news, .show = sr_show
#define SR_BY_CENSUS                                                                                                   \
    SR_SHARED, .kinds = sr_kinds, .fields = sr_fields, .options = sr_options,                                          \
               .needs = DME_FIFO | DME_RELIABLE | DME_DETECTION,                                                       \
               .cost = "0 to n messages, (n-1)/2 + (n-1)/n at light load, delay T; a failure costs up to n(n+2) more"
#define SR_BY_TIME_OUTS                                                                                                \
    SR_SHARED, .variant = BY_TIME_OUTS, .kinds = sr_time_out_kinds, .fields = sr_fields,                               \
               .options = sr_time_out_options, .timer = sr_timer,                                                      \
               .needs = DME_FIFO | DME_RELIABLE | DME_DETECTION | DME_BOUNDED_DELAY,                                   \
               .cost = "0 to n messages, (n-1)/2 + (n-1)/n at light load, delay T; a time-out costs up to 5(n-1)+1 "   \
                       "more"

const struct dme_alg singhal_heuristic_robust = {
    .name = "singhal-heuristic-robust",
    .broken = sr_broken,
    SR_BY_CENSUS,
};

const struct dme_alg singhal_heuristic_robust_as_published = {
    .name = "singhal-heuristic-robust-as-published",
    .flaw =
        "a site that recovers, or was on the inactive side, is not served; or the token goes to a site that has failed",
    .mistakes = sr_mistakes,
    .mistaken = DME_PUBLISHED,
    SR_BY_CENSUS,
};

const struct dme_alg singhal_heuristic_robust_tempting = {
    .name = "singhal-heuristic-robust-tempting",
    .flaw = "sites of an inactive side wait for ever",
    .mistakes = sr_mistakes,
    .mistaken = DME_TEMPTING,
    SR_BY_CENSUS,
};

const struct dme_alg singhal_heuristic_time_outs = {
    .name = "singhal-heuristic-time-outs",
    .broken = sr_broken,
    SR_BY_TIME_OUTS,
};

const struct dme_alg singhal_heuristic_time_outs_as_published = {
    .name = "singhal-heuristic-time-outs-as-published",
    .flaw = "a token that was counted as lost is kept by a site that has recovered",
    .mistakes = sr_time_out_mistakes,
    .mistaken = DME_PUBLISHED,
    SR_BY_TIME_OUTS,
};

const struct dme_alg singhal_heuristic_time_outs_tempting = {
    .name = "singhal-heuristic-time-outs-tempting",
    .flaw = "a token that is on its way, or in use, is taken for lost, and a second one is made",
    .mistakes = sr_time_out_mistakes,
    .mistaken = DME_TEMPTING,
    SR_BY_TIME_OUTS,
};
