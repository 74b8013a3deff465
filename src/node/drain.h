/* drain.h - a member that is to end: it takes no new requests for locks, and waits until its clients hold none.
 *
 * An operator's client sends DRAIN, and sends it again and again. While its connection lasts, the member *drains*: requests
 * for locks are refused (NOQUORUM), those that wait are withdrawn with the same answer, and no session is resumed here.
 * Clients go on holding their locks, which are confirmed and renewed as before. When no client of this member holds a lock,
 * the member is *drained*, and its driver ends it as if it had been told to (NODE_LEAVE). If the operator's connection
 * ends before that, the member grants locks again.
 *
 * Sessions without a client, and locks that a token owns, are not waited for: other members know them, or the next process
 * does (handover.h). */
#ifndef DIBS_NODE_DRAIN_H
#define DIBS_NODE_DRAIN_H

#include "node.h"

/* The client of this session has sent DRAIN. Returns the number of clients that still hold locks. */
uint32_t drain_go_on(struct session *s);
/* The session ends. */
void drain_end(struct session *s);
/* Iterates over the sessions that the member waits for: the one after `s`, or the first if it is null. Returns null at the end. */
struct session *drain_next(const struct node *node, const struct session *s);

#endif
