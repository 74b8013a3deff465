/* admin.h - the messages between members that serve people and their tools: queries about locks (query.h) and
 * events (watch.h).
 *
 * No lock depends on these messages. Each is sent once, as a note, to a member that is connected. A lost one is not
 * repeated: queries have a deadline, and interest in events is announced again and again. */
#ifndef DIBS_NODE_ADMIN_H
#define DIBS_NODE_ADMIN_H

#include "query.h"
#include "watch.h"

enum {
    ADMIN_MAX = 1 << 18
}; /* bytes that wait for a member; further messages are dropped, so that heartbeats are not */

struct admin {
    struct watch watch;
    struct queries queries;
};

struct node;
struct node_event;

void admin_init(struct admin *t);
void admin_free(struct admin *t);

/* The number of members, and this member's number among them. */
uint32_t admin_members(const struct node *node);
uint32_t admin_self(const struct node *node);
const char *admin_name(const struct node *node, uint32_t member);
/* The link to the member; null if it is this member. */
const struct link *admin_link(const struct node *node, uint32_t member);
/* Is there a connection to the member that can take a message? Always false for this member itself. */
bool admin_reaches(const struct node *node, uint32_t member);
void admin_say(struct node *node, uint32_t member, const uint8_t *bytes, size_t len);

/* For node.c. */
/* Receives a note of PART_ADMIN (link/registry.h) from member `from`. Returns null, or what is wrong with it. */
const char *admin_receive(struct node *node, uint32_t from, const uint8_t *bytes, size_t len);
void admin_advance(struct node *node);
uint64_t admin_due_ms(const struct node *node);
/* The next event for a client that is not about one of its claims. Returns false if there is none. */
bool admin_next(struct node *node, struct node_event *event);

#endif
