/* view.h - views: numbered lists of the members, on which all members agree (I23).
 *
 * A view lists the members of the cluster (the *roster*), and for each of them which process takes part: its
 * *incarnation*, a number that the member has not used before, or 0 if no process takes part. An instance of an algorithm
 * belongs to one view. The view changes when a process is excluded, when one comes back, and when the roster changes. Every
 * view is an entry of a replicated log (agree.h), so all members go through the same views in the same order, though
 * not at the same time.
 *
 * Majorities are majorities of the counted members of the roster, not of the processes that take part, so two groups
 * cannot both have one. A member that has been added is not counted before it has caught up. The set of counted members
 * changes by one member at a time. The next change waits until every lease that was given under the previous set has
 * run out (promise_old_leases_are_over). So, if leases are valid under two sets at the same time, a majority of the one and a majority of
 * the other have a member in common (I28).
 *
 * Settings. A view has the lease, the policies and the rights of clients, if an operator has set them (settings.h). So
 * all members of a view use the same ones.
 *
 * Fencing tokens. A view has a base: all fencing tokens of the view are larger than the base, and larger than all tokens of
 * earlier views. fence.h has the argument. */
#ifndef DIBS_MEMBER_VIEW_H
#define DIBS_MEMBER_VIEW_H

#include "link/link.h"
#include "settings.h"

enum { VIEW_MEMBERS_MAX = 64, VIEW_ADDRESS_MAX = 71 };

enum view_standing {
    VIEW_ADDED,   /* the member has not caught up yet, and is not counted */
    VIEW_MEMBER,  /* it is counted */
    VIEW_REMOVED, /* it is counted as long as it takes part; then it is removed from the roster */
};

struct view_member {
    uint64_t id;          /* 1, 2, ..; never used again */
    uint64_t incarnation; /* of the process that takes part; 0: none */
    uint64_t since;       /* the number of the view from which on it has taken part without a break */
    uint64_t disk;        /* the random number that identifies its data directory; 0: it has never taken part */
    enum view_standing standing;
    char name[LINK_NAME_MAX + 1];
    char address[VIEW_ADDRESS_MAX + 1]; /* HOST:PORT */
};

struct view {
    uint64_t number;  /* 0: before the first */
    uint64_t cluster; /* the same for all views of a cluster, and for no other cluster */
    uint64_t last_id;
    uint64_t counted_since; /* the number of the view in which the set of counted members last changed */
    uint64_t fence;         /* the base of the fencing tokens of this view */
    struct settings_lease lease;
    struct settings_text policies, rights;
    uint32_t count;
    struct view_member member[VIEW_MEMBERS_MAX]; /* by id */
};

/* Makes the view before the first, without members. The caller then adds the founders in the order of their names,
 * since the order determines their ids and the cluster's number. */
void view_begin(struct view *v);
/* Adds a member. Returns null, or what is wrong with it. */
const char *view_add(struct view *v, const char *name, const char *address, enum view_standing standing);
void view_remove(struct view *v, uint32_t k);

uint32_t view_find(const struct view *v, uint64_t id); /* its place, or VIEW_MEMBERS_MAX */
uint32_t view_find_name(const struct view *v, const char *name, size_t len);
uint32_t view_majority(const struct view *v);
bool view_counts(const struct view *v, uint32_t k);
/* The number of members that are counted in one of the two views and not in the other. */
uint32_t view_counted_changes(const struct view *v, const struct view *w);
uint32_t view_taking_part(const struct view *v); /* the number of members that take part */
uint32_t view_staying(const struct view *v);     /* the number of members that are neither added nor being removed */

void view_encode(const struct view *v, struct bytes *to);
/* Returns false if the bytes are no view. */
bool view_decode(struct view *v, const uint8_t *bytes, size_t len);

#endif
