/* talk.h - what members ask and tell each other about their clients: who holds a lock (question.h), what happens to it
 * (watch.h).
 *
 * It is for people and their tools; no lock depends on it. So it is said once, to members that are connected, and what
 * gets lost is lost: questions have an end, and interest in events is repeated. */
#ifndef DIBS_NODE_TALK_H
#define DIBS_NODE_TALK_H

#include "question.h"
#include "watch.h"

enum { TALK_MAX = 1 << 18 }; /* bytes that wait to be sent to a member: what is more is lost, or heartbeats would be */

/* The first byte of such a message. Those about locks have smaller ones. */
enum talk_type { TALK_INTEREST = 0x40, TALK_EVENT, TALK_ASK, TALK_ANSWER };

struct talk {
    struct watch watch;
    struct questions questions;
};

struct node;
struct node_event;

void talk_init(struct talk *t);
void talk_free(struct talk *t);

/* The members, as talk numbers them, and which of them this is. */
uint32_t talk_members(const struct node *node);
uint32_t talk_self(const struct node *node);
const char *talk_name(const struct node *node, uint32_t member);
/* The link to it; null if it is this one. */
const struct link *talk_link(const struct node *node, uint32_t member);
/* Is there a connection that could take a message? Never to oneself. */
bool talk_reaches(const struct node *node, uint32_t member);
void talk_say(struct node *node, uint32_t member, const uint8_t *bytes, size_t len);

/* For node.c. */
bool talk_is(const uint8_t *bytes, size_t len);
/* Null, or what is wrong. */
const char *talk_receive(struct node *node, uint32_t from, const uint8_t *bytes, size_t len);
void talk_advance(struct node *node);
uint64_t talk_due_ms(const struct node *node);
/* The next thing that a client has to be told, if it is none of its claims. */
bool talk_next(struct node *node, struct node_event *event);

#endif
