/* plan.c - see plan.h. */
#include "plan.h"

#include <assert.h>

static bool plan_hears(const struct plan_in *in, uint32_t i, uint32_t k)
{
    return in->said[i] && in->said[i]->hears & plan_bit(k);
}

/* A leader that was stopped or cut off must not take the others for silent: it decides only while a majority
 * reports. */
static bool plan_judges(const struct plan_in *in)
{
    uint32_t speak = 0;

    for (uint32_t k = 0; k < in->view->count; k++)
        speak += in->said[k] && view_counts(in->view, k);
    return speak >= view_majority(in->view);
}

/* Does none of the reporting members hear the member at place `k`? */
static bool plan_is_silent(const struct plan_in *in, uint32_t k)
{
    for (uint32_t i = 0; i < in->view->count; i++)
        if (i != k && plan_hears(in, i, k))
            return false;
    return k != in->self;
}

static bool plan_connected(const struct plan_in *in, uint32_t i, uint32_t k)
{
    return i == k || (plan_hears(in, i, k) && plan_hears(in, k, i));
}

/* Does the leader know that one of the two members does not hear the other? The leader knows its own connections. Of
 * two other members it knows only what they report. */
static bool plan_apart(const struct plan_in *in, uint32_t i, uint32_t k)
{
    if (i == in->self || k == in->self)
        return !plan_connected(in, i, k);
    return (in->said[i] && !plan_hears(in, i, k)) || (in->said[k] && !plan_hears(in, k, i));
}

/* The number of members, among those that stay and the leader, that are known not to be connected to the member at
 * place `k`. */
static uint32_t plan_missed_by(const struct plan_in *in, uint64_t stay, uint32_t k)
{
    uint32_t missed = 0;

    for (uint32_t i = 0; i < in->view->count; i++)
        missed += (i == in->self || stay & plan_bit(i)) && plan_apart(in, i, k);
    return missed;
}

/* Returns the place of the member that is apart from most others, and their number in `*most`; VIEW_MEMBERS_MAX if no
 * two members are apart. Of equal members, the last one but the leader. */
static uint32_t plan_most_missed(const struct plan_in *in, uint64_t stay, uint32_t *most)
{
    uint32_t worst = VIEW_MEMBERS_MAX;

    *most = 0;
    for (uint32_t k = 0; k < in->view->count; k++) {
        uint32_t missed = stay & plan_bit(k) ? plan_missed_by(in, stay, k) : 0;

        if (missed && (missed > *most || (missed == *most && (worst == in->self || k != in->self)))) {
            worst = k;
            *most = missed;
        }
    }
    return worst;
}

/* Removes members from those that stay until no two of these are apart; or, while members have time to restore a lost
 * connection (`patient`), until none is apart from more than half of the others. */
static void plan_part(const struct plan_in *in, struct plan *plan)
{
    uint32_t worst, most, others = 0;

    for (uint32_t k = 0; k < in->view->count; k++)
        others += k != in->self && plan->stay & plan_bit(k);
    worst = plan_most_missed(in, plan->stay, &most);
    plan->whole = worst == VIEW_MEMBERS_MAX;
    for (; worst != VIEW_MEMBERS_MAX && (2 * most > others || !in->patient);
         worst = plan_most_missed(in, plan->stay, &most)) {
        plan->stay &= ~plan_bit(worst);
        plan->leave |= plan_bit(worst);
    }
}

void plan_make(const struct plan_in *in, struct plan *plan)
{
    bool judges = plan_judges(in);
    uint64_t dropped = in->drops;

    assert(in->self < in->view->count && in->view->count <= VIEW_MEMBERS_MAX);
    *plan = (struct plan){.whole = true};
    for (uint32_t k = 0; k < in->view->count; k++)
        dropped |= in->said[k] ? in->said[k]->dropped : 0;
    for (uint32_t k = 0; k < in->view->count; k++) {
        bool unwilling = in->unwilling & plan_bit(k), renewed = in->renewed & plan_bit(k);

        if (in->view->member[k].incarnation &&
            (unwilling || renewed || dropped & plan_bit(k) || (judges && plan_is_silent(in, k))))
            plan->leave |= plan_bit(k);
        else if (in->view->member[k].incarnation)
            plan->stay |= plan_bit(k);
        /* If an earlier incarnation of the member takes part, the present one may replace it in the same view. */
        if (!unwilling && renewed && in->said[k])
            plan->come |= plan_bit(k);
    }
    if (judges && in->looks)
        plan_part(in, plan);
    for (uint32_t k = 0; k < in->view->count; k++)
        for (uint32_t i = 0; i < in->view->count; i++)
            if (plan->come & plan_bit(k) && (plan->stay | plan->come) & plan_bit(i) && !plan_connected(in, i, k))
                plan->come &= ~plan_bit(k);
    assert(!(plan->stay & (plan->leave | plan->come)));
}

/* Does the member at place `k` report that its clients believe in no lock any more? */
static bool plan_has_given_up(const struct plan_in *in, uint32_t k)
{
    const struct beat *said = in->present & plan_bit(k) ? in->said[k] : NULL;

    return said && (said->leaves || said->owes_nothing & plan_bit(k));
}

/* Does a majority of the counted members report that its promises to the member at place `k` have run out (I18)? */
static bool plan_majority_owes_nothing(const struct plan_in *in, uint32_t k)
{
    uint32_t reports = 0;

    for (uint32_t i = 0; i < in->view->count; i++)
        reports += view_counts(in->view, i) && in->said[i] && in->said[i]->owes_nothing & plan_bit(k);
    return reports >= view_majority(in->view);
}

bool plan_is_due(const struct plan_in *in, const struct plan *plan)
{
    for (uint32_t k = 0; k < in->view->count; k++)
        if (plan->leave & plan_bit(k) && !plan_has_given_up(in, k) && !plan_majority_owes_nothing(in, k))
            return false;
    return true;
}
