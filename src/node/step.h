/* step.h - how a node is driven: an event goes in, and what is to be done comes out, one output after the other.
 *
 * A driver (the daemon, the simulation of whole clusters, a test) owns sockets, clock and disk. It tells the node of every
 * event by node_step, and then carries out the outputs:
 *
 *     node_step(node, &event);
 *     while (node_next_output(node, &out)) {
 *         ...                        // the bytes are written, the connection is closed, the line is logged
 *         node_did(node, &out);
 *     }
 *
 * Afterwards it asks when the next event is due at the latest (node_due_ms), and whether there is more work than fits into
 * one turn (node_wants_turns).
 *
 * The order is the node's, not the driver's:
 * - Every event carries the time, and the time is looked at first. A process that was stopped finds out that it has lost its
 *   locks before it grants or confirms anything (I18).
 * - A client is told what has become of its locks before anything that it asked for is answered.
 * - Clients come before members: a client that has lost a lock is told so before any other member can be granted it. And
 *   clients that have lost a lock come before all other clients (I17).
 *
 * Bytes are read in place, and nothing is allocated for a step. A driver that cannot write everything says how much it has
 * taken, and that the destination is *blocked*; then the node has no more outputs for it until an event says that there is
 * room. No event may be told between an output and its node_did; between two outputs it may.
 *
 * One client must not keep others waiting. The commands of one client that are executed in a turn are bounded (CLIENT_TURN),
 * and so are the steps to find subscribers (WATCH_TURN). What is more waits for an event NODE_GO_ON, in a later turn of the
 * driver: each of these serves the client that has waited for longest. */
#ifndef DIBS_NODE_STEP_H
#define DIBS_NODE_STEP_H

#include "client.h"

enum node_input_type {
    NODE_TIME,        /* time has passed */
    NODE_PEER_OPENED, /* there is a connection to this member; a former one, if any, is forgotten */
    NODE_PEER_BYTES,
    NODE_PEER_ROOM, /* it takes bytes again */
    NODE_PEER_CLOSED,
    NODE_CLIENT_BYTES,
    NODE_CLIENT_ROOM,
    NODE_CLIENT_CLOSED, /* the client has said goodbye, or has ended for sure: it believes in no lock any more */
    NODE_CLIENT_BROKEN, /* its connection has broken, and it may not have noticed */
    NODE_WRITTEN,       /* the disk has finished its oldest writes (struct disk) */
    NODE_LEAVE,         /* all locks are given up, and the others are told, so that they need not wait */
    NODE_GO_ON,         /* a new turn, for what did not fit into the one before */
};

struct node_input {
    enum node_input_type type;
    uint64_t now_ms;
    bool late;             /* this turn of the driver has taken long: what clients ask for waits for the next one */
    struct member *member; /* NODE_PEER_.. */
    struct client *client; /* NODE_CLIENT_..; of client_open. After CLOSED and BROKEN it is gone. */
    const uint8_t *bytes;  /* .._BYTES */
    size_t len;
    unsigned writes; /* NODE_WRITTEN: how many */
    bool failed;     /* NODE_WRITTEN: the disk has failed */
};

enum node_output_type {
    NODE_TO_CLIENT,    /* bytes, or none: then `reads` may have changed */
    NODE_CLOSE_CLIENT, /* the connection is to be closed; the client is gone after node_did */
    NODE_MEMBER_CAME,  /* a member to which there shall be a connection */
    NODE_MEMBER_WENT,  /* it is none any more: any connection is to be closed; the member is gone after node_did */
    NODE_TO_PEER,      /* bytes */
    NODE_CLOSE_PEER,   /* the connection is to be closed, for this reason */
    NODE_LOG,          /* a line for people */
};

struct node_output {
    enum node_output_type type;
    struct client *client;
    struct member *member;
    const uint8_t *bytes;
    size_t len;
    bool reads;       /* NODE_TO_CLIENT: shall more be read from it? */
    const char *text; /* NODE_LOG: the line; NODE_CLOSE_PEER: the reason */
    bool anew;        /* NODE_CLOSE_PEER: the next connection need not wait */
    /* For the driver to fill in: */
    size_t taken; /* how many of the bytes; at first: all */
    bool blocked; /* the destination takes no more, until an event .._ROOM; always if fewer than all were taken */
};

void node_step(struct node *node, const struct node_input *input);
/* False: nothing is to be done. */
bool node_next_output(struct node *node, struct node_output *out);
void node_did(struct node *node, const struct node_output *out);

/* When the next event is due at the latest, NODE_TIME if there is no other; UINT64_MAX: not for the node's sake. */
uint64_t node_due_ms(const struct node *node);
/* How many events NODE_GO_ON make a turn for everything that waits for one; 0: nothing does. */
uint32_t node_wants_turns(const struct node *node);

#endif
