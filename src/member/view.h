/* view.h - who is a member: a numbered list, agreed by all.
 *
 * A view lists the members of the cluster (the *roster*), and for each of them which process takes part: its
 * *incarnation*, a number that no other process has, or 0 if none does at the moment. An instance of an algorithm lives
 * within one view; the view changes when a process is excluded, comes back or when the roster changes. Every view is an
 * entry of a replicated log (agree.h), so all members go through the same views in the same order, though not at the
 * same time.
 *
 * Majorities are counted over the roster, not over the processes that take part, so two groups cannot both have one. A
 * member that has been added is not counted before it has caught up. The set of counted members changes by one member at
 * a time. The next change waits until every lease that was given under the set before has run out (lease.c): the
 * majorities of two sets under which leases are valid at the same time have a member in common.
 *
 * Fences. A view has a base: all fencing tokens of the view are larger than it, and larger than all tokens of earlier
 * views. fence.h has the argument. */
#ifndef DIBS_MEMBER_VIEW_H
#define DIBS_MEMBER_VIEW_H

#include "base/bytes.h"
#include "link/link.h"

enum { VIEW_MEMBERS_MAX = 64, VIEW_ADDRESS_MAX = 71 };

enum view_standing {
    VIEW_ADDED,   /* it has yet to catch up, and is not counted */
    VIEW_MEMBER,  /* it is counted */
    VIEW_REMOVED, /* it is counted as long as it takes part; then it will be removed */
};

struct view_member {
    uint64_t id;          /* from 1, and never used again */
    uint64_t incarnation; /* of the process that takes part; 0: none */
    uint64_t disk;        /* a number of its data directory; 0: it has never taken part */
    enum view_standing standing;
    char name[LINK_NAME_MAX + 1];
    char address[VIEW_ADDRESS_MAX + 1]; /* HOST:PORT */
};

struct view {
    uint64_t number;  /* 0: before the first */
    uint64_t cluster; /* the same for all views of a cluster, and for no other cluster */
    uint64_t last_id;
    uint64_t counted_since; /* the number of the view in which the set of counted members last changed */
    uint64_t fence;         /* the base of the fences of this view */
    uint32_t count;
    struct view_member member[VIEW_MEMBERS_MAX]; /* by id */
};

/* The view before the first, of a roster of names and addresses in the order of the names. */
void view_begin(struct view *v);
/* Null, or what is wrong with it. */
const char *view_add(struct view *v, const char *name, const char *address, enum view_standing standing);
void view_remove(struct view *v, uint32_t k);

uint32_t view_find(const struct view *v, uint64_t id); /* its place, or VIEW_MEMBERS_MAX */
uint32_t view_find_name(const struct view *v, const char *name, size_t len);
uint32_t view_majority(const struct view *v);
bool view_counts(const struct view *v, uint32_t k);
/* How many members are counted in one of the two views, and not in the other. */
uint32_t view_counted_changes(const struct view *v, const struct view *w);
uint32_t view_taking_part(const struct view *v); /* how many */
uint32_t view_staying(const struct view *v);     /* how many members that are not about to be removed, or added */

void view_encode(const struct view *v, struct bytes *to);
/* False: that is no view. */
bool view_decode(struct view *v, const uint8_t *bytes, size_t len);

#endif
