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
 * Invariant SR2. As SH2, of sites that can reach each other, while no census runs.
 *
 * Departures from the paper. A failed site is taken out of the token, too, or the next merge would count it again and
 * send the token there. The number of a recovering site is not reset. A token that comes to a site which does not wait,
 * because the token knew of a request from before a crash, is passed on; the paper has no rule for that. What a new token contains and how others learn of it
 * is not said in the paper. Sites that wait on the inactive side send their request again, under a new number. The
 * paper's first method of reintegration only ever ceases to count, and may leave two sites that do not know of each
 * other; what is called `order` here is its second, and `all` the plain version of that. */
#include "census.h"

enum { REQUEST, TOKEN, FLUSH, STATUS, VERDICT, RECOVERING, RECOVERED };
enum { OPTION_ARBITRATION, OPTION_REINTEGRATION };
enum { NEAREST, LOWEST };
enum { ORDER, ALL };
enum { REPORT_WAITS = 1, REPORT_HAS = 2, REPORT_CUT_OFF = 4 }; /* the mode of a STATUS */

/* The states of the paper: idle, requesting, executing, holding the idle token. */
enum sr_state { N, R, E, H };

/* TOKEN: see singhal_heuristic.c. FLUSH, VERDICT: the census; VERDICT names the holder. STATUS: the census, how it is with
 * the sender, and all numbers that it knows. RECOVERED: the number of the receiver's last request, and the census. The mode of
 * RECOVERING and RECOVERED is the life of the site that recovers. */
static const struct dme_kind sr_kinds[] = {
    {"REQUEST", 1, 0}, {"TOKEN", 0, 1},      {"FLUSH", 1, 0},     {"STATUS", 1, 1},
    {"VERDICT", 1, 0}, {"RECOVERING", 1, 0}, {"RECOVERED", 2, 0}, {0},
};
static const char *const sr_arbitration[] = {"nearest", "lowest", NULL};
static const char *const sr_reintegration[] = {"order", "all", NULL};
static const struct dme_option sr_options[] = {
    {.key = "arbitration", .help = "who is next: the nearest, or the lowest request number", .choices = sr_arbitration},
    {.key = "reintegration", .help = "whom does the inactive side count of itself", .choices = sr_reintegration},
    {0},
};

struct sr {
    struct census census;
    uint64_t answered;  /* recovering: the last census that anybody knows of */
    uint8_t has;        /* the token is here */
    uint8_t recovering; /* and does not ask yet */
    uint8_t zero[6];
    struct {
        uint64_t number;       /* highest request number known */
        uint64_t token_number; /* with the token: what it knows */
        uint64_t reported;     /* coordinator: the peer's own number, or if it is down the highest that anybody knows */
        uint8_t requests;      /* this site counts the peer as requesting: its own request goes there too */
        uint8_t told;          /* its latest request has gone there */
        uint8_t token_waits;   /* with the token: what it knows */
        uint8_t missing;       /* recovering: its answer */
        uint8_t zero[4];
        struct census_peer census;
    } peer[];
};

static struct census_peers sr_peers(struct sr *s)
{
    return (struct census_peers){&s->peer[0].census, sizeof s->peer[0]};
}

static bool sr_reaches(const struct dme *d, const struct sr *s, dme_id j)
{
    return j != d->self && !s->peer[j].census.down && !s->peer[j].census.cut;
}

static enum sr_state sr_state(const struct dme *d, const struct sr *s)
{
    return s->has ? (dme_idle(d) ? H : E) : dme_idle(d) || s->recovering ? N : R;
}

/* --------------------------------------------------------------------------------------------- while nothing fails */

static void sr_tell(struct dme *d, struct sr *s, dme_id j)
{
    if (!sr_reaches(d, s, j))
        return;
    s->peer[j].told = 1;
    dme_send_ticket(d, j, REQUEST, dme_claim(d, s->peer[d->self].number));
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

    s->has = 0;
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].token_number;
        m->ticket[j].site = s->peer[j].token_waits ? j : DME_NONE;
        s->peer[j].token_number = 0;
        s->peer[j].token_waits = s->peer[j].told = 0;
    }
}

