/* census.c - see census.h. */
#include "census.h"

enum { REPORT_WAITS = 1, REPORT_HAS = 2, REPORT_CUT_OFF = 4 }; /* the mode of a STATUS */

/* --------------------------------------------------------------------------------------------------------- the census */

dme_id census_coordinator(const struct dme *d, struct census_view v)
{
    dme_id c = 0;

    while (c != d->self && !census_reaches(d, v, c))
        c++;
    return c;
}

/* Has this site received FLUSH from all others that it can reach? */
static bool census_flushed(const struct dme *d, struct census_view v)
{
    for (dme_id j = 0; j < d->n; j++)
        if (census_reaches(d, v, j) && census_peer(v, j)->flushed < v.census->number)
            return false;
    return true;
}

/* Reports the state of this site to the coordinator, once in a census, when it has all FLUSHes. */
static void census_report(struct dme *d, struct census_view v)
{
    struct census *c = v.census;
    struct dme_ticket report = {.clock = c->number, .site = d->self};
    struct dme_msg *m;

    if (!c->runs || c->reported || !census_flushed(d, v))
        return;
    c->reported = 1;
    report.mode = (census_waits(d, c) ? REPORT_WAITS : 0) | (c->has ? REPORT_HAS : 0);
    m = dme_send(d, census_coordinator(d, v), STATUS);
    for (dme_id j = 0; j < d->n; j++) {
        m->ticket[1 + j].clock = census_peer(v, j)->number;
        report.mode |= census_peer(v, j)->cut ? REPORT_CUT_OFF : 0;
    }
    m->ticket[0] = report;
}

void census_clear(struct dme *d, struct census_view v)
{
    for (dme_id j = 0; j < d->n; j++) {
        struct census_peer *p = census_peer(v, j);

        p->reported = 0;
        p->counted = p->waits = p->has = p->incomplete = 0;
    }
}

/* Joins the census of this number, which is new. */
static void census_begin(struct dme *d, struct census_view v, uint64_t number)
{
    if (v.consult)
        return; /* no site looks for the token until a site has waited too long */
    v.census->number = number;
    v.census->runs = 1;
    v.census->reported = 0;
    census_clear(d, v);
    for (dme_id j = 0; j < d->n; j++)
        if (census_reaches(d, v, j))
            dme_send_ticket(d, j, FLUSH, (struct dme_ticket){.clock = number, .site = d->self});
    census_report(d, v);
}

static bool census_complete(const struct dme *d, struct census_view v)
{
    for (dme_id j = 0; j < d->n; j++)
        if ((j == d->self || census_reaches(d, v, j)) && !census_peer(v, j)->counted)
            return false;
    return true;
}

/* The site that has the token, by the reports; this site, if the token is lost; or DME_NONE, if that cannot be
 * known. */
static dme_id census_holder(const struct dme *d, struct census_view v)
{
    dme_id holder = d->self;

    for (dme_id j = 0; j < d->n; j++)
        if (census_peer(v, j)->incomplete)
            holder = DME_NONE;
    for (dme_id j = 0; j < d->n; j++)
        if (census_peer(v, j)->has)
            holder = j;
    return holder;
}

static void census_count(struct dme *d, struct census_view v, const struct dme_msg *m)
{
    struct census_peer *p = census_peer(v, m->from);
    uint32_t how = m->ticket[0].mode;

    p->counted = 1;
    p->waits = (how & REPORT_WAITS) != 0;
    p->has = (how & REPORT_HAS) != 0;
    p->incomplete = (how & REPORT_CUT_OFF) != 0;
    for (dme_id j = 0; j < d->n; j++)
        if (j == m->from || (j != d->self && !census_reaches(d, v, j)))
            census_peer(v, j)->reported = dme_max(census_peer(v, j)->reported, m->ticket[1 + j].clock);
}

static void census_status(struct dme *d, struct census_view v, const struct dme_msg *m)
{
    dme_id holder;

    if (!v.census->runs || m->ticket[0].clock != v.census->number)
        return; /* of an earlier one */
    census_count(d, v, m);
    if (!census_complete(d, v))
        return;
    holder = census_holder(d, v);
    for (dme_id j = 0; j < d->n; j++)
        if (j == d->self || census_reaches(d, v, j))
            dme_send_ticket(d, j, VERDICT, (struct dme_ticket){.clock = v.census->number, .site = holder});
    if (holder == d->self && !v.census->has)
        v.user->make(d, v.census);
}

static void census_verdict(struct dme *d, struct census_view v, struct dme_ticket verdict)
{
    DME_EXPECT(d, verdict.site < d->n || verdict.site == DME_NONE);
    if (!v.census->runs || verdict.clock != v.census->number)
        return;
    v.census->runs = v.census->reported = 0;
    census_clear(d, v);
    v.user->go_on(d, v.census, verdict.site);
}

/* ----------------------------------------------------------------------------------------------------------- recovery */

