/* lease.h - heartbeats, promises, leases, and when the leader proposes the next view. See member/README.md. */
#ifndef DIBS_NODE_LEASE_H
#define DIBS_NODE_LEASE_H

#include "node.h"

/* A new view was installed. */
void lease_begin_view(struct node *node);
/* To be called when another member has acknowledged heartbeats: computes when the lease ends. */
void lease_count_acks(struct node *node);
/* Acknowledgements of heartbeats that were sent before now no longer count. */
void lease_forget_acks(struct node *node);
/* Compares the lease with the clock, and tells the locks whether this member may grant. */
void lease_refresh(struct node *node);
/* Is this member leaving or dropped, and does none of its clients believe in a lock any more? Then no member has to
 * wait for its lease to run out. */
bool lease_gave_up(const struct node *node);
/* What a heartbeat tells now; the field echo_ms depends on the receiver and is left out. */
struct beat lease_beat(const struct node *node);
void lease_send_beats(struct node *node);
/* Sends a heartbeat to one member that waits for it. */
void lease_greet(struct node *node, struct member *m);
/* Receives a heartbeat of the member at place `place`. */
void lease_hear(struct node *node, uint32_t place, const struct beat *beat);
/* When the next promise runs out for which the leader waits; or UINT64_MAX. */
uint64_t lease_due_ms(const struct node *node);
/* At the leader: proposes the next view if it is due. */
void lease_lead(struct node *node);

#endif
