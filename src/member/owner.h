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

/* Rule 4: may this member process a letter about kept sessions now, or must the letter wait?
 *
 *   this member                          the sender's MARK     the letter
 *   has not sent its MARK (`tells`)      -                     waits: a member reports what it knew when the view began
 *   has sent its MARK                    has not come          is processed
 *   has sent its MARK                    has come (`marked`)   waits: it may be about an owner that is not known here yet
 *   has passed the barrier (`passed`)    -                     is processed */
bool owner_hears(bool tells, bool passed, bool marked);

/* Rules 1 and 2: the number up to which all other members have acknowledged this owner's letters. `made` is the number of
 * its last letter, `acked[k]` that of the last one that the k-th other member has acknowledged. */
uint64_t owner_acked(uint64_t made, const uint64_t *acked, uint32_t others);

/* Rule 9: is this member uncertain whether all members know the owner? It is if the owner was chosen or reported in view
 * `unsure_in`, and this member has opened neither that view nor a later one. */
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
    bool leaves;     /* it is the owner, the session is to move, and held locks when the owner sent MARK */
    uint64_t chosen; /* the view in which the owner that it knows was chosen */
    uint64_t passed; /* the last view whose barrier this member has passed */
};
/* Rule 9: does the receiver heed the report, when it arrives?
 *
 *   the receiver                                    the owner in the report       heeded
 *   owns the session, which is not to move          -                             no: no member knows more of it
 *   any other                                       is lost (`ownerless`)         yes: rule 4
 *   any other, with passed >= the report's chosen   takes part                    no: it knows this owner, or a later one
 *   any other, with passed < the report's chosen    takes part                    yes, until owner_is_outdated */
bool owner_heeds(const struct owner_report *r, const struct owner_known *k);

/* Rule 9: the receiver heeds the report. Does it take the owner over that the report names?
 *
 *   the receiver            the owner in the report                   takes it over
 *   knows no owner          -                                         yes
 *   knows an owner          is lost                                   no: the next owner is chosen at the barrier
 *   knows another member    was chosen in the same view, or later     yes
 *   is the owner itself     was chosen in a later view                yes: the session has moved, unnoticed here
 *   any other                                                         no */
bool owner_is_newer(const struct owner_report *r, const struct owner_known *k);

/* Rule 9, at the barrier: is a record outdated, so that this member forgets it? `reported`: the view that reports named, if
 * this member knows the record only by them, and all named one; else 0 (owner_names). `ownerless`: the owner is lost.
 * `chosen`: the view in which that owner was chosen. `owner_opened`: the last view that the owner has opened, as its MARK
 * says; 0 if this member is the owner.
 *
 *   `reported`    the owner     and                         outdated
 *   0             -             -                           no
 *   a view        is lost       -                           no: rule 4
 *   a view        takes part    reported < chosen           yes: other reports name a later owner
 *   a view        takes part    owner_opened >= chosen      yes: the owner itself has told what is held
 *   a view        takes part    neither                     no: the owner has done nothing with it yet (rule 5) */
bool owner_is_outdated(uint64_t reported, bool ownerless, uint64_t chosen, uint64_t owner_opened);

/* The `reported` of owner_is_outdated, when one more report of the record comes, which names view `named`; 0: its owner is
 * lost. It is the later one of both views; or 0, if one of both is 0. */
uint64_t owner_names(uint64_t reported, uint64_t named);

/* Rules 2, 4 and 11, at the barrier: is a record forgotten that names another claim (`after`)? The claim of the record was
 * granted after the named one was withdrawn, or is its upgrade. Its client is told only when no member has a record of the
 * named claim. Which member owns the session makes no difference: a member that has not passed a barrier at which others
 * forgot the record reports it again.
 *
 *   this member has                                              the record that names the claim
 *   the named claim (`own`)                                      is forgotten
 *   a record of the named claim (`recorded`), not outdated       is forgotten
 *   a record of the named claim that is `outdated`, or neither   stays */
bool owner_forgets_follower(bool own, bool recorded, bool outdated);

/* Rules 9 and 11: does a report change this member's record of the same lock and fence? Rule 11 has the table, with reasons:
 * it does, except in the last row.
 *
 *   row   parameter
 *   1     `reported`: this member knows the record by reports only
 *   2     `named`, the view that the report names, is 0: the owner in the report is lost; or the session is `ownerless`
 *   3     `passed`, the last barrier that this member has passed since it takes part, is not 0
 *   4     none of these */
bool owner_amends(bool reported, uint64_t named, bool ownerless, uint64_t passed);

/* Rule 4, at the barrier: does the session get another owner? `moves`: its owner takes part, and it is to move to a
 * member that takes part. `own` and `leaves`: see struct owner_known.
 *
 *   the session                         this member                              another owner
 *   is `ownerless`                      -                                        yes: owner_choose
 *   `moves`                             is not its owner                         yes: the member to which it moves
 *   `moves`                             is its owner, and it `leaves`            yes: the same
 *   `moves`                             is its owner, and it held nothing        no: other members have no record of it
 *   neither                             -                                        no */
bool owner_changes(bool ownerless, bool moves, bool own, bool leaves);

#endif
