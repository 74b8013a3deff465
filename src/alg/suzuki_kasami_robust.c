/* Suzuki and Kasami, "A Distributed Mutual Exclusion Algorithm", ACM TOCS 3(4), 1985, among sites that fail and come
 * back, on a network that may be cut. The paper has no such thing: this is what the recovery of Singhal's algorithm
 * (singhal_heuristic_robust.c) becomes where everybody hears every request.
 *
 * Idea. Whether the token is lost, a census tells (census.h). A new token is made from what all report: of each site the
 * request that was served last is its latest one, or the one before if it waits. After every census, whoever waits asks
 * again, under the same number: that reaches those who were not there when it asked first, and is no news to others.
 *   A site that is back learns the number of its own last request from the others. The queue of the token is only what
 *   the holder will do next, so a site that cannot be reached is simply left out when its turn comes.
 *
 * Messages. As before, n or 0, while nothing fails. A failure costs at most n(n-1) FLUSH, n-1 STATUS, n-1 VERDICT and n-1
 * REQUESTs of each that waits; a recovery 2(n-1) and such a census.
 *
 * Invariant KR1. Among sites that are up there is at most one token, held or in flight. */
#include "census.h"
#include "core/line.h"

enum { REQUEST, TOKEN, FLUSH, STATUS, VERDICT, RECOVERING, RECOVERED };
enum { REPORT_WAITS = 1, REPORT_HAS = 2, REPORT_CUT_OFF = 4 }; /* the mode of a STATUS */

/* As in queue_token.h and singhal_heuristic_robust.c. */
static const struct dme_kind kr_kinds[] = {
    {"REQUEST", 1, 0}, {"TOKEN", 0, 1},      {"FLUSH", 1, 0},     {"STATUS", 1, 1},
    {"VERDICT", 1, 0}, {"RECOVERING", 1, 0}, {"RECOVERED", 2, 0}, {0},
};

struct kr {
    struct census census;
    uint64_t answered; /* recovering: the last census that anybody knows of */
    uint32_t queued;   /* with the token: sites in its queue */
    uint8_t has;       /* the token is here */
    uint8_t recovering, zero[2];
    struct {
        uint64_t asked;    /* highest request number known */
        uint64_t served;   /* with the token: number of the request served last */
        uint64_t reported; /* coordinator: what a new token will say was served last */
        dme_id queue;      /* with the token: slot of its queue */
        uint8_t missing;   /* recovering: its answer */
        uint8_t zero[3];
        struct census_peer census;
    } peer[];
};

static struct census_peers kr_peers(struct kr *s)
{
    return (struct census_peers){&s->peer[0].census, sizeof s->peer[0]};
}

static struct dme_line kr_queue(const struct dme *d, struct kr *s)
{
    return (struct dme_line){&s->queued, &s->peer[0].queue, sizeof s->peer[0], d->n};
}

static bool kr_reaches(const struct dme *d, const struct kr *s, dme_id j)
{
    return j != d->self && !s->peer[j].census.down && !s->peer[j].census.cut;
}

static bool kr_waits(const struct dme *d, const struct kr *s)
{
    return dme_waiting(d) && !s->recovering;
}

/* --------------------------------------------------------------------------------------------- while nothing fails */

static void kr_ask(struct dme *d, struct kr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (kr_reaches(d, s, j))
            dme_send_ticket(d, j, REQUEST, dme_claim(d, s->peer[d->self].asked));
}

static void kr_give(struct dme *d, struct kr *s, dme_id to)
{
    struct dme_msg *m = dme_send(d, to, TOKEN);

    s->has = 0;
    dme_line_pack(kr_queue(d, s), m->ticket);
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[j].clock = s->peer[j].served;
        s->peer[j].served = 0;
    }
}

/* An idle holder: whoever has a fresh request joins the queue, from the right-hand neighbour onwards, and the first that
 * can be reached gets the token, unless a census keeps it here. */
static void kr_pass(struct dme *d, struct kr *s)
{
    if (!s->has || !dme_idle(d) || s->census.runs)
        return;
    for (dme_id j = dme_after(d, d->self); j != d->self; j = dme_after(d, j))
        if (s->peer[j].asked > s->peer[j].served && kr_reaches(d, s, j) && !dme_line_has(kr_queue(d, s), j))
            dme_line_push(kr_queue(d, s), j);
    while (s->queued) {
        dme_id next = dme_line_pop(kr_queue(d, s));

        if (kr_reaches(d, s, next)) {
            kr_give(d, s, next);
            return;
        }
    }
}

static void kr_request(struct dme *d, void *state)
{
    struct kr *s = state;

    if (s->has) {
        dme_enter(d);
    } else if (!s->recovering) {
        s->peer[d->self].asked++;
        kr_ask(d, s);
    }
}

static void kr_release(struct dme *d, void *state)
{
    struct kr *s = state;

    s->peer[d->self].served = s->peer[d->self].asked;
    kr_pass(d, s);
}