/* Whoever knows of the later request is right. Afterwards this site and the token agree. */
static void sr_merge(struct dme *d, struct sr *s)
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

static dme_id sr_next(const struct dme *d, const struct sr *s)
{
    dme_id next = DME_NONE;

    for (dme_id j = dme_after(d, d->self); j != d->self; j = dme_after(d, j)) {
        if (!s->peer[j].requests || !sr_reaches(d, s, j))
            continue;
        if (dme_option(d, OPTION_ARBITRATION) == NEAREST)
            return j;
        if (next == DME_NONE || s->peer[j].number < s->peer[next].number)
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

    if (s->has) {
        dme_enter(d);
    } else if (!s->recovering) {
        s->peer[d->self].number++;
        sr_tell_counted(d, s);
    }
}

/* The token forgets who is down. */
static void sr_drop_from_token(struct sr *s, dme_id f)
{
    s->peer[f].token_waits = 0;
    s->peer[f].token_number = dme_max(s->peer[f].token_number, s->peer[f].number);
}

static void sr_take(struct dme *d, struct sr *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->has);
    s->has = 1;
    for (dme_id j = 0; j < d->n; j++) {
        DME_EXPECT(d, m->ticket[j].site == j || m->ticket[j].site == DME_NONE);
        s->peer[j].token_number = m->ticket[j].clock;
        s->peer[j].token_waits = m->ticket[j].site == j;
        if (s->peer[j].census.down)
            sr_drop_from_token(s, j);
    }
    if (dme_waiting(d)) {
        dme_enter(d);
    } else { /* the token still knew of a request of the former life */
        s->peer[d->self].number = dme_max(s->peer[d->self].number, s->peer[d->self].token_number);
        sr_release(d, s);
    }
}

static void sr_asked(struct dme *d, struct sr *s, dme_id j, uint64_t number)
{
    bool fresh = number > s->peer[j].number && (!s->has || number > s->peer[j].token_number);

    if (fresh)
        s->peer[j].number = number;
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
            s->peer[j].token_number = number;
            sr_pass(d, s);
        } else if (!s->peer[j].told) {
            sr_tell(d, s, j);
        }
        break;
    }
}

/* --------------------------------------------------------------------------------------------------------- the census */

/* When FLUSH of all is here: how is it with this site? */
static void sr_report(struct dme *d, struct sr *s)
{
    struct dme_msg *m;

    if (!census_ready(d, &s->census, sr_peers(s)))
        return;
    s->census.reported = 1;
    m = dme_send(d, census_coordinator(d, sr_peers(s)), STATUS);
    m->ticket[0] = (struct dme_ticket){.clock = s->census.number, .site = d->self};
    m->ticket[0].mode = (sr_state(d, s) == R ? REPORT_WAITS : 0) | (s->has ? REPORT_HAS : 0) |
                        (census_cut_off(d, sr_peers(s)) ? REPORT_CUT_OFF : 0);
    for (dme_id j = 0; j < d->n; j++)
        m->ticket[1 + j].clock = s->peer[j].number;
}

static void sr_begin(struct dme *d, struct sr *s, uint64_t number)
{
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].reported = 0;
    census_begin(d, &s->census, sr_peers(s), number, FLUSH);
    sr_report(d, s);
}

/* Nobody has it. A new token knows what all have reported; all are told who has it, by a request that may be old. */
static void sr_regenerate(struct dme *d, struct sr *s)
{
    s->has = 1;
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].token_number = s->peer[j].reported;
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

