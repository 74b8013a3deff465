/* messages.h - the messages between members: letters and notes (link.h), as link/registry.h lists them.
 *
 * Letters are never lost, and arrive in order. They belong to a view: LETTER_VIEW names a view, and all letters after it
 * were sent in that view. A letter of an earlier view is discarded, except for some of PART_KEEP (keep.h). A letter of a later
 * view waits until this member has installed that view (I23). Notes may be lost, and each is complete in itself:
 * heartbeats, messages of libraft, the roster, requests to change the roster, queries and events (admin.h). */
#ifndef DIBS_NODE_MESSAGES_H
#define DIBS_NODE_MESSAGES_H

#include "node.h"

/* The letters to `m` that follow belong to this view. */
void message_send_view(struct member *m, uint64_t number);
/* This member has sent its whole digest for this view (digest.h), and knows of fencing tokens up to `highest_fence`. */
void message_send_announced(struct member *m, uint64_t highest_fence);
void message_send_beat(struct member *m, const struct beat *beat);
void message_send_agreement(struct member *m, const uint8_t *bytes, size_t len);
/* Sends the roster to the member at place `k`, which does not know its own id or the newest roster. */
void message_send_roster(const struct node *node, uint32_t k);
/* Sends this node's request for another roster to the leader. */
void message_send_wish(const struct node *node, const struct node_wish *wish);
/* Sends an operator's request for another lease to the leader. */
void message_send_setting(const struct node *node, const struct settings_wish *wish);
void message_send_policies(const struct node *node, const struct settings_text *wish);
void message_send_rights(const struct node *node, const struct settings_text *wish);
/* Tells a member that this one knows of agreed settings, and the lease of its configuration. */
void message_send_ability(const struct node *node, struct member *m);

/* Receives a letter or a note from the member at place `k`. If it is wrong, the connection ends. */
void message_letter(struct node *node, uint32_t k, const uint8_t *bytes, size_t len);
void message_note(struct node *node, uint32_t k, const uint8_t *bytes, size_t len);
/* Receives the letters that waited for their view. */
void message_take_late(struct node *node, uint32_t k);

/* In node.c. If all members have sent their digests, opens the view: locks can be granted. */
void node_try_open(struct node *node);
/* In node.c. A member that was excluded, or has just joined, begins a new incarnation. */
void node_begin_incarnation(struct node *node);

#endif
