/* party.h - the sessions of one client, counted together: what it uses at this member, over all its connections.
 *
 * A party has a label, which the driver gives it (rights_label): all sessions with the same label are one party. A session
 * without a client, of a token or a kept one, stays with the party of its client. The counts are sums over the sessions:
 * locks held, requests that wait, connections; and, while a command for several locks is executed, the locks that it will still request.
 * Limits are compared with these counts (command/permit.h). */
#ifndef DIBS_NODE_PARTY_H
#define DIBS_NODE_PARTY_H

#include "base/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PARTIES_TABLE = 256 };

struct party {
    struct ring in_node;
    uint32_t sessions, connections, locks, waiters, promised;
    char label[];
};

struct parties {
    struct ring table[PARTIES_TABLE]; /* by the hash of the label */
};

struct node;
struct session;

void parties_init(struct parties *p);
/* The session belongs to the party of this label from now on. */
void party_join(struct session *s, const char *label);
/* The session `s` joins the party of `other`: both have the same client. */
void party_join_as(struct session *s, const struct session *other);
/* The connection of the session has ended, and the session goes on without it. */
void party_disconnect(struct session *s);
/* The session ends. */
void party_leave(struct session *s);
/* The session waits for this many requests more, and holds this many locks more. */
void party_count(struct session *s, int waiters, int locks);
/* The command that the session executes will request this many locks more, when the present one is granted. */
void party_promise(struct session *s, size_t locks);

#endif