static void sr_reported(struct dme *d, struct sr *s, const struct dme_msg *m)
{
    struct census_peer *p = &s->peer[m->from].census;
    dme_id holder;

    if (!s->census.runs || m->ticket[0].clock != s->census.number)
        return; /* of an earlier one */
    p->reported = 1;
    p->waits = (m->ticket[0].mode & REPORT_WAITS) != 0;
    p->has = (m->ticket[0].mode & REPORT_HAS) != 0;
    p->incomplete = (m->ticket[0].mode & REPORT_CUT_OFF) != 0;
    for (dme_id j = 0; j < d->n; j++)
        if (j == m->from || (j != d->self && !sr_reaches(d, s, j)))
            s->peer[j].reported = dme_max(s->peer[j].reported, m->ticket[1 + j].clock);
    if (!census_complete(d, &s->census, sr_peers(s)))
        return;
    holder = census_holder(d, sr_peers(s));
    for (dme_id j = 0; j < d->n; j++)
        if (j == d->self || sr_reaches(d, s, j))
            dme_send_ticket(d, j, VERDICT, (struct dme_ticket){.clock = s->census.number, .site = holder});
    if (holder == d->self && !s->has)
        sr_regenerate(d, s);
}

/* The token is beyond a cut that has healed: this side was inactive, and makes itself known to the other. */
static void sr_reintegrate(struct dme *d, struct sr *s, dme_id holder)
{
    bool inactive = holder != d->self && s->peer[holder].census.beyond;

    for (dme_id j = 0; j < d->n; j++) {
        if (inactive && (s->peer[j].census.beyond || j > d->self || dme_option(d, OPTION_REINTEGRATION) == ALL)) {
            if (s->has) /* it came before the verdict; a holder counts only who waits, so others must count it */
                sr_tell(d, s, j);
            else
                s->peer[j].requests = sr_reaches(d, s, j);
        }
        s->peer[j].census.beyond = 0;
    }
    if (inactive && sr_state(d, s) == R) {
        s->peer[d->self].number++;
        for (dme_id j = 0; j < d->n; j++)
            s->peer[j].told = 0;
        sr_tell_counted(d, s);
    }
}

static void sr_verdict(struct dme *d, struct sr *s, struct dme_ticket verdict)
{
    DME_EXPECT(d, verdict.site < d->n || verdict.site == DME_NONE);
    if (!s->census.runs || verdict.clock != s->census.number)
        return;
    census_end(d, &s->census, sr_peers(s));
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].reported = 0;
    if (verdict.site != DME_NONE)
        sr_reintegrate(d, s, verdict.site);
    sr_pass(d, s);
}

/* --------------------------------------------------------------------------------------------------- failure, recovery */

static bool sr_any_told(const struct dme *d, const struct sr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].told)
            return true;
    return false;
}

static void sr_recover_if_answered(struct dme *d, struct sr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].missing)
            return;
    if (!s->recovering)
        return;
    s->recovering = 0;
    if (dme_waiting(d))
        sr_request(d, s);
    sr_begin(d, s, dme_max(s->census.number, s->answered) + 1);
    s->answered = 0;
}

static void sr_ask_for_number(struct dme *d, dme_id j)
{
    dme_send(d, j, RECOVERING)->ticket[0].mode = d->node->life;
}

static void sr_news(struct dme *d, void *state, enum dme_news what, dme_id f)
{
    struct sr *s = state;

    census_hear(&s->peer[f].census, what);
    if (what == DME_HEALED && s->peer[f].missing)
        sr_ask_for_number(d, f);
    if (what == DME_DOWN) {
        s->peer[f].missing = 0;
        s->peer[f].requests = s->peer[f].told = 0;
        if (s->has)
            sr_drop_from_token(s, f);
        if (sr_state(d, s) == R && !sr_any_told(d, s))
            for (dme_id j = 0; j < d->n; j++)
                sr_tell(d, s, j);
    }
    if (s->recovering)
        sr_recover_if_answered(d, s);
    else
        sr_begin(d, s, s->census.number + 1);
}

/* What it remembers is out of date, but for its own number. */
static void sr_restart(struct dme *d, void *state, bool remembers)
{
    struct sr *s = state;

    (void)remembers;
    s->has = 0;
    s->recovering = 1;
    s->census = (struct census){0};
    for (dme_id j = 0; j < d->n; j++) {
        uint64_t number = j == d->self ? s->peer[j].number : 0;

        s->peer[j].number = number;
        s->peer[j].token_number = s->peer[j].reported = 0;
        s->peer[j].told = s->peer[j].token_waits = 0;
        s->peer[j].census = (struct census_peer){0};
        s->peer[j].requests = s->peer[j].missing = j != d->self;
        if (j != d->self)
            sr_ask_for_number(d, j);
    }
    sr_recover_if_answered(d, s);
}

