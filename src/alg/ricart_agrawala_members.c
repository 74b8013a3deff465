/* ricart_agrawala_members.c - ricart-agrawala-robust: sites that join and leave. See ricart_agrawala_robust.c for the
 * idea. */
#include "ricart_agrawala_robust.h"

/* ------------------------------------------------------------------------------------------------------- the sponsor */

dme_id rr_next_sponsee(const struct dme *d, const struct rr *s)
{
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].sponsee)
            return j;
    return DME_NONE;
}

void rr_admit(struct dme *d, struct rr *s)
{
    s->sponsee = rr_next_sponsee(d, s);
    if (s->sponsee == DME_NONE) { /* it has failed meanwhile */
        s->sponsee = 0;
        rr_finish(d, s);
        return;
    }
    s->best = s->highest;
    rr_put_all(d, s);
    for (dme_id j = 0; j < d->n && dme_mistake(d, JOINS_UNACKNOWLEDGED); j++)
        s->peer[j].missing = 0;
    rr_test(d, s);
}

/* To a newcomer: the names of all members, this one included. */
void rr_send_list(struct dme *d, struct rr *s, dme_id to, uint64_t highest)
{
    struct dme_msg *m = rr_send(d, s, to, INIT, dme_option(d, OPTION_HIGHEST) ? 0 : highest);

    for (dme_id j = 0; j < d->n; j++)
        if ((s->peer[j].member || j == d->self) && j != to)
            m->ticket[2 + j] = rr_name(s, j, 0);
}

/* All members know the new name. */
void rr_admitted(struct dme *d, struct rr *s)
{
    dme_id y = s->sponsee;

    if (s->peer[y].sponsee) {
        rr_send_list(d, s, y, dme_max(s->best, s->highest));
        s->peer[y].sponsee = s->peer[y].removed = 0;
        s->peer[y].member = 1;
    }
    s->best = 0;
    s->sponsee = 0;
    rr_finish(d, s);
}

/* A site that asks all members to include it learns a new name: the named site has to include it, too. */
static void rr_await(struct dme *d, struct rr *s, dme_id j)
{
    if (s->role == INCLUDING && !dme_mistake(d, INCLUDED_UNACKNOWLEDGED)) {
        s->peer[j].missing = 1;
        rr_put(d, s, j, false);
    }
}

void rr_named(struct dme *d, struct rr *s, dme_id from, struct dme_ticket name)
{
    if (name.site != d->self && rr_is_present(s, name) && !s->peer[name.site].member) {
        s->peer[name.site].member = 1;
        s->peer[name.site].removed = 0;
        if (s->role == LEAVING) { /* the sponsor's list has this site, and the newcomer has to hear that it is going */
            s->peer[name.site].missing = 1;
            rr_put(d, s, name.site, false);
        }
        rr_await(d, s, name.site);
    }
    if (from == name.site) {
        rr_send_list(d, s, from, s->highest);
        return;
    }
    name.clock = s->highest;
    rr_send_about(d, s, from, NEW_ACK, name);
}

/* ------------------------------------------------------------------------------------------------------ the newcomer */

void rr_join(struct dme *d, struct rr *s)
{
    s->role = JOINING;
    if (d->n == 1) {
        s->role = IN;
        rr_kick(d, s);
        return;
    }
    do
        s->sponsor = dme_after(d, s->sponsor);
    while (s->sponsor == d->self);
    rr_send(d, s, s->sponsor, JOIN, 0);
    dme_start(d, TIMER_OUT, (uint32_t)dme_option(d, OPTION_PATIENCE));
}

void rr_in(struct dme *d, struct rr *s)
{
    s->role = IN;
    s->best = 0;
    for (dme_id j = 0; j < d->n; j++)
        s->peer[j].heard = 0;
    rr_done(d);
    dme_stop(d, TIMER_OUT);
    rr_kick(d, s);
}

static uint32_t rr_group(const struct dme *d, const struct rr *s)
{
    uint32_t count = 1;

    for (dme_id j = 0; j < d->n; j++)
        count += s->peer[j].member;
    return count;
}

/* The paper's five ways to the highest number. All but the first rest on what the newcomer hears as a member. */
void rr_sync(struct dme *d, struct rr *s)
{
    uint64_t bounds = (rr_group(d, s) - 1) * (dme_option(d, OPTION_HOLD) + 1) + 3;

    s->role = SYNC;
    if (dme_option(d, OPTION_HIGHEST) == ACKNOWLEDGED)
        rr_in(d, s);
    else if (dme_option(d, OPTION_HIGHEST) == ASKED)
        rr_put_all(d, s);
    else if (dme_option(d, OPTION_HIGHEST) == WAITED)
        dme_start(d, TIMER_OUT, (uint32_t)bounds);
    else
        dme_start(d, TIMER_OUT, (uint32_t)dme_option(d, OPTION_PATIENCE));
}

