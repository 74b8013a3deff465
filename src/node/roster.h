/* roster.h - changes of the roster: what an operator can request, and how the leader carries it out (I32).
 *
 * An operator can ask any member. The member keeps the request (`wish`) for a while and sends it to the leader with its
 * heartbeats, so the leader may change meanwhile. A request is granted once: it names the roster that it is to change, by
 * the id of the member that is to be removed, or by the last id that was given before the addition. So a request that comes
 * late, or that is sent again by a member that has not heard of the newest views, changes nothing. The roster changes by one member at a time (lease.c says when): an
 * added member has to join, catch up and be counted before the next change. An added member that never starts would
 * block all changes. So its addition can be taken back, at once, since the member is not counted yet. The addition also
 * expires: a leader that has waited for join_ms for an added member to take part takes the addition back. A new leader
 * begins to wait anew. */
#ifndef DIBS_NODE_ROSTER_H
#define DIBS_NODE_ROSTER_H

#include "node.h"

enum { ROSTER_JOIN_MS = 300000 };

/* Can the wish be granted in this view? If not, it was granted already, or the roster has changed in another way. */
bool roster_suits(const struct node_wish *wish, const struct view *v);
/* The node is about to install view `v`: forgets wishes that have been granted. */
void roster_follow(struct node *node, const struct view *v);
/* Sends this member's wish to the leader again. Forgets it when it has been kept for too long. */
void roster_mind_wishes(struct node *node);
/* At the leader: the set of added members that do not take part and whose addition has been taken back or has expired; at
 * most one. */
uint64_t roster_taken_back(struct node *node, const struct view *view);

#endif
