/* plan.h - which members take part in the next view: the leader's decision, as a function of what it knows.
 *
 * The algorithms need every member of a view to reach every other one. Each member reports in its heartbeats which
 * members it hears. Two members are *apart* if the leader knows that one of them does not hear the other. Then one of
 * them has to leave: the one that is apart from more members. Of members with equal numbers, the last one in the roster
 * leaves; the leader leaves only if its number is larger than every other one.
 *
 * Four rules keep the leader from excluding a member whose clients could keep their locks (I27):
 * - The leader takes a member for silent, or for disconnected, only while a majority of the counted members reports in
 *   this view.
 * - A member that any reporting member hears is not silent.
 * - A leader that has just begun to lead, or has just installed the view, does not judge connections yet (`looks`).
 * - Two members that have lost their connection have 3/2 L to restore it (`patient`). But a member that more than half
 *   of the others do not hear leaves without that delay.
 *
 * A decision to exclude a member is final: if any member has been told to drop it, it leaves, even if it is heard
 * again. A member that leaves is excluded from the next view only when its lease has run out, or when it has given up its
 * locks (plan_is_due; I18).
 *
 * Sets are sets of places in the view's roster, one bit each. */
#ifndef DIBS_MEMBER_PLAN_H
#define DIBS_MEMBER_PLAN_H

#include "member.h"

struct plan_in {
    const struct view *view;
    uint32_t self; /* the place of the leader */
    /* The last heartbeat of each member, if the leader hears the member and the heartbeat belongs to this view; else
     * null. The leader's own heartbeat is among them. */
    const struct beat *said[VIEW_MEMBERS_MAX];
    uint64_t drops;     /* the leader has told all members to drop these */
    uint64_t unwilling; /* these shut down and have given up their locks, or are to be removed from the roster */
    uint64_t renewed; /* the leader is connected to a later incarnation of these than the one that takes part, if any */
    uint64_t present; /* the leader is connected to the incarnation of these that takes part */
    bool looks;   /* all members have had time to install this view and to hear each other: connections may be judged */
    bool patient; /* members still have time to restore a lost connection */
};

struct plan {
    uint64_t stay;  /* members that take part and can stay */
    uint64_t leave; /* members that take part and cannot */
    uint64_t come;  /* members that do not take part, and can */
    bool whole;     /* the members that stay hear each other, or the leader does not judge connections yet */
};

static inline uint64_t plan_bit(uint32_t place)
{
    return (uint64_t)1 << place;
}

void plan_make(const struct plan_in *in, struct plan *plan);
/* Have the leases of all members that leave run out, or have those members given up their locks (README.md, protocol
 * 6; I18)? */
bool plan_is_due(const struct plan_in *in, const struct plan *plan);

#endif