static void census_recover_if_answered(struct dme *d, struct census_view v)
{
    struct census *c = v.census;

    for (dme_id j = 0; j < d->n; j++)
        if (census_peer(v, j)->missing)
            return;
    if (!c->recovering)
        return;
    c->recovering = 0;
    if (dme_waiting(d))
        v.user->ask(d, c);
    census_begin(d, v, dme_max(c->number, c->answered) + 1);
    c->answered = 0;
}

static void census_ask_for_number(struct dme *d, dme_id j)
{
    dme_send(d, j, RECOVERING)->ticket[0].mode = d->node->incarnation;
}

void census_recover_again(struct dme *d, struct census_view v)
{
    for (dme_id j = 0; j < d->n; j++)
        if (census_peer(v, j)->missing)
            census_ask_for_number(d, j);
}

void census_restart(struct dme *d, struct census_view v)
{
    *v.census = (struct census){.recovering = 1};
    for (dme_id j = 0; j < d->n; j++) {
        struct census_peer *p = census_peer(v, j);

        *p = (struct census_peer){.number = j == d->self ? p->number : 0, .missing = j != d->self};
        if (j != d->self)
            census_ask_for_number(d, j);
    }
    census_recover_if_answered(d, v);
}

/* Site `f` has restarted. The token may know more of its requests than this site does. A census that runs was begun
 * without `f`, and is begun again. */
static void census_returns(struct dme *d, struct census_view v, dme_id f, uint32_t incarnation)
{
    struct dme_msg *m = dme_send(d, f, RECOVERED);
    struct census_peer *p = census_peer(v, f);

    m->ticket[0].clock = dme_max(p->number, p->served);
    m->ticket[0].mode = incarnation;
    m->ticket[1].clock = v.census->number;
    p->down = p->cut = 0;
    if (v.census->runs)
        census_begin(d, v, v.census->number + 1);
}

static void census_answered(struct dme *d, struct census_view v, const struct dme_msg *m)
{
    struct census_peer *me = census_peer(v, d->self), *p = census_peer(v, m->from);

    if (!p->missing || m->ticket[0].mode != d->node->incarnation)
        return;
    me->number = dme_max(me->number, m->ticket[0].clock);
    v.census->answered = dme_max(v.census->answered, m->ticket[1].clock);
    p->missing = 0;
    census_recover_if_answered(d, v);
}

void census_news(struct dme *d, struct census_view v, enum dme_news what, dme_id of)
{
    struct census_peer *p = census_peer(v, of);

    p->beyond = !v.consult && (what == DME_HEALED || (p->beyond && what != DME_DOWN));
    p->down = what == DME_DOWN;
    p->cut = what == DME_CUT;
    if (what == DME_HEALED && p->missing)
        census_ask_for_number(d, of);
    if (what == DME_DOWN)
        p->missing = 0;
    if (v.census->recovering)
        census_recover_if_answered(d, v);
    else
        census_begin(d, v, v.census->number + 1);
}

/* ----------------------------------------------------------------------------------------------------------- messages */

bool census_receive(struct dme *d, struct census_view v, const struct dme_msg *m)
{
    struct census_peer *p = census_peer(v, m->from);

    if (p->missing && m->kind != RECOVERING && m->kind != RECOVERED)
        return true; /* sent to the earlier incarnation, before its end was known */
    switch (m->kind) {
    case FLUSH:
        p->flushed = dme_max(p->flushed, m->ticket[0].clock);
        if (m->ticket[0].clock > v.census->number)
            census_begin(d, v, m->ticket[0].clock);
        else
            census_report(d, v);
        return true;
    case STATUS:
        census_status(d, v, m);
        return true;
    case VERDICT:
        census_verdict(d, v, m->ticket[0]);
        return true;
    case RECOVERING:
        census_returns(d, v, m->from, m->ticket[0].mode);
        return true;
    case RECOVERED:
        census_answered(d, v, m);
        return true;
    default:
        return false;
    }
}

uint32_t census_tokens(const struct dme_moment *now, size_t peers, size_t stride)
{
    uint32_t tokens = 0;

    for (dme_id i = 0; i < now->conf->n; i++) {
        struct census *c = dme_state(now->node[i]);
        struct census_view v = {.census = c, .first = (struct census_peer *)((char *)c + peers), .stride = stride};

        if (now->node[i]->down)
            continue;
        tokens += c->has;
        for (dme_id j = 0; j < now->conf->n; j++)
            if (!census_peer(v, j)->missing)
                tokens += dme_in_flight(now, TOKEN, j, i);
    }
    return tokens;
}

void census_show(const struct dme *d, struct census_view v, struct dme_text *text)
{
    if (v.census->recovering)
        dme_print(text, "recovering ");
    if (v.census->runs)
        dme_print(text, "census=%llu ", (unsigned long long)v.census->number);
    dme_print_numbers(text, "numbers", &v.first->number, v.stride, d->n);
    dme_print_set(text, " down", &v.first->down, v.stride, d->n);
    dme_print_set(text, " cut", &v.first->cut, v.stride, d->n);
}
