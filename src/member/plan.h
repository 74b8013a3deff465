/* plan.h - which members take part in the next view: the leader's decision, as a function of what it knows.
 *
 * An algorithm needs every member of a view to reach every other one. Each member reports in its heartbeats which members it
 * hears. Where two members do not hear each other, one of them has to leave: the one that more members miss. If as many
 * members miss the one as the other, the later one in the roster leaves, but not the leader.
 *
 * Four rules keep the leader from excluding a member in haste. The leader judges only while a majority of the counted members
 * speaks in this view. A member that any other member hears is not silent. A leader that has just begun to lead, or has
 * just installed the view, does not judge connections yet. A connection that some members miss has some time to be made
 * again (`patient`); a member that most others miss leaves without that delay.
 *
 * A decision to exclude a member stays: a member that any member has been told to drop leaves, whatever is heard of it
 * later. A member that leaves is excluded from the next view only when its lease has run out (plan_is_due).
 *
 * Sets are sets of places in the view's roster, one bit each. */
#ifndef DIBS_MEMBER_PLAN_H
#define DIBS_MEMBER_PLAN_H

#include "member.h"

struct plan_in {
    const struct view *view;
    uint32_t self; /* the place of the leader */
    /* What each member has said last, if it is heard and has said it in this view; else null. The leader's own heartbeat is
     * among them. */
    const struct beat *said[VIEW_MEMBERS_MAX];
    uint64_t drops;     /* the leader has told all to drop these members */
    uint64_t unwilling; /* these members want to leave */
    uint64_t renewed;   /* at these places a later incarnation is heard than the one that takes part, if any does */
    uint64_t present;   /* at these places the incarnation is heard that takes part */
    bool looks;         /* by now all members should have installed this view and have heard each other */
    bool patient;       /* a lost connection may still be made again */
};

struct plan {
    uint64_t stay;  /* members that take part and can stay */
    uint64_t leave; /* members that take part and cannot */
    uint64_t come;  /* members that do not take part, and can */
    bool whole;     /* the members that stay hear each other; or the leader does not look yet */
};

static inline uint64_t plan_bit(uint32_t place)
{
    return (uint64_t)1 << place;
}

void plan_make(const struct plan_in *in, struct plan *plan);
/* Have the leases of all members that leave run out, or have those members given up their locks? */
bool plan_is_due(const struct plan_in *in, const struct plan *plan);

#endif
