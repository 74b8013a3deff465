/* mail.h - what members tell each other, by letters and by notes (link.h).
 *
 * Letters are never lost, and come in order. They are about locks, and belong to a view: one says which, and all behind it
 * are of that view. A letter of a former view is thrown away, one of a later view waits until that is installed here. Notes
 * may be lost, and stand for themselves: heartbeats, what libraft sends, the roster, wishes for another one, and what
 * people ask and hear (talk.h). */
#ifndef DIBS_NODE_MAIL_H
#define DIBS_NODE_MAIL_H

#include "node.h"

/* The letters that follow are of this view. */
void mail_send_view(struct member *m, uint64_t number);
/* This member has sent its digest in this view (digest.h); it knows of fencing tokens up to this one. */
void mail_send_announced(struct member *m, uint64_t highest_fence);
void mail_send_beat(struct member *m, const struct beat *beat);
void mail_send_agreement(struct member *m, const uint8_t *bytes, size_t len);
/* To who does not know who it is, or who the others are by now. */
void mail_send_roster(const struct node *node, uint32_t k);
/* A wish of this node, to the leader. */
void mail_send_wish(const struct node *node, const struct node_wish *wish);

/* One has come from the member at place k. What is wrong with it ends the connection. */
void mail_letter(struct node *node, uint32_t k, const uint8_t *bytes, size_t len);
void mail_note(struct node *node, uint32_t k, const uint8_t *bytes, size_t len);
/* Letters that waited are looked at again. */
void mail_take_late(struct node *node, uint32_t k);

/* What node.c does with them. All have sent their digests, perhaps: locks can be granted. */
void node_try_open(struct node *node);
/* Who was excluded, or has just joined, takes part as somebody else. */
void node_begin_life(struct node *node);

#endif
