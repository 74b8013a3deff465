/* consult.c - see consult.h. */
#include "consult.h"

enum { NOBODY, FIRST, PAUSE /* until what was on its way is there */, SECOND };
enum { ANSWER_WAITS = 1, ANSWER_HAS = 2, ANSWER_CUT_OFF = 4 };

static bool consult_cut_off(const struct dme *d, struct census_view v)
{
    for (dme_id j = 0; j < d->n; j++)
        if (census_peer(v, j)->cut)
            return true;
    return false;
}

static struct dme_ticket consult_name(const struct dme *d, struct census_view v)
{
    return (struct dme_ticket){.clock = v.consult->round, .mode = v.consult->tag, .site = d->self};
}

/* Asks the sites that have not answered in this round. */
static void consult_ask(struct dme *d, struct census_view v)
{
    for (dme_id j = 0; j < d->n; j++)
        if (census_reaches(d, v, j) && !census_peer(v, j)->counted)
            dme_send_ticket(d, j, CONSULT, consult_name(d, v));
    dme_start(d, TIMER_ROUND, 2);
}

void consult_give_up(struct dme *d, struct census_view v)
{
    if (!v.consult->round)
        return;
    v.consult->round = NOBODY;
    v.consult->tag = (uint8_t)((v.consult->tag + 1) % 4);
    census_clear(d, v);
    dme_stop(d, TIMER_ROUND);
}

/* The consultation is over: the holder is known, or the token is lost and this site makes a new one, or neither can be
 * known (DME_NONE). */
static void consult_end(struct dme *d, struct census_view v, dme_id holder, bool lost)
{
    struct census_peer *me = census_peer(v, d->self);

    dme_stop(d, TIMER_ROUND);
    for (dme_id j = 0; j < d->n; j++)
        if (census_reaches(d, v, j))
            dme_send_ticket(d, j, RESUME, (struct dme_ticket){.site = holder});
    me->reported = me->number;
    me->waits = census_waits(d, v.census);
    if (lost)
        v.user->make(d, v.census);
    census_clear(d, v);
    v.consult->round = NOBODY;
    v.consult->by = 0;
    v.census->runs = 0;
    v.user->go_on(d, v.census, holder);
}

static dme_id consult_holder(const struct dme *d, struct census_view v)
{
    for (dme_id j = 0; j < d->n; j++)
        if (j == d->self ? v.census->has : census_reaches(d, v, j) && census_peer(v, j)->has)
            return j;
    return DME_NONE;
}

static bool consult_incomplete(const struct dme *d, struct census_view v)
{
    for (dme_id j = 0; j < d->n; j++)
        if (census_peer(v, j)->incomplete)
            return true;
    return consult_cut_off(d, v);
}

/* Have all answered? */
static void consult_test(struct dme *d, struct census_view v)
{
    dme_id holder = consult_holder(d, v);

    if (v.consult->round != FIRST && v.consult->round != SECOND)
        return;
    for (dme_id j = 0; j < d->n; j++)
        if (census_reaches(d, v, j) && !census_peer(v, j)->counted)
            return;
    if (holder != DME_NONE || consult_incomplete(d, v)) {
        consult_end(d, v, holder, false);
    } else if (v.consult->round == SECOND || dme_mistake(d, CONSULTS_ONCE)) {
        consult_end(d, v, d->self, true);
    } else {
        v.consult->round = PAUSE;
        dme_start(d, TIMER_ROUND, 1);
    }
}

static void consult_begin(struct dme *d, struct census_view v, uint8_t round)
{
    census_clear(d, v);
    v.consult->round = round;
    v.consult->by = d->self;
    v.census->runs = !dme_mistake(d, CONSULTS_ONCE);
    consult_ask(d, v);
    consult_test(d, v);
}

void consult_without(struct dme *d, struct census_view v)
{
    consult_test(d, v);
}

/* ------------------------------------------------------------------------------------------------------- time-outs */

void consult_start(struct dme *d, uint32_t patience)
{
    dme_start(d, TIMER_LATE, patience);
}

void consult_timer(struct dme *d, struct census_view v, unsigned timer, uint32_t patience)
{
    if (timer == TIMER_ROUND) {
        if (v.consult->round == PAUSE)
            consult_begin(d, v, SECOND);
        else
            consult_ask(d, v); /* a question or an answer was lost */
        return;
    }
    if (!v.census->recovering && !census_waits(d, v.census))
        return; /* it has recovered, and asks for nothing */
    consult_start(d, patience);
    if (v.census->recovering)
        census_recover_again(d, v);
    else
        dme_send(d, census_coordinator(d, v), LATE);
}

/* -------------------------------------------------------------------------------------------------------- messages */

static void consult_late(struct dme *d, struct census_view v)
{
    if (v.census->recovering || v.consult->round || census_coordinator(d, v) != d->self)
        return; /* another site will do it, or is asked when the sender is late again */
    if (dme_mistake(d, DECLARES_AT_ONCE))
        consult_end(d, v, d->self, !v.census->has);
    else
        consult_begin(d, v, FIRST);
}

static void consult_asked(struct dme *d, struct census_view v, const struct dme_msg *m)
{
    struct dme_msg *answer;

    if (v.consult->round && m->from > d->self)
        return; /* it does not know yet that this site is back; it will hear */
    consult_give_up(d, v);
    answer = dme_send(d, m->from, ANSWER);
    answer->ticket[0] = m->ticket[0];
    answer->ticket[1] = dme_claim(d, census_peer(v, d->self)->number);
    answer->ticket[1].mode = (census_waits(d, v.census) ? ANSWER_WAITS : 0) | (v.census->has ? ANSWER_HAS : 0) |
                             (consult_cut_off(d, v) ? ANSWER_CUT_OFF : 0);
    v.census->runs = !dme_mistake(d, CONSULTS_ONCE);
    v.consult->by = m->from;
}

static void consult_answered(struct dme *d, struct census_view v, const struct dme_msg *m)
{
    struct census_peer *p = census_peer(v, m->from);
    uint32_t how = m->ticket[1].mode;

    if (m->ticket[0].clock != v.consult->round || m->ticket[0].mode != v.consult->tag)
        return; /* of a consultation that was given up */
    p->counted = 1;
    p->reported = m->ticket[1].clock;
    p->waits = (how & ANSWER_WAITS) != 0;
    p->has = (how & ANSWER_HAS) != 0;
    p->incomplete = (how & ANSWER_CUT_OFF) != 0;
    consult_test(d, v);
}

static void consult_resume(struct dme *d, struct census_view v, const struct dme_msg *m)
{
    DME_EXPECT(d, m->ticket[0].site < d->n || m->ticket[0].site == DME_NONE);
    if (!v.census->runs || v.consult->by != m->from)
        return; /* another coordinator keeps the token where it is */
    v.consult->by = 0;
    v.census->runs = 0;
    v.user->go_on(d, v.census, m->ticket[0].site);
}

bool consult_receive(struct dme *d, struct census_view v, const struct dme_msg *m)
{
    switch (m->kind) {
    case LATE:
        consult_late(d, v);
        return true;
    case CONSULT:
        consult_asked(d, v, m);
        return true;
    case ANSWER:
        consult_answered(d, v, m);
        return true;
    case RESUME:
        consult_resume(d, v, m);
        return true;
    default:
        return false;
    }
}
