/* inside.h - the pieces of a step, for src/step and no other folder: their order matters. Drivers and tests use
 * step/step.h (tests/layers.sh checks that). */
#ifndef DIBS_NODE_INSIDE_H
#define DIBS_NODE_INSIDE_H

#include "node.h"

/* Tells the node the time, before anything else. */
void node_advance(struct node *node, uint64_t now_ms);
/* Handles the messages that have come over the links, and does the next piece of work. */
void node_pump(struct node *node);
/* The disk has finished its oldest write, or has failed (struct disk). */
void node_written(struct node *node, bool good);
/* Can there be something that a client has to be told? If not, node_next would find nothing. */
static inline bool node_has_news(const struct node *node)
{
    return !ring_empty(&node->locks.outcomes) || !ring_empty(&node->keep.news) || !ring_empty(&node->keep.ready) ||
           !ring_empty(&node->tokens.done) || !ring_empty(&node->admin.queries.finished) ||
           !ring_empty(&node->admin.watch.notes) || node->admin.watch.changed;
}
/* Can there be an output of this urgency for a client? */
static inline bool node_has_output(const struct node *node, enum client_urgency urgency)
{
    return !ring_empty(&node->turn.news[urgency]);
}
/* The next thing that a client has to be told; false: there is none. */
bool node_next(struct node *node, struct node_event *event);
/* This member shuts down: it gives up all locks, and tells the other members, so that they need not wait for its lease. */
void node_leave(struct node *node);
/* Frees all but the memory of the struct. There are no clients any more. */
void node_free_parts(struct node *node);
/* Frees the member that was retired last, which the driver no longer uses. */
void node_forget_retired(struct node *node);

#endif
