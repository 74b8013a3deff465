/* roster.h - changes of the list of members: what an operator may ask for, and what the leader makes of it.
 *
 * An operator asks any member; the member keeps the wish for a while and sends it to the leader with its heartbeats, so that a
 * leader may change meanwhile. The list changes by one member at a time (lease.c says when): a member that has been added has
 * to join, catch up and be counted before the next change. One that never starts would block all changes. So its addition can
 * be taken back, which is done at once as it is not counted yet, and it runs out: a leader that has waited for join_ms for
 * an added member to take part takes it back. A new leader begins to wait anew. */
#ifndef DIBS_NODE_ROSTER_H
#define DIBS_NODE_ROSTER_H

#include "node.h"

enum { ROSTER_JOIN_MS = 300000 };

/* A wish is kept until it has come true, or for too long. */
void roster_mind_wishes(struct node *node);
/* The leader: an added member that does not take part is taken back in the next view. True: one is. */
bool roster_take_back(struct node *node, struct view *next);
/* The leader: what was wished for. True: the next view has it. */
bool roster_grant_wish(const struct node *node, struct view *next);

#endif
