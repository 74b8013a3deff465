/* owner.h - which member owns a kept session, and what other members know of that: functions without state (the rules of
 * kept sessions in src/node/README.md; I33).
 *
 * A member has records of what the kept sessions of other members hold. When a view begins, it reports some of them, and
 * at the barrier all members choose new owners. These functions say which letters are heard, which reports are heeded, and
 * which owner is chosen. The daemon calls them (node/keep.c, keep_views.c, keep_letters.c), and so does the model of kept sessions that
 * `dibs model sessions` searches (src/model). Views are told by their numbers; 0 is before all of them. */
#ifndef DIBS_MEMBER_OWNER_H
#define DIBS_MEMBER_OWNER_H

#include "view.h"

/* Rule 4: the id of the member that takes an ownerless session over. All members that know the view choose the same one.
 * `session` is a part of the session's id. */
uint64_t owner_choose(const struct view *v, uint64_t session);

/* Rule 4: may a letter about kept sessions be heard now, or must it wait? `tells`: this member has not sent its MARK.
 * `passed`: it has passed the barrier of the view. `marked`: the sender's MARK has come. */
bool owner_hears(bool tells, bool passed, bool marked);

/* Rules 1 and 2: the number up to which all others know this owner's letters, of which it has made `made`. */
uint64_t owner_known(uint64_t made, const uint64_t *acked, uint32_t others);

/* Rule 9: is this member uncertain of the owner? It is if the owner was chosen or reported in view `unsure_in`, and this
 * member has opened neither that view nor a later one. */
bool owner_is_unsure(uint64_t unsure_in, uint64_t opened);

/* A report of a record. `ownerless`: the owner that it names does not take part. `chosen`: the view in which that owner was
 * chosen. */
struct owner_report {
    bool ownerless;
    uint64_t chosen;
};
/* What the receiver knows of the session. */
struct owner_known {
    bool known;      /* it knows an owner */
    bool own;        /* it is the owner */
    bool leaves;     /* it is the owner, and the session is to move */
    uint64_t chosen; /* the view in which the owner that it knows was chosen */
    uint64_t passed; /* the last view whose barrier this member has passed */
};
/* Rule 9: a member that has passed the barrier of the view in which the owner was chosen ignores the report; and so does an owner
 * whose session is not to move. */
bool owner_heeds(const struct owner_report *r, const struct owner_known *k);
/* Does the report name an owner that was chosen later than the one that the receiver knows? */
bool owner_is_newer(const struct owner_report *r, const struct owner_known *k);
/* Rule 9, at the barrier. The record is known by a report that named view `reported`. `ownerless`: its owner does not take part.
 * `chosen`: the view in which its owner was chosen. `owner_opened`: the last view that the owner, another member, has opened. */
bool owner_is_outdated(uint64_t reported, bool ownerless, uint64_t chosen, uint64_t owner_opened);

/* Rules 2, 4 and 11, at the barrier. A record names another claim, behind which its own was granted or of which it is the upgrade. `own`: this member has that
 * claim. `recorded`, `outdated`: it has a record of that claim, which is outdated. Is the record forgotten? Which member owns its
 * session makes no difference: a member that has not passed a barrier at which others forgot the record reports it again. */
bool owner_forgets_follower(bool own, bool recorded, bool outdated);

/* Rules 9 and 11: does a report change what this member's record of the same lock and fence says? `reported`: the record is known by reports
 * only. `named`: the view that the report names, 0 if its owner does not take part. `ownerless`: the owner of the record does not take part.
 * `passed`: the last barrier that this member has passed since it takes part, or 0. If it has passed one, it took part in the named view, too, and
 * did not pass its barrier: that view has not opened, and the owner has told nothing since it was chosen. Otherwise this member has come later, and
 * has the record from the owner, which has told of it later than what is reported. */
bool owner_amends(bool reported, uint64_t named, bool ownerless, uint64_t passed);

/* Rule 4, at the barrier: does the session get another owner? `moves`: its owner takes part, and it is to move to a member that
 * takes part. `own` and `leaves`: see struct owner_known. */
bool owner_changes(bool ownerless, bool moves, bool own, bool leaves);

#endif
