/* talk.h - the messages between members that serve people and their tools: questions about locks (question.h) and
 * events (watch.h).
 *
 * No lock depends on these messages. Each is sent once, as a note, to a member that is connected. A lost one is not
 * repeated: questions have a deadline, and interest in events is announced again and again. */
#ifndef DIBS_NODE_TALK_H
#define DIBS_NODE_TALK_H

#include "question.h"
#include "watch.h"

enum {
    TALK_MAX = 1 << 18
}; /* bytes that wait for a member; further messages are dropped, so that heartbeats are not */

/* The first byte of a message. Other notes (mail.c) have smaller numbers. */
enum talk_type { TALK_INTEREST = 0x40, TALK_EVENT, TALK_ASK, TALK_ANSWER };

struct talk {
    struct watch watch;
    struct questions questions;
};

struct node;
struct node_event;

void talk_init(struct talk *t);
void talk_free(struct talk *t);

/* The number of members, and this member's number among them. */
uint32_t talk_members(const struct node *node);
uint32_t talk_self(const struct node *node);
const char *talk_name(const struct node *node, uint32_t member);
/* The link to the member; null if it is this member. */
const struct link *talk_link(const struct node *node, uint32_t member);
/* Is there a connection to the member that can take a message? Always false for this member itself. */
bool talk_reaches(const struct node *node, uint32_t member);
void talk_say(struct node *node, uint32_t member, const uint8_t *bytes, size_t len);

/* For node.c. */
bool talk_is(const uint8_t *bytes, size_t len);
/* Receives a message of member `from`. Returns null, or what is wrong with it. */
const char *talk_receive(struct node *node, uint32_t from, const uint8_t *bytes, size_t len);
void talk_advance(struct node *node);
uint64_t talk_due_ms(const struct node *node);
/* The next event for a client that is not about one of its claims. Returns false if there is none. */
bool talk_next(struct node *node, struct node_event *event);

#endif
