/* inside.h - the pieces of a step, for src/step and for tests of single parts. A driver does not use them: their order
 * matters. */
#ifndef DIBS_NODE_INSIDE_H
#define DIBS_NODE_INSIDE_H

#include "node.h"

/* Tells the node the time, before anything else. */
void node_advance(struct node *node, uint64_t now_ms);
/* Handles the messages that have come over the links, and does the next piece of work. */
void node_pump(struct node *node);
/* Is there a piece of work left? Then node_due_ms is the next millisecond at the latest. */
bool node_is_busy(const struct node *node);
/* The disk has finished its oldest write, or has failed (struct disk). */
void node_written(struct node *node, bool good);
/* The next thing that a client has to be told; false: there is none. */
bool node_next(struct node *node, struct node_event *event);
/* Gives all locks up, and tells the others, so that they need not wait. */
void node_leave(struct node *node);
/* Frees all but the memory of the struct. There are no clients any more. */
void node_free_parts(struct node *node);
/* Frees the member that was retired last, which the driver no longer uses. */
void node_forget_retired(struct node *node);

#endif
