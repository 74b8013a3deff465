/* next.c - see next.h. */
#include "next.h"

#include <assert.h>
#include <string.h>

bool next_all_report(const struct plan_in *look, const struct plan *plan)
{
    for (uint32_t k = 0; k < look->view->count; k++)
        if (plan->stay & plan_bit(k) && !look->said[k])
            return false;
    return true;
}

bool next_keeps_majority(const struct view *v, uint32_t place)
{
    uint32_t counted = 0, part = 0;

    for (uint32_t k = 0; k < v->count; k++)
        if (k != place && view_counts(v, k)) {
            counted++;
            part += v->member[k].incarnation != 0;
        }
    return !view_counts(v, place) || 2 * part > counted;
}

bool next_is_awaited(const struct view *v, uint32_t place)
{
    return place != VIEW_MEMBERS_MAX && v->member[place].standing == VIEW_ADDED && !v->member[place].incarnation;
}

void next_let_in(const struct plan *plan, const uint64_t *incarnation, const uint64_t *disk, struct view *next)
{
    for (uint32_t k = 0; k < next->count; k++) {
        struct view_member *m = &next->member[k];

        if (plan->leave & plan_bit(k))
            m->incarnation = 0;
        if (plan->come & plan_bit(k)) {
            assert(incarnation[k] && incarnation[k] != m->incarnation);
            m->incarnation = incarnation[k];
            m->since = next->number;
            m->disk = disk[k];
        }
    }
}

bool next_grant_wish(const struct next_wish *wish, struct view *next)
{
    uint32_t k = view_find_name(next, wish->name, strlen(wish->name));

    if (wish->add)
        return !view_add(next, wish->name, wish->address, VIEW_ADDED);
    if (k == VIEW_MEMBERS_MAX || next->member[k].standing != VIEW_MEMBER || view_staying(next) <= 1 ||
        (!wish->force && !next_keeps_majority(next, k)))
        return false;
    next->member[k].standing = VIEW_REMOVED;
    return true;
}

bool next_change_roster(const struct next_in *in, struct view *next)
{
    if (!next_all_report(in->look, in->plan))
        return false;
    for (uint32_t k = 0; k < next->count; k++) {
        struct view_member *m = &next->member[k];

        if (m->standing == VIEW_REMOVED && !m->incarnation && in->forgotten & plan_bit(k)) {
            view_remove(next, k);
            return true;
        }
        if (m->standing == VIEW_ADDED && in->old_leases_over && in->caught_up & plan_bit(k)) {
            m->standing = VIEW_MEMBER;
            return true;
        }
    }
    for (uint32_t k = 0; k < next->count; k++)
        if (in->taken_back & plan_bit(k) && next_is_awaited(next, k)) {
            next->member[k].standing = VIEW_REMOVED;
            return true;
        }
    if (view_staying(next) < next->count || !in->old_leases_over) /* one after the other */
        return false;
    return in->wish && next_grant_wish(in->wish, next);
}