static void rr_learn_names(struct dme *d, struct rr *s, const struct dme_msg *m)
{
    for (dme_id j = 0; j < d->n; j++) {
        struct dme_ticket name = m->ticket[2 + j];

        DME_EXPECT(d, name.site == j || name.site == DME_NONE);
        if (name.site == j && j != d->self && rr_is_present(s, name) && !s->peer[j].removed && !s->peer[j].member) {
            s->peer[j].member = 1;
            rr_await(d, s, j);
        }
    }
    s->highest = dme_max(s->highest, m->ticket[0].clock);
}

void rr_initiated(struct dme *d, struct rr *s, const struct dme_msg *m)
{
    rr_learn_names(d, s, m);
    dme_stop(d, TIMER_OUT);
    if (dme_option(d, OPTION_JOIN) == BY_SPONSOR) {
        rr_sync(d, s);
        return;
    }
    /* The other way of section 7.2.2: it has a list, and asks all, also those that are not on it, to include it. */
    s->role = INCLUDING;
    for (dme_id j = 0; j < d->n; j++)
        if (j != d->self) {
            s->peer[j].missing = s->peer[j].member && !dme_mistake(d, INCLUDED_UNACKNOWLEDGED);
            s->peer[j].probed = 0;
            rr_put(d, s, j, false);
        }
    dme_start(d, TIMER_LATE, 2 + (uint32_t)dme_option(d, OPTION_HOLD));
    rr_test(d, s);
}

/* A site that was asked to include this one has done so, and tells which names it knows. */
void rr_include(struct dme *d, struct rr *s, const struct dme_msg *m)
{
    rr_learn_names(d, s, m);
    if (s->role == INCLUDING) {
        s->peer[m->from].missing = s->peer[m->from].probed = 0;
        rr_test(d, s);
    }
}

bool rr_heard_enough(const struct dme *d, const struct rr *s)
{
    bool all = true, four = false;

    for (dme_id j = 0; j < d->n; j++) {
        all &= !s->peer[j].member || s->peer[j].heard;
        four |= s->peer[j].heard == 4;
    }
    switch (dme_option(d, OPTION_HIGHEST)) {
    case HEARD_ALL:
        return all;
    case HEARD_SPAN:
        return s->best && s->highest - s->best >= rr_group(d, s) - 1;
    case HEARD_FOUR:
        return four;
    default:
        return false;
    }
}

/* A newcomer without the highest number hears a request. */
void rr_listen(struct dme *d, struct rr *s, dme_id j, uint64_t number)
{
    if (s->peer[j].heard < 4)
        s->peer[j].heard++;
    s->best = s->best ? s->best : number;
    if (rr_heard_enough(d, s))
        rr_in(d, s);
}

/* The site has waited long enough. If it has heard nothing, the number of any member will do. */
void rr_waited(struct dme *d, struct rr *s)
{
    for (dme_id j = 0; j < d->n && !s->highest; j++)
        if (s->peer[j].member) {
            s->peer[j].missing = 1;
            rr_put(d, s, j, false);
            dme_start(d, TIMER_LATE, 2);
            return;
        }
    rr_in(d, s);
}

void rr_reset(struct dme *d, struct rr *s)
{
    s->activity = NOTHING;
    s->granted = 0;
    s->own = s->best = 0;
    s->sponsee = 0;
    for (dme_id j = 0; j < d->n; j++) {
        rr_forget(s, j);
        s->peer[j].removed = 0;
    }
}

/* Begins again under a new name. A site that is inside stays inside until it leaves. */
void rr_start_over(struct dme *d, struct rr *s)
{
    s->forgotten = dme_inside(d);
    if (s->forgotten)
        return;
    d->node->incarnation++;
    rr_reset(d, s);
    rr_done(d);
    rr_join(d, s);
}

/* -------------------------------------------------------------------------------------------------------- the leaver */

void rr_leave_group(struct dme *d, struct rr *s)
{
    s->resigns = 0;
    for (dme_id j = 0; j < d->n; j++)
        if (s->peer[j].sponsee) {
            s->peer[j].sponsee = 0;
            rr_send(d, s, j, REFUSE, 0);
        }
    s->role = LEAVING;
    rr_put_all(d, s);
    rr_test(d, s);
}

void rr_left(struct dme *d, struct rr *s)
{
    s->role = GONE;
    rr_reset(d, s);
    if (dme_waiting(d))
        rr_start_over(d, s);
}
