/* next.h - the view that the leader proposes next: its members and its roster, as a function (README.md, protocol 6 to 8).
 *
 * plan.h decides which members leave and come. If no member does, the roster may change: an added member is counted, a member
 * that is marked for removal and no longer takes part is removed from the roster, an addition is taken back, or an operator's wish is
 * granted. The roster changes by one member at a time. Every member that takes part must have reported the present view,
 * and the set of counted members changes only when every lease that was measured by an earlier set has run out
 * (promise.h; I28). node/lease.c calls this, and so does the model that `dibs model leases` searches (src/model). */
#ifndef DIBS_MEMBER_NEXT_H
#define DIBS_MEMBER_NEXT_H

#include "plan.h"

/* What an operator wants to have changed. */
struct next_wish {
    bool add;   /* or remove */
    bool force; /* remove even if the members that take part are no majority without it */
    const char *name, *address;
};

struct next_in {
    const struct plan_in *look;
    const struct plan *plan;
    bool old_leases_over;         /* promise_old_leases_are_over, for the present set of counted members */
    uint64_t caught_up;           /* the members that have all of the replicated log */
    uint64_t forgotten;           /* the members that are no longer servers of the replicated log */
    uint64_t taken_back;          /* added members whose addition is taken back, or has expired */
    const struct next_wish *wish; /* or null */
};

/* Has the leader a heartbeat of the present view from every member that stays? Only then may the roster change. */
bool next_all_report(const struct plan_in *look, const struct plan *plan);
/* Without the member at `place`, would the members that take part be a majority? */
bool next_keeps_majority(const struct view *v, uint32_t place);
/* Has the member at `place` been added and not joined yet? Then its addition can be taken back. */
bool next_is_awaited(const struct view *v, uint32_t place);

/* Changes `next` as the wish says. Returns false if that cannot be done. */
bool next_grant_wish(const struct next_wish *wish, struct view *next);

/* Protocol 6 and 7: removes the incarnations that leave from `next`, and enters those that come. `incarnation` and
 * `disk` are what the leader knows of each member, by place. */
void next_let_in(const struct plan *plan, const uint64_t *incarnation, const uint64_t *disk, struct view *next);
/* Protocol 8: changes the roster of `next`. Returns false if it stays as it is. */
bool next_change_roster(const struct next_in *in, struct view *next);

#endif
