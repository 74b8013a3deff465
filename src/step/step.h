/* step.h - how a node is driven: an event goes in, and outputs, which the driver carries out, come out one after the
 * other.
 *
 * A driver (the daemon, the simulation of whole clusters, a test) owns sockets, clock and disk. It tells the node of
 * every event by node_step, and then carries out the outputs:
 *
 *     node_step(node, &event);
 *     while (node_next_output(node, &out)) {
 *         ...                        // write the bytes, close the connection, log the line
 *         node_did(node, &out);
 *     }
 *
 * If several events have happened, a driver may tell the node of all of them first, and carry out the urgent outputs after each
 * (node_next_urgent): then all bytes for a member go out in one write.
 *
 * Afterwards the driver asks when the next event is due at the latest (node_due_ms), and whether there is more work than
 * fits into one turn (node_wants_turns).
 *
 * The node, not the driver, decides the order:
 * - Every event carries the time, and the node looks at the time first. A process that was stopped finds out that its
 *   lease has run out before it grants or confirms anything (I18). The driver reads the clock after it has received the
 *   bytes of the event: a promise counts from the time of the event that brings the heartbeat, and the rest of the lease,
 *   for which the node vouches, from the time of the event that brings the question (member/README.md, protocol 2 and 3).
 * - A client is told of its granted and lost locks before its commands are answered.
 * - Clients that have lost a lock come first: a client is told of its loss before a client of this or another member can
 *   be granted the lock (I17). Then come clients that are granted a lock, then messages to members, which may pass a
 *   lock on, and then all other answers: no client that can use a lock waits until others have been answered.
 *
 * Bytes are read in place, and nothing is allocated for a step. A driver that cannot write everything says how much it
 * has taken, and that the destination is *blocked*; then the node has no more outputs for it until an event says that
 * there is room. No event may be told between an output and its node_did; between two outputs it may.
 *
 * One client must not keep others waiting. The commands of one client that are executed in a turn are bounded
 * (CLIENT_TURN), and so are the steps to find subscribers (WATCH_TURN). The rest waits for an event NODE_GO_ON in a
 * later turn of the driver: each of these serves the client that has waited for longest. */
#ifndef DIBS_STEP_STEP_H
#define DIBS_STEP_STEP_H

#include "command/client.h"

enum node_input_type {
    NODE_TIME,        /* time has passed */
    NODE_PEER_OPENED, /* there is a connection to this member; it replaces an earlier one, if any */
    NODE_PEER_BYTES,
    NODE_PEER_ROOM, /* the connection takes bytes again */
    NODE_PEER_CLOSED,
    NODE_CLIENT_BYTES,
    NODE_CLIENT_ROOM,
    NODE_CLIENT_CLOSED, /* the client has closed its connection, or has ended for certain: it believes in no lock any more */
    NODE_CLIENT_BROKEN, /* the connection has broken, and the client may not have noticed */
    NODE_WRITTEN,       /* the disk has finished its oldest writes (struct disk) */
    NODE_LEAVE,         /* give up all locks and tell the others, so that they need not wait for the lease */
    NODE_GO_ON,         /* a new turn, for work that did not fit into the one before */
};

struct node_input {
    enum node_input_type type;
    uint64_t now_ms;
    bool late; /* this turn of the driver has taken long: commands of greedy clients wait for the next one */
    struct member *member; /* NODE_PEER_.. */
    struct client *client; /* NODE_CLIENT_..: from client_open. After CLOSED and BROKEN it is freed. */
    bool dead;             /* NODE_CLIENT_CLOSED: its process has ended, and a kept session ends with it */
    const uint8_t *bytes;  /* .._BYTES */
    size_t len;
    unsigned writes; /* NODE_WRITTEN: the number of writes */
    bool failed;     /* NODE_WRITTEN: the disk has failed */
};

enum node_output_type {
    NODE_TO_CLIENT,    /* send these bytes; if there are none, `reads` may have changed */
    NODE_CLOSE_CLIENT, /* close the connection; the client is freed by node_did */
    NODE_MEMBER_CAME,  /* a new member of the roster: there shall be a connection to it */
    NODE_MEMBER_WENT,  /* a member has left the roster: close any connection to it; the member is freed by node_did */
    NODE_TO_PEER,      /* send these bytes */
    NODE_CLOSE_PEER,   /* close the connection, for the reason `text` */
    NODE_LOG,          /* a line for people */
};

struct node_output {
    enum node_output_type type;
    struct client *client;
    struct member *member;
    const uint8_t *bytes;
    size_t len;
    bool reads;       /* NODE_TO_CLIENT: shall the driver read from the client? */
    const char *text; /* NODE_LOG: the line; NODE_CLOSE_PEER: the reason */
    bool warns;       /* NODE_LOG: an operator should look at it */
    bool anew;        /* NODE_CLOSE_PEER: the next connection need not wait */
    /* The driver fills these in. */
    size_t taken; /* the number of bytes that it has sent; at first: all */
    bool blocked; /* the destination takes no more, until an event .._ROOM; always if fewer than all were taken */
};

void node_step(struct node *node, const struct node_input *input);
/* Returns false if there is no output. */
bool node_next_output(struct node *node, struct node_output *out);
void node_did(struct node *node, const struct node_output *out);
/* Like node_next_output, but only what cannot wait until the driver has told the node of more events that have happened
 * already: losses, then grants. */
bool node_next_urgent(struct node *node, struct node_output *out);

/* Bytes for a member that are only patient letters (link/link.h) are no output any more; or, if `waits` is false, as at first, they
 * are again. A driver that lets them wait has to do so for a moment only. node_has_waiting: are there such bytes? */
void node_let_wait(struct node *node, bool waits);
static inline bool node_has_waiting(const struct node *node)
{
    return node->turn.waits;
}

/* The number of NODE_GO_ON events that serve everything that waits for a turn once; 0: nothing waits. */
uint32_t node_wants_turns(const struct node *node);

/* Closes the connections of all clients, and frees all but the memory of the struct. */
void node_free(struct node *node);

#endif
