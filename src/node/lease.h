/* lease.h - heartbeats, promises, leases, and who shall take part in the next view. See member/README.md. */
#ifndef DIBS_NODE_LEASE_H
#define DIBS_NODE_LEASE_H

#include "node.h"

/* A new view was installed. */
void lease_begin_view(struct node *node);
/* What others have acknowledged has changed. */
void lease_count_acks(struct node *node);
/* May this process grant, by the clock? */
void lease_refresh(struct node *node);
/* It leaves, or is dropped, and none of its clients believes in a lock any more: nobody has to wait for its lease. */
bool lease_gave_up(const struct node *node);
void lease_send_beats(struct node *node);
/* A heartbeat of the member at this place. */
void lease_hear(struct node *node, uint32_t place, const struct beat *beat);
/* When a promise runs out that somebody waits for; or UINT64_MAX. */
uint64_t lease_due_ms(const struct node *node);
/* Who leads looks whether the next view is due, and proposes it. */
void lease_lead(struct node *node);

#endif