/* A site is back. If a census runs it was begun without that one, and is begun again. */
static void sr_returns(struct dme *d, struct sr *s, dme_id f, uint32_t life)
{
    struct dme_msg *m = dme_send(d, f, RECOVERED);

    m->ticket[0].clock = dme_max(s->peer[f].number, s->peer[f].token_number); /* the token may know more */
    m->ticket[0].mode = life;
    m->ticket[1].clock = s->census.number;
    s->peer[f].census.down = s->peer[f].census.cut = 0;
    if (!s->recovering) /* else it counts everybody */
        s->peer[f].requests = s->peer[f].told = 0;
    if (s->census.runs)
        sr_begin(d, s, s->census.number + 1);
}

/* -------------------------------------------------------------------------------------------------------- the handlers */

/* At first site i counts the i sites before it: a staircase. */
static void sr_init(struct dme *d, void *state)
{
    struct sr *s = state;

    s->has = d->self == 0;
    for (dme_id j = 0; j < d->self; j++)
        s->peer[j].requests = 1;
}

static void sr_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct sr *s = state;

    if (s->peer[m->from].missing && m->kind < RECOVERING)
        return; /* sent to the former life, before that was known to have ended; a token counts as lost */
    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        sr_asked(d, s, m->from, m->ticket[0].clock);
        break;
    case TOKEN:
        sr_take(d, s, m);
        break;
    case FLUSH:
        s->peer[m->from].census.flushed = dme_max(s->peer[m->from].census.flushed, m->ticket[0].clock);
        if (m->ticket[0].clock > s->census.number)
            sr_begin(d, s, m->ticket[0].clock);
        else
            sr_report(d, s);
        break;
    case STATUS:
        sr_reported(d, s, m);
        break;
    case VERDICT:
        sr_verdict(d, s, m->ticket[0]);
        break;
    case RECOVERING:
        sr_returns(d, s, m->from, m->ticket[0].mode);
        break;
    case RECOVERED:
        s->peer[d->self].number = dme_max(s->peer[d->self].number, m->ticket[0].clock);
        if (!s->peer[m->from].missing || m->ticket[0].mode != d->node->life)
            break;
        s->answered = dme_max(s->answered, m->ticket[1].clock);
        s->peer[m->from].missing = 0;
        sr_recover_if_answered(d, s);
        break;
    }
}

static const char *sr_broken(const struct dme_moment *now)
{
    uint32_t tokens = 0;

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct sr *s = dme_state(now->node[i]);

        if (now->node[i]->down)
            continue;
        tokens += s->has;
        for (dme_id j = 0; j < now->conf->n; j++)
            if (!s->peer[j].missing)
                tokens += dme_in_flight(now, TOKEN, j, i);
    }
    return tokens <= 1 ? NULL : "SR1: among sites that are up there is at most one token";
}

static void sr_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct sr *s = state;

    if (s->recovering)
        dme_print(text, "recovering ");
    if (s->census.runs)
        dme_print(text, "census=%llu ", (unsigned long long)s->census.number);
    dme_print_set(text, "counts", &s->peer[0].requests, sizeof s->peer[0], d->n);
    dme_print_numbers(text, " numbers", &s->peer[0].number, sizeof s->peer[0], d->n);
    dme_print_set(text, " down", &s->peer[0].census.down, sizeof s->peer[0], d->n);
    dme_print_set(text, " cut", &s->peer[0].census.cut, sizeof s->peer[0], d->n);
    if (s->has) {
        dme_print_set(text, " token waits", &s->peer[0].token_waits, sizeof s->peer[0], d->n);
        dme_print_numbers(text, " numbers", &s->peer[0].token_number, sizeof s->peer[0], d->n);
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