static void kr_take(struct dme *d, struct kr *s, const struct dme_msg *m)
{
    DME_EXPECT(d, !s->has);
    s->has = 1;
    for (dme_id k = 0; k < d->n; k++)
        s->peer[k].served = m->ticket[k].clock;
    for (dme_id k = 0; k < d->n && m->ticket[k].site != DME_NONE; k++) {
        DME_EXPECT(d, !dme_line_has(kr_queue(d, s), m->ticket[k].site));
        dme_line_push(kr_queue(d, s), m->ticket[k].site);
    }
    dme_line_remove(kr_queue(d, s), d->self);
    s->peer[d->self].asked = dme_max(s->peer[d->self].asked, s->peer[d->self].served);
    if (dme_waiting(d))
        dme_enter(d);
    else
        kr_release(d, s); /* the token still knew of a request of the former life */
}

/* --------------------------------------------------------------------------------------------------------- the census */

static void kr_report(struct dme *d, struct kr *s)
{
    struct dme_msg *m;

    if (!census_ready(d, &s->census, kr_peers(s)))
        return;
    s->census.reported = 1;
    m = dme_send(d, census_coordinator(d, kr_peers(s)), STATUS);
    m->ticket[0] = (struct dme_ticket){.clock = s->census.number, .site = d->self};
    m->ticket[0].mode = (kr_waits(d, s) ? REPORT_WAITS : 0) | (s->has ? REPORT_HAS : 0) |
                        (census_cut_off(d, kr_peers(s)) ? REPORT_CUT_OFF : 0);
    for (dme_id j = 0; j < d->n; j++)
        m->ticket[1 + j].clock = s->peer[j].asked;
}

static void kr_begin(struct dme *d, struct kr *s, uint64_t number)
{
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].reported = 0;
    census_begin(d, &s->census, kr_peers(s), number, FLUSH);
    kr_report(d, s);
}

/* Nobody has the token. */
static void kr_regenerate(struct dme *d, struct kr *s)
{
    s->has = 1;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].served = s->peer[j].reported;
    if (dme_waiting(d))
        dme_enter(d);
}

static void kr_reported(struct dme *d, struct kr *s, const struct dme_msg *m)
{
    struct census_peer *p = &s->peer[m->from].census;
    uint32_t how = m->ticket[0].mode;
    dme_id holder;

    if (!s->census.runs || m->ticket[0].clock != s->census.number)
        return; /* of an earlier one */
    p->reported = 1;
    p->has = (how & REPORT_HAS) != 0;
    p->incomplete = (how & REPORT_CUT_OFF) != 0;
    for (dme_id j = 0; j < d->n; j++)
        if (j != d->self && !kr_reaches(d, s, j))
            s->peer[j].reported = dme_max(s->peer[j].reported, m->ticket[1 + j].clock);
    s->peer[m->from].reported = m->ticket[1 + m->from].clock - (how & REPORT_WAITS);
    if (!census_complete(d, &s->census, kr_peers(s)))
        return;
    holder = census_holder(d, kr_peers(s));
    for (dme_id j = 0; j < d->n; j++)
        if (j == d->self || kr_reaches(d, s, j))
            dme_send_ticket(d, j, VERDICT, (struct dme_ticket){.clock = s->census.number, .site = holder});
    if (holder == d->self && !s->has)
        kr_regenerate(d, s);
}

static void kr_verdict(struct dme *d, struct kr *s, struct dme_ticket verdict)
{
    if (!s->census.runs || verdict.clock != s->census.number)
        return;
    census_end(d, &s->census, kr_peers(s));
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].reported = 0;
        s->peer[j].census.beyond = 0;
    }
    if (kr_waits(d, s))
        kr_ask(d, s);
    kr_pass(d, s);
}

/* --------------------------------------------------------------------------------------------------- failure, recovery */

static void kr_recover_if_answered(struct dme *d, struct kr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].missing)
            return;
    if (!s->recovering)
        return;
    s->recovering = 0;
    if (dme_waiting(d))
        kr_request(d, s);
    kr_begin(d, s, dme_max(s->census.number, s->answered) + 1);
    s->answered = 0;
}

static void kr_ask_for_number(struct dme *d, dme_id j)
{
    dme_send(d, j, RECOVERING)->ticket[0].mode = d->node->life;
}

static void kr_news(struct dme *d, void *state, enum dme_news what, dme_id f)
{
    struct kr *s = state;

    census_hear(&s->peer[f].census, what);
    if (what == DME_HEALED && s->peer[f].missing)
        kr_ask_for_number(d, f);
    if (what == DME_DOWN)
        s->peer[f].missing = 0;
    if (s->recovering)
        kr_recover_if_answered(d, s);
    else
        kr_begin(d, s, s->census.number + 1);
}

/* What it remembers is out of date, but for its own number. */
static void kr_restart(struct dme *d, void *state, bool remembers)
{
    struct kr *s = state;

    (void)remembers;
    s->has = 0;
    s->recovering = 1;
    s->census = (struct census){0};
    s->queued = 0;
    for (dme_id j = 0; j < d->n; j++) {
        s->peer[j].asked = j == d->self ? s->peer[j].asked : 0;
        s->peer[j].served = s->peer[j].reported = 0;
        s->peer[j].queue = 0;
        s->peer[j].census = (struct census_peer){0};
        s->peer[j].missing = j != d->self;
        if (j != d->self)
            kr_ask_for_number(d, j);
    }
    kr_recover_if_answered(d, s);
}

/* A site is back. If a census runs it was begun without that one, and is begun again. */
static void kr_returns(struct dme *d, struct kr *s, dme_id f, uint32_t life)
{
    struct dme_msg *m = dme_send(d, f, RECOVERED);

    m->ticket[0].clock = dme_max(s->peer[f].asked, s->peer[f].served);
    m->ticket[0].mode = life;
    m->ticket[1].clock = s->census.number;
    s->peer[f].census.down = s->peer[f].census.cut = 0;
    if (s->census.runs)
        kr_begin(d, s, s->census.number + 1);
}

/* -------------------------------------------------------------------------------------------------------- the handlers */

static void kr_init(struct dme *d, void *state)
{
    struct kr *s = state;

    s->has = d->self == 0;
}

static void kr_receive(struct dme *d, void *state, const struct dme_msg *m)
{
    struct kr *s = state;

    if (s->peer[m->from].missing && m->kind < RECOVERING)
        return; /* sent to the former life, before that was known to have ended; a token counts as lost */
    switch (m->kind) {
    case REQUEST:
        DME_EXPECT(d, m->ticket[0].site == m->from);
        s->peer[m->from].asked = dme_max(s->peer[m->from].asked, m->ticket[0].clock);
        kr_pass(d, s);
        break;
    case TOKEN:
        kr_take(d, s, m);
        break;
    case FLUSH:
        s->peer[m->from].census.flushed = dme_max(s->peer[m->from].census.flushed, m->ticket[0].clock);
        if (m->ticket[0].clock > s->census.number)
            kr_begin(d, s, m->ticket[0].clock);
        else
            kr_report(d, s);
        break;
    case STATUS:
        kr_reported(d, s, m);
        break;
    case VERDICT:
        kr_verdict(d, s, m->ticket[0]);
        break;
    case RECOVERING:
        kr_returns(d, s, m->from, m->ticket[0].mode);
        break;
    case RECOVERED:
        if (!s->peer[m->from].missing || m->ticket[0].mode != d->node->life)
            break;
        s->peer[d->self].asked = dme_max(s->peer[d->self].asked, m->ticket[0].clock);
        s->answered = dme_max(s->answered, m->ticket[1].clock);
        s->peer[m->from].missing = 0;
        kr_recover_if_answered(d, s);
        break;
    }
}

static const char *kr_broken(const struct dme_moment *now)
{
    uint32_t tokens = 0;

    for (dme_id i = 0; i < now->conf->n; i++) {
        const struct kr *s = dme_state(now->node[i]);

        if (now->node[i]->down)
            continue;
        tokens += s->has;
        for (dme_id j = 0; j < now->conf->n; j++)
            if (!s->peer[j].missing)
                tokens += dme_in_flight(now, TOKEN, j, i);
    }
    return tokens <= 1 ? NULL : "KR1: among sites that are up there is at most one token";
}

static void kr_show(const struct dme *d, const void *state, struct dme_text *text)
{
    const struct kr *s = state;

    if (s->recovering)
        dme_print(text, "recovering ");
    if (s->census.runs)
        dme_print(text, "census=%llu ", (unsigned long long)s->census.number);
    dme_print_numbers(text, "asked", &s->peer[0].asked, sizeof s->peer[0], d->n);
    dme_print_set(text, " down", &s->peer[0].census.down, sizeof s->peer[0], d->n);
    dme_print_set(text, " cut", &s->peer[0].census.cut, sizeof s->peer[0], d->n);
    if (s->has) {
        dme_print_numbers(text, " token served", &s->peer[0].served, sizeof s->peer[0], d->n);
        dme_print_line(text, " queue", &s->peer[0].queue, sizeof s->peer[0], s->queued);
    }
}

const struct dme_alg suzuki_kasami_robust = {
    .name = "suzuki-kasami-robust",
    .paper =
        "I. Suzuki, T. Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985; recovery after M. "
        "Singhal, A heuristically-aided algorithm for mutual exclusion in distributed systems, IEEE TC 38(5), 1989",
    .cost = "n messages, or 0 where the token is, delay T; a failure costs up to 2n(n+1) more",
    .kinds = kr_kinds,
    .upkeep = FLUSH,
    .family = DME_TOKEN,
    .rules = 1 << DME_EXCLUSIVE,
    .needs = DME_FIFO | DME_RELIABLE | DME_DETECTION,
    .state_size = sizeof(struct kr),
    .peer_size = sizeof(((struct kr *)0)->peer[0]),
    .init = kr_init,
    .request = kr_request,
    .receive = kr_receive,
    .release = kr_release,
    .restart = kr_restart,
    .news = kr_news,
    .broken = kr_broken,
    .show = kr_show,
};
